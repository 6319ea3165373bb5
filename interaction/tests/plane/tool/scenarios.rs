//! S-164 to S-174.

use super::{ABORTED, Stage, refused};
use async_trait::async_trait;
use gatelog_interaction::approval::{Approval, ApprovalOutcome};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::Place;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::{PreDecision, RefusalCode, ToolCall, ToolSeam, Tools, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn denies(reason: &'static str) -> impl Fn(&ToolCall) -> Option<String> + Send + Sync + 'static {
    move |_| Some(reason.to_owned())
}

#[tokio::test]
async fn s_164_a_guard_behind_a_grant_denies_and_the_pair_stays() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (_answer, _) = stage.answers(ApprovalOutcome::AllowedOnce);
    let guard = stage.seam.register_guard(&Authority::Root, None, denies("not at night"));
    let _guard = guard.expect("root may");
    let verdict = refused(stage.seam.decide(stage.call()).await);
    assert_eq!(verdict.reason, "not at night");
    assert_eq!(stage.outcomes(), ["allowed-once"]);
    stage.is_sound();
}

#[tokio::test]
async fn s_165_behind_a_rejection_no_guard_runs() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (_answer, _) = stage.answers(ApprovalOutcome::Rejected);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let guard = move |_: &ToolCall| {
        counted.fetch_add(1, Ordering::SeqCst);
        None
    };
    let _guard = stage.seam.register_guard(&Authority::Root, None, guard).expect("root may");
    let _ = refused(stage.seam.decide(stage.call()).await);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    stage.is_sound();
}

/// Knows no tool, and hides one.
struct Nothing;

impl Tools for Nothing {
    fn is_hidden(&self, call: &ToolCall) -> bool {
        call.name() == "hidden"
    }

    fn is_known(&self, _: &ToolCall) -> bool {
        false
    }
}

#[tokio::test]
async fn s_166_a_name_that_is_not_there_may_be_approved_and_is_unknown() {
    let stage = Stage::new();
    let seam = stage.seam.clone().with_tools(Arc::new(Nothing));
    let _ask = stage.asks();
    let (_answer, _) = stage.answers(ApprovalOutcome::AllowedOnce);
    let verdict = refused(seam.decide(stage.call()).await);
    assert_eq!(verdict.code, Some(RefusalCode::UnknownTool));
    assert_eq!(stage.outcomes(), ["allowed-once"]);
    stage.is_sound();
}

#[tokio::test]
async fn s_167_a_hidden_name_is_refused_with_nobody_entered() {
    let stage = Stage::new();
    let seam = stage.seam.clone().with_tools(Arc::new(Nothing));
    let _ask = stage.asks();
    let (_answer, asked) = stage.answers(ApprovalOutcome::AllowedOnce);
    let verdict = refused(seam.decide(stage.named("hidden")).await);
    assert_eq!(verdict.code, Some(RefusalCode::UnknownTool));
    assert_eq!((asked.load(Ordering::SeqCst), stage.outcomes().len()), (0, 0));
}

#[tokio::test]
async fn s_168_without_a_service_the_denial_has_the_reason_or_the_default() {
    let stage = Stage::new();
    let seam = ToolSeam::new(&stage.world.plane, None);
    for (reason, text) in [
        (Some("because".to_owned()), "because"),
        (None, "tool \"shell\" requires approval (not yet supported)"),
    ] {
        let listener = super::Says(PreDecision::Ask { reason });
        let register = seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
        let _guard = register.expect("root may");
        assert_eq!(refused(seam.decide(stage.call()).await).reason, text);
    }
    assert_eq!(stage.world.events_of("a", "approval/"), []);
    stage.is_sound();
}

#[tokio::test]
async fn s_169_without_an_agent_nobody_is_asked() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (_answer, asked) = stage.answers(ApprovalOutcome::AllowedOnce);
    let call = ToolCall::new(stage.live.agent().session(), "shell", "c1", "{}");
    let verdict = refused(stage.seam.decide(call).await);
    assert!(verdict.reason.contains("has no agent to route it through"));
    assert_eq!((asked.load(Ordering::SeqCst), stage.outcomes().len()), (0, 0));
}

#[tokio::test]
async fn s_170_without_an_open_turn_the_result_is_a_failure() {
    let stage = Stage::new();
    let _ask = stage.asks();
    crate::support::end_turn(stage.live.agent().session(), 1);
    let Verdict::Failed(error) = stage.seam.decide(stage.call()).await else { panic!("no turn") };
    assert!(error.to_string().starts_with("approval.request() outside an open turn"));
}

#[tokio::test]
async fn s_171_a_caller_that_cancels_during_the_wait_aborts_and_skips_the_guards() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (listener, mut script) = crate::support::script::<Approval>();
    let registrar = stage.approvals.registrar(Authority::Root);
    let _listener = registrar.global(Place::Last, listener).expect("root may");
    let guard = stage.seam.register_guard(&Authority::Root, None, denies("guarded"));
    let _guard = guard.expect("root may");
    let cancel = Cancel::new();
    let (seam, call) = (stage.seam.clone(), stage.call().until(cancel.clone()));
    let deciding = tokio::spawn(async move { seam.decide(call).await });
    let _held = script.called().await;
    cancel.cancel();
    let verdict = refused(deciding.await.expect("no panic"));
    assert_eq!((verdict.code, verdict.runs_post_execute), (ABORTED, true));
    assert_eq!(stage.outcomes(), ["cancelled"]);
    stage.is_sound();
}

#[tokio::test]
async fn s_172_an_answerer_that_cancels_aborts_under_strict_and_denies_for_the_host() {
    for (profile, code) in [(Profile::STRICT, ABORTED), (Profile::DSH, None)] {
        let stage = Stage::of(profile);
        let _ask = stage.asks();
        let (_answer, _) = stage.answers(ApprovalOutcome::Cancelled);
        let verdict = refused(stage.seam.decide(stage.call().until(Cancel::new())).await);
        assert_eq!(verdict.code, code);
        assert_eq!(verdict.reason, "approval for tool \"shell\" was cancelled");
        stage.is_sound();
    }
}

/// A port that grants, and gives a signal as it does.
struct ThenCancels(Cancel);

#[async_trait]
impl gatelog_interaction::approval::ApprovalPort for ThenCancels {
    async fn request(
        &self,
        _: gatelog_interaction::approval::ApprovalRequest,
    ) -> Result<ApprovalOutcome, gatelog_interaction::approval::ApprovalError> {
        self.0.cancel();
        Ok(ApprovalOutcome::AllowedOnce)
    }
}

#[tokio::test]
async fn s_173_a_cancellation_behind_a_grant_comes_before_or_behind_the_guards_by_profile() {
    for (profile, code, text) in [
        (Profile::STRICT, ABORTED, "tool call aborted before dispatch"),
        (Profile::DSH, None, "guarded"),
    ] {
        let stage = Stage::of(profile);
        let cancel = Cancel::new();
        let port = Arc::new(ThenCancels(cancel.clone()));
        let seam = ToolSeam::new(&stage.world.plane, Some(port));
        let listener = super::Says(PreDecision::Ask { reason: None });
        let register = seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
        let _listener = register.expect("root may");
        let _guard =
            seam.register_guard(&Authority::Root, None, denies("guarded")).expect("root may");
        let verdict = refused(seam.decide(stage.call().until(cancel)).await);
        assert_eq!((verdict.code, verdict.reason.as_str()), (code, text));
    }
}

#[tokio::test]
async fn s_174_of_three_guards_the_global_reason_is_reported() {
    let stage = Stage::new();
    let own = stage.live.agent().scope().clone();
    let seam = &stage.seam;
    let _near = seam.register_guard(&Authority::Root, Some(&own), denies("exact")).expect("may");
    let root = stage.world.root.clone();
    let _far = seam.register_guard(&Authority::Root, Some(&root), denies("ancestor")).expect("may");
    let _global = seam.register_guard(&Authority::Root, None, denies("global")).expect("may");
    assert_eq!(refused(seam.decide(stage.call()).await).reason, "global");
    stage.is_sound();
}
