//! The exploration finds each fault of a twin, with the promise that it breaks.

use crate::explore::{explore, failure};
use crate::promises;
use crate::twin::{BLIND, DEAF, LATE, SLEEPY, SOUND, TORN, Twin};

#[test]
fn a_sound_twin_keeps_every_promise() {
    explore(promises::one_ending::<Twin<SOUND>>);
    explore(promises::answer_or_withdrawal::<Twin<SOUND>>);
    explore(promises::withdrawal_ends_what_is_held::<Twin<SOUND>>);
    explore(promises::cancellation_wins_a_tie::<Twin<SOUND>>);
    explore(promises::nobody_is_entered_behind_an_ending::<Twin<SOUND>>);
    explore(promises::no_wake_is_lost::<Twin<SOUND>>);
}

#[test]
fn an_ending_in_two_steps_is_caught() {
    let failed = failure(promises::one_ending::<Twin<TORN>>).expect("two endings stand");
    assert!(failed.contains("not the one ending"), "{failed}");
    let failed = failure(promises::answer_or_withdrawal::<Twin<TORN>>);
    assert!(failed.is_some(), "two endings stand");
}

#[test]
fn a_core_that_does_not_look_at_the_signal_is_caught() {
    let failed = failure(promises::cancellation_wins_a_tie::<Twin<DEAF>>).expect("it is deaf");
    assert!(failed.contains("stands behind a cancellation"), "{failed}");
}

#[test]
fn entering_behind_an_ending_is_caught() {
    let failed = failure(promises::nobody_is_entered_behind_an_ending::<Twin<BLIND>>);
    assert!(failed.expect("it is blind").contains("behind an ending"));
}

#[test]
fn a_claim_in_two_steps_is_caught() {
    let failed = failure(promises::withdrawal_ends_what_is_held::<Twin<LATE>>);
    assert!(failed.expect("a claim is missed").contains("missed what is held"));
}

#[test]
fn a_wait_in_two_steps_is_caught() {
    let failed = failure(promises::no_wake_is_lost::<Twin<SLEEPY>>).expect("a wake is lost");
    assert!(failed.contains("deadlock"), "{failed}");
}
