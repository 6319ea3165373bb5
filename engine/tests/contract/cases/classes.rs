//! What an acknowledgement survives, and how it is raised.

use crate::bench::{BUFFERED, Bench, Opened, SYNCED, WRITTEN, notes};
use crate::ground::Ground;

/// A session with a synced, a written and a buffered note.
fn begun(bench: &Bench) -> (Opened, gatelog_engine::store::Session) {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    session.append(notes([1]), WRITTEN).expect("lawful");
    session.append(notes([2]), BUFFERED).expect("lawful");
    (opened, session)
}

fn can_be_cut(bench: &Bench) -> bool {
    matches!(bench.ground, Ground::Simulated(_))
}

pub(crate) fn raising_reaches_the_class_that_is_asked_for(bench: &Bench) -> Opened {
    let (opened, session) = begun(bench);
    session.raise(BUFFERED).expect("there is nothing to do");
    assert_eq!(bench.killed().open().numbers("a"), [0, 1]);
    session.raise(WRITTEN).expect("nothing fails");
    assert_eq!(bench.killed().open().numbers("a"), [0, 1, 2]);
    if can_be_cut(bench) {
        assert_eq!(bench.cut().open().numbers("a"), [0]);
    }
    session.raise(SYNCED).expect("nothing fails");
    assert_eq!(bench.cut().open().numbers("a"), [0, 1, 2]);
    let syncs = bench.ground.syncs();
    session.raise(SYNCED).expect("there is nothing to do");
    assert_eq!(bench.ground.syncs(), syncs);
    opened
}

pub(crate) fn closing_syncs_all_that_was_accepted(bench: &Bench) -> Opened {
    let (opened, session) = begun(bench);
    let other = opened.make("b", &[]);
    other.append(notes([7]), BUFFERED).expect("lawful");
    opened.close().expect("nothing fails");
    let refused = crate::bench::refusal(session.append(notes([3]), SYNCED));
    assert!(matches!(refused, gatelog_engine::backend::Refusal::Stale), "{refused:?}");
    let there = bench.cut().open();
    assert_eq!((there.numbers("a"), there.numbers("b")), (vec![0, 1, 2], vec![7]));
    opened.close().expect("it is closed already");
    bench.open()
}

pub(crate) fn a_new_epoch_keeps_what_was_written(bench: &Bench) -> Opened {
    let (opened, session) = begun(bench);
    opened.reopen().expect("nothing fails");
    let refused = crate::bench::refusal(session.append(notes([3]), SYNCED));
    assert!(matches!(refused, gatelog_engine::backend::Refusal::Poisoned), "{refused:?}");
    let kept = opened.numbers("a");
    assert!(kept == [0, 1] || kept == [0, 1, 2], "{kept:?}");
    let session = opened.session("a").expect("it is there");
    let next = match session.append(notes([4]), SYNCED) {
        // What was only buffered is gone, and may be told of.
        Err(gatelog_engine::backend::AppendError::Rewound { next_seq }) => {
            assert_eq!((next_seq, kept.len()), (2, 2));
            session.append(notes([4]), SYNCED)
        }
        ended => ended,
    };
    assert_eq!(next.expect("lawful").first_seq, kept.len() as u64);
    opened
}

pub(crate) fn what_a_new_epoch_found_is_synced_when_that_is_asked(bench: &Bench) -> Opened {
    let (opened, _) = begun(bench);
    opened.reopen().expect("nothing fails");
    let session = opened.session("a").expect("it is there");
    let raised = match session.raise(SYNCED) {
        // What was only buffered is gone, and may be told of.
        Err(gatelog_engine::backend::AppendError::Rewound { next_seq: 2 }) => session.raise(SYNCED),
        ended => ended,
    };
    raised.expect("it was told once");
    assert_eq!(bench.cut().open().numbers("a")[..2], [0, 1]);
    // So it is in a new process, which has written nothing itself.
    let other = opened.make("b", &[5]);
    other.append(notes([6]), WRITTEN).expect("lawful");
    let killed = bench.killed();
    let there = killed.open();
    there.session("b").expect("it is there").raise(SYNCED).expect("nothing fails");
    assert_eq!(killed.cut().open().numbers("b"), [5, 6]);
    opened
}
