//! Listeners of another language, which no types keep in order.

use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, foreign, one, says, soon, told};
use async_trait::async_trait;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalRequest, RawOutcome, Untyped, UntypedListener, UntypedNext,
};
use gatelog_interaction::chain::{ListenerError, Place};
use gatelog_interaction::internal::Site;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Says a value, and shows what it was asked.
struct Says(Value, mpsc::UnboundedSender<Value>);

#[async_trait]
impl UntypedListener for Says {
    async fn call(&self, request: Value, _: UntypedNext) -> Result<Value, BoxError> {
        self.1.send(request)?;
        Ok(self.0.clone())
    }
}

/// Delegates twice, shows what came of it, and returns the first result.
struct Twice(mpsc::UnboundedSender<Result<Value, ListenerError>>);

#[async_trait]
impl UntypedListener for Twice {
    async fn call(&self, _: Value, next: UntypedNext) -> Result<Value, BoxError> {
        let first = next.run().await?;
        self.0.send(next.clone().run().await)?;
        Ok(first)
    }
}

#[tokio::test(start_paused = true)]
async fn aw_18_what_is_foreign_is_normalized_at_the_outermost_only() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let (asked_of, _requests) = mpsc::unbounded_channel();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = Untyped(Says(json!({"always": true}), asked_of));
    let _inner = scene.all.global(Place::Last, inner).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let raw = soon(next.run()).await.expect("it says something");
    assert_eq!(raw, RawOutcome::Other(json!({"always": true})), "as it is");
    reply.send(Ok(raw)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(scene.world.sink.at(Site::ForeignOutcome).len(), 1);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_046_a_foreign_word_is_unavailable() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (asked_of, _requests) = mpsc::unbounded_channel();
    let untyped = Untyped(Says(foreign(), asked_of));
    let _untyped = scene.all.global(Place::Last, untyped).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_047_an_outer_listener_sees_the_foreign_word_and_may_map_it() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let (asked_of, _requests) = mpsc::unbounded_channel();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = Untyped(Says(foreign(), asked_of));
    let _inner = scene.all.global(Place::Last, inner).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    assert_eq!(soon(next.run()).await.expect("it says something"), RawOutcome::Other(foreign()));
    reply.send(says(ApprovalOutcome::Rejected)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Rejected));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_054_the_second_delegation_of_an_untyped_listener_is_closed() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (seconds, mut second) = mpsc::unbounded_channel();
    let trace = Trace::default();
    let _twice = scene.all.global(Place::Last, Untyped(Twice(seconds))).expect("root");
    let decides = trace.says("b", ApprovalOutcome::AllowedOnce);
    let _b = scene.all.global(Place::Last, decides).expect("root");
    let _c = scene.all.global(Place::Last, trace.passes("c")).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    let second = second.try_recv().expect("it tried");
    assert!(matches!(second, Err(ListenerError::Closed)), "{second:?}");
    assert_eq!(trace.take(), ["b"], "no second delegation skips ahead");
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn an_untyped_listener_is_shown_the_request_and_speaks_the_four_words() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    for outcome in ApprovalOutcome::ALL {
        let (asked_of, mut requests) = mpsc::unbounded_channel();
        let says = Untyped(Says(outcome.word().into(), asked_of));
        let _says = scene.all.global(Place::First, says).expect("root");
        let request = ApprovalRequest::new(live.agent(), "bash").for_call("call-1");
        let request = if outcome.is_granted() { request.because("it writes") } else { request };
        assert_eq!(told(scene.request(request)).await, outcome);
        let seen = requests.try_recv().expect("it was asked");
        let asked = scene.world.events_of("a", "approval/asked").pop().expect("it is logged");
        let mut shown = json!({
            "kind": "approval",
            "sessionId": "a",
            "requestId": asked.data["id"],
            "toolName": "bash",
            "callId": "call-1",
        });
        if outcome.is_granted() {
            shown["reason"] = json!("it writes");
        }
        assert_eq!(seen, shown);
    }
    scene.close(&live);
}
