//! EX-01 to EX-08.

use crate::support::{World, script};
use async_trait::async_trait;
use gatelog_interaction::agent::Agent;
use gatelog_interaction::approval::{
    Approval, ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService,
    answerer,
};
use gatelog_interaction::chain::Place;
use gatelog_interaction::sandbox::{
    Escalation, EscalationError, EscalationRequest, SandboxMode, approve_escalation, denial_marker,
};
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use std::sync::Mutex;

use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

pub(super) fn wish(
    agent: Option<&Agent>,
    current: SandboxMode,
    mode: SandboxMode,
) -> EscalationRequest {
    EscalationRequest {
        escalation: Escalation { mode, justification: "the cache is elsewhere".to_owned() },
        current,
        subject: "command".to_owned(),
        agent: agent.cloned(),
        tool_name: "shell".to_owned(),
        call_id: Some("c1".to_owned()),
        cancel: None,
    }
}

/// Says one thing, and remembers the reasons that it was given.
pub(super) struct Says(pub(super) ApprovalOutcome, pub(super) Mutex<Vec<String>>);

impl Says {
    pub(super) fn new(outcome: ApprovalOutcome) -> Self {
        Self(outcome, Mutex::default())
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.1.lock().expect("sound").clone()
    }
}

#[async_trait]
impl ApprovalPort for Says {
    async fn request(&self, request: ApprovalRequest) -> Result<ApprovalOutcome, ApprovalError> {
        let reason = request.reason().unwrap_or_default().to_owned();
        self.1.lock().expect("sound").push(reason);
        Ok(self.0)
    }
}

#[test]
fn ex_01_wider_is_from_reading_to_both_and_from_the_workspace_to_everything() {
    let wider: Vec<_> = SandboxMode::ALL
        .into_iter()
        .flat_map(|from| SandboxMode::ALL.map(|to| (from, to)))
        .filter(|(from, to)| to.is_wider_than(*from))
        .collect();
    assert_eq!(
        wider,
        [
            (ReadOnly, WorkspaceWrite),
            (ReadOnly, DangerFullAccess),
            (WorkspaceWrite, DangerFullAccess)
        ]
    );
}

#[test]
fn ex_02_a_mode_and_a_justification_come_together() {
    let said = |mode, why| Escalation::of(mode, why).map_err(|error| error.to_string());
    assert_eq!(said(None, None), Ok(None));
    let whole = Escalation { mode: DangerFullAccess, justification: "why".to_owned() };
    assert_eq!(said(Some("danger-full-access"), Some("why")), Ok(Some(whole)));
    assert_eq!(
        said(Some("danger-full-access"), None),
        Err("invalid escalation: sandbox_permissions requires a justification".to_owned())
    );
    assert_eq!(
        said(None, Some("why")),
        Err("invalid escalation: justification is only valid together with sandbox_permissions"
            .to_owned())
    );
    assert_eq!(
        said(Some("danger-full-access"), Some(" \u{feff}")),
        Err("invalid justification: expected a non-empty sentence".to_owned())
    );
}

#[tokio::test]
async fn ex_03_what_is_not_wider_fails_and_asks_nobody() {
    let world = World::new();
    let live = world.in_turn("a");
    let port = Says::new(ApprovalOutcome::AllowedOnce);
    for mode in [WorkspaceWrite, ReadOnly] {
        let wish = wish(Some(live.agent()), WorkspaceWrite, mode);
        let error = approve_escalation(Some(&port), wish).await.expect_err("it is not wider");
        let text = format!(
            "sandbox escalation to \"{mode}\" is not strictly wider than this call's current \
             \"workspace-write\" mode"
        );
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(port.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn ex_04_then_the_service_is_looked_for_then_the_agent() {
    let error = approve_escalation(None, wish(None, ReadOnly, ReadOnly)).await.expect_err("narrow");
    assert!(matches!(error, EscalationError::NotWider { .. }), "{error}");
    let error = approve_escalation(None, wish(None, ReadOnly, WorkspaceWrite)).await;
    assert_eq!(
        error.expect_err("nobody").to_string(),
        "sandbox escalation to \"workspace-write\" requires approval, but no approval service is \
         composed"
    );
    let port = Says::new(ApprovalOutcome::AllowedOnce);
    let error = approve_escalation(Some(&port), wish(None, ReadOnly, WorkspaceWrite)).await;
    assert_eq!(
        error.expect_err("no agent").to_string(),
        "sandbox escalation to \"workspace-write\" requires approval, but the call has no agent \
         to route it through"
    );
    assert_eq!(port.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn ex_05_the_reason_in_the_log_names_mode_and_justification() {
    let world = World::new();
    let live = world.in_turn("a");
    let approvals = ApprovalService::new(&world.plane, None);
    let wish = wish(Some(live.agent()), ReadOnly, WorkspaceWrite);
    let _ = approve_escalation(Some(&approvals), wish).await;
    let asked = world.events_of("a", "approval/asked").remove(0);
    assert_eq!(asked.data["reason"], "escalate sandbox to workspace-write: the cache is elsewhere");
    assert_eq!((&asked.data["toolName"], &asked.data["callId"]), (&"shell".into(), &"c1".into()));
}

#[tokio::test]
async fn ex_06_a_grant_is_the_mode_and_each_refusal_has_its_text() {
    let world = World::new();
    let live = world.in_turn("a");
    let said = async |outcome| {
        let port = Says::new(outcome);
        let wish = wish(Some(live.agent()), ReadOnly, WorkspaceWrite);
        approve_escalation(Some(&port), wish).await.map_err(|error| error.to_string())
    };
    assert_eq!(said(ApprovalOutcome::AllowedOnce).await, Ok(WorkspaceWrite));
    assert_eq!(
        said(ApprovalOutcome::Rejected).await,
        Err("the user rejected escalating this command to \"workspace-write\"".to_owned())
    );
    assert_eq!(
        said(ApprovalOutcome::Cancelled).await,
        Err("approval for escalating to \"workspace-write\" was cancelled".to_owned())
    );
    assert_eq!(
        said(ApprovalOutcome::Unavailable).await,
        Err(
            "sandbox escalation to \"workspace-write\" requires approval, but no approval channel \
             is available"
                .to_owned()
        )
    );
    assert_eq!(denial_marker(ReadOnly), "[sandbox: file access denied under read-only mode]");
}

#[tokio::test]
async fn ex_07_it_needs_somebody_who_asks_and_no_service_of_ours() {
    let world = World::new();
    let live = world.agent("a");
    let port = Says::new(ApprovalOutcome::AllowedOnce);
    let wish = wish(Some(live.agent()), ReadOnly, DangerFullAccess);
    assert_eq!(approve_escalation(Some(&port), wish).await.expect("granted"), DangerFullAccess);
    assert_eq!(port.asked().len(), 1);
    assert_eq!(world.events("a"), [], "the port is not ours, and has no log");
}

#[tokio::test]
async fn ex_08_an_escalation_overlaps_with_another_ask_in_a_pair_of_its_own() {
    let world = World::new();
    let live = world.in_turn("a");
    let approvals = ApprovalService::new(&world.plane, None);
    let (listener, mut calls) = script::<Approval>();
    let registrar = approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    let (service, agent) = (approvals.clone(), live.agent().clone());
    let other =
        tokio::spawn(async move { service.request(ApprovalRequest::new(&agent, "edit")).await });
    let first = calls.called().await;
    let (service, agent) = (approvals.clone(), live.agent().clone());
    let escalating = tokio::spawn(async move {
        approve_escalation(Some(&service), wish(Some(&agent), ReadOnly, WorkspaceWrite)).await
    });
    let second = calls.called().await;
    assert_ne!(first.ask.id(), second.ask.id());
    second.reply(Ok(ApprovalOutcome::AllowedOnce.into()));
    assert_eq!(escalating.await.expect("no panic").expect("granted"), WorkspaceWrite);
    first.reply(Ok(ApprovalOutcome::Rejected.into()));
    assert_eq!(other.await.expect("no panic").expect("decided"), ApprovalOutcome::Rejected);
    assert_eq!(world.events_of("a", "approval/").len(), 4);
    crate::support::end_turn(live.agent().session(), 1);
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
    let _ = answerer(|_| async { None });
}
