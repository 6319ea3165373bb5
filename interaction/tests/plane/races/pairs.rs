//! Requests side by side, of one agent and of two.

use super::by_tool;
use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, one, says, soon, told};
use async_trait::async_trait;
use gatelog_interaction::approval::{
    Approval, ApprovalOutcome, ApprovalRequest, Paired, Pairing, RawOutcome,
};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use gatelog_validator::facts::Facts;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

#[tokio::test(start_paused = true)]
async fn s_073_two_agents_in_one_listener_share_no_outcome() {
    let scene = Scene::new();
    let (x, y) = (scene.world.in_turn("x"), scene.world.in_turn("y"));
    let (shared, mut called) = script();
    let _shared = scene.all.global(Place::Last, shared).expect("root");
    let cancel = Cancel::new();
    let of_x = ApprovalRequest::new(x.agent(), "of x").until(cancel.clone());
    let asked_x = scene.request(of_x);
    let held_x = soon(called.called()).await;
    let asked_y = scene.request(ApprovalRequest::new(y.agent(), "of y"));
    let held_y = soon(called.called()).await;
    assert!(*held_x.ask.request().agent() == *x.agent());
    assert!(*held_y.ask.request().agent() == *y.agent());
    held_y.reply(says(ApprovalOutcome::AllowedOnce));
    cancel.cancel();
    assert_eq!(told(asked_y).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(told(asked_x).await, ApprovalOutcome::Cancelled);
    held_x.reply(says(ApprovalOutcome::AllowedOnce));
    soon(scene.world.plane.drained()).await;
    let of = |tool: &str, outcome| [(tool.to_owned(), Some(outcome))].into();
    assert_eq!(by_tool(&scene.world, "x"), of("of x", ApprovalOutcome::Cancelled));
    assert_eq!(by_tool(&scene.world, "y"), of("of y", ApprovalOutcome::AllowedOnce));
    crate::support::end_turn(y.agent().session(), 1);
    scene.close(&x);
}

#[tokio::test(start_paused = true)]
async fn s_074_the_second_of_two_may_be_answered_first() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (listener, mut called) = script();
    let _listener = scene.all.global(Place::Last, listener).expect("root");
    let mut asking = Vec::new();
    for call in ["call-1", "call-2"] {
        let asked = scene.request(ApprovalRequest::new(live.agent(), "bash").for_call(call));
        let held = soon(called.called()).await;
        assert_eq!(held.ask.request().call_id(), Some(call));
        asking.push((asked, held));
    }
    for outcome in [ApprovalOutcome::Rejected, ApprovalOutcome::AllowedOnce] {
        let (asked, held) = asking.pop().expect("two were asked");
        held.reply(says(outcome));
        assert_eq!(told(asked).await, outcome);
    }
    let events = scene.world.events_of("a", "approval/");
    let kinds: Vec<_> = events.iter().map(|seen| &*seen.kind).collect();
    assert_eq!(kinds, ["approval/asked", "approval/asked", "approval/decided", "approval/decided"]);
    let id = |at: usize| &events[at].data["id"];
    assert_eq!((id(2), id(3)), (id(1), id(0)));
    assert_ne!(id(0), id(1));
    assert_eq!(events[0].data["callId"], "call-1");
    assert_eq!(events[2].data["outcome"], "rejected");
    scene.close(&live);
}

/// A front end that knows a question by its call only: it shows what it paired it with.
struct ByCall {
    pairing: Pairing,
    shown: mpsc::UnboundedSender<(Paired, oneshot::Sender<ApprovalOutcome>)>,
}

#[async_trait]
impl Listener<Approval> for ByCall {
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let session = ask.request().agent().session().clone();
        let open = tokio::task::spawn_blocking(move || {
            let mut gate = session.gate()?;
            gate.facts::<Facts>().map(Facts::asks)
        });
        let open = open.await.map_err(ListenerError::failed)?.map_err(ListenerError::failed)?;
        let Some(paired) = self.pairing.claim(&open, ask.request().call_id()) else {
            return next.run().await;
        };
        let (answer, answered) = oneshot::channel();
        self.shown.send((paired, answer)).map_err(ListenerError::failed)?;
        Ok(answered.await.map_err(ListenerError::failed)?.into())
    }
}

#[tokio::test(start_paused = true)]
async fn s_075_two_without_a_call_pair_by_id_and_an_adapter_takes_the_newest() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (holds, mut holding) = script();
    let trace = Trace::default();
    let (shown, mut pairs) = mpsc::unbounded_channel();
    let pairing = Pairing::new();
    let _holds = scene.all.global(Place::Last, holds).expect("root");
    let by_call = ByCall { pairing: pairing.clone(), shown };
    let _by_call = scene.all.global(Place::Last, by_call).expect("root");
    let terminal = trace.says("terminal", ApprovalOutcome::Rejected);
    let _terminal = scene.all.global(Place::Last, terminal).expect("root");
    // Both stand in the log before the adapter sees one.
    let asked = [scene.ask(&live), scene.ask(&live)];
    let held = [soon(holding.called()).await, soon(holding.called()).await];
    let ids: Vec<Value> = scene
        .world
        .events_of("a", "approval/asked")
        .into_iter()
        .map(|seen| seen.data["id"].clone())
        .collect();
    let mut delegating = Vec::new();
    let mut answers = Vec::new();
    for (held, expected) in held.into_iter().zip(ids.iter().rev()) {
        delegating.push(tokio::spawn(held.delegate()));
        let (paired, answer) = soon(pairs.recv()).await.expect("the adapter is there");
        assert_eq!(paired.id(), expected, "the newest that nobody claims");
        answers.push((paired, answer));
    }
    // A third one is about a call whose question somebody else claims.
    let request = ApprovalRequest::new(live.agent(), "bash").for_call("call-3");
    let third = scene.request(request);
    let held = soon(holding.called()).await;
    let session = live.agent().session();
    let open = session.gate().expect("it is open").facts::<Facts>().expect("sound").asks();
    let claimed = pairing.claim(&open, Some("call-3")).expect("it is open");
    held.delegate().await;
    assert_eq!(told(third).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), ["terminal"], "what it cannot pair it hands on");
    drop(claimed);
    for (paired, answer) in answers {
        answer.send(ApprovalOutcome::AllowedOnce).expect("the adapter waits");
        drop(paired);
    }
    for asked in asked {
        assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
    }
    let rejected = one(ApprovalOutcome::Rejected);
    let allowed = one(ApprovalOutcome::AllowedOnce);
    assert_eq!(scene.decided("a"), [allowed.clone(), allowed, rejected].concat());
    scene.close(&live);
}
