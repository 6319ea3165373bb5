//! The approval policy: AP-01 to AP-25.

use super::{Stage, append, count, violation};
use crate::support::World;
use gatelog_interaction::agent::{Agent, BoxError, Notice, NoticeQueue, Notices};
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, KnobSource, NotAPolicy, PolicyError,
};
use gatelog_interaction::chain::Place;
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

async fn set(stage: &Stage, policy: ApprovalPolicy) {
    let set = stage.service.set_session_policy(stage.session(), policy, KnobSource::User);
    set.await.expect("the log takes it");
}

/// The policy events in the log of `a`.
fn policies(stage: &Stage) -> Vec<serde_json::Value> {
    let events = stage.world.events_of("a", "approval/policy").into_iter();
    events.map(|seen| seen.data).collect()
}

#[test]
fn ap_01_there_are_two_policies() {
    assert_eq!(ApprovalPolicy::ALL.map(ApprovalPolicy::word), ["ask", "never"]);
    for policy in ApprovalPolicy::ALL {
        assert_eq!(ApprovalPolicy::of(policy.word()), Ok(policy));
    }
    for word in ["", "Ask", "always", "never "] {
        assert_eq!(ApprovalPolicy::of(word), Err(NotAPolicy), "{word:?}");
    }
}

#[tokio::test]
async fn ap_02_ask_puts_it_to_the_answerers_and_falls_to_unavailable() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Unavailable);
    let (_guard, asked) = stage.always(ApprovalOutcome::Rejected);
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(count(&asked), 1);
}

#[tokio::test]
async fn ap_03_never_rejects_and_enters_nobody() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(count(&asked), 0);
}

#[tokio::test]
async fn ap_04_never_is_a_pair_in_the_log() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Never).await;
    let _ = stage.ask().await;
    assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Rejected], 0));
    stage.is_sound();
}

#[tokio::test]
async fn ap_05_no_place_in_the_chain_is_before_never() {
    let stage = Stage::new();
    let (_early, first) = stage.placed(Place::First, GRANTED);
    set(&stage, ApprovalPolicy::Never).await;
    let (_late, second) = stage.placed(Place::First, GRANTED);
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!((count(&first), count(&second)), (0, 0));
}

#[tokio::test]
async fn ap_06_a_policy_is_read_for_asks_and_stops_no_other_event() {
    for policy in ApprovalPolicy::ALL {
        let stage = Stage::new();
        set(&stage, policy).await;
        append(stage.session(), "sandbox/mode", r#"{"mode":"read-only"}"#).expect("lawful");
        append(stage.session(), "plan/mode", r#"{"active":true}"#).expect("lawful");
        assert_eq!(stage.pairs(), (vec![], 0), "nobody asked");
        stage.is_sound();
    }
}

#[tokio::test]
async fn ap_07_the_last_word_of_the_log_then_the_default_then_ask() {
    let effective = async |stage: &Stage| stage.service.effective_policy(stage.session()).await;
    let stage = Stage::new();
    assert_eq!(effective(&stage).await.expect("read"), ApprovalPolicy::Ask);
    let stage = Stage::at(World::new(), Some(ApprovalPolicy::Never));
    assert_eq!(effective(&stage).await.expect("read"), ApprovalPolicy::Never);
    set(&stage, ApprovalPolicy::Ask).await;
    assert_eq!(effective(&stage).await.expect("read"), ApprovalPolicy::Ask);
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(effective(&stage).await.expect("read"), ApprovalPolicy::Never);
}

#[tokio::test]
async fn ap_08_the_fold_skips_every_other_event() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Never).await;
    append(stage.session(), "sandbox/mode", r#"{"mode":"read-only"}"#).expect("lawful");
    append(stage.session(), "permission/preset", r#"{"preset":"read-only"}"#).expect("lawful");
    let policy = stage.service.effective_policy(stage.session()).await;
    assert_eq!(policy.expect("read"), ApprovalPolicy::Never);
}

#[tokio::test]
async fn ap_09_what_the_log_says_outranks_the_default_both_ways() {
    for (default, logged) in
        [(ApprovalPolicy::Never, ApprovalPolicy::Ask), (ApprovalPolicy::Ask, ApprovalPolicy::Never)]
    {
        let stage = Stage::at(World::new(), Some(default));
        set(&stage, logged).await;
        let policy = stage.service.effective_policy(stage.session()).await;
        assert_eq!(policy.expect("read"), logged);
    }
}

#[tokio::test]
async fn ap_10_without_an_event_there_is_no_override() {
    let stage = Stage::at(World::new(), Some(ApprovalPolicy::Never));
    let override_of = || stage.service.override_of(stage.session());
    assert_eq!(override_of().await.expect("read"), None);
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(override_of().await.expect("read"), Some(ApprovalPolicy::Never));
}

#[tokio::test]
async fn ap_11_a_switch_does_not_change_a_request_that_waits() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let called = script.called().await;
    set(&stage, ApprovalPolicy::Never).await;
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("decided"), GRANTED);
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
}

#[tokio::test]
async fn ap_12_a_word_that_is_no_policy_fails_before_the_log_is_touched() {
    let stage = Stage::new();
    let before = stage.world.events("a");
    let session = stage.session();
    let set = stage.service.set_session_policy_word(session, "always", KnobSource::User).await;
    let error = set.expect_err("it is no policy");
    assert!(matches!(error, PolicyError::NotAPolicy(_)));
    assert_eq!(error.to_string(), r#"approval policy must be one of "ask" or "never""#);
    assert_eq!(stage.world.events("a"), before);
}

#[tokio::test]
async fn ap_13_the_low_level_writer_appends_what_is_in_force_again() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    set(&stage, ApprovalPolicy::Ask).await;
    assert_eq!(policies(&stage).len(), 2);
}

/// Whoever takes notices for the agent of a stage.
fn with_notices(notices: Arc<dyn Notices>) -> (Stage, gatelog_interaction::agent::LiveAgent) {
    let stage = Stage::new();
    let scope = stage.world.root.child("n").expect("two deep");
    let agent = Agent::new("n", stage.session().clone(), scope, notices);
    let live = stage.world.agents.enter(agent, None);
    (stage, live)
}

#[tokio::test]
async fn ap_14_setting_what_is_in_force_does_nothing() {
    let notices = Arc::new(NoticeQueue::default());
    let (stage, live) = with_notices(notices.clone());
    let change = stage.service.set_policy(live.agent(), ApprovalPolicy::Ask).await.expect("set");
    assert_eq!(change.seq, None);
    assert_eq!((policies(&stage).len(), notices.take()), (0, vec![]));
}

#[tokio::test]
async fn ap_15_a_live_switch_is_the_event_and_then_one_notice() {
    let notices = Arc::new(NoticeQueue::default());
    let (stage, live) = with_notices(notices.clone());
    let change = stage.service.set_policy(live.agent(), ApprovalPolicy::Never).await.expect("set");
    assert_eq!(policies(&stage), [serde_json::json!({"policy": "never"})]);
    assert_eq!(change.seq, Some(1));
    let texts: Vec<_> = notices.take().into_iter().map(|notice| notice.text).collect();
    let text = r#"The approval policy changed from "ask" to "never" (changed by the user)."#;
    assert_eq!(texts, [text]);
}

#[tokio::test]
async fn ap_16_a_notice_says_which_machine_it_is_from() {
    for (profile, source) in [
        (Profile::STRICT, r#"{"kind":"user-approval"}"#),
        (Profile::DSH, r#"{"kind":"plugin","plugin":"user-approval"}"#),
    ] {
        let world = World::of(crate::support::Kind::Native, Rules::Strict, profile);
        let stage = Stage::at(world, None);
        let notices = Arc::new(NoticeQueue::default());
        let scope = stage.world.root.child("n").expect("two deep");
        let agent = Agent::new("n", stage.session().clone(), scope, notices.clone());
        let live = stage.world.agents.enter(agent, None);
        stage.service.set_policy(live.agent(), ApprovalPolicy::Never).await.expect("set");
        let sources: Vec<_> = notices.take().into_iter().map(|notice| notice.source).collect();
        assert_eq!(sources, [source]);
    }
}

#[tokio::test]
async fn ap_17_the_low_level_writer_tells_nobody() {
    let notices = Arc::new(NoticeQueue::default());
    let (stage, live) = with_notices(notices.clone());
    let set = stage.service.set_session_policy(
        live.agent().session(),
        ApprovalPolicy::Never,
        KnobSource::User,
    );
    set.await.expect("the log takes it");
    assert_eq!(notices.take(), vec![]);
}

#[tokio::test]
async fn ap_18_a_delegated_policy_says_so_and_folds_like_any_other() {
    let stage = Stage::new();
    stage.service.pin_child(stage.session()).await.expect("the log takes it");
    let event = serde_json::json!({"policy": "never", "source": "delegation"});
    assert_eq!(policies(&stage), [event]);
    let policy = stage.service.effective_policy(stage.session()).await;
    assert_eq!(policy.expect("read"), ApprovalPolicy::Never);
    stage.is_sound();
}

#[tokio::test]
async fn ap_19_a_child_is_pinned_to_never_whatever_its_parent_may() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    let child = stage.world.session("child");
    stage.service.pin_child(&child).await.expect("the log takes it");
    let policy = stage.service.effective_policy(&child).await.expect("read");
    assert_eq!(policy, ApprovalPolicy::Never);
    let parent = stage.service.effective_policy(stage.session()).await.expect("read");
    assert_eq!(parent, ApprovalPolicy::Ask);
}

#[tokio::test]
async fn ap_20_the_pin_beats_what_was_inherited_and_loses_to_what_comes() {
    let stage = Stage::new();
    set(&stage, ApprovalPolicy::Ask).await;
    stage.service.pin_child(stage.session()).await.expect("the log takes it");
    let effective = || stage.service.effective_policy(stage.session());
    assert_eq!(effective().await.expect("read"), ApprovalPolicy::Never);
    set(&stage, ApprovalPolicy::Ask).await;
    assert_eq!(effective().await.expect("read"), ApprovalPolicy::Ask);
}

#[tokio::test]
async fn ap_21_the_model_is_told_one_sentence_behind_the_sandbox() {
    let stage = Stage::new();
    let said = stage.service.contribution(Some(stage.agent())).await.expect("read");
    assert_eq!((said.name, said.order), ("approval:policy", 115));
    assert_eq!(
        said.text,
        "Approval policy: ask. Operations that require approval may ask through the configured \
         answerers; without an available answerer, the request fails closed."
    );
    set(&stage, ApprovalPolicy::Never).await;
    let said = stage.service.contribution(Some(stage.agent())).await.expect("read");
    assert_eq!(
        said.text,
        "Approval prompts are disabled in this session: actions that require approval are \
         rejected automatically — do not request sandbox escalation (do not set \
         `sandbox_permissions`)."
    );
}

#[tokio::test]
async fn ap_22_without_an_agent_the_model_is_told_nothing() {
    let stage = Stage::new();
    assert_eq!(stage.service.contribution(None).await.expect("read").text, "");
}

#[tokio::test]
async fn ap_23_what_the_model_is_told_is_the_same_bytes_until_the_policy_changes() {
    let stage = Stage::new();
    let said = || stage.service.contribution(Some(stage.agent()));
    let first = said().await.expect("read");
    let _ = stage.ask().await;
    append(stage.session(), "sandbox/mode", r#"{"mode":"read-only"}"#).expect("lawful");
    assert_eq!(said().await.expect("read"), first);
    set(&stage, ApprovalPolicy::Never).await;
    assert_ne!(said().await.expect("read"), first);
    stage.service.shutdown().await;
    assert_eq!(said().await.expect("read").text, "", "it goes with the service");
}

#[tokio::test]
async fn a_switch_whose_caller_goes_is_told_to_the_model_all_the_same() {
    let notices = Arc::new(NoticeQueue::default());
    let (stage, live) = with_notices(notices.clone());
    stage.world.faults.hold("approval/policy");
    let (service, agent) = (stage.service.clone(), live.agent().clone());
    let setting =
        tokio::spawn(async move { service.set_policy(&agent, ApprovalPolicy::Never).await });
    while stage.world.faults.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    setting.abort();
    assert!(setting.await.expect_err("it was aborted").is_cancelled());
    stage.world.faults.release();
    let mut told = Vec::new();
    while told.is_empty() {
        tokio::task::yield_now().await;
        told = notices.take();
    }
    assert_eq!((told.len(), policies(&stage).len()), (1, 1));
}

#[tokio::test]
async fn ap_24_a_preset_overrides_no_rule() {
    let stage = Stage::new();
    append(stage.session(), "permission/preset", r#"{"preset":"danger-full-access"}"#)
        .expect("it is lawful");
    let policy = stage.service.effective_policy(stage.session()).await;
    assert_eq!(policy.expect("read"), ApprovalPolicy::Ask, "never is what that preset stands for");
}

#[tokio::test]
async fn ap_25_without_presets_the_last_policy_stays_in_force() {
    let stage = Stage::new();
    append(stage.session(), "permission/preset", r#"{"preset":"gone"}"#).expect("it is lawful");
    set(&stage, ApprovalPolicy::Never).await;
    assert_eq!(stage.ask().await.expect("decided"), ApprovalOutcome::Rejected);
}

#[tokio::test]
async fn a_word_in_the_log_that_is_no_policy_asks_nobody() {
    let world = World::of(crate::support::Kind::Native, Rules::Host, Profile::DSH);
    let stage = Stage::at(world, None);
    let (_guard, asked) = stage.always(GRANTED);
    let (rule, text) =
        violation(append(stage.session(), "approval/policy", r#"{"policy":"always"}"#));
    assert_eq!(rule, "policy/unknown-policy");
    assert_eq!(text, r#"approval/policy carries unknown policy "always""#);
    assert_eq!(count(&asked), 0);
}

/// Takes no notice.
struct Deaf;

impl Notices for Deaf {
    fn queue(&self, _: Notice) -> Result<(), BoxError> {
        Err("nobody listens".into())
    }
}

/// Panics at every notice.
struct Panics;

impl Notices for Panics {
    fn queue(&self, _: Notice) -> Result<(), BoxError> {
        panic!("a test's queue")
    }
}

#[tokio::test]
async fn a_notice_that_is_not_queued_says_that_the_policy_is_set() {
    for notices in [Arc::new(Deaf) as Arc<dyn Notices>, Arc::new(Panics)] {
        let (stage, live) = with_notices(notices);
        let failed = stage.service.set_policy(live.agent(), ApprovalPolicy::Never).await;
        let Err(PolicyError::Notice { change, .. }) = failed else { panic!("{failed:?}") };
        assert_eq!((change.new, change.seq), (ApprovalPolicy::Never, Some(1)));
    }
}
