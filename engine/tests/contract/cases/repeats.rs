//! Appends that are made again: by the seq that they expect, by their key, by their drafts.

use crate::bench::{BUFFERED, Bench, Opened, SYNCED, WRITTEN, notes, refusal};
use crate::world::{note, start_or_end};
use gatelog_engine::backend::{Commit, Key, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;

const ONE: Key = [1; 16];
const TWO: Key = [2; 16];

fn wrong(result: Result<Commit, gatelog_engine::backend::AppendError>) -> (u64, u64) {
    match refusal(result) {
        Refusal::WrongSeq { expected, actual } => (expected, actual),
        other => panic!("{other:?}"),
    }
}

/// What holds of a session whose batch at 1, of the notes 1 and 2, has the key `ONE`.
fn check(session: &Session, first: Commit, actual: u64) {
    for durability in [BUFFERED, WRITTEN, SYNCED] {
        let again = session.append_expecting(1, ONE, notes([1, 2]), durability);
        assert_eq!(again.expect("it is the same"), Commit { durability, ..first });
    }
    // Later, earlier, in the middle, without a key, with more or less: another append.
    let late = session.append_expecting(actual + 1, ONE, notes([1, 2]), SYNCED);
    assert_eq!(wrong(late), (actual + 1, actual));
    assert_eq!(wrong(session.append_expecting(0, ONE, notes([1, 2]), SYNCED)), (0, actual));
    assert_eq!(wrong(session.append_expecting(2, ONE, notes([1, 2]), SYNCED)), (2, actual));
    assert_eq!(wrong(session.append_expecting(1, None, notes([1, 2]), SYNCED)), (1, actual));
    let other = Draft { ignorable: true, ..note(1) };
    for drafts in [notes([1, 3]), vec![other, note(2)], notes([2, 1])] {
        let refused = refusal(session.append_expecting(1, ONE, drafts, SYNCED));
        assert!(matches!(refused, Refusal::KeyReused | Refusal::WrongSeq { .. }), "{refused:?}");
    }
}

fn begun(bench: &Bench) -> (Opened, Session, Commit) {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let first = session.append_expecting(1, ONE, notes([1, 2]), WRITTEN).expect("it is next");
    assert_eq!((first.first_seq, first.events), (1, 2));
    (opened, session, first)
}

pub(crate) fn an_append_that_expects_a_seq_ends_in_one_of_its_outcomes(bench: &Bench) -> Opened {
    let (opened, session, first) = begun(bench);
    check(&session, first, 3);
    session.append_expecting(3, None, notes([3]), BUFFERED).expect("it is next");
    check(&session, first, 4);
    assert_eq!(opened.numbers("a"), [0, 1, 2, 3]);
    opened
}

pub(crate) fn the_outcomes_are_the_same_after_a_reopen(bench: &Bench) -> Opened {
    let (opened, _, first) = begun(bench);
    let killed = bench.killed().open();
    check(&killed.session("a").expect("it is there"), first, 3);
    opened.reopen().expect("nothing fails");
    check(&opened.session("a").expect("it is there"), first, 3);
    opened.close().expect("nothing fails");
    let opened = bench.open();
    check(&opened.session("a").expect("it is there"), first, 3);
    assert_eq!(opened.numbers("a"), [0, 1, 2]);
    opened
}

pub(crate) fn closers_in_between_make_a_repeat_come_too_late(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[]);
    session.append([start_or_end("turn/start")], SYNCED).expect("lawful");
    let opened = {
        let killed = bench.killed();
        drop((session, opened));
        let there = killed.open();
        // The append whose answer was lost had not been written; the closers are where it expects
        // to be.
        let session = there.session("a").expect("it is there");
        let late = session.append_expecting(1, ONE, notes([1]), SYNCED);
        assert_eq!(wrong(late), (1, 3));
        bench.open()
    };
    let session = opened.session("a").expect("it is there");
    assert_eq!(wrong(session.append_expecting(1, ONE, notes([1]), SYNCED)), (1, 3));
    opened
}

pub(crate) fn a_written_commit_repeated_as_synced_makes_one_sync(bench: &Bench) -> Opened {
    let (opened, session, first) = begun(bench);
    let before = bench.ground.syncs();
    for _ in 0..3 {
        let again = session.append_expecting(1, ONE, notes([1, 2]), SYNCED);
        assert_eq!(again.expect("it is the same"), Commit { durability: SYNCED, ..first });
    }
    assert_eq!(bench.ground.syncs() - before, 1);
    assert_eq!(bench.cut().open().numbers("a"), [0, 1, 2]);
    opened
}

pub(crate) fn a_written_commit_repeated_as_synced_in_a_new_process_survives(
    bench: &Bench,
) -> Opened {
    let (opened, session, _) = begun(bench);
    drop((session, opened));
    let killed = bench.killed();
    let there = killed.open();
    let session = there.session("a").expect("it is there");
    let again = session.append_expecting(1, ONE, notes([1, 2]), SYNCED);
    assert_eq!(again.expect("it is the same").durability, SYNCED);
    assert_eq!(killed.cut().open().numbers("a"), [0, 1, 2]);
    bench.open()
}

pub(crate) fn a_key_makes_an_append_once(bench: &Bench) -> Opened {
    let (opened, session, first) = begun(bench);
    let second = session.append_keyed(TWO, notes([3]), BUFFERED).expect("lawful");
    let raised = |first: Commit| Commit { durability: SYNCED, ..first };
    let look = |session: &Session| {
        let again = session.append_keyed(ONE, notes([1, 2]), SYNCED);
        assert_eq!(again.expect("it is the same"), raised(first));
        let again = session.append_keyed(TWO, notes([3]), SYNCED);
        assert_eq!(again.expect("it is the same"), raised(second));
        let reused = refusal(session.append_keyed(TWO, notes([4]), SYNCED));
        assert!(matches!(reused, Refusal::KeyReused), "{reused:?}");
    };
    look(&session);
    assert_eq!(bench.cut().open().numbers("a"), [0, 1, 2, 3]);
    opened.release("a").expect("the gate is free");
    look(&opened.session("a").expect("it is there"));
    drop((session, opened));
    let opened = bench.open();
    look(&opened.session("a").expect("it is there"));
    // A key is one session's.
    opened.make("b", &[]).append_keyed(ONE, notes([9]), SYNCED).expect("lawful");
    assert_eq!(opened.numbers("a"), [0, 1, 2, 3]);
    opened
}

pub(crate) fn a_repeat_is_told_by_its_key(bench: &Bench) -> Opened {
    let (opened, session, _) = begun(bench);
    let reused = |drafts| {
        let refused = refusal(session.append_expecting(1, ONE, drafts, SYNCED));
        assert!(matches!(refused, Refusal::KeyReused), "{refused:?}");
    };
    reused(notes([1, 3]));
    reused(notes([1]));
    reused(notes([1, 2, 3]));
    assert_eq!(wrong(session.append_expecting(1, TWO, notes([1, 2]), SYNCED)), (1, 3));
    session.append(notes([3]), SYNCED).expect("lawful");
    reused(notes([1, 2, 3]));
    opened
}

pub(crate) fn a_key_without_a_seq_is_refused_by_name(bench: &Bench) -> Opened {
    let (opened, session, _) = begun(bench);
    let before = bench.ground.bytes();
    match refusal(session.append_keyed(ONE, notes([1, 2]), SYNCED)) {
        Refusal::Unsupported { what } => assert!(what.contains("key"), "{what}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(bench.ground.bytes(), before);
    opened
}

pub(crate) fn a_repeat_is_told_by_its_drafts(bench: &Bench) -> Opened {
    let (opened, session, first) = begun(bench);
    // The format has no place for the key; who gives another one and the same drafts is the same.
    let again = session.append_expecting(1, TWO, notes([1, 2]), SYNCED);
    assert_eq!(again.expect("it is the same"), Commit { durability: SYNCED, ..first });
    let spelt = vec![Draft::new("plan/mode", "{ \"n\" : 1 }"), note(2)];
    session.append_expecting(1, ONE, spelt, SYNCED).expect("values are compared, not texts");
    assert_eq!(wrong(session.append_expecting(1, ONE, notes([1, 3]), SYNCED)), (1, 3));
    assert_eq!(wrong(session.append_expecting(1, ONE, notes([1, 2, 3]), SYNCED)), (1, 3));
    opened
}
