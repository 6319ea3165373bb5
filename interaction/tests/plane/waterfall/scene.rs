//! A world with a service of approvals in it.

use crate::support::{Kind, World, end_turn};
use async_trait::async_trait;
use gatelog_interaction::agent::LiveAgent;
use gatelog_interaction::approval::{
    Approval, ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService,
    RawOutcome,
};
use gatelog_interaction::chain::{Listener, ListenerError, Next, Registrar};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

pub(crate) type Outcome = Result<ApprovalOutcome, ApprovalError>;

/// A world, its service and the right to register everything.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) service: ApprovalService,
    pub(crate) all: Registrar<Approval>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::of(Kind::Native)
    }

    pub(crate) fn of(kind: Kind) -> Self {
        let world = World::of(kind, Rules::Strict, Profile::STRICT);
        let service = ApprovalService::new(&world.plane, None);
        let all = service.registrar(Authority::Root);
        Self { world, service, all }
    }

    /// Begins to ask for an agent.
    pub(crate) fn ask(&self, live: &LiveAgent) -> JoinHandle<Outcome> {
        self.request(ApprovalRequest::new(live.agent(), "bash"))
    }

    /// Begins to ask.
    pub(crate) fn request(&self, request: ApprovalRequest) -> JoinHandle<Outcome> {
        let service = self.service.clone();
        tokio::spawn(async move { service.request(request).await })
    }

    /// Asks for an agent and waits for the outcome.
    pub(crate) async fn outcome(&self, live: &LiveAgent) -> ApprovalOutcome {
        told(self.ask(live)).await
    }

    /// Asks for an agent whose listeners all delegate.
    pub(crate) async fn unanswered(&self, live: &LiveAgent) {
        assert_eq!(self.outcome(live).await, ApprovalOutcome::Unavailable);
    }

    /// Returns what was decided in a session, in the order of the questions; each has one answer
    /// behind it at most, and nothing else is said of approvals.
    pub(crate) fn decided(&self, session: &str) -> Vec<Option<String>> {
        decided(&self.world, session)
    }

    /// Ends the turn, and verifies that the log is lawful.
    pub(crate) fn close(&self, live: &LiveAgent) {
        end_turn(live.agent().session(), 1);
        assert_eq!(self.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

/// Returns what was decided in a session, in the order of the questions.
pub(crate) fn decided(world: &World, session: &str) -> Vec<Option<String>> {
    let mut asks: Vec<(Value, Option<String>)> = Vec::new();
    for seen in world.events_of(session, "approval/") {
        match seen.kind.as_str() {
            "approval/asked" => asks.push((seen.data["id"].clone(), None)),
            "approval/decided" => {
                let ask = asks.iter_mut().find(|(id, _)| *id == seen.data["id"]);
                let (_, decided) = ask.expect("it was asked");
                let outcome = seen.data["outcome"].as_str().expect("a word").to_owned();
                assert_eq!(decided.replace(outcome), None, "decided twice");
            }
            _ => {}
        }
    }
    asks.into_iter().map(|(_, decided)| decided).collect()
}

/// Waits for an outcome.
pub(crate) async fn told(asked: JoinHandle<Outcome>) -> ApprovalOutcome {
    soon(asked).await.expect("the request does not panic").expect("the log is sound")
}

/// Waits for what must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), what).await.expect("it comes")
}

/// Lets everything else go on until nothing does, and returns whether a future is still not ready.
/// The clock is paused: it moves only when nothing else can.
pub(crate) async fn is_pending<T>(what: impl Future<Output = T>) -> bool {
    tokio::time::timeout(Duration::from_millis(1), what).await.is_err()
}

/// Lets everything else go on until nothing does.
pub(crate) async fn settle() {
    assert!(is_pending(std::future::pending::<()>()).await);
}

/// Who was entered, in order.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Vec<&'static str>>>);

impl Trace {
    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().expect("sound"))
    }

    /// Makes a listener that is noted and delegates.
    pub(crate) fn passes(&self, name: &'static str) -> impl Listener<Approval> {
        Noted { trace: self.clone(), name, says: None }
    }

    /// Makes a listener that is noted and says something.
    pub(crate) fn says(
        &self,
        name: &'static str,
        outcome: ApprovalOutcome,
    ) -> impl Listener<Approval> {
        Noted { trace: self.clone(), name, says: Some(outcome) }
    }
}

struct Noted {
    trace: Trace,
    name: &'static str,
    says: Option<ApprovalOutcome>,
}

#[async_trait]
impl Listener<Approval> for Noted {
    async fn call(
        &self,
        _: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        self.trace.0.lock().expect("sound").push(self.name);
        match self.says {
            Some(outcome) => Ok(outcome.into()),
            None => next.run().await,
        }
    }
}

/// A pair in which something was decided.
pub(crate) fn one(outcome: ApprovalOutcome) -> Vec<Option<String>> {
    vec![Some(outcome.word().to_owned())]
}

/// A listener's reply.
#[expect(clippy::unnecessary_wraps, reason = "it is what a listener returns")]
pub(crate) fn says(outcome: ApprovalOutcome) -> Result<RawOutcome, ListenerError> {
    Ok(outcome.into())
}

/// A listener's reply that is none of the four words.
pub(crate) fn foreign() -> Value {
    json!("yes")
}
