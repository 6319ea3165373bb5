//! Cancel, answer and unload from threads of their own, many times.

use super::{Numbers, by_tool, spin};
use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, says, soon, told};
use gatelog_interaction::approval::{ApprovalOutcome, ApprovalRequest};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{ListenerError, Place};
use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};
use tokio::task::spawn_blocking;

const ROUNDS: u64 = 200;

/// Runs rounds in which a listener answers and is taken back at once, and the caller cancels or
/// does not. Returns how often each outcome came.
async fn storm(cancels: bool) -> BTreeMap<&'static str, u64> {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (mut told_of, mut counts) = (BTreeMap::new(), BTreeMap::new());
    for seed in 0..ROUNDS {
        let mut numbers = Numbers(seed);
        let (listener, mut called) = script();
        let trace = Trace::default();
        let registration = scene.all.global(Place::Last, listener).expect("root");
        let _behind = scene.all.global(Place::Last, trace.passes("behind")).expect("root");
        let cancel = Cancel::new();
        let tool = seed.to_string();
        let request = ApprovalRequest::new(live.agent(), tool.as_str()).until(cancel.clone());
        let asked = scene.request(request);
        let (next, reply) = soon(called.called()).await.split();
        let start = Arc::new(Barrier::new(3));
        let mut actor = |act: Box<dyn FnOnce() + Send>| {
            let (start, turns) = (Arc::clone(&start), numbers.below(4_000));
            spawn_blocking(move || {
                start.wait();
                spin(turns);
                act();
            })
        };
        let mut acts: [Box<dyn FnOnce() + Send>; 3] = [
            Box::new(move || {
                if cancels {
                    cancel.cancel();
                }
            }),
            Box::new(move || drop(registration)),
            Box::new(move || {
                reply.send(says(ApprovalOutcome::AllowedOnce)).expect("the listener waits");
            }),
        ];
        // Which thread comes last to the start, and so goes first, differs.
        acts.rotate_left(seed as usize % 3);
        let actors = acts.map(&mut actor);
        let outcome = told(asked).await;
        assert!(matches!(soon(next.run()).await, Err(ListenerError::Closed)));
        assert_eq!(trace.take(), [""; 0], "somebody is asked behind the ending");
        for actor in actors {
            soon(actor).await.expect("it does not panic");
        }
        *counts.entry(outcome.word()).or_default() += 1;
        told_of.insert(tool, Some(outcome));
    }
    assert_eq!(by_tool(&scene.world, "a"), told_of, "the log and the callers differ");
    soon(scene.world.plane.drained()).await;
    scene.close(&live);
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_068_cancel_unload_and_answer_from_three_threads_have_one_ending() {
    let counts = storm(true).await;
    let lawful = ["allowed-once", "cancelled", "unavailable"];
    assert!(counts.keys().all(|outcome| lawful.contains(outcome)), "{counts:?}");
    assert!(counts.len() > 1, "the rounds do not differ: {counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_069_unload_and_answer_from_two_threads_are_never_a_cancellation() {
    let counts = storm(false).await;
    let lawful = ["allowed-once", "unavailable"];
    assert!(counts.keys().all(|outcome| lawful.contains(outcome)), "{counts:?}");
}
