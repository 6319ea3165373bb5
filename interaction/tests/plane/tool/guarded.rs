//! Guards: TP-15 to TP-18.

use super::{ABORTED, Stage, is_dispatched, refused};
use gatelog_interaction::approval::ApprovalOutcome;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::internal::Site;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::{GuardRegistration, PreDecision, RefusalCode, ToolCall};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn guard(
    stage: &Stage,
    scope: Option<&gatelog_interaction::scope::Scope>,
    reason: Option<&'static str>,
) -> (GuardRegistration, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let guard = move |_: &ToolCall| {
        counted.fetch_add(1, Ordering::SeqCst);
        reason.map(str::to_owned)
    };
    let registered = stage.seam.register_guard(&Authority::Root, scope, guard);
    (registered.expect("root may"), count)
}

#[tokio::test]
async fn tp_15_guards_run_global_first_then_from_the_farthest_scope_to_the_nearest() {
    let stage = Stage::new();
    let own = stage.live.agent().scope().clone();
    let (near, _) = guard(&stage, Some(&own), Some("near"));
    let (far, _) = guard(&stage, Some(&stage.world.root), Some("far"));
    let (global, _) = guard(&stage, None, Some("global"));
    let reason = async || refused(stage.seam.decide(stage.call()).await).reason;
    assert_eq!(reason().await, "global");
    drop(global);
    assert_eq!(reason().await, "far");
    drop(far);
    assert_eq!(reason().await, "near");
    drop(near);
    is_dispatched(&stage.seam.decide(stage.call()).await);
}

#[tokio::test]
async fn tp_16_a_guard_denies_or_abstains_and_permits_nothing() {
    let stage = Stage::new();
    let (_abstains, seen) = guard(&stage, None, None);
    is_dispatched(&stage.seam.decide(stage.call()).await);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
    let _deny = stage.says(PreDecision::Deny { reason: "no".to_owned() });
    assert_eq!(refused(stage.seam.decide(stage.call()).await).reason, "no");
}

#[tokio::test]
async fn tp_17_guards_do_not_run_for_a_denied_call() {
    let stage = Stage::new();
    let (_guard, seen) = guard(&stage, None, Some("guarded"));
    let _deny = stage.says(PreDecision::Deny { reason: "no".to_owned() });
    let _ = refused(stage.seam.decide(stage.call()).await);
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn tp_18_a_caller_that_cancels_while_guards_run_aborts_the_call() {
    let stage = Stage::new();
    let cancel = Cancel::new();
    let giver = cancel.clone();
    let cancels = move |_: &ToolCall| {
        giver.cancel();
        None
    };
    let _guard = stage.seam.register_guard(&Authority::Root, None, cancels).expect("root may");
    let verdict = refused(stage.seam.decide(stage.call().until(cancel)).await);
    assert_eq!(verdict.code, ABORTED);
}

#[tokio::test]
async fn a_guard_that_panics_denies_and_is_reported() {
    let stage = Stage::new();
    let panics = |_: &ToolCall| -> Option<String> { panic!("a test's guard") };
    let _guard = stage.seam.register_guard(&Authority::Root, None, panics).expect("root may");
    let verdict = refused(stage.seam.decide(stage.call()).await);
    assert_eq!(verdict.code, Some(RefusalCode::Denied));
    assert_eq!(stage.world.sink.at(Site::Listener).len(), 1);
}

#[tokio::test]
async fn a_guard_of_another_scope_says_nothing() {
    let stage = Stage::new();
    let other = stage.world.agent("b");
    let (_guard, seen) = guard(&stage, Some(other.agent().scope()), Some("not mine"));
    is_dispatched(&stage.seam.decide(stage.call()).await);
    assert_eq!(seen.load(Ordering::SeqCst), 0);
    let within = Authority::Within(other.agent().scope().clone());
    let none = |_: &ToolCall| None;
    assert!(stage.seam.register_guard(&within, None, none).is_err());
    let _ = ApprovalOutcome::ALL;
}

#[tokio::test]
async fn a_mode_that_cannot_be_had_stops_a_call_behind_its_permission() {
    let stage = Stage::new();
    let confined = |_: &ToolCall| Err("nothing here can confine it".to_owned());
    let seam = stage.seam.clone().with_confinement(Arc::new(confined));
    let verdict = refused(seam.decide(stage.call()).await);
    assert_eq!(verdict.code, Some(RefusalCode::SandboxUnavailable));
}
