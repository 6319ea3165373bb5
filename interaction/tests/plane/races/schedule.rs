//! Every order of cancel, answer and unload, on one thread whose clock stands.

use super::{by_tool, held};
use crate::support::{Kind, script};
use crate::waterfall::scene::{Scene, Trace, one, says, soon, told};
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalRequest};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{ListenerError, Place};
use std::time::Duration;

async fn at(time_ms: u64) {
    // The clock is paused: it moves when nobody has anything to do.
    tokio::time::sleep(Duration::from_millis(time_ms)).await;
}

#[tokio::test(start_paused = true)]
async fn s_066_cancel_and_answer_in_the_same_poll_are_a_cancellation() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (listener, mut called) = script();
        let _listener = scene.all.global(Place::Last, listener).expect("root");
        for answers_first in [true, false] {
            let cancel = Cancel::new();
            let request = ApprovalRequest::new(live.agent(), "bash").until(cancel.clone());
            let asked = scene.request(request);
            let call = soon(called.called()).await;
            // Nobody else is polled between the two.
            if answers_first {
                call.reply(says(ApprovalOutcome::AllowedOnce));
                cancel.cancel();
            } else {
                cancel.cancel();
                call.reply(says(ApprovalOutcome::AllowedOnce));
            }
            assert_eq!(told(asked).await, ApprovalOutcome::Cancelled, "{answers_first}");
        }
        let cancelled = Some("cancelled".to_owned());
        assert_eq!(scene.decided("a"), [cancelled.clone(), cancelled]);
        scene.close(&live);
    }
}

#[tokio::test]
async fn s_067_an_answer_stands_though_the_caller_cancels_before_it_is_logged() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let (listener, mut called) = script();
        let registration = scene.all.global(Place::Last, listener).expect("root");
        let cancel = Cancel::new();
        let request = ApprovalRequest::new(live.agent(), "bash").until(cancel.clone());
        let asked = scene.request(request);
        scene.world.faults.hold("approval/decided");
        soon(called.called()).await.reply(says(ApprovalOutcome::AllowedOnce));
        held(&scene.world.faults).await;
        cancel.cancel();
        drop(registration);
        assert_eq!(scene.decided("a"), [None], "it is not told before it is logged");
        assert!(!asked.is_finished());
        scene.world.faults.release();
        assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::AllowedOnce));
        scene.close(&live);
    }
}

#[tokio::test(start_paused = true)]
async fn s_068_every_order_of_cancel_unload_and_answer_has_one_ending() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let times = || 1..=3;
    let orders = times().flat_map(|c| times().flat_map(move |u| times().map(move |a| (c, u, a))));
    let mut told_of = Vec::new();
    for (cancels, unloads, answers) in orders {
        let (listener, mut called) = script();
        let trace = Trace::default();
        let registration = scene.all.global(Place::Last, listener).expect("root");
        let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
        let cancel = Cancel::new();
        let tool = format!("{cancels}{unloads}{answers}");
        let request = ApprovalRequest::new(live.agent(), tool.as_str()).until(cancel.clone());
        let asked = scene.request(request);
        let (next, reply) = soon(called.called()).await.split();
        let actors = [
            tokio::spawn(async move {
                at(cancels).await;
                cancel.cancel();
            }),
            tokio::spawn(async move {
                at(unloads).await;
                drop(registration);
            }),
            tokio::spawn(async move {
                at(answers).await;
                // The listener waits for it whatever became of the request.
                reply.send(says(ApprovalOutcome::AllowedOnce)).expect("it waits");
            }),
        ];
        let outcome = told(asked).await;
        let first = cancels.min(unloads).min(answers);
        let mut lawful = Vec::new();
        // Whoever is first; of two at the same time, not the answer, which others hear of later.
        if cancels == first {
            lawful.push(ApprovalOutcome::Cancelled);
        }
        if unloads == first {
            lawful.push(ApprovalOutcome::Unavailable);
        }
        if lawful.is_empty() {
            lawful.push(ApprovalOutcome::AllowedOnce);
        }
        assert!(lawful.contains(&outcome), "{tool}: {outcome}");
        assert!(matches!(soon(next.run()).await, Err(ListenerError::Closed)));
        assert_eq!(trace.take(), [""; 0], "somebody is asked behind the ending");
        for actor in actors {
            soon(actor).await.expect("it does not panic");
        }
        told_of.push((tool, Some(outcome)));
    }
    assert_eq!(told_of.len(), 27);
    assert_eq!(by_tool(&scene.world, "a"), told_of.into_iter().collect());
    scene.close(&live);
}
