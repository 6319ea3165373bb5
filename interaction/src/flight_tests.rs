//! What the core promises. Beside its file, which the model tests compile against other locks.

use crate::cancel::Cancel;
use crate::flight::{Ending, Entered, Entry, Flight};
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[tokio::test]
async fn an_answer_beside_a_cancellation_is_a_cancellation() {
    let cancel = Cancel::new();
    let flight = Flight::new(Some(cancel.clone()));
    cancel.cancel();
    assert!(!flight.answer(7), "the answer does not stand");
    assert_eq!(flight.ending().await, Ending::Cancelled);
}

#[tokio::test]
async fn the_first_ending_stands() {
    let flight = Flight::new(None);
    assert!(flight.answer(7));
    assert!(!flight.cancel());
    assert!(!flight.close());
    assert!(!flight.answer(8));
    assert_eq!(flight.ending().await, Ending::Answered(7));
}

#[tokio::test]
async fn a_withdrawal_ends_what_was_entered_and_nothing_else() {
    let entry = Arc::new(Entry::default());
    let (entered, left) = (Flight::<u8>::new(None), Flight::<u8>::new(None));
    let Entered::Claimed(_claim) = entry.enter(&entered) else { panic!("it can be entered") };
    let Entered::Claimed(claim) = entry.enter(&left) else { panic!("it can be entered") };
    drop(claim);
    assert_eq!(entry.withdraw(), 1);
    assert!(!left.is_settled());
    assert_eq!(entered.ending().await, Ending::Withdrawn);
    assert!(matches!(entry.enter(&left), Entered::Gone));
}

#[test]
fn nobody_is_entered_behind_an_ending() {
    let entry = Arc::new(Entry::default());
    let flight = Flight::<u8>::new(None);
    flight.close();
    assert!(matches!(entry.enter(&flight), Entered::Void));
}

#[tokio::test]
async fn a_withdrawal_behind_the_signal_is_a_cancellation() {
    let cancel = Cancel::new();
    let (flight, entry) = (Flight::<u8>::new(Some(cancel.clone())), Arc::new(Entry::default()));
    let Entered::Claimed(_claim) = entry.enter(&flight) else { panic!("it can be entered") };
    cancel.cancel();
    assert_eq!(entry.withdraw(), 0, "nothing ended by it");
    assert_eq!(flight.ending().await, Ending::Cancelled);
}

/// An answer whose destructor looks at the request.
struct Curious(Arc<Flight<Curious>>, mpsc::Sender<bool>);

impl Drop for Curious {
    fn drop(&mut self) {
        // The test may be over by then; nobody hears it.
        let _ = self.1.send(self.0.is_settled());
    }
}

#[test]
fn what_came_too_late_is_dropped_with_no_lock_held() {
    let cancel = Cancel::new();
    let flight = Flight::new(Some(cancel.clone()));
    cancel.cancel();
    let (told, heard) = mpsc::channel();
    for _ in 0..2 {
        let (flight, told) = (Arc::clone(&flight), told.clone());
        std::thread::spawn(move || flight.answer(Curious(flight.clone(), told)));
        let settled = heard.recv_timeout(Duration::from_secs(10));
        assert_eq!(settled, Ok(true), "the destructor waits for a lock");
    }
}
