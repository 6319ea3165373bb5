//! What a dead writer left open is closed once in an epoch.

use crate::toy::{BUFFERED, SYNCED, World, draft, facts, note, refusal};
use crate::vault::{Failure, Vault};
use gatelog_engine::backend::{AppendError, Refusal};
use std::sync::{Arc, Barrier};
use std::thread;

fn left_open(vault: Arc<Vault>) -> Arc<Vault> {
    let world = World::of(vault);
    let session = world.session("s");
    session.append([draft("open"), note(1)], SYNCED).expect("it is lawful");
    world.vault.next_epoch()
}

#[test]
fn two_threads_that_open_a_session_append_one_batch_of_closers() {
    for make in [Vault::new, Vault::plain] {
        for _ in 0..20 {
            let world = World::of(left_open(make()));
            let start = Barrier::new(2);
            let handles: Vec<_> = thread::scope(|scope| {
                let open = || {
                    start.wait();
                    world.store.session("s").expect("it is there")
                };
                let both = [scope.spawn(open), scope.spawn(open)];
                both.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert_eq!(handles[0], handles[1]);
            assert_eq!(world.vault.sizes("s"), [0, 2, 2]);
            assert_eq!(world.vault.kinds("s"), ["open", "note", "close", "note"]);
            assert_eq!(world.vault.times("s")[2..], [77, 1_000_000]);
        }
    }
}

#[test]
fn whoever_only_reads_closes_nothing() {
    let world = World::of(left_open(Vault::new()));
    let mut events = 0;
    let read = world.store.read("s", 0, &mut |_| {
        events += 1;
        std::ops::ControlFlow::Continue(())
    });
    read.expect("it is there");
    assert_eq!((events, world.store.list().expect("it can be read").len()), (2, 1));
    assert_eq!(world.vault.writes(), 0);
}

#[test]
fn a_turn_of_this_epoch_is_closed_by_no_refold_rewind_or_further_handle() {
    for vault in [Vault::new(), Vault::plain()] {
        let world = World::of(left_open(vault));
        let session = world.store.session("s").expect("it is there");
        session.append([draft("open"), note(2)], SYNCED).expect("it is lawful");
        let before = world.vault.kinds("s");
        // A refold, because the state was lost.
        world.levers.adopts.set(1, 1);
        session.append([note(3)], BUFFERED).expect("the commit stands");
        assert!(facts(&session).is_open);
        // A rewind.
        world.vault.rewind("s", before.len() as u64);
        let told = session.append([note(3)], SYNCED);
        assert!(matches!(told, Err(AppendError::Rewound { .. })), "{told:?}");
        // Another handle, and another life.
        assert_eq!(world.store.session("s").expect("it is there"), session);
        world.store.release("s").expect("its gate is free");
        let session = world.store.session("s").expect("it is there");
        assert_eq!(world.vault.kinds("s"), before);
        session.append([draft("close")], SYNCED).expect("it is still open");
    }
}

#[test]
fn a_session_that_was_created_in_this_epoch_is_not_closed() {
    for vault in [Vault::new(), Vault::plain()] {
        let world = World::of(vault);
        world.session("s").append([draft("open")], SYNCED).expect("it is lawful");
        world.store.release("s").expect("its gate is free");
        let session = world.store.session("s").expect("it is there");
        assert!(facts(&session).is_open);
    }
}

#[test]
fn a_turn_of_this_epoch_is_closed_by_no_other_store_over_the_same_backend() {
    let world = World::new();
    world.session("s").append([draft("open")], SYNCED).expect("it is lawful");
    let other = World::of(Arc::clone(&world.vault));
    assert!(facts(&other.store.session("s").expect("it is there")).is_open);
}

#[test]
fn after_a_reopen_the_turn_of_the_old_epoch_is_closed_and_its_handle_refused_first() {
    for vault in [Vault::new(), Vault::plain()] {
        let world = World::of(vault);
        let session = world.session("s");
        session.append([draft("open")], SYNCED).expect("it is lawful");
        world.vault.fail(0, Failure::Unknown { survives: false });
        let outcome = session.append([note(1)], SYNCED);
        assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
        world.store.reopen().expect("it opens");
        assert_eq!(world.vault.kinds("s"), ["open"], "nothing is closed yet");
        assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::Poisoned));
        world.store.session("s").expect("it is there");
        assert_eq!(world.vault.kinds("s"), ["open", "close", "note"]);
        assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::Poisoned));
    }
}

#[test]
fn closers_that_are_not_written_are_tried_again_by_the_next_open() {
    let world = World::of(left_open(Vault::new()));
    world.vault.fail(0, Failure::NotWritten);
    let opened = world.store.session("s");
    assert!(matches!(opened, Err(AppendError::NotWritten(_))), "{opened:?}");
    world.store.session("s").expect("it is there");
    assert_eq!(world.vault.sizes("s"), [0, 2, 2]);
}
