//! The pair in the log, and what becomes of it when something fails: AA-01 to AA-11, AA-26, AA-27.

use super::{Stage, append, count};
use crate::support::Kind;
use gatelog_engine::backend::{AppendError, Durability, Refusal, Stored};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Observer, Session};
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalPort};
use gatelog_interaction::cancel::Cancel;
use serde_json::json;
use std::sync::{Arc, Mutex};

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

#[tokio::test]
async fn aa_01_the_question_has_what_is_given_and_no_null() {
    let stage = Stage::new();
    let _ = stage.service.request(stage.wish().for_call("c").because("r")).await;
    let _ = stage.ask().await;
    let audit = stage.audit();
    let id = audit[0].1["id"].clone();
    let whole = json!({"id": id, "toolName": "shell", "callId": "c", "reason": "r"});
    assert_eq!(audit[0].1, whole);
    let id = audit[2].1["id"].clone();
    assert_eq!(audit[2].1, json!({"id": id, "toolName": "shell"}));
}

#[tokio::test]
async fn aa_02_the_decision_has_the_same_id_and_an_outcome() {
    let stage = Stage::new();
    let _ = stage.ask().await;
    let audit = stage.audit();
    let decided = json!({"id": audit[0].1["id"], "outcome": "unavailable"});
    assert_eq!(audit[1], ("approval/decided".to_owned(), decided));
}

#[tokio::test]
async fn aa_03_both_stand_in_the_log_only() {
    let stage = Stage::new();
    let _ = stage.ask().await;
    let mut placed = Vec::new();
    let read = stage.world.store.read("a", 0, &mut |event| {
        placed.push((event.kind.to_owned(), event.surface.is_some()));
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert!(placed.iter().all(|(_, on_surface)| !on_surface), "{placed:?}");
}

#[tokio::test]
async fn aa_04_each_question_has_one_decision_whatever_it_is() {
    let stage = Stage::new();
    for outcome in ApprovalOutcome::ALL {
        let (_guard, _) = stage.always(outcome);
        assert_eq!(stage.ask().await.expect("decided"), outcome);
    }
    let cancel = Cancel::new();
    cancel.cancel();
    let _ = stage.service.request(stage.wish().until(cancel)).await.expect("decided");
    let all = [&ApprovalOutcome::ALL[..], &[ApprovalOutcome::Cancelled]].concat();
    assert_eq!(stage.pairs(), (all, 0));
    stage.is_sound();
}

#[tokio::test]
async fn aa_05_a_question_that_fails_is_that_error_and_enters_nobody() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    stage.world.faults.fail("approval/asked");
    let error = stage.ask().await.expect_err("it is not written").to_string();
    assert!(error.contains("a test fails the append of approval/asked"), "{error}");
    assert_eq!((count(&asked), stage.audit()), (0, vec![]));
}

#[tokio::test]
async fn aa_06_a_question_that_fails_leaves_nothing_open() {
    let stage = Stage::new();
    stage.world.faults.fail("approval/asked");
    assert!(stage.ask().await.is_err());
    assert_eq!(stage.service.pending(), 0);
    assert_eq!(stage.service.drain_turn(stage.session()).await.expect("nothing to do"), 0);
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Unavailable);
    stage.is_sound();
}

#[tokio::test]
async fn aa_07_a_decision_that_fails_is_that_error_and_no_decision() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    stage.world.faults.fail("approval/decided");
    let error = stage.ask().await.expect_err("it is not written").to_string();
    assert!(error.contains("a test fails the append of approval/decided"), "{error}");
    assert_eq!(count(&asked), 1, "it was decided, and nobody is told");
}

#[tokio::test]
async fn aa_08_nothing_forges_a_decision_until_the_turn_is_drained() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    stage.world.faults.fail("approval/decided");
    assert!(stage.ask().await.is_err());
    assert_eq!(stage.ask().await.expect("another one"), GRANTED);
    assert_eq!(stage.pairs(), (vec![GRANTED], 1), "the first is still open");
    assert_eq!(stage.service.drain_turn(stage.session()).await.expect("written"), 1);
    assert_eq!(stage.pairs(), (vec![GRANTED, ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

/// Panics at events of a type.
struct Panics(&'static str);

impl Observer for Panics {
    fn committed(&self, _: &str, event: &Stored<'_>) {
        assert!(event.kind != self.0, "an observer of a test");
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[tokio::test]
async fn aa_09_an_observer_of_the_question_that_fails_does_not_abort_it() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    stage.session().observe(Arc::new(Panics("approval/asked")));
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    assert_eq!(stage.pairs(), (vec![GRANTED], 0));
}

#[tokio::test]
async fn aa_10_an_observer_of_the_decision_that_fails_changes_nothing() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(ApprovalOutcome::Rejected);
    stage.session().observe(Arc::new(Panics("approval/decided")));
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
}

#[tokio::test]
async fn aa_11_a_decision_in_the_log_is_final() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let (_guard, _) = stage.always(ApprovalOutcome::Rejected);
        let _ = stage.ask().await.expect("decided");
        let id = stage.audit()[0].1["id"].clone();
        let again = json!({"id": id, "outcome": "allowed-once"}).to_string();
        assert!(append(stage.session(), "approval/decided", &again).is_err());
        assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Rejected], 0));
    }
}

/// Appends from inside the news of a commit, and remembers how that ended.
struct Reenters(Session, Arc<Mutex<Vec<String>>>);

impl Observer for Reenters {
    fn committed(&self, _: &str, event: &Stored<'_>) {
        if event.kind == "approval/asked" {
            let draft = Draft::new("plan/mode", r#"{"active":true}"#);
            match self.0.append([draft], Durability::Synced) {
                Err(AppendError::Refused(refusal @ Refusal::Reentrant)) => {
                    self.1.lock().expect("sound").push(refusal.to_string());
                }
                other => panic!("it must be refused: {other:?}"),
            }
        }
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[tokio::test]
async fn aa_26_an_append_from_inside_a_publication_is_refused() {
    let stage = Stage::new();
    let said = Arc::new(Mutex::new(Vec::new()));
    stage.session().observe(Arc::new(Reenters(stage.session().clone(), said.clone())));
    let _ = stage.ask().await.expect("decided");
    let text = "session append cannot reenter while another append is being published";
    assert_eq!(*said.lock().expect("sound"), [text]);
    stage.is_sound();
}

#[tokio::test]
async fn aa_27_a_payload_that_is_no_json_fails_before_the_log_changes() {
    let stage = Stage::new();
    let before = stage.world.events("a");
    for bad in ["{", "", "{\"id\":}", "NaN"] {
        let failed = append(stage.session(), "approval/asked", bad);
        let refused = matches!(failed, Err(AppendError::Refused(Refusal::Malformed { .. })));
        assert!(refused, "{bad:?}: {failed:?}");
    }
    assert_eq!(stage.world.events("a"), before);
}
