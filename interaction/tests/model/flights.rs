//! The promises, asked of the real core.

use crate::core::Real;
use crate::explore::{exhaust, explore};
use crate::promises;

#[test]
fn a_request_has_one_ending_and_it_is_the_winners() {
    explore(promises::one_ending::<Real>);
}

#[test]
fn an_answer_beside_a_withdrawal_is_never_a_cancellation() {
    explore(promises::answer_or_withdrawal::<Real>);
}

#[test]
fn a_withdrawal_ends_what_is_held_under_all_schedules() {
    exhaust(promises::withdrawal_ends_what_is_held::<Real>);
}

#[test]
fn cancellation_wins_a_tie() {
    explore(promises::cancellation_wins_a_tie::<Real>);
}

#[test]
fn nobody_is_entered_behind_an_ending() {
    explore(promises::nobody_is_entered_behind_an_ending::<Real>);
}

#[test]
fn no_wake_is_lost_under_all_schedules() {
    exhaust(promises::no_wake_is_lost::<Real>);
}
