//! S-001 to S-013.

use super::{Stage, count};
use crate::support::World;
use gatelog_engine::backend::Stored;
use gatelog_engine::store::Observer;
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalPolicy, ApprovalPort, KnobSource};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::ListenerError;
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

#[tokio::test]
async fn s_001_an_allowed_ask_is_a_pair_in_the_log() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    assert_eq!(stage.ask().await.expect("it is decided"), GRANTED);
    let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["turn/start", "approval/asked", "approval/decided"]);
    assert_eq!(stage.pairs(), (vec![GRANTED], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_002_without_a_listener_it_is_unavailable() {
    let stage = Stage::new();
    assert_eq!(stage.ask().await.expect("it is decided"), ApprovalOutcome::Unavailable);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Unavailable], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_003_what_is_not_given_is_not_in_the_question() {
    let stage = Stage::new();
    let _ = stage.ask().await;
    let (kind, data) = &stage.audit()[0];
    assert_eq!(kind, "approval/asked");
    let keys: Vec<_> = data.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(keys, ["id", "toolName"]);
}

#[tokio::test]
async fn s_004_two_equal_asks_have_two_ids_and_enter_the_listener_twice() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    for _ in 0..2 {
        assert_eq!(stage.ask().await.expect("it is decided"), GRANTED);
    }
    assert_eq!(count(&asked), 2);
    let audit = stage.audit();
    assert_ne!(audit[0].1["id"], audit[2].1["id"]);
    stage.is_sound();
}

#[tokio::test]
async fn s_005_the_listener_sees_the_agent_the_call_and_the_reason() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish().for_call("c1").because("it writes"));
    let called = script.called().await;
    let request = called.ask.request();
    assert_eq!(request.agent(), stage.agent());
    assert_eq!((request.call_id(), request.reason()), (Some("c1"), Some("it writes")));
    assert_eq!(request.tool_name(), "shell");
    // All that it shows; there is no place for arguments.
    let shown = format!("{request:?}");
    assert!(!shown.contains("arg"), "{shown}");
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("it is decided"), GRANTED);
    stage.is_sound();
}

#[tokio::test]
async fn s_006_a_signal_given_before_asks_nobody_and_is_a_pair() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = stage.service.request(stage.wish().until(cancel)).await;
    assert_eq!(outcome.expect("it is decided"), ApprovalOutcome::Cancelled);
    assert_eq!(count(&asked), 0);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_007_a_signal_given_before_is_heard_before_never() {
    let stage = Stage::new();
    let set =
        stage.service.set_session_policy(stage.session(), ApprovalPolicy::Never, KnobSource::User);
    set.await.expect("the log takes it");
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = stage.service.request(stage.wish().until(cancel)).await;
    assert_eq!(outcome.expect("it is decided"), ApprovalOutcome::Cancelled);
    stage.is_sound();
}

#[tokio::test]
async fn s_008_the_caller_does_not_wait_for_a_listener_that_ignores_its_signal() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let _held = script.called().await;
    cancel.cancel();
    let outcome = asking.await.expect("no panic").expect("it is decided");
    assert_eq!(outcome, ApprovalOutcome::Cancelled);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_009_a_late_answer_changes_nothing() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let held = script.called().await;
    cancel.cancel();
    let outcome = asking.await.expect("no panic").expect("it is decided");
    let before = stage.world.events("a");
    held.reply(Ok(GRANTED.into()));
    stage.world.plane.drained().await;
    assert_eq!(stage.world.events("a"), before);
    assert_eq!(outcome, ApprovalOutcome::Cancelled);
    stage.is_sound();
}

#[tokio::test]
async fn s_010_a_late_failure_surfaces_nowhere() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let held = script.called().await;
    cancel.cancel();
    let outcome = asking.await.expect("no panic").expect("it is decided");
    assert_eq!(outcome, ApprovalOutcome::Cancelled);
    held.reply(Err(ListenerError::failed("too late")));
    stage.world.plane.drained().await;
    assert!(stage.world.sink.all().len() <= 1, "{:?}", stage.world.sink.all());
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

#[tokio::test]
async fn s_011_a_listener_may_itself_say_cancelled() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(ApprovalOutcome::Cancelled);
    let outcome = stage.service.request(stage.wish().until(Cancel::new())).await;
    assert_eq!(outcome.expect("it is decided"), ApprovalOutcome::Cancelled);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
    stage.is_sound();
}

/// Gives a signal when it is told of a question.
struct Canceller(Cancel);

impl Observer for Canceller {
    fn committed(&self, _: &str, event: &Stored<'_>) {
        if event.kind == "approval/asked" {
            self.0.cancel();
        }
    }

    fn rewound(&self, _: &str, _: u64) {}
}

#[tokio::test]
async fn s_012_an_observer_of_the_question_that_cancels_is_heard_before_anything() {
    for policy in ApprovalPolicy::ALL {
        let stage = Stage::at(World::new(), Some(policy));
        let (_guard, asked) = stage.always(GRANTED);
        let cancel = Cancel::new();
        stage.session().observe(Arc::new(Canceller(cancel.clone())));
        let outcome = stage.service.request(stage.wish().until(cancel)).await;
        assert_eq!(outcome.expect("it is decided"), ApprovalOutcome::Cancelled, "{policy}");
        assert_eq!(count(&asked), 0);
        assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_013_settled_asks_leave_no_subscription_on_a_signal_that_lives_long() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    let cancel = Cancel::new();
    let many = 10_000;
    for n in 0..many {
        // One turn for every two hundred, so that the open state of the log stays small.
        if n > 0 && n % 200 == 0 {
            let turn = n / 200;
            crate::support::end_turn(stage.session(), turn);
            crate::support::start_turn(stage.session(), turn + 1);
        }
        let outcome = stage.service.request(stage.wish().until(cancel.clone())).await;
        assert_eq!(outcome.expect("it is decided"), GRANTED);
    }
    assert_eq!(count(&asked), 10_000);
    assert_eq!(cancel.subscriptions(), 0);
}
