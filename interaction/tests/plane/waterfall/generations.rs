//! Generations of a scope, leases, and what waits for listeners that nobody waits for.

use crate::support::{Called, script};
use crate::waterfall::scene::{Scene, Trace, is_pending, one, says, settle, soon, told};
use gatelog_interaction::approval::{Approval, ApprovalOutcome, ApprovalRequest};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{ListenerError, Place};
use gatelog_interaction::internal::Site;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

#[tokio::test(start_paused = true)]
async fn aw_25_a_request_keeps_the_generation_under_which_it_began() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let scope = live.agent().scope();
    let trace = Trace::default();
    let (first, mut first_called) = script();
    let _first = scene.all.scoped(scope, Place::Last, first).expect("root");
    let old = trace.says("old", ApprovalOutcome::Rejected);
    let _old = scene.all.scoped(scope, Place::Last, old).expect("root");
    let asked = scene.ask(&live);
    let called = soon(first_called.called()).await;
    let replaced = scope.publish();
    assert_eq!(replaced.leases(), 1);
    called.delegate().await;
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), ["old"]);
    soon(replaced.drained()).await;
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable, "the new one is empty");
    assert_eq!(trace.take(), [""; 0]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_25_a_lease_of_the_caller_decides_which_generation_is_asked() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let scope = live.agent().scope();
    let trace = Trace::default();
    let old = trace.says("old", ApprovalOutcome::Rejected);
    let _old = scene.all.scoped(scope, Place::Last, old).expect("root");
    let lease = Arc::new(scope.lease());
    let replaced = scope.publish();
    let new = trace.says("new", ApprovalOutcome::AllowedOnce);
    let _new = scene.all.scoped(scope, Place::Last, new).expect("root");
    let request = ApprovalRequest::new(live.agent(), "bash");
    let held = request.clone().with_lease(Arc::clone(&lease));
    assert_eq!(told(scene.request(held)).await, ApprovalOutcome::Rejected);
    assert_eq!(told(scene.request(request)).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["old", "new"]);
    soon(scene.world.plane.drained()).await;
    assert_eq!(replaced.leases(), 1, "the caller's own");
    drop(lease);
    soon(replaced.drained()).await;
    scene.close(&live);
}

/// Cancels a request that is with a listener, and returns it with the listener still in it.
async fn cancelled_while_held(scene: &Scene) -> Called<Approval> {
    let live = scene.world.in_turn("a");
    let (holds, mut holding) = script();
    let scope = live.agent().scope();
    scene.all.scoped(scope, Place::Last, holds).expect("root").keep();
    let cancel = Cancel::new();
    let request = ApprovalRequest::new(live.agent(), "bash").until(cancel.clone());
    let asked = scene.request(request);
    let held = soon(holding.called()).await;
    cancel.cancel();
    assert_eq!(told(asked).await, ApprovalOutcome::Cancelled, "nobody waits for the listener");
    scene.close(&live);
    held
}

#[tokio::test(start_paused = true)]
async fn aw_26_a_snapshot_is_released_when_the_listener_has_returned() {
    let scene = Scene::new();
    let held = cancelled_while_held(&scene).await;
    let scope = held.ask.request().agent().scope().clone();
    let replaced = scope.publish();
    assert_eq!(replaced.leases(), 1);
    assert_eq!(scene.world.plane.undrained(), 1, "the gauge shows it");
    assert!(is_pending(replaced.drained()).await);
    held.reply(Err(ListenerError::failed("too late")));
    soon(replaced.drained()).await;
    soon(scene.world.plane.drained()).await;
    assert_eq!(scene.world.plane.undrained(), 0);
}

#[tokio::test(start_paused = true)]
async fn aw_26_a_listener_that_was_delegated_to_elsewhere_is_waited_for_as_well() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let (inner, mut inside) = script();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let _inner = scene.all.global(Place::Last, inner).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let elsewhere = tokio::spawn(next.run());
    let held = soon(inside.called()).await;
    reply.send(says(ApprovalOutcome::Rejected)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    let replaced = live.agent().scope().publish();
    assert!(is_pending(replaced.drained()).await, "a listener is in the request");
    held.reply(says(ApprovalOutcome::AllowedOnce));
    soon(elsewhere).await.expect("it does not panic").expect("what it says, too late");
    soon(replaced.drained()).await;
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Rejected));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_27_a_cleanup_that_fails_is_reported_and_changes_nothing() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (listener, mut called) = script();
    let _listener = scene.all.global(Place::Last, listener).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(called.called()).await.split();
    let done = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let done = Arc::clone(&done);
        move || done.lock().expect("sound").push(what)
    };
    let (first, last, late) = (note("first"), note("last"), note("late"));
    next.cleanup(move || {
        first();
        Err("out of paper".into())
    });
    next.cleanup(|| panic!("a cleanup of a test"));
    next.cleanup(move || {
        last();
        Ok(())
    });
    reply.send(says(ApprovalOutcome::AllowedOnce)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
    soon(scene.world.plane.drained()).await;
    next.cleanup(move || {
        late();
        Err("too late to be kept".into())
    });
    assert_eq!(*done.lock().expect("sound"), ["first", "last", "late"]);
    let reports = scene.world.sink.at(Site::Cleanup);
    let texts: Vec<_> = reports.iter().map(|report| report.error.to_string()).collect();
    assert_eq!(texts, ["out of paper", "panicked: a cleanup of a test", "too late to be kept"]);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::AllowedOnce));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_062_a_hot_reload_is_seen_by_the_next_request_only() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let scope = live.agent().scope();
    let trace = Trace::default();
    let (first, mut first_called) = script();
    let old = [
        scene.all.scoped(scope, Place::Last, first).expect("root"),
        scene
            .all
            .scoped(scope, Place::Last, trace.says("old", ApprovalOutcome::Rejected))
            .expect("root"),
    ];
    let asked = scene.ask(&live);
    let called = soon(first_called.called()).await;
    let replaced = scope.publish();
    assert_eq!(scope.generation(), 2);
    let new = trace.says("new", ApprovalOutcome::AllowedOnce);
    let _new = scene.all.scoped(scope, Place::First, new).expect("root");
    called.delegate().await;
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), ["old"]);
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["new"]);
    soon(replaced.drained()).await;
    drop(old);
    scene.close(&live);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_063_a_scope_is_released_behind_the_listener_and_its_hooks() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let scope = live.agent().scope().clone();
    let (holds, mut holding) = script();
    let _holds = scene.all.scoped(&scope, Place::Last, holds).expect("root");
    let cancel = Cancel::new();
    let asked = scene.request(ApprovalRequest::new(live.agent(), "bash").until(cancel.clone()));
    let held = soon(holding.called()).await;
    let (go, gate) = mpsc::channel::<()>();
    let hook = held.next.ended().subscribe(move || gate.recv().expect("the test lets it go"));
    cancel.cancel();
    assert_eq!(told(asked).await, ApprovalOutcome::Cancelled);
    let releasing = tokio::spawn({
        let scope = scope.clone();
        async move { scope.release().await }
    });
    held.reply(says(ApprovalOutcome::AllowedOnce));
    // The listener returns; its hook blocks, and with it the release.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        assert!(!releasing.is_finished(), "released while a hook runs");
    }
    go.send(()).expect("the hook waits");
    soon(releasing).await.expect("it does not panic");
    drop(hook);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Cancelled));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_063_a_scope_is_not_released_while_the_listener_runs() {
    let scene = Scene::new();
    let held = cancelled_while_held(&scene).await;
    let scope = held.ask.request().agent().scope().clone();
    let releasing = tokio::spawn({
        let scope = scope.clone();
        async move { scope.release().await }
    });
    settle().await;
    assert!(!releasing.is_finished());
    held.reply(says(ApprovalOutcome::AllowedOnce));
    soon(releasing).await.expect("it does not panic");
}
