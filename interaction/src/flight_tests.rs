//! What the core promises. Beside its file, which the model tests compile against other locks.

use crate::cancel::Cancel;
use crate::flight::{Ending, Entered, Entry, Flight};
use std::sync::Arc;

#[tokio::test]
async fn an_answer_beside_a_cancellation_is_a_cancellation() {
    let cancel = Cancel::new();
    let flight = Flight::new(Some(cancel.clone()));
    cancel.cancel();
    assert!(flight.answer(7));
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
