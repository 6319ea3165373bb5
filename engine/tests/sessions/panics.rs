//! Rules that panic at the nth call, for every n.

use crate::toy::{Facts, SYNCED, World, draft, facts, note, refusal};
use crate::vault::Failure;
use gatelog_engine::backend::{AppendError, Refusal};
use std::ops::ControlFlow;

/// What the session is at after `steps` of the story.
const STORY: [&[&str]; 3] = [&["open", "note"], &["close"], &["open", "note", "close"]];

fn is_open(events: usize) -> bool {
    let kinds: Vec<_> = STORY.iter().flat_map(|batch| *batch).take(events).collect();
    kinds.iter().rev().find(|kind| ***kind != "note").is_some_and(|kind| **kind == "open")
}

/// Plays the story; after each append the gate's state is what the log says.
fn play(world: &World) -> Vec<Result<(), AppendError>> {
    let session = world.session("s");
    let mut outcomes = Vec::new();
    for batch in STORY {
        let drafts = batch.iter().map(|kind| draft(kind));
        outcomes.push(session.append(drafts, SYNCED).map(drop));
        if session.fault().is_none() {
            let events = world.vault.kinds("s").len();
            let expected = Facts { is_open: is_open(events), events: events as u64 };
            assert_eq!(facts(&session), expected);
        }
        if outcomes.last().is_some_and(Result::is_err) {
            break;
        }
    }
    outcomes
}

#[test]
fn a_panic_in_admit_refuses_the_batch_and_nothing_else() {
    for n in 1..=6 {
        let world = World::new();
        world.levers.admits.set(n, 1);
        let outcomes = play(&world);
        let refused = refusal(outcomes.into_iter().next_back().expect("one ended otherwise"));
        let said = format!("the trap of call {n}");
        assert!(matches!(refused, Refusal::Internal { what } if what.contains(&said)));
        let session = world.store.session("s").expect("it is live");
        let events = world.vault.kinds("s").len();
        assert!(events < n as usize, "the batch of call {n} is not in the log");
        let next = if is_open(events) { "close" } else { "open" };
        session.append([draft(next)], SYNCED).expect("the gate is usable");
    }
}

#[test]
fn a_panic_in_fork_refuses_the_batch() {
    let world = World::new();
    world.levers.forks.set(1, 1);
    let session = world.session("s");
    refusal(session.append([draft("open")], SYNCED));
    session.append([draft("open")], SYNCED).expect("the gate is usable");
}

#[test]
fn a_panic_in_adopt_leaves_the_commit_and_folds_the_state_again() {
    for n in 1..=6 {
        let world = World::new();
        world.levers.adopts.set(n, 1);
        let outcomes = play(&world);
        assert!(outcomes.iter().all(Result::is_ok), "{n}: {outcomes:?}");
        assert_eq!(world.vault.kinds("s").len(), 6);
        // The state was folded anew from the first event at the panic.
        assert!(world.levers.adopts.calls() > 6, "{n}");
    }
}

#[test]
fn a_panic_in_adopt_and_then_in_the_fold_leaves_the_session_to_be_read() {
    for n in 1..=6 {
        for further in 1..=n {
            let world = World::new();
            // The fold's call number `further` panics too.
            let session = world.session("s");
            world.levers.adopts.set(n, 1);
            let mut last = Ok(());
            for batch in STORY {
                last = session.append(batch.iter().map(|kind| draft(kind)), SYNCED).map(drop);
                assert!(last.is_ok(), "the commit stands");
                if world.levers.adopts.calls() >= n {
                    break;
                }
            }
            drop(last);
            world.levers.adopts.set(further, 1);
            assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::ReadOnly));
            let fault = session.fault().expect("it says why");
            assert!(fault.contains("the trap of call"), "{fault}");
            assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::ReadOnly));
            assert!(matches!(refusal(session.gate()), Refusal::ReadOnly));
            let mut events = 0;
            let read = session.read(0, &mut |_| {
                events += 1;
                ControlFlow::Continue(())
            });
            read.expect("it can be read");
            assert_eq!(events, world.vault.kinds("s").len());
            world.session("other").append([note(1)], SYNCED).expect("others go on");
            // With rules that do not panic it can be written again.
            world.store.release("s").expect("its gate is free");
            let session = world.store.session("s").expect("it is there");
            session.append([note(1)], SYNCED).expect("it is live again");
        }
    }
}

#[test]
fn a_panic_in_the_first_fold_opens_the_session_for_reading() {
    for n in 1..=3 {
        let world = World::new();
        let session = world.session("s");
        session.append([draft("open"), note(1), note(2)], SYNCED).expect("it is lawful");
        let later = World::of(world.vault.next_epoch());
        later.levers.adopts.set(n, u64::MAX);
        let session = later.store.session("s").expect("it can be read");
        assert!(matches!(refusal(session.append([note(3)], SYNCED)), Refusal::ReadOnly));
        assert_eq!(later.vault.kinds("s").len(), 3, "nothing was closed by rules that panic");
    }
}

#[test]
fn a_backend_that_panics_leaves_the_outcome_unknown_and_the_gate_free() {
    let world = World::new();
    let session = world.session("s");
    session.append([draft("open")], SYNCED).expect("it is lawful");
    world.vault.fail(0, Failure::Panic);
    let outcome = session.append([draft("close")], SYNCED);
    assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
    assert!(facts(&session).is_open, "the state is what the log says");
    session.append([draft("close")], SYNCED).expect("the gate is free");
}
