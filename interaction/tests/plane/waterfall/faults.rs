//! Listeners that panic, fail, or say something foreign.

use crate::support::{Kind, script};
use crate::waterfall::scene::{Scene, Trace, one, says, soon, told};
use gatelog_interaction::approval::{Approval, ApprovalOutcome, RawOutcome};
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use gatelog_interaction::internal::Site;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A listener whose very call panics: there is not even a future.
struct Panics;

type Reply<'a> = Pin<Box<dyn Future<Output = Result<RawOutcome, ListenerError>> + Send + 'a>>;

impl Listener<Approval> for Panics {
    fn call<'a, 'b>(&'a self, _: Arc<Approval>, _: Next<Approval>) -> Reply<'b>
    where
        'a: 'b,
    {
        panic!("a listener of a test")
    }
}

/// A listener that panics while its finished future is dropped.
struct PanicsBehind;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a destructor of a test");
    }
}

struct Armed(Option<Bomb>);

impl Future for Armed {
    type Output = Result<RawOutcome, ListenerError>;

    fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Self::Output> {
        assert!(self.0.is_some());
        std::task::Poll::Ready(Ok(ApprovalOutcome::AllowedOnce.into()))
    }
}

impl Listener<Approval> for PanicsBehind {
    fn call<'a, 'b>(&'a self, _: Arc<Approval>, _: Next<Approval>) -> Reply<'b>
    where
        'a: 'b,
    {
        Box::pin(Armed(Some(Bomb)))
    }
}

/// An error whose text cannot be had.
#[derive(Debug)]
struct Unsayable;

impl std::fmt::Display for Unsayable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("an error of a test")
    }
}

impl std::error::Error for Unsayable {}

#[tokio::test(start_paused = true)]
async fn aw_15_a_panic_at_once_is_contained_like_a_later_one() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let at_once = scene.all.global(Place::Last, Panics).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    drop(at_once);
    let behind = scene.all.global(Place::Last, PanicsBehind).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    drop(behind);
    let (later, mut script) = script();
    let _later = scene.all.global(Place::Last, later).expect("root");
    let asked = scene.ask(&live);
    soon(script.called()).await.reply(Err(ListenerError::failed("later")));
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(scene.world.sink.at(Site::Listener).len(), 3, "each is reported once");
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_16_a_failure_is_unavailable_and_no_error_of_the_caller() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (fails, mut failing) = script();
    let trace = Trace::default();
    let _fails = scene.all.global(Place::Last, fails).expect("root");
    let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
    for error in [ListenerError::failed("out of paper"), ListenerError::failed(Unsayable)] {
        let asked = scene.ask(&live);
        soon(failing.called()).await.reply(Err(error));
        assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    }
    assert_eq!(trace.take(), [""; 0], "a failure is no delegation");
    let reports = scene.world.sink.at(Site::Listener);
    let texts: Vec<_> = reports.iter().map(|report| report.error.to_string()).collect();
    assert_eq!(texts, ["out of paper", "panicked: an error of a test"]);
    assert!(reports.iter().all(|report| report.session.as_deref() == Some("a")));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_17_an_outer_listener_sees_the_failure_of_an_inner_one() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let _inner = scene.all.global(Place::Last, Panics).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let failed = soon(next.run()).await.expect_err("it panics");
    assert_eq!(failed.to_string(), "a listener panicked: a listener of a test");
    reply.send(says(ApprovalOutcome::AllowedOnce)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(scene.world.sink.at(Site::Listener).len(), 1, "a contained panic is reported");
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_044_who_catches_the_failure_behind_may_still_answer() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (a, mut a_called) = script();
    let (b, mut b_called) = script();
    let _a = scene.all.global(Place::Last, a).expect("root");
    let _b = scene.all.global(Place::Last, b).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(a_called.called()).await.split();
    let inner = tokio::spawn(next.run());
    soon(b_called.called()).await.reply(Err(ListenerError::failed("out of paper")));
    let failed = soon(inner).await.expect("it does not panic").expect_err("b fails");
    assert!(matches!(&failed, ListenerError::Failed(error) if error.to_string() == "out of paper"));
    reply.send(says(ApprovalOutcome::Rejected)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Rejected));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_045_a_failure_that_nobody_catches_is_unavailable() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let (b, mut b_called) = script();
    let _a = scene.all.global(Place::Last, trace.passes("a")).expect("root");
    let _b = scene.all.global(Place::Last, b).expect("root");
    let asked = scene.ask(&live);
    soon(b_called.called()).await.reply(Err(ListenerError::failed("out of paper")));
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_048_a_panic_before_the_first_await_leaves_everything_healthy() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let panics = scene.all.global(Place::Last, Panics).expect("root");
        assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
        drop(panics);
        let trace = Trace::default();
        let sound = trace.says("sound", ApprovalOutcome::AllowedOnce);
        let _sound = scene.all.global(Place::Last, sound).expect("root");
        assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
        let decided = ["unavailable", "allowed-once"].map(|word| Some(word.to_owned()));
        assert_eq!(scene.decided("a"), decided);
        let reported = scene.world.sink.at(Site::Listener);
        assert_eq!(reported.len(), 1);
        assert!(reported[0].subject.is_some() && reported[0].session.as_deref() == Some("a"));
        scene.close(&live);
    }
}
