//! S-114 to S-119, S-192.

use super::escalated::{Says, wish};
use super::{Switch, modes, sandbox, set};
use crate::support::World;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService, answerer,
};
use gatelog_interaction::chain::Place;
use gatelog_interaction::sandbox::{
    Escalation, Sandbox, SandboxError, SandboxMode, approve_escalation,
};
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use std::sync::atomic::Ordering;

use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

#[tokio::test]
async fn s_114_what_is_not_strictly_wider_fails_and_nobody_is_asked() {
    let world = World::new();
    let live = world.in_turn("a");
    let approvals = ApprovalService::new(&world.plane, None);
    for mode in [WorkspaceWrite, ReadOnly] {
        let wish = wish(Some(live.agent()), WorkspaceWrite, mode);
        let error = approve_escalation(Some(&approvals), wish).await.expect_err("not wider");
        assert!(error.to_string().contains("is not strictly wider"), "{error}");
    }
    assert_eq!(world.events_of("a", "approval/"), []);
}

#[test]
fn s_115_one_without_the_other_and_a_blank_reason_have_texts_of_their_own() {
    let texts = [
        (Some("workspace-write"), None),
        (None, Some("because")),
        (Some("workspace-write"), Some("  ")),
    ]
    .map(|(mode, why)| Escalation::of(mode, why).expect_err("it is invalid").to_string());
    assert_eq!(
        texts,
        [
            "invalid escalation: sandbox_permissions requires a justification",
            "invalid escalation: justification is only valid together with sandbox_permissions",
            "invalid justification: expected a non-empty sentence",
        ]
    );
}

#[tokio::test]
async fn s_116_a_grant_is_for_one_call_and_sets_no_mode() {
    let world = World::new();
    let live = world.in_turn("a");
    let sandbox = sandbox(&world, Some(ReadOnly));
    let approvals = ApprovalService::new(&world.plane, None);
    let allow = answerer(|_| async { Some(ApprovalOutcome::AllowedOnce) });
    let registrar = approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, allow).expect("root may");
    let wish = wish(Some(live.agent()), ReadOnly, WorkspaceWrite);
    let granted = approve_escalation(Some(&approvals), wish).await.expect("granted");
    let first = sandbox.check_call(live.agent(), Some(granted)).await.expect("usable");
    let second = sandbox.check_call(live.agent(), None).await.expect("usable");
    assert_eq!((first, second), (WorkspaceWrite, ReadOnly));
    assert_eq!(modes(&world, "a"), Vec::<serde_json::Value>::new());
    crate::support::end_turn(live.agent().session(), 1);
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn s_117_three_refusals_are_three_texts() {
    let world = World::new();
    let live = world.agent("a");
    let mut texts = Vec::new();
    for outcome in
        [ApprovalOutcome::Rejected, ApprovalOutcome::Cancelled, ApprovalOutcome::Unavailable]
    {
        let port = Says::new(outcome);
        let wish = wish(Some(live.agent()), ReadOnly, WorkspaceWrite);
        texts.push(approve_escalation(Some(&port), wish).await.expect_err("refused").to_string());
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 3, "{texts:?}");
}

#[tokio::test]
async fn s_118_what_was_approved_bypasses_no_missing_backend() {
    let world = World::new();
    let live = world.in_turn("a");
    let sandbox = Sandbox::new(&world.plane, Some(WorkspaceWrite), None);
    let approvals = ApprovalService::new(&world.plane, None);
    let allow = answerer(|_| async { Some(ApprovalOutcome::AllowedOnce) });
    let registrar = approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, allow).expect("root may");
    let granted = approvals.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(granted.expect("decided"), ApprovalOutcome::AllowedOnce);
    let failed = sandbox.check_call(live.agent(), None).await;
    assert!(matches!(failed, Err(SandboxError::Unavailable(_))), "{failed:?}");
}

#[tokio::test]
async fn s_119_a_switch_is_for_the_next_call() {
    let world = World::new();
    let live = world.agent("a");
    let sandbox = sandbox(&world, Some(DangerFullAccess));
    let running = sandbox.check_call(live.agent(), None).await.expect("usable");
    set(&sandbox, live.agent().session(), ReadOnly).await;
    let next = sandbox.check_call(live.agent(), None).await.expect("usable");
    assert_eq!((running, next), (DangerFullAccess, ReadOnly));
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn s_192_a_backend_that_goes_between_two_turns_fails_the_second_before_any_tool() {
    let world = World::new();
    let live = world.agent("a");
    let switch = Switch::new(true);
    let sandbox = Sandbox::new(&world.plane, Some(WorkspaceWrite), Some(switch.clone()));
    assert_eq!(sandbox.check_turn(live.agent()).await.expect("usable"), WorkspaceWrite);
    switch.0.store(false, Ordering::SeqCst);
    let failed = sandbox.check_turn(live.agent()).await;
    assert!(matches!(failed, Err(SandboxError::Unavailable(_))), "{failed:?}");
    // Under full access nothing has to confine.
    set(&sandbox, live.agent().session(), DangerFullAccess).await;
    assert_eq!(sandbox.check_turn(live.agent()).await.expect("unconfined"), DangerFullAccess);
}
