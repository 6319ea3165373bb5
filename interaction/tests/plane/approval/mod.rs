//! Approvals, their pair in the log, the turn around it, the policy.

mod audit;
mod basics;
mod dropped;
mod entry;
mod failing;
mod nested;
mod policy;
mod policy_scenarios;
mod request;
mod rules;
mod stored;
mod turn;

use crate::support::{Kind, Script, World, end_turn, script};
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;
use gatelog_interaction::agent::{Agent, LiveAgent};
use gatelog_interaction::approval::{
    Approval, ApprovalError, ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest,
    ApprovalService, answerer,
};
use gatelog_interaction::chain::{Place, Registration};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use gatelog_validator::rule::Profile as Rules;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A world with a service, and the agent `a` in its turn 1.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) service: ApprovalService,
    pub(super) live: LiveAgent,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::of(Kind::Native, None)
    }

    pub(super) fn of(kind: Kind, default: Option<ApprovalPolicy>) -> Self {
        Self::at(World::of(kind, Rules::Strict, Profile::STRICT), default)
    }

    pub(super) fn at(world: World, default: Option<ApprovalPolicy>) -> Self {
        let service = ApprovalService::new(&world.plane, default);
        let live = world.in_turn("a");
        Self { world, service, live }
    }

    pub(super) fn agent(&self) -> &Agent {
        self.live.agent()
    }

    pub(super) fn session(&self) -> &Session {
        self.agent().session()
    }

    pub(super) fn wish(&self) -> ApprovalRequest {
        ApprovalRequest::new(self.agent(), "shell")
    }

    pub(super) async fn ask(&self) -> Result<ApprovalOutcome, ApprovalError> {
        self.service.request(self.wish()).await
    }

    /// Asks in a task of its own.
    pub(super) fn asking(
        &self,
        wish: ApprovalRequest,
    ) -> tokio::task::JoinHandle<Result<ApprovalOutcome, ApprovalError>> {
        let service = self.service.clone();
        tokio::spawn(async move { service.request(wish).await })
    }

    /// Registers an answerer that always says the same, and counts how often it was asked.
    pub(super) fn always(&self, outcome: ApprovalOutcome) -> (Registration, Arc<AtomicUsize>) {
        self.placed(Place::Last, outcome)
    }

    pub(super) fn placed(
        &self,
        place: Place,
        outcome: ApprovalOutcome,
    ) -> (Registration, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let listener = answerer(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { Some(outcome) }
        });
        let registrar = self.service.registrar(Authority::Root);
        (registrar.global(place, listener).expect("root may"), count)
    }

    /// Registers a listener that the test drives.
    pub(super) fn scripted(&self) -> (Registration, Script<Approval>) {
        let (listener, script) = script::<Approval>();
        let registrar = self.service.registrar(Authority::Root);
        (registrar.global(Place::Last, listener).expect("root may"), script)
    }

    /// The events of approvals in the log of `a`.
    pub(super) fn audit(&self) -> Vec<(String, Value)> {
        let seen = self.world.events_of("a", "approval/").into_iter();
        seen.map(|seen| (seen.kind, seen.data)).collect()
    }

    /// The outcomes in the log of `a`, of which each follows its question, and the number of
    /// questions without one.
    pub(super) fn pairs(&self) -> (Vec<ApprovalOutcome>, usize) {
        pairs(&self.audit())
    }

    /// Ends the turn and looks at the log cold, as a strict reader.
    pub(super) fn is_sound(&self) {
        end_turn(self.session(), 1);
        assert_eq!(self.world.errors(Rules::Strict), Vec::<String>::new());
    }
}

pub(super) fn pairs(audit: &[(String, Value)]) -> (Vec<ApprovalOutcome>, usize) {
    let (mut open, mut outcomes) = (Vec::new(), Vec::new());
    for (kind, data) in audit {
        match kind.as_str() {
            "approval/asked" => open.push(data["id"].clone()),
            "approval/decided" => {
                let at = open.iter().position(|id| *id == data["id"]).expect("it was asked");
                open.remove(at);
                let word = data["outcome"].as_str().expect("a word");
                outcomes.push(ApprovalOutcome::of(word).expect("one of four"));
            }
            _ => {}
        }
    }
    (outcomes, open.len())
}

pub(super) fn append(session: &Session, kind: &str, data: &str) -> Result<u64, AppendError> {
    Ok(session.append([Draft::new(kind, data)], Durability::Synced)?.first_seq)
}

/// The rule and the text of a refusal.
pub(super) fn violation(refused: Result<u64, AppendError>) -> (String, String) {
    match refused {
        Err(AppendError::Refused(Refusal::Violation(violation))) => {
            (violation.rule.to_owned(), violation.message)
        }
        other => panic!("a rule should speak against it: {other:?}"),
    }
}

pub(super) fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}
