//! Registrations that come and go between requests, and requests that keep what they began with.

use crate::support::{Kind, script};
use crate::waterfall::scene::{Scene, Trace, one, says, settle, soon, told};
use gatelog_interaction::approval::ApprovalOutcome;
use gatelog_interaction::chain::Place;

#[tokio::test(start_paused = true)]
async fn aw_13_who_registers_later_is_not_asked() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (first, mut first_called) = script();
    let trace = Trace::default();
    let _first = scene.all.global(Place::Last, first).expect("root");
    let asked = scene.ask(&live);
    let called = soon(first_called.called()).await;
    let _before = scene.all.global(Place::First, trace.passes("before")).expect("root");
    let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
    called.delegate().await;
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_14_listeners_run_behind_the_question_and_parallel_questions_wait_for_none() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (listener, mut called) = script();
    let _listener = scene.all.global(Place::Last, listener).expect("root");
    let asked = [scene.ask(&live), scene.ask(&live), scene.ask(&live)];
    let mut entered = Vec::new();
    for _ in 0..3 {
        let call = soon(called.called()).await;
        let logged = scene.world.events_of("a", "approval/asked");
        let id = call.ask.id().as_str();
        assert!(logged.iter().any(|seen| seen.data["id"] == id), "it is asked before it stands");
        entered.push(call);
    }
    assert_eq!(scene.decided("a"), [None, None, None], "all stand, and nobody has answered");
    for call in entered {
        call.reply(says(ApprovalOutcome::Rejected));
    }
    for asked in asked {
        assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    }
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_19_a_listener_that_was_taken_back_never_was() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let mut gone = scene
        .all
        .global(Place::First, trace.says("gone", ApprovalOutcome::AllowedOnce))
        .expect("root");
    let _kept = scene.all.global(Place::Last, trace.passes("kept")).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["gone"]);
    assert!(gone.withdraw());
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), ["kept"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_20_a_registration_lives_as_long_as_its_guard() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    {
        let plugin = [scene.all.global(Place::Last, trace.passes("plugin")).expect("root")];
        scene.unanswered(&live).await;
        assert_eq!(trace.take(), ["plugin"]);
        drop(plugin);
    }
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), [""; 0]);
    scene.all.global(Place::Last, trace.passes("kept")).expect("root").keep();
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["kept"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_28_the_terminal_answerer_decides_whatever_stands_behind_it() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let terminal = trace.says("terminal", ApprovalOutcome::Rejected);
    let second = trace.says("second", ApprovalOutcome::AllowedOnce);
    let _terminal = scene.all.global(Place::Last, terminal).expect("root");
    let _second = scene.all.global(Place::Last, second).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Rejected);
    assert_eq!(trace.take(), ["terminal"], "a second one is never reached");
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_050_who_registers_while_a_request_waits_is_asked_by_the_next() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (l, mut l_called) = script();
    let _l = scene.all.global(Place::Last, l).expect("root");
    let asked = scene.ask(&live);
    let called = soon(l_called.called()).await;
    let trace = Trace::default();
    let m = trace.says("m", ApprovalOutcome::AllowedOnce);
    let _m = scene.all.global(Place::Last, m).expect("root");
    called.delegate().await;
    assert_eq!(told(asked).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
    let asked = scene.ask(&live);
    soon(l_called.called()).await.delegate().await;
    assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(trace.take(), ["m"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_051_a_guard_that_was_dropped_before_enters_nobody() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let trace = Trace::default();
        drop(scene.all.global(Place::Last, trace.says("l", ApprovalOutcome::AllowedOnce)));
        assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
        assert_eq!(trace.take(), [""; 0]);
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::Unavailable));
        scene.close(&live);
    }
}

#[tokio::test(start_paused = true)]
async fn s_052_taken_back_twice_is_one_removal() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let _other = scene.all.global(Place::Last, trace.passes("other")).expect("root");
    {
        let mut twice = scene.all.global(Place::First, trace.passes("twice")).expect("root");
        assert_eq!(scene.all.count(), 2);
        assert!(twice.withdraw(), "it was there");
        assert_eq!(scene.all.count(), 1);
        assert!(!twice.withdraw(), "it is gone");
    }
    settle().await;
    assert_eq!(scene.all.count(), 1, "one removal, and the other stays");
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["other"]);
    scene.close(&live);
}
