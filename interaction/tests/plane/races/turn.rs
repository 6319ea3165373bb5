//! Asking and ending the turn, at once.

use super::{Numbers, by_tool, held, spin};
use crate::support::{Kind, end_turn, script, start_turn, turn_end};
use crate::waterfall::scene::{Scene, Trace, one, says, soon, told};
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::store::Session;
use gatelog_interaction::approval::{
    ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest,
};
use gatelog_interaction::chain::Place;
use gatelog_validator::rule::Profile as Rules;
use std::collections::BTreeMap;
use tokio::task::{JoinHandle, spawn_blocking};

fn ending(session: &Session, turn: u64) -> JoinHandle<Result<(), AppendError>> {
    let session = session.clone();
    spawn_blocking(move || session.append([turn_end(turn)], Durability::Synced).map(drop))
}

#[tokio::test]
async fn s_070_a_turn_is_not_ended_over_a_question_that_came_first() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (listener, mut called) = script();
        let _listener = scene.all.global(Place::Last, listener).expect("root");
        scene.world.faults.hold("approval/asked");
        let asked = scene.ask(&live);
        // The turn was looked at, and the question is about to be written.
        held(&scene.world.faults).await;
        let ending = ending(live.agent().session(), 1);
        scene.world.faults.release();
        let call = soon(called.called()).await;
        let refused = soon(ending).await.expect("it does not panic").expect_err("one is open");
        let text = refused.to_string();
        assert!(text.contains("approval/undecided-at-turn-end"), "{kind:?}: {text}");
        call.reply(says(ApprovalOutcome::AllowedOnce));
        assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::AllowedOnce));
        scene.close(&live);
    }
}

#[tokio::test]
async fn s_070_a_question_behind_the_end_of_the_turn_is_not_asked() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let trace = Trace::default();
        let listener = trace.says("listener", ApprovalOutcome::AllowedOnce);
        let _listener = scene.all.global(Place::Last, listener).expect("root");
        scene.world.faults.hold("turn/end");
        let ending = ending(live.agent().session(), 1);
        held(&scene.world.faults).await;
        let asked = scene.ask(&live);
        tokio::task::yield_now().await;
        scene.world.faults.release();
        soon(ending).await.expect("it does not panic").expect("nothing is open in it");
        let refused = soon(asked).await.expect("it does not panic");
        assert!(matches!(refused, Err(ApprovalError::OutsideTurn)), "{refused:?}");
        assert_eq!(trace.take(), [""; 0]);
        assert_eq!(scene.decided("a"), []);
        assert_eq!(scene.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

#[tokio::test]
async fn s_070_a_turn_that_is_drained_ends_behind_the_decision() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (listener, mut called) = script();
        let _listener = scene.all.global(Place::Last, listener).expect("root");
        let asked = scene.ask(&live);
        let call = soon(called.called()).await;
        scene.world.faults.hold("approval/decided");
        let (service, session) = (scene.service.clone(), live.agent().session().clone());
        let draining = tokio::spawn(async move { service.drain_turn(&session).await });
        held(&scene.world.faults).await;
        let ending = ending(live.agent().session(), 1);
        call.reply(says(ApprovalOutcome::AllowedOnce));
        scene.world.faults.release();
        let drained = soon(draining).await.expect("it does not panic");
        assert_eq!(drained.expect("the log is sound"), 1);
        soon(ending).await.expect("it does not panic").expect("it is drained");
        assert_eq!(told(asked).await, ApprovalOutcome::Cancelled);
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::Cancelled));
        assert_eq!(scene.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

/// Drains and ends a turn until the gate lets it.
async fn drain_and_end(scene: &Scene, session: &Session, turn: u64) {
    for _ in 0..1_000 {
        scene.service.drain_turn(session).await.expect("the log is sound");
        if ending(session, turn).await.expect("it does not panic").is_ok() {
            return;
        }
    }
    panic!("the turn is never drained");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_070_questions_and_the_end_of_their_turn_from_many_threads() {
    let scene = Scene::new();
    let live = scene.world.agent("a");
    let session = live.agent().session().clone();
    let trace = Trace::default();
    let listener = trace.says("listener", ApprovalOutcome::AllowedOnce);
    let _listener = scene.all.global(Place::Last, listener).expect("root");
    let mut told_of = BTreeMap::new();
    for turn in 1..=60 {
        let mut numbers = Numbers(turn);
        start_turn(&session, turn);
        trace.take();
        let mut asking = Vec::new();
        for ask in 0..3 {
            let tool = format!("{turn}-{ask}");
            let request = ApprovalRequest::new(live.agent(), tool.as_str());
            let (service, turns) = (scene.service.clone(), numbers.below(20_000));
            let asked = tokio::spawn(async move {
                spin(turns);
                service.request(request).await
            });
            asking.push((tool, asked));
        }
        // The turn ends before anybody asks, or while somebody is about to, or behind an answer.
        let all_told = || asking.iter().all(|(_, asked)| asked.is_finished());
        while turn % 3 == 1 && scene.service.pending() == 0 && !all_told() {
            tokio::task::yield_now().await;
        }
        while turn % 3 == 2 && trace.take().is_empty() {
            tokio::task::yield_now().await;
        }
        spin(numbers.below(20_000));
        soon(drain_and_end(&scene, &session, turn)).await;
        for (tool, asked) in asking {
            match soon(asked).await.expect("it does not panic") {
                Ok(outcome) => {
                    told_of.insert(tool, Some(outcome));
                }
                Err(error) => assert!(matches!(error, ApprovalError::OutsideTurn), "{error}"),
            }
        }
    }
    assert!(told_of.len() >= 20, "nobody came in time");
    assert_eq!(by_tool(&scene.world, "a"), told_of, "the log and the callers differ");
    start_turn(&session, 61);
    end_turn(&session, 61);
    assert_eq!(scene.world.errors(Rules::Strict), Vec::<String>::new());
}
