//! Appends as futures: nothing waits inside `poll`, and a dropped future loses only its receipt.

use crate::toy::{Door, Notes, SYNCED, World, draft, note, numbers, refusal};
use crate::vault::{Failure, Vault};
use gatelog_engine::backend::{AppendError, Refusal, Stored};
use gatelog_engine::store::{Observer, Session};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().expect("it is built")
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits until a session has so many numbers in its log.
fn await_numbers(session: &Session, count: usize) -> Vec<u64> {
    for _ in 0..2_000 {
        if numbers(session).len() >= count {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    numbers(session)
}

#[test]
fn a_sync_that_is_held_back_keeps_no_timer_from_ticking() {
    let world = World::new();
    let session = world.session("s");
    world.vault.hold_back(true);
    let ticks = runtime().block_on(async {
        let mut ticks = 0;
        let append = session.append_async([note(1)], SYNCED);
        tokio::pin!(append);
        let mut timer = tokio::time::interval(Duration::from_millis(1));
        loop {
            tokio::select! {
                commit = &mut append => {
                    assert_eq!(commit.expect("it reached its class").first_seq, 0);
                    return ticks;
                }
                _ = timer.tick() => {
                    ticks += 1;
                    if ticks == 10 {
                        world.vault.hold_back(false);
                    }
                }
            }
        }
    });
    assert!(ticks >= 10, "the sync was let go at the tenth tick");
}

#[test]
fn a_future_that_is_dropped_loses_only_its_receipt() {
    let world = World::new();
    let session = world.session("s");
    drop(session.append_async([note(9)], SYNCED));
    world.vault.hold_back(true);
    let mut append = Box::pin(session.append_async([note(1)], SYNCED));
    assert!(poll_once(append.as_mut()).is_pending());
    world.vault.await_held(1);
    let mut next = Box::pin(session.append_async([note(2)], SYNCED));
    assert!(poll_once(next.as_mut()).is_pending());
    drop((append, next));
    world.vault.hold_back(false);
    assert_eq!(await_numbers(&session, 2), [1, 2], "one that was never polled did nothing");
    session.append([note(3)], SYNCED).expect("the gate is free again");
}

#[test]
fn futures_stand_in_line_from_their_first_poll() {
    let world = World::new();
    let session = world.session("s");
    world.vault.hold_back(true);
    let mut appends: Vec<_> =
        (0..8).map(|n| Box::pin(session.append_async([note(n)], SYNCED))).collect();
    for n in [3, 0, 7, 1, 2, 6, 5, 4] {
        assert!(poll_once(appends[n].as_mut()).is_pending());
    }
    world.vault.hold_back(false);
    for append in appends {
        runtime().block_on(append).expect("it is lawful");
    }
    assert_eq!(numbers(&session), [3, 0, 7, 1, 2, 6, 5, 4]);
}

#[test]
fn a_hundred_futures_of_ten_sessions_are_all_carried_through() {
    let world = World::new();
    let sessions: Vec<_> = (0..10).map(|n| world.session(&format!("s{n}"))).collect();
    world.vault.hold_back(true);
    runtime().block_on(async {
        let mut appends = Vec::new();
        for n in 0..100_u64 {
            let session = &sessions[n as usize % 10];
            let mut append = Box::pin(session.append_async([note(n), note(n)], SYNCED));
            if let Poll::Ready(ready) = poll_once(append.as_mut()) {
                panic!("nothing is written inside poll, and yet {ready:?}");
            }
            appends.push(append);
        }
        world.vault.await_held(10);
        world.vault.hold_back(false);
        for append in appends {
            append.await.expect("it is lawful");
        }
    });
    for (n, session) in (0..).zip(&sessions) {
        let expected: Vec<_> = (0..20).map(|at| n + at / 2 * 10).collect();
        assert_eq!(numbers(session), expected);
    }
}

#[test]
fn outcomes_come_through_futures_too() {
    let world = World::new();
    let session = world.session("s");
    let runtime = runtime();
    let refused = refusal(runtime.block_on(session.append_async([draft("close")], SYNCED)));
    assert!(matches!(refused, Refusal::Violation(_)));
    world.levers.admits.set(1, 1);
    let refused = refusal(runtime.block_on(session.append_async([draft("open")], SYNCED)));
    assert!(matches!(refused, Refusal::Internal { .. }));
    world.vault.fail(0, Failure::NotWritten);
    let outcome = runtime.block_on(session.append_async([draft("open")], SYNCED));
    assert!(matches!(outcome, Err(AppendError::NotWritten(_))), "{outcome:?}");
    let key = [5; 16];
    let open = || session.append_expecting_async(0, key, [draft("open")], SYNCED);
    let first = runtime.block_on(open()).expect("it is lawful");
    assert_eq!(runtime.block_on(open()).expect("it was made before"), first);
    let again = session.append_keyed_async(key, [draft("open")], SYNCED);
    assert_eq!(runtime.block_on(again).expect("it was made before"), first);
    world.vault.fail(0, Failure::Panic);
    let outcome = runtime.block_on(session.append_async([draft("close")], SYNCED));
    assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
    runtime.block_on(session.append_async([draft("close")], SYNCED)).expect("the gate is free");
    world.vault.fail(0, Failure::Unknown { survives: true });
    let outcome = runtime.block_on(session.append_async([note(1)], SYNCED));
    assert!(matches!(outcome, Err(AppendError::Unknown(_))), "{outcome:?}");
    let refused = refusal(runtime.block_on(session.append_async([note(1)], SYNCED)));
    assert!(matches!(refused, Refusal::Poisoned));
}

#[test]
fn a_future_behind_a_leaked_gate_is_busy_in_the_end() {
    let world = World::patient(Vault::new(), 80);
    let session = world.session("s");
    let gate = session.gate().expect("it is free");
    let refused = refusal(runtime().block_on(session.append_async([note(1)], SYNCED)));
    assert!(matches!(refused, Refusal::Reentrant), "the holder's thread would wait for itself");
    std::thread::spawn(move || std::mem::forget(gate)).join().expect("no panic");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let refused = refusal(runtime().block_on(session.append_async([note(1)], SYNCED)));
            assert!(matches!(refused, Refusal::Busy));
        });
    });
}

#[test]
fn a_future_in_line_is_told_when_the_store_is_reopened_or_closed() {
    let world = World::new();
    let session = world.session("s");
    let wait = |session: &Session, ends: &dyn Fn()| {
        let gate = session.gate().expect("it is free");
        std::thread::scope(|scope| {
            let waits = scope
                .spawn(|| refusal(runtime().block_on(session.append_async([note(1)], SYNCED))));
            std::thread::sleep(Duration::from_millis(30));
            ends();
            let refused = waits.join().expect("no panic");
            drop(gate);
            refused
        })
    };
    let refused = wait(&session, &|| world.store.reopen().expect("it opens"));
    assert!(matches!(refused, Refusal::Poisoned), "{refused:?}");
    let session = world.store.session("s").expect("it is there");
    let refused = wait(&session, &|| world.store.close().expect("it closes"));
    assert!(matches!(refused, Refusal::Stale), "{refused:?}");
}

struct Blocks(Arc<Door>);

impl Observer for Blocks {
    fn committed(&self, _: &str, _: &Stored<'_>) {
        self.0.pass();
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[test]
fn companions_and_observers_that_block_hold_up_no_future_of_another_session() {
    let world = World::new();
    let door = Arc::new(Door::default());
    let runtime = runtime();
    let mut stuck = Vec::new();
    for n in 0..6 {
        let session = world.session(&format!("stuck{n}"));
        let kind = if n % 2 == 0 { "wait" } else { "open" };
        session.observe(Arc::new(Blocks(Arc::clone(&door))));
        let mut append = Box::pin(session.append_async([draft(kind)], SYNCED));
        assert!(poll_once(append.as_mut()).is_pending());
        stuck.push(append);
    }
    world.levers.door.await_knock();
    door.await_knock();
    for n in 0..50 {
        let session = world.session(&format!("s{n}"));
        runtime.block_on(session.append_async([note(n)], SYNCED)).expect("it is lawful");
    }
    world.levers.door.open();
    door.open();
    for append in stuck {
        runtime.block_on(append).expect("it is lawful");
    }
}

#[test]
fn observers_of_futures_are_told_in_order() {
    let world = World::new();
    let session = world.session("s");
    let notes = Arc::new(Notes::default());
    session.observe(notes.clone());
    world.vault.hold_back(true);
    runtime().block_on(async {
        let mut appends: Vec<_> =
            (0..30).map(|n| Box::pin(session.append_async([note(n)], SYNCED))).collect();
        for append in &mut appends {
            assert!(poll_once(append.as_mut()).is_pending());
        }
        world.vault.hold_back(false);
        for append in appends {
            append.await.expect("it is lawful");
        }
    });
    let expected: Vec<_> = (0..30).map(|seq| format!("s+{seq}")).collect();
    assert_eq!(notes.await_count(30), expected);
}
