//! Logs that are there already: S-177 to S-179; and what cleans up too late: S-064.

use crate::support::{Kind, World, errors, forced};
use async_trait::async_trait;
use gatelog_interaction::approval::{
    Approval, ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService, RawOutcome,
};
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use gatelog_interaction::internal::Site;
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use std::sync::Arc;

const START: (&str, &str) = ("turn/start", r#"{"turn":1}"#);
const END: (&str, &str) = ("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
const ASKED: (&str, &str) = ("approval/asked", r#"{"id":"x","toolName":"t"}"#);
const NO: (&str, &str) = ("approval/decided", r#"{"id":"x","outcome":"rejected"}"#);
const START_2: (&str, &str) = ("turn/start", r#"{"turn":2}"#);
const END_2: (&str, &str) = ("turn/end", r#"{"turn":2,"reason":{"kind":"completed"}}"#);

fn found(drafts: &[(&str, &str)], rules: Rules) -> Vec<String> {
    errors(Kind::Native, &forced(drafts), rules)
}

#[test]
fn s_177_an_orphan_a_second_decision_and_foreign_words_fail_with_their_texts() {
    let cases = [
        (
            vec![START, NO, END],
            "a: approval/decided-without-ask: approval/decided has no matching approval/asked for \
             id \"x\"",
        ),
        (
            vec![START, ASKED, NO, NO, END],
            "a: approval/decided-without-ask: approval/decided has no matching approval/asked for \
             id \"x\"",
        ),
        (
            vec![START, ASKED, ("approval/decided", r#"{"id":"x","outcome":"yes"}"#), END],
            "a: approval/decided-unknown-outcome: approval/decided carries unknown outcome \"yes\"",
        ),
        (
            vec![("approval/policy", r#"{"policy":"sometimes"}"#)],
            "a: policy/unknown-policy: approval/policy carries unknown policy \"sometimes\"",
        ),
    ];
    for (drafts, text) in cases {
        assert_eq!(found(&drafts, Rules::Host), [text]);
        assert!(!found(&drafts, Rules::Strict).is_empty());
    }
}

#[test]
fn s_178_the_id_of_a_closed_ask_used_again_is_refused_by_strict_and_accepted_by_the_host() {
    let log = [START, ASKED, NO, ASKED, NO, END];
    assert_eq!(found(&log, Rules::Host), Vec::<String>::new());
    let strict = found(&log, Rules::Strict);
    assert!(strict.iter().any(|it| it.contains("approval/repeated-id")), "{strict:?}");
}

#[test]
fn s_179_a_decision_in_the_next_turn_is_refused_by_strict_and_accepted_by_the_host() {
    let log = [START, ASKED, END, START_2, NO, END_2];
    assert_eq!(found(&log, Rules::Host), Vec::<String>::new());
    let strict = found(&log, Rules::Strict);
    assert!(strict.iter().any(|it| it.contains("approval/decided-in-later-turn")), "{strict:?}");
}

/// Allows, and leaves something to clean up that fails.
struct Messy(bool);

#[async_trait]
impl Listener<Approval> for Messy {
    async fn call(
        &self,
        _: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let panics = self.0;
        next.cleanup(move || {
            assert!(!panics, "a test's cleanup");
            Err("the file would not go".into())
        });
        Ok(ApprovalOutcome::AllowedOnce.into())
    }
}

#[tokio::test]
async fn s_064_a_cleanup_that_fails_is_reported_and_changes_no_outcome() {
    for panics in [false, true] {
        let world = World::new();
        let live = world.in_turn("a");
        let service = ApprovalService::new(&world.plane, None);
        let registrar = service.registrar(Authority::Root);
        let _guard = registrar.global(Place::Last, Messy(panics)).expect("root may");
        let outcome = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
        assert_eq!(outcome.expect("decided"), ApprovalOutcome::AllowedOnce);
        world.plane.drained().await;
        let told = world.sink.at(Site::Cleanup);
        assert_eq!(told.len(), 1, "{told:?}");
        crate::support::end_turn(live.agent().session(), 1);
        super::sound(&world);
    }
}
