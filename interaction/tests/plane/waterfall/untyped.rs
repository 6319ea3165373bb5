//! Listeners of another language, which no types keep in order.

use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, foreign, one, says, soon, told};
use gatelog_interaction::approval::{
    Approval, ApprovalOutcome, RawOutcome, ScriptedNext, scripted,
};
use gatelog_interaction::chain::{Listener, ListenerError, Place};
use gatelog_interaction::internal::Site;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;

/// A listener that says a value.
fn value(value: Value) -> impl Listener<Approval> {
    scripted(move |_: Arc<Approval>, _: ScriptedNext| {
        let value = value.clone();
        async move { Ok(value) }
    })
}

/// A listener that delegates twice, shows what came of it, and returns the first result.
fn twice(seconds: mpsc::UnboundedSender<Result<Value, ListenerError>>) -> impl Listener<Approval> {
    scripted(move |_: Arc<Approval>, next: ScriptedNext| {
        let seconds = seconds.clone();
        async move {
            let first = next.run().await?;
            let second = next.clone().run().await;
            seconds.send(second).map_err(ListenerError::failed)?;
            Ok(first)
        }
    })
}

#[tokio::test(start_paused = true)]
async fn aw_18_what_is_foreign_is_normalized_at_the_outermost_only() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = value(json!({"always": true}));
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
    let untyped = value(foreign());
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
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = value(foreign());
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
    let _twice = scene.all.global(Place::Last, twice(seconds)).expect("root");
    let decides = trace.says("b", ApprovalOutcome::AllowedOnce);
    let _b = scene.all.global(Place::Last, decides).expect("root");
    let _c = scene.all.global(Place::Last, trace.passes("c")).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    let second = second.try_recv().expect("it tried");
    assert!(matches!(second, Err(ListenerError::Closed)), "{second:?}");
    assert_eq!(trace.take(), ["b"], "no second delegation skips ahead");
    scene.close(&live);
}
