//! Calls that a person is asked about: TP-06 to TP-14, TP-19 to TP-22, S-025.

use super::{ABORTED, Stage, is_dispatched, port, refused};
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::approval::{ApprovalOutcome, DecidedBy};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::Place;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::{PreDecision, RefusalCode, ToolCall, ToolSeam, Verdict};
use std::sync::{Arc, Mutex};

const DENIED: Option<RefusalCode> = Some(RefusalCode::Denied);
const UNAVAILABLE: Option<RefusalCode> = Some(RefusalCode::Unavailable);

#[tokio::test]
async fn tp_06_without_a_service_an_ask_is_a_denial_with_its_reason_or_a_default() {
    let stage = Stage::new();
    let seam = ToolSeam::new(&stage.world.plane, None);
    for (reason, text) in [
        (Some("it writes"), "it writes"),
        (None, "tool \"shell\" requires approval (not yet supported)"),
    ] {
        let listener = super::Says(PreDecision::Ask { reason: reason.map(str::to_owned) });
        let register = seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
        let _guard = register.expect("root may");
        let verdict = refused(seam.decide(stage.call()).await);
        assert_eq!((verdict.reason.as_str(), verdict.code), (text, UNAVAILABLE));
    }
    assert_eq!(stage.world.events_of("a", "approval/"), []);
}

#[tokio::test]
async fn tp_07_without_an_agent_an_ask_is_a_denial_and_nobody_is_asked() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (_guard, asked) = stage.answers(ApprovalOutcome::AllowedOnce);
    let call = ToolCall::new(stage.live.agent().session(), "shell", "c1", "{}");
    let verdict = refused(stage.seam.decide(call).await);
    assert_eq!(
        verdict.reason,
        "tool \"shell\" requires approval, but the call has no agent to route it through"
    );
    assert_eq!((verdict.code, asked.load(std::sync::atomic::Ordering::SeqCst)), (UNAVAILABLE, 0));
}

#[tokio::test]
async fn tp_08_an_ask_hands_agent_tool_call_reason_and_signal_on() {
    let stage = Stage::new();
    let _ask = stage.says(PreDecision::Ask { reason: Some("why".to_owned()) });
    let (listener, mut script) = crate::support::script();
    let registrar = stage.approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    let cancel = Cancel::new();
    let (seam, call) = (stage.seam.clone(), stage.call().until(cancel.clone()));
    let deciding = tokio::spawn(async move { seam.decide(call).await });
    let called = script.called().await;
    let request = called.ask.request();
    assert_eq!(request.agent(), stage.live.agent());
    assert_eq!((request.tool_name(), request.call_id()), ("shell", Some("c1")));
    assert_eq!(request.reason(), Some("why"));
    assert!(request.cancel().is_some_and(|signal| signal.is_same(&cancel)));
    called.reply(Ok(ApprovalOutcome::AllowedOnce.into()));
    is_dispatched(&deciding.await.expect("no panic"));
}

async fn decided(profile: Profile, outcome: ApprovalOutcome) -> Verdict {
    let stage = Stage::of(profile);
    let _ask = stage.asks();
    let (_guard, _) = stage.answers(outcome);
    let verdict = stage.seam.decide(stage.call()).await;
    assert_eq!(stage.outcomes(), [outcome.word()]);
    stage.is_sound();
    verdict
}

#[tokio::test]
async fn tp_09_a_grant_is_an_allow() {
    is_dispatched(&decided(Profile::STRICT, ApprovalOutcome::AllowedOnce).await);
}

#[tokio::test]
async fn tp_10_a_rejection_denies_with_the_text_of_one_also_under_never() {
    let verdict = refused(decided(Profile::DSH, ApprovalOutcome::Rejected).await);
    assert_eq!(verdict.reason, "the user rejected tool \"shell\"");
    let stage = Stage::of(Profile::DSH);
    stage.never().await;
    let _ask = stage.asks();
    let verdict = refused(stage.seam.decide(stage.call()).await);
    assert_eq!(verdict.reason, "the user rejected tool \"shell\"");
}

#[tokio::test]
async fn tp_11_a_cancelled_approval_denies_with_its_text() {
    let verdict = refused(decided(Profile::DSH, ApprovalOutcome::Cancelled).await);
    assert_eq!(verdict.reason, "approval for tool \"shell\" was cancelled");
}

#[tokio::test]
async fn tp_12_without_a_channel_it_denies_with_that_text() {
    let verdict = refused(decided(Profile::DSH, ApprovalOutcome::Unavailable).await);
    assert_eq!(
        verdict.reason,
        "tool \"shell\" requires approval, but no approval channel is available"
    );
}

#[tokio::test]
async fn tp_13_the_three_refusals_have_three_texts() {
    let mut texts = Vec::new();
    for outcome in
        [ApprovalOutcome::Rejected, ApprovalOutcome::Cancelled, ApprovalOutcome::Unavailable]
    {
        texts.push(refused(decided(Profile::STRICT, outcome).await).reason);
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 3);
}

#[tokio::test]
async fn tp_14_a_caller_that_cancels_the_wait_aborts_and_what_is_behind_still_looks() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (listener, mut script) = crate::support::script();
    let registrar = stage.approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    let cancel = Cancel::new();
    let (seam, call) = (stage.seam.clone(), stage.call().until(cancel.clone()));
    let deciding = tokio::spawn(async move { seam.decide(call).await });
    let _held = script.called().await;
    cancel.cancel();
    let verdict = refused(deciding.await.expect("no panic"));
    assert_eq!((verdict.code, verdict.runs_post_execute), (ABORTED, true));
    assert_eq!(verdict.reason, "tool call aborted before dispatch");
}

#[tokio::test]
async fn tp_19_the_host_shows_a_text_and_no_code() {
    for outcome in
        [ApprovalOutcome::Rejected, ApprovalOutcome::Cancelled, ApprovalOutcome::Unavailable]
    {
        let verdict = refused(decided(Profile::DSH, outcome).await);
        assert_eq!(verdict.code, None);
        assert_eq!(verdict.text(), format!("Error: {}", verdict.reason));
    }
}

#[tokio::test]
async fn tp_20_strict_maps_each_outcome_to_a_code() {
    for (outcome, code) in [
        (ApprovalOutcome::Rejected, DENIED),
        (ApprovalOutcome::Unavailable, UNAVAILABLE),
        (ApprovalOutcome::Cancelled, ABORTED),
    ] {
        assert_eq!(refused(decided(Profile::STRICT, outcome).await).code, code);
    }
    let codes = RefusalCode::ALL.map(RefusalCode::as_str);
    assert_eq!(codes[..3], ["DENIED", "UNAVAILABLE", "ABORTED_BEFORE_DISPATCH"]);
}

#[tokio::test]
async fn tp_21_denials_are_looked_at_behind_and_failures_are_not() {
    let verdict = refused(decided(Profile::STRICT, ApprovalOutcome::Rejected).await);
    assert!(verdict.runs_post_execute);
    let stage = Stage::new();
    let _deny = stage.says(PreDecision::Deny { reason: "no".to_owned() });
    assert!(refused(stage.seam.decide(stage.call()).await).runs_post_execute);
    let stage = Stage::new();
    let _ask = stage.asks();
    stage.world.faults.fail("approval/asked");
    let verdict = stage.seam.decide(stage.call()).await;
    assert!(matches!(verdict, Verdict::Failed(_)), "a failure has no such flag: {verdict:?}");
}

#[tokio::test]
async fn tp_22_an_approval_that_fails_is_a_failed_result_with_its_message() {
    let stage = Stage::new();
    let _ask = stage.asks();
    crate::support::end_turn(stage.live.agent().session(), 1);
    let Verdict::Failed(error) = stage.seam.decide(stage.call()).await else { panic!("no turn") };
    assert!(error.to_string().starts_with("approval.request() outside an open turn"), "{error}");
}

#[tokio::test]
async fn s_025_under_never_the_text_names_the_policy_and_the_host_says_the_user() {
    for (profile, text, code) in [
        (Profile::STRICT, "approval policy \"never\" rejected tool \"shell\"", DENIED),
        (Profile::DSH, "the user rejected tool \"shell\"", None),
    ] {
        let stage = Stage::of(profile);
        stage.never().await;
        let _ask = stage.asks();
        let verdict = refused(stage.seam.decide(stage.call()).await);
        assert_eq!((verdict.reason.as_str(), verdict.code), (text, code));
        assert_eq!(stage.outcomes(), ["rejected"]);
        stage.is_sound();
    }
}

#[tokio::test]
async fn an_agent_that_is_not_the_exact_live_one_is_unavailable_and_nothing_is_logged() {
    let stage = Stage::of(Profile::DSH);
    let _ask = stage.asks();
    let (session, scope) =
        (stage.live.agent().session().clone(), stage.live.agent().scope().clone());
    let twin = Agent::new("a", session.clone(), scope, Arc::new(NoticeQueue::default()));
    let call = ToolCall::new(&session, "shell", "c1", "{}").by(&twin);
    let verdict = refused(stage.seam.decide(call).await);
    assert_eq!(verdict.code, UNAVAILABLE);
    assert_eq!(verdict.reason, "approval.request() needs the exact live agent of its session");
    let other = stage.world.session("other");
    let call = ToolCall::new(&other, "shell", "c1", "{}").by(stage.live.agent());
    assert_eq!(refused(stage.seam.decide(call).await).code, UNAVAILABLE);
    assert_eq!(stage.world.events_of("a", "approval/"), []);
}

#[tokio::test]
async fn a_hook_hears_of_refusals_and_changes_nothing() {
    let stage = Stage::new();
    let heard: Arc<Mutex<Vec<DecidedBy>>> = Arc::default();
    let kept = Arc::clone(&heard);
    let seam = ToolSeam::new(&stage.world.plane, Some(port(&stage))).with_on_refusal(Arc::new(
        move |_, explained| {
            kept.lock().expect("sound").push(explained.by);
            panic!("a test's hook");
        },
    ));
    let listener = super::Says(PreDecision::Ask { reason: None });
    let register = seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
    let _guard = register.expect("root may");
    let verdict = refused(seam.decide(stage.call()).await);
    assert_eq!(verdict.code, UNAVAILABLE);
    assert_eq!(*heard.lock().expect("not poisoned by a contained panic"), [DecidedBy::Nobody]);
}
