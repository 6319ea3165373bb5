//! Answerers that speak for a program which drives one agent.

use crate::support::script;
use crate::waterfall::scene::{Scene, Trace, one, soon, told};
use async_trait::async_trait;
use gatelog_interaction::agent::{Agent, BoxError, LiveAgent, NoticeQueue};
use gatelog_interaction::approval::{
    Approval, ApprovalOutcome, ApprovalRequest, Machine, MachineAnswerer, Pairing, Selection,
};
use gatelog_interaction::chain::Place;
use gatelog_interaction::internal::Site;
use gatelog_validator::facts::{Facts, OpenAsk};
use std::sync::{Arc, Mutex};

/// A program that chooses one thing, or cannot be reached, and remembers what it was offered.
#[derive(Clone, Default)]
struct Program {
    chooses: Option<Selection>,
    offered: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Machine for Program {
    async fn select(&self, call_id: &str, _: &Approval) -> Result<Selection, BoxError> {
        self.offered.lock().expect("sound").push(call_id.to_owned());
        self.chooses.ok_or_else(|| "the pipe is broken".into())
    }
}

impl Program {
    fn that(chooses: Option<Selection>) -> Self {
        Self { chooses, ..Self::default() }
    }

    fn offered(&self) -> Vec<String> {
        std::mem::take(&mut self.offered.lock().expect("sound"))
    }
}

/// A live agent with the id of another one.
fn impostor(scene: &Scene, id: &str) -> LiveAgent {
    let session = scene.world.session("of the impostor");
    crate::support::start_turn(&session, 1);
    let scope = scene.world.root.child(id).expect("two deep");
    let agent = Agent::new(id, session, scope, Arc::new(NoticeQueue::default()));
    scene.world.agents.enter(agent, None)
}

#[tokio::test(start_paused = true)]
async fn aw_29_the_machine_answers_for_its_very_agent() {
    let scene = Scene::new();
    let (live, other) = (scene.world.in_turn("a"), impostor(&scene, "a"));
    let program = Program::that(Some(Selection::AllowOnce));
    let machine = MachineAnswerer::new(live.agent().clone(), program.clone());
    let _machine = scene.all.global(Place::Last, machine).expect("root");
    let call = |live: &LiveAgent| ApprovalRequest::new(live.agent(), "bash").for_call("call-1");
    assert_eq!(told(scene.request(call(&other))).await, ApprovalOutcome::Unavailable);
    assert_eq!(program.offered(), [""; 0]);
    assert_eq!(told(scene.request(call(&live))).await, ApprovalOutcome::AllowedOnce);
    assert_eq!(program.offered(), ["call-1"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_30_the_machine_hands_on_what_is_about_no_call() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let program = Program::that(Some(Selection::AllowOnce));
    let machine = MachineAnswerer::new(live.agent().clone(), program.clone());
    let trace = Trace::default();
    let _machine = scene.all.global(Place::Last, machine).expect("root");
    let behind = trace.says("behind", ApprovalOutcome::Rejected);
    let _behind = scene.all.global(Place::Last, behind).expect("root");
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Rejected);
    assert_eq!((program.offered(), trace.take()), (vec![], vec!["behind"]));
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn aw_31_what_a_machine_selects_is_one_of_the_four_outcomes() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let expected = [
        (Some(Selection::AllowOnce), ApprovalOutcome::AllowedOnce),
        (Some(Selection::RejectOnce), ApprovalOutcome::Rejected),
        (Some(Selection::NotOffered), ApprovalOutcome::Rejected),
        (Some(Selection::Dismissed), ApprovalOutcome::Cancelled),
        (None, ApprovalOutcome::Unavailable),
    ];
    let selections: Vec<_> = expected.iter().filter_map(|(selection, _)| *selection).collect();
    assert_eq!(selections, Selection::ALL);
    for (selection, outcome) in expected {
        let machine = MachineAnswerer::new(live.agent().clone(), Program::that(selection));
        let _machine = scene.all.global(Place::First, machine).expect("root");
        let request = ApprovalRequest::new(live.agent(), "bash").for_call("call-1");
        assert_eq!(told(scene.request(request)).await, outcome, "{selection:?}");
    }
    let reports = scene.world.sink.at(Site::Listener);
    assert_eq!(reports.len(), 1, "a program that cannot be reached is reported");
    assert_eq!(reports[0].error.to_string(), "the pipe is broken");
    scene.close(&live);
}

/// Returns the questions that a session's log holds open.
fn open(live: &LiveAgent) -> Vec<OpenAsk> {
    let mut gate = live.agent().session().gate().expect("it is open");
    gate.facts::<Facts>().expect("it is sound").asks()
}

#[tokio::test(start_paused = true)]
async fn aw_33_a_call_is_paired_with_its_newest_unclaimed_question() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let (listener, mut called) = script();
    let _listener = scene.all.global(Place::Last, listener).expect("root");
    let request = ApprovalRequest::new(live.agent(), "bash");
    let mut ids = Vec::new();
    let mut calls = Vec::new();
    for call in [Some("one"), None, Some("two"), Some("one"), None] {
        let request = request.clone();
        let asked = match call {
            Some(call) => scene.request(request.for_call(call)),
            None => scene.request(request),
        };
        let entered = soon(called.called()).await;
        ids.push(entered.ask.id().to_string());
        calls.push((asked, entered));
    }
    let (pairing, questions) = (Pairing::new(), open(&live));
    let claim = |call: Option<&str>| pairing.claim(&questions, call);
    let one = claim(Some("one")).expect("two are open");
    assert_eq!(one.id(), ids[3], "the newest");
    let older = pairing.clone().claim(&questions, Some("one")).expect("one is left");
    assert_eq!(older.id(), ids[0]);
    assert!(claim(Some("one")).is_none(), "both are claimed");
    assert!(claim(Some("three")).is_none(), "nobody asked");
    let without = claim(None).expect("two are open");
    assert_eq!(without.id(), ids[4], "equally absent");
    drop(one);
    assert_eq!(claim(Some("one")).expect("it is free again").id(), ids[3]);
    for (asked, entered) in calls {
        entered.reply(crate::waterfall::scene::says(ApprovalOutcome::Rejected));
        assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
    }
    assert!(Pairing::new().claim(&open(&live), None).is_none(), "what is decided is not open");
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_055_an_impostor_and_a_request_without_a_call_are_handed_on() {
    let scene = Scene::new();
    let (x, y) = (scene.world.in_turn("x"), impostor(&scene, "x"));
    let program = Program::that(Some(Selection::AllowOnce));
    let machine = MachineAnswerer::new(x.agent().clone(), program.clone());
    let trace = Trace::default();
    let _machine = scene.all.global(Place::Last, machine).expect("root");
    let behind = trace.says("behind", ApprovalOutcome::Rejected);
    let _behind = scene.all.global(Place::Last, behind).expect("root");
    let with_call = ApprovalRequest::new(y.agent(), "bash").for_call("call-1");
    assert_eq!(told(scene.request(with_call)).await, ApprovalOutcome::Rejected);
    assert_eq!(scene.outcome(&x).await, ApprovalOutcome::Rejected);
    assert_eq!((program.offered(), trace.take()), (vec![], vec!["behind", "behind"]));
    assert_eq!(scene.decided("x"), one(ApprovalOutcome::Rejected));
    scene.close(&x);
}
