//! Appends, observers and rules that fail: S-080 to S-085, S-191.

use super::{Stage, append, count};
use crate::support::{Kind, World, end_turn, turn_end};
use gatelog_engine::backend::{AppendError, Durability, Refusal, Stored};
use gatelog_engine::companion::{Companion, End, Listens, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::store::Observer;
use gatelog_interaction::approval::{ApprovalError, ApprovalOutcome, ApprovalPort};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::internal::Site;
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

fn is_not_written(error: &ApprovalError) -> bool {
    matches!(error, ApprovalError::Append(AppendError::NotWritten(_)))
}

#[tokio::test]
async fn s_080_a_question_that_is_not_written_fails_and_the_next_ask_works() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let (_guard, asked) = stage.always(GRANTED);
        stage.world.faults.fail("approval/asked");
        let error = stage.ask().await.expect_err("it is not written");
        assert!(is_not_written(&error), "{error}");
        assert_eq!((count(&asked), stage.audit(), stage.service.pending()), (0, vec![], 0));
        assert_eq!(stage.ask().await.expect("decided"), GRANTED);
        assert_eq!(stage.pairs(), (vec![GRANTED], 0));
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_081_a_grant_that_is_not_written_is_not_returned() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let (_guard, _) = stage.always(GRANTED);
        stage.world.faults.fail("approval/decided");
        let error = stage.ask().await.expect_err("it is not written");
        assert!(is_not_written(&error), "{error}");
        let last = stage.world.events("a").pop().expect("there are events");
        assert_eq!(last.kind, "approval/asked", "and nothing is forged");
        assert_eq!(stage.service.pending(), 0);
    }
}

#[tokio::test]
async fn s_082_a_cancellation_that_is_not_written_is_an_error_and_nothing_is_forged() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let cancel = Cancel::new();
        cancel.cancel();
        stage.world.faults.fail("approval/decided");
        let error = stage.service.request(stage.wish().until(cancel)).await;
        assert!(is_not_written(&error.expect_err("it is not written")));
        assert_eq!(stage.pairs(), (vec![], 1));
    }
}

#[tokio::test]
async fn s_191_draining_settles_an_ask_whose_request_has_failed() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let (_guard, _) = stage.always(GRANTED);
        stage.world.faults.fail_after("approval/decided", 0, 2);
        assert!(stage.ask().await.is_err());
        // The drain fails as well, and the turn cannot end; both can be tried again.
        let failed = stage.service.drain_turn(stage.session()).await;
        assert!(matches!(failed, Err(AppendError::NotWritten(_))), "{failed:?}");
        let ended = stage.session().append([turn_end(1)], Durability::Synced);
        assert!(matches!(ended, Err(AppendError::Refused(Refusal::Violation(_)))), "{ended:?}");
        assert_eq!(stage.service.drain_turn(stage.session()).await.expect("written"), 1);
        assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
        assert_eq!(stage.service.drain_turn(stage.session()).await.expect("nothing is open"), 0);
        stage.is_sound();
    }
}

/// Panics at events of a type.
struct Panics(&'static str);

impl Observer for Panics {
    fn committed(&self, _: &str, event: &Stored<'_>) {
        assert!(event.kind != self.0, "an observer of a test");
    }

    fn rewound(&self, _: &str, _: u64) {}
}

async fn outlives_an_observer_of(kind: &'static str) {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    stage.world.plane.observe(stage.session(), Arc::new(Panics(kind)));
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    assert_eq!(stage.pairs(), (vec![GRANTED], 0));
    let told = stage.world.sink.at(Site::Observer);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].session.as_deref(), Some("a"));
    stage.is_sound();
}

#[tokio::test]
async fn s_083_an_observer_of_the_question_that_panics_is_reported_and_the_pair_completes() {
    outlives_an_observer_of("approval/asked").await;
}

#[tokio::test]
async fn s_084_an_observer_of_the_decision_that_panics_changes_no_outcome() {
    outlives_an_observer_of("approval/decided").await;
}

/// Speaks against questions about one tool, after every other rule has spoken.
#[derive(Clone)]
struct NoRockets;

impl Companion for NoRockets {
    fn name(&self) -> &'static str {
        "no-rockets"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["approval/asked"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if event.field("toolName").is_some_and(|name| name.is_str("rocket")) {
            return Err(Violation::new("acme/no-rockets", "no rockets here"));
        }
        Ok(())
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[tokio::test]
async fn s_085_what_a_later_rule_vetoes_is_open_in_no_earlier_one() {
    let standard = Standard::new(Rules::Strict).with_companion(|_| Box::new(NoRockets));
    let world = World::with(Kind::Native, standard, Rules::Strict, Profile::STRICT);
    let stage = Stage::at(world, None);
    let (_guard, _) = stage.always(GRANTED);
    let id = r#"{"id":"mine","toolName":"rocket"}"#;
    assert!(append(stage.session(), "approval/asked", id).is_err());
    let wish = gatelog_interaction::approval::ApprovalRequest::new(stage.agent(), "rocket");
    let error = stage.service.request(wish).await.expect_err("vetoed");
    let text = error.to_string();
    assert!(text.contains("acme/no-rockets"), "{text}");
    // The vetoed ids are free, and nothing is open: an ask goes through and the turn ends.
    let same = r#"{"id":"mine","toolName":"shell"}"#;
    append(stage.session(), "approval/asked", same).expect("the id was never used");
    append(stage.session(), "approval/decided", r#"{"id":"mine","outcome":"rejected"}"#)
        .expect("it is open");
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    end_turn(stage.session(), 1);
    assert_eq!(stage.world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn a_drain_counts_what_it_settled_and_nothing_twice() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let _held = script.called().await;
    // Its own decision fails, so that the drain has to make another.
    stage.world.faults.fail("approval/decided");
    assert_eq!(stage.service.drain_turn(stage.session()).await.expect("written"), 1);
    assert!(asking.await.expect("no panic").is_err());
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_never_decides_for_a_request_that_comes_meanwhile() {
    for _ in 0..200 {
        let stage = Stage::new();
        let (_guard, _) = stage.always(GRANTED);
        let asking: Vec<_> = (0..3).map(|_| stage.asking(stage.wish())).collect();
        stage.service.drain_turn(stage.session()).await.expect("written");
        for asking in asking {
            let _ = asking.await.expect("no panic").expect("each has a decision of its own");
        }
        assert_eq!(stage.pairs().1, 0);
    }
}
