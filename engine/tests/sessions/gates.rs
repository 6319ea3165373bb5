//! One session, many threads: order, fairness, and what blocks whom.

use crate::asleep::Task;
use crate::toy::{BUFFERED, SYNCED, World, draft, facts, note, numbers, refusal};
use crate::vault::Vault;
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::store::{Gate, Session, Store};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn a_store_and_its_handles_go_between_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Store>();
    shared::<Session>();
    sent::<Gate>();
}

#[test]
fn eight_threads_on_one_session_leave_dense_and_contiguous_batches() {
    let world = World::new();
    let session = world.session("s");
    let commits = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..8 {
            let (session, commits) = (&session, &commits);
            scope.spawn(move || {
                for round in 0..50 {
                    let first = (thread * 50 + round) * 3;
                    let drafts = [note(first), note(first + 1), note(first + 2)];
                    let commit = session.append(drafts, SYNCED).expect("it is lawful");
                    commits.lock().expect("no panic").push((commit.first_seq, first));
                }
            });
        }
    });
    let numbers = numbers(&session);
    assert_eq!(numbers.len(), 8 * 50 * 3);
    for (first_seq, first) in commits.into_inner().expect("no panic") {
        let at = first_seq as usize;
        assert_eq!(numbers[at..at + 3], [first, first + 1, first + 2]);
    }
    assert_eq!(facts(&session).events, 1200);
}

#[test]
fn the_gate_is_first_come_first_served() {
    let world = World::new();
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    thread::scope(|scope| {
        for n in 0..4 {
            let (session, (sender, receiver)) = (&session, mpsc::channel());
            scope.spawn(move || {
                sender.send(Task::current()).expect("somebody listens");
                session.append([note(n)], SYNCED).expect("it is lawful");
            });
            // It stands in the line as soon as it sleeps.
            receiver.recv().expect("the thread is there").await_sleep();
        }
        drop(gate);
    });
    assert_eq!(numbers(&session), [0, 1, 2, 3]);
}

#[test]
fn each_compare_and_swap_has_one_winner() {
    let world = World::new();
    let session = world.session("s");
    let wins = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (session, wins) = (&session, &wins);
            scope.spawn(move || {
                let mut expected = 0;
                while expected < 100 {
                    match session.append_expecting(expected, None, [note(thread)], SYNCED) {
                        Ok(commit) => {
                            assert_eq!(commit.first_seq, expected);
                            wins.lock().expect("no panic").push((expected, thread));
                            expected += 1;
                        }
                        Err(AppendError::Refused(Refusal::WrongSeq { expected: said, actual })) => {
                            assert_eq!(said, expected);
                            assert!(actual > expected, "a seq that was seen does not go back");
                            expected = actual;
                        }
                        other => panic!("{other:?}"),
                    }
                }
            });
        }
    });
    let mut wins = wins.into_inner().expect("no panic");
    wins.sort_unstable();
    let log: Vec<_> = (0..).zip(numbers(&session)).collect();
    assert_eq!(wins, log, "who was told that he won is who stands in the log");
}

#[test]
fn a_held_gate_commits_each_draft_by_itself_and_lets_nobody_between() {
    let world = World::new();
    let session = world.session("s");
    thread::scope(|scope| {
        let mut gate = session.gate().expect("it is free");
        assert_eq!(gate.append(note(1), SYNCED).expect("it is lawful").first_seq, 0);
        let other = scope.spawn(|| session.append([note(9)], SYNCED).expect("it is lawful"));
        thread::sleep(Duration::from_millis(20));
        assert_eq!(gate.next_seq().expect("it is folded"), 1);
        assert_eq!(gate.append(note(2), SYNCED).expect("it is lawful").first_seq, 1);
        drop(gate);
        assert_eq!(other.join().expect("no panic").first_seq, 2);
    });
    assert_eq!(world.vault.sizes("s"), [0, 1, 1, 1]);
}

#[test]
fn a_second_request_by_the_holder_is_reentrant() {
    let world = World::new();
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::Reentrant));
    assert!(matches!(refusal(session.gate()), Refusal::Reentrant));
    let other = world.session("t");
    other.append([note(1)], SYNCED).expect("another session's gate is free");
    drop(gate);
    session.append([note(1)], SYNCED).expect("the gate is free again");
}

#[test]
fn a_gate_belongs_to_the_thread_that_used_it_last() {
    let world = World::new();
    let session = world.session("s");
    let mut gate = session.gate().expect("it is free");
    thread::scope(|scope| {
        scope.spawn(|| {
            gate.append(note(1), SYNCED).expect("it is lawful");
            assert!(matches!(refusal(session.gate()), Refusal::Reentrant));
        });
    });
    drop(gate);
    assert_eq!(numbers(&session), [1]);
}

#[test]
fn a_leaked_gate_blocks_its_session_and_no_other() {
    let world = World::patient(Vault::new(), 50);
    let (leaked, other) = (world.session("leaked"), world.session("other"));
    let gate = leaked.gate().expect("it is free");
    thread::spawn(move || std::mem::forget(gate)).join().expect("no panic");
    thread::scope(|scope| {
        scope.spawn(|| assert!(matches!(refusal(leaked.append([note(1)], SYNCED)), Refusal::Busy)));
        scope.spawn(|| assert!(matches!(refusal(leaked.gate()), Refusal::Busy)));
    });
    other.append([note(1)], SYNCED).expect("its gate is free");
    assert_eq!(world.store.session("leaked").expect("it is live"), leaked);
    assert_eq!(numbers(&leaked), [] as [u64; 0]);
}

#[test]
fn who_gave_up_waiting_does_not_get_the_gate() {
    let world = World::patient(Vault::new(), 50);
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    thread::scope(|scope| {
        scope.spawn(|| refusal(session.gate()));
    });
    drop(gate);
    session.append([note(1)], SYNCED).expect("the gate is free");
}

#[test]
fn a_companion_that_blocks_delays_no_other_of_a_thousand_sessions() {
    let world = World::new();
    let sessions: Vec<_> = (0..1000).map(|n| world.session(&format!("s{n}"))).collect();
    let is_free = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            sessions[500].append([draft("wait")], SYNCED).expect("it is lawful");
            assert!(is_free.load(Ordering::SeqCst), "the door was shut until then");
        });
        world.levers.door.await_knock();
        for (n, session) in sessions.iter().enumerate().filter(|(n, _)| *n != 500) {
            session.append([note(n as u64)], BUFFERED).expect("it is lawful");
        }
        is_free.store(true, Ordering::SeqCst);
        world.levers.door.open();
    });
    assert_eq!(world.vault.writes(), 2000);
}

#[test]
fn handles_of_a_live_session_are_the_same_and_those_of_a_released_one_are_stale() {
    let world = World::new();
    let one = world.session("s");
    let two = world.store.session("s").expect("it is there");
    assert_eq!(one, two);
    assert_ne!(one, world.session("t"));
    world.store.release("s").expect("its gate is free");
    assert!(matches!(refusal(one.append([note(1)], SYNCED)), Refusal::Stale));
    assert!(matches!(refusal(one.gate()), Refusal::Stale));
    let three = world.store.session("s").expect("it is there");
    assert_ne!(one, three);
    three.append([note(1)], SYNCED).expect("it is live");
}

#[test]
fn a_gate_that_is_waited_for_while_its_session_is_released_is_stale() {
    let world = World::new();
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let world = &world;
        let releases = scope.spawn(move || {
            sender.send(Task::current()).expect("somebody listens");
            world.store.release("s")
        });
        receiver.recv().expect("the thread is there").await_sleep();
        let waits = scope.spawn(|| refusal(session.append([note(1)], SYNCED)));
        thread::sleep(Duration::from_millis(20));
        drop(gate);
        releases.join().expect("no panic").expect("its turn came");
        assert!(matches!(waits.join().expect("no panic"), Refusal::Stale));
    });
}

#[test]
fn a_closed_store_makes_handles_stale_and_wakes_who_waits() {
    let world = World::new();
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    thread::scope(|scope| {
        let waits = scope.spawn(|| refusal(session.append([note(1)], SYNCED)));
        thread::sleep(Duration::from_millis(20));
        world.store.close().expect("it closes");
        assert!(matches!(waits.join().expect("no panic"), Refusal::Stale));
    });
    drop(gate);
    assert!(matches!(refusal(session.append([note(1)], SYNCED)), Refusal::Stale));
    assert!(matches!(refusal(world.store.session("s")), Refusal::Stale));
    assert!(world.store.reopen().is_err());
    world.store.close().expect("a second time does nothing");
    assert!(world.vault.is_closed());
}

#[test]
fn two_threads_that_want_the_same_two_gates_end() {
    let world = Arc::new(World::patient(Vault::new(), 100));
    let (one, two) = (world.session("one"), world.session("two"));
    thread::scope(|scope| {
        for (first, second) in [(&one, &two), (&two, &one)] {
            scope.spawn(move || {
                let gate = first.gate().expect("it is free");
                thread::sleep(Duration::from_millis(20));
                let busy = second.append([note(1)], SYNCED);
                drop(gate);
                // At least the one who waited less long gets through.
                if let Err(error) = busy {
                    assert!(matches!(error, AppendError::Refused(Refusal::Busy)));
                }
            });
        }
    });
    one.append([note(2)], SYNCED).expect("all gates are free");
    two.append([note(2)], SYNCED).expect("all gates are free");
}
