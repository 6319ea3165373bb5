//! What a signal promises.

use crate::cancel::{Cancel, Reason};
use crate::explore::{exhaust, explore};
use crate::sync::{Arc, Mutex, lock};
use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use shuttle::thread;

fn counted(cancel: &Cancel) -> (Arc<AtomicU32>, crate::cancel::Subscription) {
    let heard = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&heard);
    let subscription = cancel.subscribe(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    (heard, subscription)
}

fn each_subscriber_hears_once() {
    let cancel = Cancel::new();
    let (before, kept) = counted(&cancel);
    let givers = ["one", "other"].map(|why| {
        let cancel = cancel.clone();
        thread::spawn(move || cancel.cancel_because(Reason::message(why)))
    });
    let (meanwhile, late) = counted(&cancel);
    for giver in givers {
        giver.join().expect("it does not panic");
    }
    for heard in [before, meanwhile] {
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    }
    assert_eq!(cancel.subscriptions(), 0);
    drop((kept, late));
}

#[test]
fn each_subscriber_hears_it_once() {
    explore(each_subscriber_hears_once);
}

fn what_went_before_never_hears() {
    let cancel = Cancel::new();
    let (heard, subscription) = counted(&cancel);
    let gone = Arc::new(AtomicBool::new(false));
    let (giver, seen) = (cancel.clone(), Arc::clone(&gone));
    let giver = thread::spawn(move || {
        let was_gone = seen.load(Ordering::SeqCst);
        giver.cancel();
        was_gone
    });
    drop(subscription);
    gone.store(true, Ordering::SeqCst);
    let was_gone = giver.join().expect("it does not panic");
    let heard = heard.load(Ordering::SeqCst);
    assert!(heard == 0 || heard == 1 && !was_gone, "{heard}, {was_gone}");
    assert_eq!(cancel.subscriptions(), 0);
}

#[test]
fn what_was_dropped_before_never_hears_it_under_all_schedules() {
    exhaust(what_went_before_never_hears);
}

fn the_first_reason_stays() {
    let cancel = Cancel::new();
    let told = Arc::new(Mutex::new(None));
    let (hearer, seen) = (cancel.clone(), Arc::clone(&told));
    let subscription = cancel.subscribe(move || {
        *lock(&seen) = hearer.reason().map(|reason| reason.to_string());
    });
    let givers = ["one", "other"].map(|why| {
        let cancel = cancel.clone();
        thread::spawn(move || {
            cancel.cancel_because(Reason::message(why));
            cancel.reason().map(|reason| reason.to_string())
        })
    });
    let seen = givers.map(|giver| giver.join().expect("it does not panic"));
    assert!(seen[0].is_some() && seen[0] == seen[1], "{seen:?}");
    assert_eq!(*lock(&told), seen[0]);
    drop(subscription);
}

#[test]
fn the_first_reason_stays_whoever_gives_it() {
    explore(the_first_reason_stays);
}

fn who_waits_is_woken() {
    let cancel = Cancel::new();
    let waiters = [(); 2].map(|()| {
        let cancel = cancel.clone();
        thread::spawn(move || block_on(cancel.cancelled()))
    });
    cancel.cancel();
    for waiter in waiters {
        waiter.join().expect("it does not panic");
    }
    assert_eq!(cancel.subscriptions(), 0);
}

#[test]
fn who_waits_is_woken_under_many_schedules() {
    explore(who_waits_is_woken);
}
