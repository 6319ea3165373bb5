//! Claiming, delegating, and the order in which listeners are asked.

use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, one, says, soon, told};
use gatelog_interaction::approval::{Approval, ApprovalOutcome, RawOutcome, answerer};
use gatelog_interaction::chain::Place;
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn aw_01_returning_an_outcome_claims_the_request() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    for outcome in ApprovalOutcome::ALL {
        let trace = Trace::default();
        let _claims = scene.all.global(Place::First, trace.says("claims", outcome)).expect("root");
        assert_eq!(scene.outcome(&live).await, outcome);
        assert_eq!(trace.take(), ["claims"]);
    }
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_02_delegation_yields_what_the_next_one_says() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let trace = Trace::default();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let inner = trace.says("inner", ApprovalOutcome::Rejected);
    let _inner = scene.all.global(Place::Last, inner).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let inner = soon(next.run()).await.expect("it says something");
    assert_eq!(inner, RawOutcome::Known(ApprovalOutcome::Rejected));
    reply.send(Ok(inner)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_03_who_does_not_delegate_ends_the_chain() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (claims, mut claiming) = script();
    let trace = Trace::default();
    let _claims = scene.all.global(Place::Last, claims).expect("root");
    let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
    let asked = scene.ask(&live);
    // The way on is dropped unused.
    soon(claiming.called()).await.reply(says(ApprovalOutcome::Unavailable));
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_04_nobody_and_everybody_delegating_are_unavailable() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    let trace = Trace::default();
    let _one = scene.all.global(Place::Last, trace.passes("one")).expect("root");
    let _two = scene.all.global(Place::Last, trace.passes("two")).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), ["one", "two"]);
    let unavailable = Some("unavailable".to_owned());
    assert_eq!(scene.decided("a"), [unavailable.clone(), unavailable]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_05_registration_order_is_the_order_and_scope_is_no_priority() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let scope = live.agent().scope();
    let own = trace.passes("own");
    let _zero = scene.all.global(Place::Last, trace.passes("global")).expect("root");
    let _one =
        scene.all.scoped(&scene.world.root, Place::Last, trace.passes("above")).expect("root");
    let _two = scene.all.scoped(scope, Place::Last, own).expect("root");
    let _three = scene.all.global(Place::Last, trace.passes("last")).expect("root");
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["global", "above", "own", "last"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_06_first_goes_before_all_that_are_there() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let scope = live.agent().scope();
    let _zero = scene.all.scoped(scope, Place::Last, trace.passes("scoped")).expect("root");
    let _one = scene.all.global(Place::First, trace.passes("first")).expect("root");
    let _two = scene.all.scoped(scope, Place::First, trace.passes("before")).expect("root");
    let _three = scene.all.global(Place::Last, trace.passes("last")).expect("root");
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["before", "first", "scoped", "last"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_23_only_no_answer_delegates() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let rejects = |_: Arc<Approval>| async { Some(ApprovalOutcome::Rejected) };
    let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
    let answers = scene.all.global(Place::First, answerer(rejects)).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), [""; 0]);
    drop(answers);
    let nothing = |_: Arc<Approval>| async { None };
    let _silent = scene.all.global(Place::First, answerer(nothing)).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), ["behind"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_035_the_first_delegates_and_the_second_decides() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let _a = scene.all.global(Place::Last, trace.passes("a")).expect("root");
    let decides = trace.says("b", ApprovalOutcome::AllowedOnce);
    let _b = scene.all.global(Place::Last, decides).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["a", "b"]);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::AllowedOnce));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_036_behind_a_claim_nobody_runs() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let _a =
        scene.all.global(Place::Last, trace.says("a", ApprovalOutcome::Rejected)).expect("root");
    let _b =
        scene.all.global(Place::Last, trace.says("b", ApprovalOutcome::AllowedOnce)).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), ["a"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_037_a_later_first_goes_before_an_earlier_one() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let _a = scene.all.global(Place::Last, trace.passes("a")).expect("root");
    let _p = scene.all.global(Place::First, trace.passes("p")).expect("root");
    let _q = scene.all.global(Place::First, trace.passes("q")).expect("root");
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["q", "p", "a"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_043_an_outer_listener_may_turn_what_an_inner_one_said() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (outer, mut outside) = script();
    let trace = Trace::default();
    let _outer = scene.all.global(Place::Last, outer).expect("root");
    let _inner =
        scene.all.global(Place::Last, trace.says("b", ApprovalOutcome::Rejected)).expect("root");
    let asked = scene.ask(&live);
    let (next, reply) = soon(outside.called()).await.split();
    let inner = soon(next.run()).await.expect("it says something");
    assert_eq!(inner, RawOutcome::Known(ApprovalOutcome::Rejected));
    reply.send(says(ApprovalOutcome::AllowedOnce)).expect("the listener waits");
    assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(scene.decided("a"), one(ApprovalOutcome::AllowedOnce));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_049_who_answers_nothing_hands_on() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let nothing = |_: Arc<Approval>| async { None };
    let _silent = scene.all.global(Place::Last, answerer(nothing)).expect("root");
    let trace = Trace::default();
    let successor = trace.says("successor", ApprovalOutcome::AllowedOnce);
    let _successor = scene.all.global(Place::Last, successor).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["successor"]);
    scene.close(&live);
}
