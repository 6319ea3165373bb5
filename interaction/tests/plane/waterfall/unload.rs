//! Listeners that are taken back while a request is with them, and what comes too late.

use crate::support::{Kind, script};
use crate::waterfall::scene::{Scene, Trace, one, says, settle, soon, told};
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalPort, ApprovalRequest, DecidedBy};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{ListenerError, Place};

#[tokio::test(start_paused = true)]
async fn aw_21_unloading_a_listener_that_has_the_request_ends_it() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (holds, mut holding) = script();
    let holds = scene.all.global(Place::Last, holds).expect("root");
    let trace = Trace::default();
    let successor = trace.says("successor", ApprovalOutcome::AllowedOnce);
    let _successor = scene.all.global(Place::Last, successor).expect("root");
    let service = scene.service.clone();
    let request = ApprovalRequest::new(live.agent(), "bash");
    let asked = tokio::spawn(async move { service.request_explained(request).await });
    let held = soon(holding.called()).await;
    drop(holds);
    let explained = soon(asked).await.expect("it does not panic").expect("the log is sound");
    assert_eq!(explained.outcome, ApprovalOutcome::Unavailable);
    assert_eq!(explained.by, DecidedBy::Unload);
    assert_eq!(trace.take(), [""; 0], "nobody takes over");
    drop(held);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_22_behind_the_ending_answers_and_delegations_are_void() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let trace = Trace::default();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let _inner = scene.all.global(Place::Last, trace.passes("inner")).expect("root");
    let cancel = Cancel::new();
    let asked = scene.request(ApprovalRequest::new(live.agent(), "bash").until(cancel.clone()));
    let (next, reply) = soon(outside.called()).await.split();
    assert!(!next.is_closed());
    let ended = next.ended();
    cancel.cancel();
    assert_eq!(told(asked).await, ApprovalOutcome::Cancelled);
    assert!(next.is_closed());
    soon(ended.cancelled()).await;
    assert!(matches!(soon(next.run()).await, Err(ListenerError::Closed)));
    reply.send(says(ApprovalOutcome::AllowedOnce)).expect("the listener waits");
    settle().await;
    assert_eq!(trace.take(), [""; 0], "nobody is entered");
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Cancelled));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_056_a_listener_that_goes_with_the_request_leaves_it_unavailable() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (l, mut l_called) = script();
        let l = scene.all.global(Place::Last, l).expect("root");
        let trace = Trace::default();
        let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
        let asked = scene.ask(&live);
        let _held = soon(l_called.called()).await;
        drop(l);
        assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
        assert_eq!(trace.take(), [""; 0]);
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
        scene.close(&live);
    }
}

#[tokio::test(start_paused = true)]
async fn s_057_a_replacement_is_asked_by_the_next_request_only() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (l, mut l_called) = script();
    let l = scene.all.global(Place::Last, l).expect("root");
    let asked = scene.ask(&live);
    let _held = soon(l_called.called()).await;
    let trace = Trace::default();
    drop(l);
    let r = trace.says("r", ApprovalOutcome::AllowedOnce);
    let _r = scene.all.global(Place::Last, r).expect("root");
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["r"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_058_what_an_unloaded_listener_says_late_is_void() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (l, mut l_called) = script();
        let l = scene.all.global(Place::Last, l).expect("root");
        let asked = scene.ask(&live);
        let held = soon(l_called.called()).await;
        drop(l);
        assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
        held.reply(says(ApprovalOutcome::AllowedOnce));
        soon(scene.world.plane.drained()).await;
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
        scene.close(&live);
    }
}

#[tokio::test(start_paused = true)]
async fn s_059_who_goes_before_it_is_entered_is_skipped() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    for has_third in [true, false] {
        let (a, mut a_called) = script();
        let trace = Trace::default();
        let _a = scene.all.global(Place::Last, a).expect("root");
        let b = trace.says("b", ApprovalOutcome::AllowedOnce);
        let b = scene.all.global(Place::Last, b).expect("root");
        let c = trace.says("c", ApprovalOutcome::Rejected);
        let mut c = scene.all.global(Place::Last, c).expect("root");
        if !has_third {
            c.withdraw();
        }
        let asked = scene.ask(&live);
        let called = soon(a_called.called()).await;
        drop(b);
        called.delegate().await;
        let (outcome, entered): (_, &[_]) = if has_third {
            (ApprovalOutcome::Rejected, &["c"])
        } else {
            (ApprovalOutcome::Unavailable, &[])
        };
        assert_eq!(told(asked).await, outcome);
        assert_eq!(trace.take(), entered);
    }
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_060_a_wrapper_that_goes_takes_the_request_with_it() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (a, mut a_called) = script();
    let (b, mut b_called) = script();
    let a = scene.all.global(Place::Last, a).expect("root");
    let _b = scene.all.global(Place::Last, b).expect("root");
    let asked = scene.ask(&live);
    let delegating = tokio::spawn(soon(a_called.called()).await.delegate());
    let inner = soon(b_called.called()).await;
    drop(a);
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    inner.reply(says(ApprovalOutcome::AllowedOnce));
    soon(delegating).await.expect("it does not panic");
    soon(scene.world.plane.drained()).await;
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_061_a_way_on_that_was_kept_leads_nowhere() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (keeps, mut keeping) = script();
    let trace = Trace::default();
    let _keeps = scene.all.global(Place::Last, keeps).expect("root");
    let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
    let asked = scene.ask(&live);
    let (kept, reply) = soon(keeping.called()).await.split();
    reply.send(says(ApprovalOutcome::Rejected)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    soon(scene.world.plane.drained()).await;
    assert!(matches!(soon(kept.run()).await, Err(ListenerError::Closed)));
    assert_eq!(trace.take(), [""; 0]);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::Rejected));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_has_left_takes_nothing_with_it() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let trace = Trace::default();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = trace.says("inner", ApprovalOutcome::Rejected);
    let inner = scene.all.global(Place::Last, inner).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let said = soon(next.run()).await.expect("it says something");
    drop(inner);
    reply.send(Ok(said)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    scene.close(&live);
}
