//! Writes and syncs that fail.

use crate::bench::{BUFFERED, Bench, Kind, Opened, SYNCED, WRITTEN, notes, refusal};
use crate::world::{header, note};
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::store::Session;

#[track_caller]
fn not_written<T>(ended: Result<T, AppendError>) {
    match ended {
        Err(AppendError::NotWritten(_)) => {}
        Err(other) => panic!("it ended as {other:?}"),
        Ok(_) => panic!("it was written"),
    }
}

pub(crate) fn a_failed_write_is_not_written_and_never_there(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let mut there = vec![0];
    for (n, durability) in [(1, SYNCED), (2, WRITTEN), (3, SYNCED)] {
        bench.ground.fail_writes(1);
        not_written(session.append(notes([100 + n]), durability));
        bench.ground.heal();
        assert_eq!(opened.numbers("a"), there);
        assert_eq!(bench.killed().open().numbers("a"), there);
        assert_eq!(bench.cut().open().numbers("a"), there);
        let commit = session.append(notes([n]), SYNCED).expect("there is room again");
        assert_eq!(commit.first_seq, n);
        there.push(n);
        assert_eq!(bench.cut().open().numbers("a"), there);
    }
    assert!(opened.poisoned().is_none());
    opened
}

pub(crate) fn a_failed_creation_leaves_no_session(bench: &Bench) -> Opened {
    let opened = bench.open();
    opened.make("a", &[0]);
    bench.ground.fail_writes(1);
    let init = |init: &mut gatelog_engine::store::Init<'_>| {
        for draft in notes([1, 2, 3]) {
            init.append(draft);
        }
        Ok(())
    };
    not_written(opened.create("b", &header("b"), init));
    bench.ground.heal();
    for there in [&bench.killed().open(), &bench.cut().open(), &opened] {
        assert_eq!(there.content().keys().collect::<Vec<_>>(), ["a"]);
    }
    assert!(matches!(refusal(opened.session("b")), Refusal::NoSession));
    opened.create("b", &header("b"), init).expect("there is room again");
    assert_eq!(opened.numbers("b"), [1, 2, 3]);
    opened
}

/// Appends until there is a receipt, and says whether a rewind was told, and to where.
fn append_on(session: &Session, n: u64) -> Option<u64> {
    let rewound = match session.append([note(n)], SYNCED) {
        Err(AppendError::Rewound { next_seq }) => Some(next_seq),
        ended => {
            ended.expect("nothing fails");
            return None;
        }
    };
    session.append([note(n)], SYNCED).expect("it was told once");
    rewound
}

pub(crate) fn a_failed_write_rewinds_exactly_who_lost_something(bench: &Bench) -> Opened {
    let opened = bench.open();
    let [a, b, c] = ["a", "b", "c"].map(|id| opened.make(id, &[0]));
    a.append(notes([1]), WRITTEN).expect("lawful");
    b.append(notes([1]), BUFFERED).expect("lawful");
    b.append(notes([2]), BUFFERED).expect("lawful");
    a.append(notes([2]), BUFFERED).expect("lawful");
    bench.ground.fail_writes(1);
    not_written(a.append(notes([100]), SYNCED));
    bench.ground.heal();
    let left = ["a", "b", "c"].map(|id| opened.numbers(id).len() as u64);
    // What a process that dies would keep is never taken back; what it would not may be.
    assert!((2..=3).contains(&left[0]) && (1..=3).contains(&left[1]) && left[2] == 1, "{left:?}");
    let told = [&a, &b, &c].map(|session| append_on(session, 9));
    for ((told, left), had) in told.into_iter().zip(left).zip([3, 3, 1]) {
        assert_eq!(told, (left < had).then_some(left));
    }
    opened
}

pub(crate) fn a_store_that_cannot_sync_is_poisoned_until_it_is_reopened(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let other = opened.make("b", &[0]);
    bench.ground.fail_syncs(1_000);
    let ended = session.append(notes([1]), SYNCED);
    assert!(matches!(ended, Err(AppendError::Unknown(_))), "{ended:?}");
    assert!(opened.poisoned().is_some());
    for handle in [&session, &other] {
        for durability in [BUFFERED, WRITTEN, SYNCED] {
            let refused = refusal(handle.append(notes([2]), durability));
            assert!(matches!(refused, Refusal::Poisoned), "{refused:?}");
        }
    }
    let made = opened.create("c", &header("c"), |_| Ok(()));
    assert!(matches!(refusal(made), Refusal::Poisoned));
    bench.ground.heal();
    opened.reopen().expect("the disk is well again");
    assert!(opened.poisoned().is_none());
    for handle in [&session, &other] {
        let refused = refusal(handle.append(notes([2]), SYNCED));
        assert!(matches!(refused, Refusal::Poisoned), "{refused:?}");
    }
    let there = opened.numbers("a");
    assert!(there == [0] || there == [0, 1], "{there:?}");
    let session = opened.session("a").expect("it is there");
    let commit = session.append(notes([3]), SYNCED).expect("the disk is well again");
    assert_eq!(commit.first_seq, there.len() as u64);
    opened
}

/// After a failed sync the cache may show what the device never got. Whoever reads it back and
/// goes on must not vouch for it before the device has it.
pub(crate) fn what_a_poisoned_store_read_back_is_durable_once_it_says_so(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    session.append(notes([1]), WRITTEN).expect("lawful");
    bench.ground.fail_syncs(1_000);
    let ended = session.append(notes([2]), SYNCED);
    assert!(matches!(ended, Err(AppendError::Unknown(_))), "{ended:?}");
    bench.ground.heal();
    // Another process goes on from the cache.
    let killed = bench.killed();
    go_on(&killed, &killed.open());
    // The same one does.
    opened.reopen().expect("the disk is well again");
    go_on(bench, &opened);
    opened
}

fn go_on(bench: &Bench, opened: &Opened) {
    let before = opened.numbers("a");
    let session = opened.session("a").expect("it is there");
    session.append(notes([3]), SYNCED).expect("the disk is well again");
    assert_eq!(bench.cut().open().numbers("a"), [before, vec![3]].concat());
}

pub(crate) fn the_log_goes_on_in_a_new_segment(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let segments = |bench: &Bench| {
        let bytes = bench.ground.bytes();
        bytes
            .into_iter()
            .filter(|(path, _)| path.extension().is_some_and(|it| it == "log"))
            .collect::<Vec<_>>()
    };
    let before = segments(bench);
    bench.ground.fail_writes(1);
    not_written(session.append(notes([100]), SYNCED));
    bench.ground.heal();
    session.append(notes([1]), SYNCED).expect("there is room again");
    let after = segments(bench);
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after[..before.len()], before[..], "the old one is as it was");
    opened
}

pub(crate) fn a_failed_sync_is_unknown(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    bench.ground.fail_syncs(1);
    let ended = session.append(notes([1]), SYNCED);
    assert!(matches!(ended, Err(AppendError::Unknown(_))), "{ended:?}");
    assert!(opened.poisoned().is_some());
    bench.ground.heal();
    opened.reopen().expect("the disk is well again");
    opened
}

pub(crate) fn the_file_is_cut_back_to_where_it_was(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    for durability in [WRITTEN, SYNCED] {
        let before = bench.ground.bytes();
        bench.ground.fail_writes(1);
        not_written(session.append(notes([100]), durability));
        bench.ground.heal();
        assert_eq!(bench.ground.bytes(), before);
    }
    opened
}

pub(crate) fn a_failed_sync_is_cut_back_and_told(bench: &Bench) -> Opened {
    assert_ne!(bench.kind, Kind::Native);
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let before = bench.ground.bytes();
    bench.ground.fail_syncs(1);
    not_written(session.append(notes([100]), SYNCED));
    assert_eq!(bench.ground.bytes(), before);
    // What was written before and not synced goes with it, and that is told: by this very append,
    // or by a raise; and not again.
    session.append(notes([1]), WRITTEN).expect("lawful");
    bench.ground.fail_syncs(1);
    let ended = session.append(notes([100]), SYNCED);
    assert!(matches!(ended, Err(AppendError::Rewound { next_seq: 1 })), "{ended:?}");
    session.append(notes([2]), WRITTEN).expect("it was told once");
    bench.ground.fail_syncs(1);
    let ended = session.raise(SYNCED);
    assert!(matches!(ended, Err(AppendError::Rewound { next_seq: 1 })), "{ended:?}");
    session.append(notes([3]), SYNCED).expect("it was told once");
    assert_eq!(opened.numbers("a"), [0, 3]);
    opened
}
