//! Two agents with many requests whose listeners append and ask on the same sessions.

use super::by_tool;
use crate::support::end_turn;
use crate::waterfall::scene::{Scene, soon};
use async_trait::async_trait;
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_interaction::approval::{
    Approval, ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService, RawOutcome,
};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{Listener, ListenerError, Next, Place};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Builder;
use tokio::task::spawn_blocking;

const REQUESTS: usize = 60;

/// What a request of this number is answered.
fn answer(number: usize) -> ApprovalOutcome {
    [ApprovalOutcome::AllowedOnce, ApprovalOutcome::Rejected, ApprovalOutcome::Unavailable]
        [number % 3]
}

fn number(tool: &str) -> usize {
    tool.rsplit('-').next().and_then(|text| text.parse().ok()).expect("a number")
}

/// Writes to the session of the request, asks for something else in it, and hands the request on.
struct Busy(ApprovalService);

#[async_trait]
impl Listener<Approval> for Busy {
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let (agent, tool) = (ask.request().agent().clone(), ask.request().tool_name().to_owned());
        let session = agent.session().clone();
        let note = Draft { ignorable: true, ..Draft::new("test/note", format!("\"{tool}\"")) };
        let noted = spawn_blocking(move || session.append([note], Durability::Buffered));
        noted.await.map_err(ListenerError::failed)?.map_err(ListenerError::failed)?;
        if !tool.contains("nested") {
            let nested = format!("{}-nested-{}", agent.id(), number(&tool));
            let asked = self.0.request(ApprovalRequest::new(&agent, nested)).await;
            let nested = asked.map_err(ListenerError::failed)?;
            if nested != answer(number(&tool)) {
                return Err(ListenerError::failed("the answer of somebody else"));
            }
        }
        next.run().await
    }
}

/// Answers by the request's number.
struct ByNumber;

#[async_trait]
impl Listener<Approval> for ByNumber {
    async fn call(
        &self,
        ask: Arc<Approval>,
        _: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        tokio::task::yield_now().await;
        Ok(answer(number(ask.request().tool_name())).into())
    }
}

async fn storm() {
    let scene = Scene::new();
    let lives = [scene.world.in_turn("a"), scene.world.in_turn("b")];
    let busy = Busy(scene.service.clone());
    let _busy = scene.all.global(Place::Last, busy).expect("root");
    let _answers = scene.all.global(Place::Last, ByNumber).expect("root");
    let mut asking = Vec::new();
    for number in 0..REQUESTS {
        for live in &lives {
            let tool = format!("{}-{number}", live.agent().id());
            let cancel = Cancel::new();
            let request = ApprovalRequest::new(live.agent(), tool.as_str());
            let asked = scene.request(request.until(cancel.clone()));
            if number % 5 == 4 {
                tokio::spawn(async move {
                    tokio::task::yield_now().await;
                    cancel.cancel();
                });
            }
            asking.push((live.agent().id().to_owned(), tool, asked));
        }
    }
    let mut told_of: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (agent, tool, asked) in asking {
        let outcome = asked.await.expect("it does not panic").expect("the log is sound");
        let may_be_cancelled = number(&tool) % 5 == 4 && outcome == ApprovalOutcome::Cancelled;
        assert!(may_be_cancelled || outcome == answer(number(&tool)), "{tool}: {outcome}");
        told_of.entry(agent).or_default().insert(tool, Some(outcome));
    }
    scene.world.plane.drained().await;
    for (agent, told) in told_of {
        let mut decided = by_tool(&scene.world, &agent);
        let is_nested = |tool: &String| tool.contains("nested");
        assert!(decided.iter().filter(|(tool, _)| is_nested(tool)).all(|(tool, outcome)| {
            tool.starts_with(&agent) && *outcome == Some(answer(number(tool)))
        }));
        decided.retain(|tool, _| !is_nested(tool));
        assert_eq!(decided, told, "the log of {agent} and its callers differ");
        let notes = scene.world.events_of(&agent, "test/note");
        let mine = |note: &str| note.starts_with(&agent);
        assert!(notes.iter().all(|note| note.data.as_str().is_some_and(mine)));
        assert!(notes.len() > REQUESTS, "the listeners did append");
    }
    assert_eq!(scene.world.sink.all().len(), 0, "nothing failed");
    end_turn(lives[1].agent().session(), 1);
    scene.close(&lives[0]);
}

#[test]
fn listeners_that_append_and_ask_on_the_same_sessions_neither_mix_nor_deadlock() {
    // Of blocking threads, as few as can be: work under the gate must never wait for other such
    // work to be begun.
    for blocking in [1, 8] {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).max_blocking_threads(blocking).enable_time();
        builder.build().expect("a runtime").block_on(soon(storm()));
    }
}
