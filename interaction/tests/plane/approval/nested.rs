//! Listeners that use the session themselves: S-076 to S-078.

use super::{Stage, append, pairs};
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalPort, ApprovalRequest, answerer};
use gatelog_interaction::chain::Place;
use gatelog_interaction::scope::Authority;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

#[tokio::test]
async fn s_076_an_agent_whose_listener_is_held_for_ever_delays_no_other() {
    let stage = Stage::new();
    let other = stage.world.in_turn("b");
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let _held = script.called().await;
    for _ in 0..5 {
        let of_b = stage.asking(ApprovalRequest::new(other.agent(), "shell"));
        script.called().await.reply(Ok(GRANTED.into()));
        assert_eq!(of_b.await.expect("no panic").expect("decided"), GRANTED);
    }
    crate::support::end_turn(other.agent().session(), 1);
    assert_eq!(stage.pairs(), (vec![], 1), "a still waits");
    asking.abort();
}

#[tokio::test]
async fn s_077_a_listener_may_append_to_the_session_while_it_claims() {
    let stage = Stage::new();
    let session = stage.session().clone();
    let listener = answerer(move |_| {
        let session = session.clone();
        async move {
            let note = tokio::task::spawn_blocking(move || {
                append(&session, "plan/mode", r#"{"active":true}"#)
            });
            note.await.expect("no panic").expect("the gate is free");
            Some(GRANTED)
        }
    });
    let registrar = stage.service.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["turn/start", "approval/asked", "plan/mode", "approval/decided"]);
    stage.is_sound();
}

#[tokio::test]
async fn s_078_a_listener_may_ask_on_the_same_agent() {
    let stage = Stage::new();
    let (service, agent) = (stage.service.clone(), stage.agent().clone());
    let listener = answerer(move |approval| {
        let (service, agent) = (service.clone(), agent.clone());
        async move {
            if approval.request().tool_name() == "inner" {
                return Some(ApprovalOutcome::Rejected);
            }
            let inner = service.request(ApprovalRequest::new(&agent, "inner")).await;
            assert_eq!(inner.expect("decided"), ApprovalOutcome::Rejected);
            Some(GRANTED)
        }
    });
    let registrar = stage.service.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    assert_eq!(stage.ask().await.expect("decided"), GRANTED);
    let audit = stage.audit();
    let kinds: Vec<_> = audit.iter().map(|(kind, _)| kind.as_str()).collect();
    let (asked, decided) = ("approval/asked", "approval/decided");
    assert_eq!(kinds, [asked, asked, decided, decided]);
    assert_eq!(pairs(&audit), (vec![ApprovalOutcome::Rejected, GRANTED], 0));
    stage.is_sound();
}
