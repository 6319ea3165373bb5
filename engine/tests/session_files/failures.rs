//! Each step fails once: a session is there whole or not at all, and a batch likewise.

use gatelog_engine::backend::{AppendError, Backend, Durability, Refusal};
use gatelog_engine::session_files::Encoding;
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};

use crate::common::{append, batch, folder, header, log, names, notes, open, refusal, title};

const EIO: Failure = Failure::Error(Cause::Eio);

fn make(store: &gatelog_engine::session_files::SessionFiles) -> Result<(), AppendError> {
    let rows = batch(0, vec![title("0"), title("1")]);
    store.create("a", &header("a"), rows, Durability::Written).map(drop)
}

#[test]
fn each_failing_step_of_a_creation_leaves_no_session_or_the_whole_one() {
    let (mut absent, mut whole, mut steps) = (0, 0, 0);
    for after in 0.. {
        let sim = Sim::new(1);
        let store = open(&sim, Encoding::Zstd);
        sim.fail(Fault::new(Call::Change, EIO).after(after));
        let ended = make(&store);
        if sim.faults_left() > 0 {
            ended.expect("nothing failed");
            break;
        }
        steps += 1;
        sim.heal();
        let next = open(&sim, Encoding::Zstd);
        let found = next.find("a").expect("what is there can be read");
        match &ended {
            // What follows the publication may fail without harm.
            Ok(()) => assert_eq!(names(&*sim, &folder("a")).len(), 3, "the leftover"),
            Err(AppendError::NotWritten(_)) => assert_eq!(found, None, "step {after}"),
            Err(AppendError::Unknown(_)) => {
                assert!(store.poisoned().is_some());
                assert!(matches!(refusal(make(&store)), Refusal::Poisoned));
                store.reopen().expect("the root can be listed");
                assert!(store.poisoned().is_none());
            }
            other => panic!("step {after}: {other:?}"),
        }
        if found.is_some() {
            assert_eq!(notes(&next, "a"), ["0", "1"], "step {after}");
            whole += 1;
        } else {
            // And it can be tried again.
            make(&store).expect("the disk is well");
            assert_eq!(notes(&next, "a"), ["0", "1"], "step {after}");
            absent += 1;
        }
    }
    // Five folders with their syncs; the lock; the temporary file made, written, synced, linked;
    // the folder synced, without which the log is taken back; the temporary file removed.
    assert_eq!((steps, absent, whole), (17 - 2, 14, 1));
}

#[test]
fn after_a_power_cut_a_creation_is_whole_or_not_there() {
    let sim = Sim::new(1);
    sim.record_moments();
    make(&open(&sim, Encoding::Zstd)).expect("nothing fails");
    let mut seen = [0, 0];
    for moment in sim.take_moments() {
        for (_, state) in moment.crash_states(64, 7) {
            let store = open(&state, Encoding::Zstd);
            let found = store.find("a").expect("what is there can be read");
            seen[usize::from(found.is_some())] += 1;
            if found.is_some() {
                assert_eq!(notes(&store, "a"), ["0", "1"]);
            }
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    for (_, state) in sim.crash_states(64, 7) {
        assert!(open(&state, Encoding::Zstd).find("a").expect("readable").is_some());
    }
}

#[test]
fn a_failed_write_or_sync_is_cut_off_and_the_next_append_goes_on() {
    let failures = [
        (Call::Write, EIO),
        (Call::Write, Failure::Error(Cause::NoSpace)),
        (Call::Write, Failure::ShortError(7, Cause::Eio)),
        (Call::Write, Failure::ErrorAfter(Cause::Eio)),
        (Call::Sync, EIO),
        (Call::Sync, Failure::ErrorDirty(Cause::Eio)),
        (Call::Sync, Failure::ErrorAfter(Cause::Eio)),
    ];
    for encoding in [Encoding::Zstd, Encoding::Plain] {
        for (call, failure) in failures {
            let sim = Sim::new(1);
            let store = open(&sim, encoding);
            make(&store).expect("nothing fails");
            let before = sim.image(log("a", encoding)).expect("it is there");
            sim.fail(Fault::new(call, failure));
            let ended = append(&store, "a", 2, &["x", "y"]);
            assert!(matches!(ended, Err(AppendError::NotWritten(_))), "{call:?}: {ended:?}");
            assert_eq!(sim.image(log("a", encoding)).expect("it is there"), before);
            assert_eq!(notes(&store, "a"), ["0", "1"]);
            append(&store, "a", 2, &["z"]).expect("the disk is well");
            assert_eq!(notes(&store, "a"), ["0", "1", "z"]);
            // And not only in the cache.
            for (_, state) in sim.crash_states(16, 3) {
                assert_eq!(notes(&open(&state, encoding), "a"), ["0", "1", "z"]);
            }
        }
    }
}

#[test]
fn a_short_write_is_gone_on_with() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    make(&store).expect("nothing fails");
    sim.fail(Fault::new(Call::Write, Failure::Short(3)).times(2));
    append(&store, "a", 2, &["x"]).expect("the rest is written too");
    assert_eq!(notes(&store, "a"), ["0", "1", "x"]);
}

#[test]
fn what_cannot_be_cut_off_poisons_the_store() {
    for call in [Call::SetLen, Call::Sync] {
        let sim = Sim::new(1);
        let store = open(&sim, Encoding::Zstd);
        make(&store).expect("nothing fails");
        sim.fail(Fault::new(Call::Write, Failure::ShortError(9, Cause::Eio)));
        sim.fail(Fault::new(call, EIO));
        let ended = append(&store, "a", 2, &["x"]);
        assert!(matches!(ended, Err(AppendError::Unknown(_))), "{call:?}: {ended:?}");
        assert!(store.poisoned().is_some());
        assert!(matches!(refusal(append(&store, "a", 2, &["x"])), Refusal::Poisoned));
        let made = store.create("b", &header("b"), batch(0, vec![]), Durability::Synced);
        assert!(matches!(refusal(made), Refusal::Poisoned));
        store.reopen().expect("the root can be listed");
        assert_eq!(notes(&store, "a"), ["0", "1"]);
        append(&store, "a", 2, &["z"]).expect("the disk is well");
        assert_eq!(notes(&open(&sim, Encoding::Zstd), "a"), ["0", "1", "z"]);
    }
}

#[test]
fn a_look_that_fails_writes_nothing() {
    for call in [Call::List, Call::Stat] {
        let sim = Sim::new(1);
        let store = open(&sim, Encoding::Zstd);
        make(&store).expect("nothing fails");
        sim.fail(Fault::new(call, EIO));
        let ended = append(&store, "a", 2, &["x"]);
        assert!(matches!(ended, Err(AppendError::NotWritten(_))), "{call:?}: {ended:?}");
        append(&store, "a", 2, &["z"]).expect("the disk is well");
        assert_eq!(notes(&store, "a"), ["0", "1", "z"]);
    }
}

#[test]
fn a_failed_sync_takes_back_what_was_only_written() {
    for through_raise in [false, true] {
        let sim = Sim::new(1);
        let store = open(&sim, Encoding::Zstd);
        make(&store).expect("nothing fails");
        let one = |seq, note| batch(seq, vec![title(note)]);
        let commit = store.append("a", one(2, "w"), Durability::Written).expect("written");
        assert_eq!(commit.durability, Durability::Written);
        sim.fail(Fault::new(Call::Sync, EIO));
        let ended = if through_raise {
            store.raise("a", Durability::Synced)
        } else {
            store.append("a", one(3, "x"), Durability::Synced).map(drop)
        };
        assert!(matches!(ended, Err(AppendError::Rewound { next_seq: 2 })), "{ended:?}");
        assert_eq!(store.take_rewound("a"), Some(2));
        assert_eq!(store.find("a").expect("readable").expect("there").next_seq, 2);
        append(&store, "a", 2, &["z"]).expect("the disk is well");
        for (_, state) in sim.crash_states(16, 3) {
            assert_eq!(notes(&open(&state, Encoding::Zstd), "a"), ["0", "1", "z"]);
        }
    }
}
