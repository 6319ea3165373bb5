//! Who may ask: S-193 to S-195, and leases.

use super::{Stage, count};
use crate::support::World;
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::approval::{
    ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest,
};
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;
const STALE: &str = "approval.request() needs the exact live agent of its session";

async fn is_refused(stage: &Stage, wish: ApprovalRequest) {
    let (_guard, asked) = stage.always(GRANTED);
    let before = stage.world.events("a");
    let error = stage.service.request(wish).await.expect_err("it must not be admitted");
    assert!(matches!(error, ApprovalError::StaleAgent(_)));
    assert_eq!(error.to_string(), STALE);
    assert_eq!((stage.world.events("a"), count(&asked)), (before, 0));
}

#[tokio::test]
async fn s_193_a_stale_agent_asks_nobody_and_logs_nothing() {
    let Stage { world, service, live } = Stage::new();
    let agent = live.agent().clone();
    let scope = world.root.child("next").expect("two deep");
    let session = agent.session().clone();
    let next = Agent::new("a", session, scope, Arc::new(NoticeQueue::default()));
    drop(live);
    let stage = Stage { live: world.agents.enter(next, None), world, service };
    is_refused(&stage, ApprovalRequest::new(&agent, "shell")).await;
}

#[tokio::test]
async fn s_194_the_same_id_in_another_instance_is_refused() {
    let stage = Stage::new();
    let (session, scope) = (stage.session().clone(), stage.agent().scope().clone());
    let twin = Agent::new("a", session, scope, Arc::new(NoticeQueue::default()));
    assert_eq!(twin.id(), stage.agent().id());
    is_refused(&stage, ApprovalRequest::new(&twin, "shell")).await;
}

#[tokio::test]
async fn s_195_an_agent_whose_owner_is_no_longer_active_is_refused() {
    let world = World::new();
    let owner = world.agent("owner");
    let service = gatelog_interaction::approval::ApprovalService::new(&world.plane, None);
    let agent = world.dormant("a");
    crate::support::start_turn(agent.session(), 1);
    let live = world.agents.enter(agent.clone(), Some(owner.agent().clone()));
    let stage = Stage { world, service, live };
    let (guard, _) = stage.always(GRANTED);
    assert_eq!(stage.ask().await.expect("the owner is active"), GRANTED);
    drop((guard, owner));
    is_refused(&stage, stage.wish()).await;
}

#[tokio::test]
async fn a_stale_agent_is_said_before_a_closed_turn() {
    let world = World::new();
    let service = gatelog_interaction::approval::ApprovalService::new(&world.plane, None);
    let agent = world.dormant("a");
    let failed = service.request(ApprovalRequest::new(&agent, "shell")).await;
    assert!(matches!(failed, Err(ApprovalError::StaleAgent(_))), "{failed:?}");
}

#[tokio::test]
async fn a_lease_of_another_agent_is_refused_before_anything_is_logged() {
    let stage = Stage::new();
    let other = stage.world.in_turn("b");
    let lease = Arc::new(other.agent().scope().lease());
    let failed = stage.service.request(stage.wish().with_lease(lease)).await;
    assert!(matches!(failed, Err(ApprovalError::ForeignLease)), "{failed:?}");
    assert_eq!(stage.audit(), vec![]);
    let own = Arc::new(stage.agent().scope().lease());
    let outcome = stage.service.request(stage.wish().with_lease(own)).await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Unavailable);
}
