//! What is looked at before a tool, without a person: TP-01 to TP-05, TP-23, TP-26 to TP-28, S-034.

use super::{ABORTED, Stage, is_dispatched, refused};
use async_trait::async_trait;
use gatelog_interaction::approval::{
    ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest,
};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::{PreDecision, RefusalCode, ToolCall, ToolSeam, Tools, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts whom it sees, and delegates.
struct Counts(Arc<AtomicUsize>);

#[async_trait]
impl Listener<ToolCall> for Counts {
    async fn call(
        &self,
        _: Arc<ToolCall>,
        next: Next<ToolCall>,
    ) -> Result<PreDecision, ListenerError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        next.run().await
    }
}

/// Hides tools that begin with `hidden`, and knows those that do not begin with `no`.
struct Some3;

impl Tools for Some3 {
    fn is_hidden(&self, call: &ToolCall) -> bool {
        call.name().starts_with("hidden")
    }

    fn is_known(&self, call: &ToolCall) -> bool {
        !call.name().starts_with("no")
    }
}

fn counted(
    stage: &Stage,
    seam: &ToolSeam,
) -> (gatelog_interaction::chain::Registration, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let listener = Counts(Arc::clone(&count));
    let register = seam.register_pre_execute(Authority::Root, None, Place::First, listener);
    let _ = stage;
    (register.expect("root may"), count)
}

#[tokio::test]
async fn tp_01_it_is_allow_deny_or_ask_and_nobody_left_is_allow() {
    let stage = Stage::new();
    is_dispatched(&stage.seam.decide(stage.call()).await);
    let (_guard, count) = counted(&stage, &stage.seam);
    is_dispatched(&stage.seam.decide(stage.call()).await);
    assert_eq!(count.load(Ordering::SeqCst), 1, "it delegated to the end");
    let deny = stage.says(PreDecision::Deny { reason: "not here".to_owned() });
    assert_eq!(refused(stage.seam.decide(stage.call()).await).reason, "not here");
    drop(deny);
    let _ask = stage.asks();
    let asked = refused(stage.seam.decide(stage.call()).await);
    assert!(asked.reason.contains("no approval channel"), "{asked:?}");
}

#[tokio::test]
async fn tp_02_a_hidden_name_is_refused_before_anybody_sees_it() {
    let stage = Stage::new();
    let seam = stage.seam.clone().with_tools(Arc::new(Some3));
    let (_guard, count) = counted(&stage, &seam);
    let hidden = refused(seam.decide(stage.named("hidden-x")).await);
    assert_eq!(hidden.code, Some(RefusalCode::UnknownTool));
    assert_eq!((count.load(Ordering::SeqCst), stage.outcomes().len()), (0, 0));
}

#[tokio::test]
async fn tp_03_an_unknown_name_passes_policy_and_fails_in_the_end() {
    let stage = Stage::new();
    let seam = stage.seam.clone().with_tools(Arc::new(Some3));
    let _ask = stage.asks();
    let (_guard, asked) = stage.answers(ApprovalOutcome::AllowedOnce);
    let unknown = refused(seam.decide(stage.named("nowhere")).await);
    assert_eq!(unknown.code, Some(RefusalCode::UnknownTool));
    assert_eq!(unknown.reason, "unknown tool \"nowhere\"");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "it was even approved");
}

#[tokio::test]
async fn tp_04_arguments_that_are_no_json_end_the_call_before_policy() {
    let stage = Stage::new();
    let (_guard, count) = counted(&stage, &stage.seam);
    for bad in ["", "{", "undefined", "NaN"] {
        let session = stage.live.agent().session();
        let call = ToolCall::new(session, "shell", "c1", bad).by(stage.live.agent());
        let ended = refused(stage.seam.decide(call).await);
        assert!(ended.reason.contains("no JSON"), "{bad:?}: {ended:?}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn tp_05_a_call_that_was_taken_back_before_skips_everything() {
    let stage = Stage::new();
    let (_guard, count) = counted(&stage, &stage.seam);
    let cancel = Cancel::new();
    cancel.cancel();
    let aborted = refused(stage.seam.decide(stage.call().until(cancel)).await);
    assert_eq!((aborted.code, aborted.runs_post_execute), (ABORTED, false));
    assert_eq!(aborted.reason, "tool call aborted before dispatch");
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

/// Says what no approval says.
struct Foreign;

#[async_trait]
impl ApprovalPort for Foreign {
    async fn request(&self, _: ApprovalRequest) -> Result<ApprovalOutcome, ApprovalError> {
        // The type has no fifth outcome; what a stand-in can do wrong is to fail.
        Err(ApprovalError::ShutDown)
    }
}

#[tokio::test]
async fn tp_23_a_stand_in_that_has_no_outcome_is_a_failed_result() {
    let stage = Stage::new();
    let seam = ToolSeam::new(&stage.world.plane, Some(Arc::new(Foreign)));
    let listener = super::Says(PreDecision::Ask { reason: None });
    let register = seam.register_pre_execute(Authority::Root, None, Place::Last, listener);
    let _guard = register.expect("root may");
    let verdict = seam.decide(stage.call()).await;
    assert!(matches!(verdict, Verdict::Failed(_)), "{verdict:?}");
}

#[tokio::test]
async fn tp_26_an_allow_under_never_still_runs_guards_and_the_tool() {
    let stage = Stage::new();
    stage.never().await;
    let _allow = stage.says(PreDecision::Allow);
    is_dispatched(&stage.seam.decide(stage.call()).await);
    let guard = |_: &ToolCall| Some("guarded".to_owned());
    let _guard = stage.seam.register_guard(&Authority::Root, None, guard).expect("root may");
    assert_eq!(refused(stage.seam.decide(stage.call()).await).reason, "guarded");
}

#[tokio::test]
async fn tp_27_a_deny_asks_nobody_under_either_policy() {
    for never in [false, true] {
        let stage = Stage::new();
        if never {
            stage.never().await;
        }
        let (_guard, asked) = stage.answers(ApprovalOutcome::AllowedOnce);
        let _deny = stage.says(PreDecision::Deny { reason: "no".to_owned() });
        assert_eq!(refused(stage.seam.decide(stage.call()).await).reason, "no");
        assert_eq!((asked.load(Ordering::SeqCst), stage.outcomes().len()), (0, 0));
    }
}

#[tokio::test]
async fn tp_28_the_prompt_is_no_context_of_the_model() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (_guard, _) = stage.answers(ApprovalOutcome::Rejected);
    let verdict = refused(stage.seam.decide(stage.call()).await);
    // All that the model reads is the one result.
    assert_eq!(verdict.text(), "Error: the user rejected tool \"shell\"");
    let mut surface = 0;
    let read = stage.world.store.read("a", 0, &mut |event| {
        surface += usize::from(event.surface.is_some());
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert_eq!(surface, 0);
}

#[tokio::test]
async fn s_034_a_plain_allow_and_a_plain_deny_are_the_same_under_both_policies() {
    for never in [false, true] {
        let stage = Stage::of(Profile::STRICT);
        if never {
            stage.never().await;
        }
        let allow = stage.says(PreDecision::Allow);
        is_dispatched(&stage.seam.decide(stage.call()).await);
        drop(allow);
        let _deny = stage.says(PreDecision::Deny { reason: "no".to_owned() });
        assert_eq!(refused(stage.seam.decide(stage.call()).await).reason, "no");
        assert_eq!(stage.world.events_of("a", "approval/asked"), []);
        stage.is_sound();
    }
}
