//! The vocabulary of approvals and the request: AR-01 to AR-26.

use super::{Stage, append, count};
use crate::support::{World, start_turn};
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::approval::{
    ApprovalError, ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest, ApprovalService,
    DecidedBy, KnobSource,
};
use gatelog_interaction::cancel::{Cancel, Reason};
use gatelog_interaction::chain::ListenerError;
use gatelog_validator::rule::Profile as Rules;
use std::collections::BTreeSet;
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

#[test]
fn ar_01_the_set_of_outcomes_is_closed() {
    let words = ApprovalOutcome::ALL.map(ApprovalOutcome::word);
    assert_eq!(words, ["allowed-once", "rejected", "cancelled", "unavailable"]);
    for outcome in ApprovalOutcome::ALL {
        // A match without a wildcard: a fifth outcome would not compile here.
        let word = match outcome {
            ApprovalOutcome::AllowedOnce => "allowed-once",
            ApprovalOutcome::Rejected => "rejected",
            ApprovalOutcome::Cancelled => "cancelled",
            ApprovalOutcome::Unavailable => "unavailable",
        };
        assert_eq!(ApprovalOutcome::of(word), Some(outcome));
        assert_eq!(serde_json::to_value(outcome).expect("JSON"), word);
    }
    assert_eq!(ApprovalOutcome::of("allowed-always"), None);
}

#[test]
fn ar_02_one_outcome_of_four_grants() {
    let granting: Vec<_> = ApprovalOutcome::ALL.into_iter().filter(|it| it.is_granted()).collect();
    assert_eq!(granting, [GRANTED]);
}

#[tokio::test]
async fn ar_03_a_grant_covers_one_ask_and_is_not_remembered() {
    let stage = Stage::new();
    let (guard, _) = stage.always(GRANTED);
    let same = || stage.wish().for_call("c1").because("again");
    assert_eq!(stage.service.request(same()).await.expect("decided"), GRANTED);
    drop(guard);
    let again = stage.service.request(same()).await.expect("decided");
    assert_eq!(again, ApprovalOutcome::Unavailable);
}

#[tokio::test]
async fn ar_04_agent_and_tool_are_given_and_the_rest_may_be() {
    let stage = Stage::new();
    let bare = stage.wish();
    assert_eq!((bare.agent(), bare.tool_name()), (stage.agent(), "shell"));
    assert_eq!((bare.call_id(), bare.reason(), bare.cancel().is_some()), (None, None, false));
    let cancel = Cancel::new();
    let whole = stage.wish().for_call("c").because("r").until(cancel.clone());
    assert_eq!((whole.call_id(), whole.reason()), (Some("c"), Some("r")));
    assert!(whole.cancel().is_some_and(|signal| signal.is_same(&cancel)));
}

#[tokio::test]
async fn ar_05_a_request_has_no_place_for_arguments() {
    let stage = Stage::new();
    let wish = stage.wish().for_call("c").because("r").until(Cancel::new());
    let shown = format!("{wish:?}");
    for member in ["agent", "session", "tool_name", "call_id", "reason", "cancel", "lease"] {
        assert!(shown.contains(&format!("{member}: ")), "{shown} lacks {member}");
    }
    // Seven members, and no more.
    let top = shown.trim_start_matches("ApprovalRequest {").matches(": ").count();
    assert!(!shown.contains("arg") && top >= 7, "{shown}");
}

#[tokio::test]
async fn ar_06_the_agent_selects_the_listeners_and_the_log() {
    let stage = Stage::new();
    let other = stage.world.in_turn("b");
    let registrar = stage.service.registrar(gatelog_interaction::scope::Authority::Root);
    let (listener, mut script) = crate::support::script();
    let scope = other.agent().scope().clone();
    let _guard = registrar
        .scoped(&scope, gatelog_interaction::chain::Place::Last, listener)
        .expect("root may");
    let _ = stage.ask().await.expect("decided");
    assert!(script.try_called().is_none(), "a listener of b sees nothing of a");
    let asking = stage.asking(ApprovalRequest::new(other.agent(), "shell"));
    script.called().await.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Unavailable], 0));
    assert_eq!(stage.world.events_of("b", "approval/").len(), 2);
}

#[tokio::test]
async fn ar_07_every_listener_is_handed_the_same_request() {
    let stage = Stage::new();
    let (_first, mut first) = stage.scripted();
    let (_second, mut second) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let outer = first.called().await;
    let seen = Arc::clone(&outer.ask);
    let delegating = tokio::spawn(outer.delegate());
    let inner = second.called().await;
    assert!(Arc::ptr_eq(&seen, &inner.ask));
    inner.reply(Ok(GRANTED.into()));
    delegating.await.expect("no panic");
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
}

#[tokio::test]
async fn ar_08_ids_are_never_shared() {
    let stage = Stage::new();
    for _ in 0..50 {
        let _ = stage.ask().await.expect("decided");
    }
    let asked = stage.audit().into_iter().filter(|(kind, _)| kind == "approval/asked");
    let ids: BTreeSet<String> = asked.map(|(_, data)| data["id"].to_string()).collect();
    assert_eq!(ids.len(), 50);
}

#[tokio::test]
async fn ar_09_the_id_is_the_services_own() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish().for_call("mine"));
    let called = script.called().await;
    let id = called.ask.id().to_string();
    called.reply(Ok(GRANTED.into()));
    let _ = asking.await.expect("no panic").expect("decided");
    assert_eq!(stage.audit()[0].1["id"], id.as_str());
    assert_ne!(id, "mine");
    assert_eq!(id.len(), 36, "a random UUID");
}

#[tokio::test]
async fn ar_10_the_order_is_turn_question_decision_answer() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let called = script.called().await;
    assert_eq!(stage.pairs(), (vec![], 1), "the question is in the log before anybody is asked");
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
    assert_eq!(stage.pairs(), (vec![GRANTED], 0), "and the answer before anybody is told");
}

#[tokio::test]
async fn ar_11_cancellation_is_looked_at_before_the_policy_and_that_before_listeners() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    let set =
        stage.service.set_session_policy(stage.session(), ApprovalPolicy::Never, KnobSource::User);
    set.await.expect("the log takes it");
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    let cancel = Cancel::new();
    cancel.cancel();
    let outcome = stage.service.request(stage.wish().until(cancel)).await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Cancelled);
    assert_eq!(count(&asked), 0);
}

/// Asks with a signal that was given before.
async fn cancelled_before(stage: &Stage) -> ApprovalOutcome {
    let cancel = Cancel::new();
    cancel.cancel_because(Reason::message("never mind"));
    stage.service.request(stage.wish().until(cancel)).await.expect("decided")
}

#[tokio::test]
async fn ar_12_a_signal_given_before_enters_nobody_and_is_a_pair() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    assert_eq!(cancelled_before(&stage).await, ApprovalOutcome::Cancelled);
    assert_eq!(count(&asked), 0);
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
}

#[tokio::test]
async fn ar_13_a_signal_given_before_wins_over_never() {
    let stage = Stage::at(World::new(), Some(ApprovalPolicy::Never));
    assert_eq!(cancelled_before(&stage).await, ApprovalOutcome::Cancelled);
}

#[tokio::test]
async fn ar_14_cancelling_a_wait_ends_it_at_once() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let held = script.called().await;
    cancel.cancel();
    let outcome = asking.await.expect("no panic").expect("decided");
    assert_eq!(outcome, ApprovalOutcome::Cancelled);
    assert!(held.next.is_closed(), "the listener runs on and is told");
}

#[tokio::test]
async fn ar_15_a_late_answer_makes_no_second_decision() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let held = script.called().await;
    cancel.cancel();
    let _ = asking.await.expect("no panic").expect("decided");
    held.reply(Ok(GRANTED.into()));
    stage.world.plane.drained().await;
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
}

#[tokio::test]
async fn ar_16_a_late_error_is_swallowed() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let held = script.called().await;
    cancel.cancel();
    let outcome = asking.await.expect("no panic");
    held.reply(Err(ListenerError::failed("late")));
    stage.world.plane.drained().await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn ar_17_without_a_signal_it_waits_as_long_as_it_takes() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let mut asking = stage.asking(stage.wish());
    let called = script.called().await;
    let year = std::time::Duration::from_secs(365 * 24 * 3600);
    assert!(tokio::time::timeout(year, &mut asking).await.is_err(), "a year is not enough");
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
}

#[tokio::test]
async fn ar_18_an_answer_ends_the_subscription_to_the_signal() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let called = script.called().await;
    assert_eq!(cancel.subscriptions(), 1);
    called.reply(Ok(GRANTED.into()));
    let _ = asking.await.expect("no panic").expect("decided");
    assert_eq!(cancel.subscriptions(), 0);
}

#[tokio::test]
async fn ar_19_the_first_ending_wins_and_later_ones_do_nothing() {
    let stage = Stage::new();
    let (mut guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.wish().until(cancel.clone()));
    let called = script.called().await;
    assert!(guard.withdraw());
    cancel.cancel();
    called.reply(Ok(GRANTED.into()));
    let outcome = asking.await.expect("no panic").expect("decided");
    assert_eq!(outcome, ApprovalOutcome::Unavailable, "the withdrawal was first");
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Unavailable], 0));
}

#[tokio::test]
async fn ar_20_requests_share_no_ending() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let (one, two) = (Cancel::new(), Cancel::new());
    let first = stage.asking(stage.wish().until(one.clone()));
    let of_first = script.called().await;
    let second = stage.asking(stage.wish().until(two));
    let of_second = script.called().await;
    one.cancel();
    let _ = of_first;
    assert_eq!(first.await.expect("no panic").expect("decided"), ApprovalOutcome::Cancelled);
    of_second.reply(Ok(GRANTED.into()));
    assert_eq!(second.await.expect("no panic").expect("decided"), GRANTED);
}

#[tokio::test]
async fn ar_21_one_agents_events_are_in_its_own_log() {
    let stage = Stage::new();
    let other = stage.world.in_turn("b");
    let request = ApprovalRequest::new(other.agent(), "shell");
    let _ = stage.service.request(request).await.expect("decided");
    assert_eq!(stage.audit(), vec![]);
    assert_eq!(stage.world.events_of("b", "approval/").len(), 2);
}

#[tokio::test]
async fn ar_22_the_request_is_moved_in_and_never_copied_field_by_field() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let (tool, reason): (Arc<str>, Arc<str>) = ("shell".into(), "because".into());
    let wish = ApprovalRequest::new(stage.agent(), tool.clone()).because(reason.clone());
    let asking = stage.asking(wish);
    let called = script.called().await;
    let request = called.ask.request();
    assert_eq!(request.tool_name().as_ptr(), tool.as_ptr());
    assert_eq!(request.reason().map(str::as_ptr), Some(reason.as_ptr()));
    assert_eq!(request.agent(), stage.agent());
    called.reply(Ok(GRANTED.into()));
    let _ = asking.await.expect("no panic").expect("decided");
}

#[tokio::test]
async fn ar_23_the_pair_is_no_message_of_the_transcript() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    let _ = stage.ask().await.expect("decided");
    let mut on_surface = 0;
    let read = stage.world.store.read("a", 0, &mut |event| {
        on_surface += usize::from(event.surface.is_some());
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert_eq!(on_surface, 0);
}

#[tokio::test]
async fn ar_24_a_listener_that_says_cancelled_is_taken_at_its_word() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(ApprovalOutcome::Cancelled);
    let explained = stage.service.request_explained(stage.wish().until(Cancel::new())).await;
    let explained = explained.expect("decided");
    assert_eq!(explained.outcome, ApprovalOutcome::Cancelled);
    assert_eq!(explained.by, DecidedBy::Answerer);
}

#[tokio::test]
async fn ar_25_a_service_that_is_gone_refuses_and_the_log_goes_on() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let _held = script.called().await;
    stage.service.shutdown().await;
    let outcome = asking.await.expect("no panic").expect("decided");
    assert_eq!(outcome, ApprovalOutcome::Unavailable);
    assert!(matches!(stage.ask().await, Err(ApprovalError::ShutDown)));
    append(stage.session(), "plan/mode", r#"{"active":true}"#).expect("the loop runs on");
    stage.is_sound();
}

#[tokio::test]
async fn ar_26_a_missing_a_stale_and_a_foreign_agent_fail_closed() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    // The same id and session, another instance.
    let scope = stage.agent().scope().clone();
    let session = stage.session().clone();
    let twin = Agent::new("a", session, scope, Arc::new(NoticeQueue::default()));
    let other = stage.world.session("c");
    start_turn(&other, 1);
    let wishes = [
        ApprovalRequest::new(&twin, "shell"),
        stage.wish().in_session(other),
        ApprovalRequest::new(&stage.world.dormant("d"), "shell"),
    ];
    for wish in wishes {
        let failed = stage.service.request(wish).await;
        assert!(matches!(failed, Err(ApprovalError::StaleAgent(_))), "{failed:?}");
    }
    let nobody_knows = World::new();
    let plane = gatelog_interaction::plane::Plane::new(
        tokio::runtime::Handle::current(),
        gatelog_interaction::profile::Profile::STRICT,
    );
    let live = nobody_knows.in_turn("a");
    let service = ApprovalService::new(&plane, None);
    let failed = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert!(matches!(failed, Err(ApprovalError::StaleAgent(_))), "without a registry, too");
    assert_eq!((count(&asked), stage.audit()), (0, vec![]));
    assert_eq!(stage.world.errors(Rules::Host), Vec::<String>::new());
}
