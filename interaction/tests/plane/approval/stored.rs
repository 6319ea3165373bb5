//! Pairs in a log that is there already: AA-20, AA-22 to AA-25.

use super::{Stage, append};
use crate::support::{Faults, Kind, errors, forced, open, start_turn, turn_end};
use gatelog_engine::backend::Durability;
use gatelog_interaction::agent::{Agent, Agents, NoticeQueue};
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService,
};
use gatelog_interaction::plane::Plane;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Scope;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::sync::Arc;

const START: (&str, &str) = ("turn/start", r#"{"turn":1}"#);
const ASKED: (&str, &str) = ("approval/asked", r#"{"id":"x","toolName":"t"}"#);
const ORPHAN: (&str, &str) = ("approval/decided", r#"{"id":"y","outcome":"rejected"}"#);

#[tokio::test]
async fn aa_20_a_stored_log_is_judged_by_the_rules_of_the_gate() {
    let stage = Stage::new();
    assert!(append(stage.session(), ORPHAN.0, ORPHAN.1).is_err(), "live");
    let cold = errors(Kind::Native, &forced(&[START, ORPHAN]), Rules::Host);
    let [only] = cold.as_slice() else { panic!("one error: {cold:?}") };
    let text = r#"approval/decided has no matching approval/asked for id "y""#;
    assert_eq!(*only, format!("a: approval/decided-without-ask: {text}"));
}

#[tokio::test]
async fn aa_22_a_question_that_was_open_before_can_be_decided_after() {
    // The host's rules, so that the resumed log is as it was left.
    let sim = forced(&[START, ASKED, ("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#)]);
    let store = open(Kind::Native, &sim, Standard::new(Rules::Host), &Faults::default());
    let session = store.session("a").expect("it is sound to the host");
    start_turn(&session, 2);
    append(&session, "approval/decided", r#"{"id":"x","outcome":"rejected"}"#)
        .expect("it is still open");
    let again = append(&session, "approval/decided", r#"{"id":"x","outcome":"rejected"}"#);
    assert!(again.is_err(), "and no longer");
}

#[tokio::test]
async fn aa_23_a_stored_log_that_breaks_a_rule_is_found_and_the_rule_is_not_broken_again() {
    let sim = forced(&[START, ORPHAN]);
    let store = open(Kind::Native, &sim, Standard::new(Rules::Strict), &Faults::default());
    let found = errors(Kind::Native, &sim, Rules::Strict);
    assert!(found.iter().any(|found| found.contains("approval/decided-without-ask")), "{found:?}");
    // What is there stays readable, and the rule that it breaks is not broken again.
    let session = store.session("a").expect("opening reads what is there");
    assert!(append(&session, ORPHAN.0, ORPHAN.1).is_err());
}

#[tokio::test]
async fn aa_24_a_question_without_a_decision_at_a_turns_end_or_the_logs_is_found_both_ways() {
    let stage = Stage::new();
    append(stage.session(), ASKED.0, ASKED.1).expect("lawful");
    let live = stage.session().append([turn_end(1)], Durability::Synced);
    assert!(live.is_err(), "live");
    let end = ("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
    let of = |drafts: &[(&str, &str)]| errors(Kind::Native, &forced(drafts), Rules::Strict);
    let cold = of(&[START, ASKED, end]);
    assert!(cold.iter().any(|it| it.contains("approval/undecided-at-turn-end")), "{cold:?}");
    let tail = of(&[START, ASKED]);
    assert!(tail.iter().any(|it| it.contains("approval/undecided-at-end")), "{tail:?}");
}

#[tokio::test]
async fn aa_25_a_log_that_the_host_left_open_is_continued_and_closed_by_us() {
    let sim = forced(&[START, ASKED]);
    let store = open(Kind::Native, &sim, Standard::new(Rules::Strict), &Faults::default());
    let session = store.session("a").expect("it is recovered");
    let mut kinds = Vec::new();
    let read = session.read(0, &mut |event| {
        kinds.push(event.kind.to_owned());
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert_eq!(kinds, ["turn/start", "approval/asked", "approval/decided", "turn/end"]);
    // The host itself would not have decided it.
    let sim = forced(&[START, ASKED]);
    let store = open(Kind::Native, &sim, Standard::new(Rules::Host), &Faults::default());
    let session = store.session("a").expect("it is recovered");
    let mut decided = 0;
    let read = session.read(0, &mut |event| {
        decided += usize::from(event.kind == "approval/decided");
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert_eq!(decided, 0);
}

#[tokio::test]
async fn an_ask_goes_through_on_a_session_that_was_recovered() {
    let sim = forced(&[START, ASKED]);
    let store = open(Kind::Native, &sim, Standard::new(Rules::Strict), &Faults::default());
    let session = store.session("a").expect("it is recovered");
    start_turn(&session, 2);
    let agents = Agents::new();
    let plane = Plane::new(tokio::runtime::Handle::current(), Profile::STRICT)
        .with_agents(Arc::new(agents.clone()));
    let agent = Agent::new("a", session, Scope::new("a"), Arc::new(NoticeQueue::default()));
    let live = agents.enter(agent, None);
    let service = ApprovalService::new(&plane, None);
    let outcome = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Unavailable);
}
