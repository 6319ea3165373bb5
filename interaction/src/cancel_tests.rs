//! What a signal promises. Beside its file, which the model tests compile against other locks.

use crate::cancel::{Cancel, Reason};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn the_first_reason_stays_and_each_subscriber_hears_it_once() {
    let cancel = Cancel::new();
    let heard = Arc::new(AtomicU32::new(0));
    let add = |by: u32| {
        let heard = Arc::clone(&heard);
        move || {
            heard.fetch_add(by, Ordering::SeqCst);
        }
    };
    let kept = cancel.subscribe(add(1));
    drop(cancel.subscribe(add(10)));
    let broken = cancel.subscribe(|| panic!("a subscriber of a test"));
    let behind = cancel.subscribe(add(100));
    assert_eq!(cancel.subscriptions(), 3);
    cancel.cancel_because(Reason::message("enough"));
    cancel.cancel_because(Reason::message("more than enough"));
    assert_eq!(heard.load(Ordering::SeqCst), 101);
    assert_eq!(cancel.reason().map(|reason| reason.to_string()).as_deref(), Some("enough"));
    let late = cancel.subscribe(add(1_000));
    assert_eq!(heard.load(Ordering::SeqCst), 1_101);
    drop((kept, broken, behind, late));
}

#[test]
fn a_subscriber_that_goes_while_another_is_called_is_not_called() {
    let cancel = Cancel::new();
    let second = Arc::new(Mutex::new(None));
    let taken = Arc::clone(&second);
    let _first = cancel.subscribe(move || drop(taken.lock().expect("sound").take()));
    let heard = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&heard);
    let subscription = cancel.subscribe(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    *second.lock().expect("sound") = Some(subscription);
    cancel.cancel();
    assert_eq!(heard.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_wait_that_is_dropped_leaves_no_subscription() {
    let cancel = Cancel::new();
    let waited = tokio::time::timeout(std::time::Duration::from_millis(1), cancel.cancelled());
    assert!(waited.await.is_err());
    assert_eq!(cancel.subscriptions(), 0);
    let giver = cancel.clone();
    tokio::spawn(async move { giver.cancel() });
    cancel.cancelled().await;
}
