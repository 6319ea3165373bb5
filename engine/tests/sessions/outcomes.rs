//! Each outcome of an append says what is true afterwards.

use crate::toy::{BUFFERED, Facts, Notes, SYNCED, World, draft, facts, note, numbers, refusal};
use crate::vault::Failure;
use gatelog_engine::backend::{AppendError, Refusal};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[test]
fn what_is_not_written_leaves_no_trace() {
    let world = World::new();
    let session = world.session("s");
    session.append([draft("open")], SYNCED).expect("it is lawful");
    world.vault.fail(0, Failure::NotWritten);
    let outcome = session.append([draft("close")], SYNCED);
    assert!(matches!(outcome, Err(AppendError::NotWritten(_))), "{outcome:?}");
    assert_eq!(facts(&session), Facts { is_open: true, events: 1 });
    assert_eq!(session.append([draft("close")], SYNCED).expect("it is lawful").first_seq, 1);
}

#[test]
fn a_session_that_was_rewound_is_told_once_and_folded_again() {
    let world = World::new();
    let (session, other) = (world.session("s"), world.session("t"));
    let notes = Arc::new(Notes::default());
    session.observe(notes.clone());
    session.append([note(1)], SYNCED).expect("it is lawful");
    session.append([draft("open")], BUFFERED).expect("it is accepted");
    session.append([note(2)], BUFFERED).expect("it is accepted");
    other.append([note(1)], BUFFERED).expect("it is accepted");
    world.vault.fail(0, Failure::NotWritten);
    let outcome = session.append([note(3)], SYNCED);
    assert!(matches!(outcome, Err(AppendError::NotWritten(_))), "{outcome:?}");
    assert_eq!(facts(&session), Facts { is_open: false, events: 1 });
    let outcome = session.append([note(4)], SYNCED);
    assert!(matches!(outcome, Err(AppendError::Rewound { next_seq: 1 })), "{outcome:?}");
    assert_eq!(session.append([note(5)], SYNCED).expect("told once").first_seq, 1);
    other.append([note(2)], SYNCED).expect("it lost nothing");
    assert_eq!(numbers(&session), [1, 5]);
    assert_eq!(notes.all(), ["s+0", "s+1", "s+2", "s<1", "s+1"]);
}

#[test]
fn a_rewind_is_told_to_the_holder_of_a_gate_and_to_a_future_too() {
    let world = World::new();
    let session = world.session("s");
    session.append([note(1), note(2)], BUFFERED).expect("it is accepted");
    let mut gate = session.gate().expect("it is free");
    world.vault.rewind("s", 0);
    assert_eq!(gate.next_seq().expect("it is folded"), 0);
    let outcome = gate.append(note(3), SYNCED);
    assert!(matches!(outcome, Err(AppendError::Rewound { next_seq: 0 })), "{outcome:?}");
    gate.append(note(4), BUFFERED).expect("told once");
    drop(gate);
    world.vault.rewind("s", 0);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it is built");
    let outcome = runtime.block_on(session.append_async([note(5)], SYNCED));
    assert!(matches!(outcome, Err(AppendError::Rewound { next_seq: 0 })), "{outcome:?}");
    runtime.block_on(session.append_async([note(6)], SYNCED)).expect("told once");
    assert_eq!(numbers(&session), [6]);
}

#[test]
fn a_poisoned_store_refuses_everybody_until_it_is_reopened() {
    let world = World::new();
    let (session, other) = (world.session("s"), world.session("t"));
    let mut gate = other.gate().expect("it is free");
    world.vault.fail(0, Failure::Unknown { survives: true });
    let outcome = session.append([note(1)], SYNCED);
    assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
    assert!(world.store.poisoned().is_some());
    assert!(matches!(refusal(session.append([note(2)], SYNCED)), Refusal::Poisoned));
    assert!(matches!(refusal(session.gate()), Refusal::Poisoned));
    assert!(matches!(refusal(gate.append(note(1), SYNCED)), Refusal::Poisoned));
    assert!(matches!(refusal(world.store.session("new")), Refusal::Poisoned));

    world.store.reopen().expect("it opens");
    assert!(matches!(refusal(session.append([note(2)], SYNCED)), Refusal::Poisoned));
    assert!(matches!(refusal(gate.append(note(1), SYNCED)), Refusal::Poisoned));
    let anew = world.store.session("s").expect("it is there");
    assert_ne!(anew, session);
    assert_eq!(anew.append([note(2)], SYNCED).expect("a new epoch").first_seq, 1);
    let anew = world.store.session("t").expect("the old gate is not its gate");
    anew.append([note(1)], SYNCED).expect("a new epoch");
    drop(gate);
}

#[test]
fn a_reopen_waits_for_what_is_on_its_way_and_wakes_who_waits_for_a_gate() {
    let world = World::new();
    let (session, other) = (world.session("s"), world.session("t"));
    let gate = other.gate().expect("it is free");
    world.vault.hold_back(true);
    thread::scope(|scope| {
        let appends = scope.spawn(|| session.append([note(1)], SYNCED));
        let waits = scope.spawn(|| refusal(other.append([note(1)], SYNCED)));
        world.vault.await_held(1);
        thread::sleep(Duration::from_millis(20));
        let reopens = scope.spawn(|| world.store.reopen());
        thread::sleep(Duration::from_millis(20));
        assert!(!reopens.is_finished(), "a batch is on its way");
        assert!(matches!(refusal(world.store.session("s")), Refusal::Poisoned));
        world.vault.hold_back(false);
        appends.join().expect("no panic").expect("it reached its class");
        reopens.join().expect("no panic").expect("it opens");
        assert!(matches!(waits.join().expect("no panic"), Refusal::Poisoned));
    });
    drop(gate);
    world.store.session("t").expect("it is there");
}

#[test]
fn the_rules_are_recorded_before_the_first_batch_of_an_epoch() {
    let world = World::new();
    assert_eq!(world.vault.recorded(), 0);
    thread::scope(|scope| {
        for n in 0..8 {
            let world = &world;
            scope.spawn(move || world.session(&format!("s{n}")));
        }
    });
    assert_eq!(world.vault.recorded(), 1);
    world.store.reopen().expect("it opens");
    let session = world.store.session("s0").expect("it is there");
    assert_eq!(world.vault.recorded(), 1);
    session.append([note(1)], SYNCED).expect("it is lawful");
    assert_eq!(world.vault.recorded(), 2);
}
