//! The service that puts wishes to people, and writes what became of them.
//!
//! One request, in order: the lease and the agent are looked at; under one hold of the gate the
//! turn must be open, `approval/asked` is appended and the policy is read; a caller that cancelled
//! meanwhile is heard before the policy, the policy before any listener; the listeners are asked;
//! the first ending is taken; under another hold, and only in the same turn, `approval/decided` is
//! appended; and only then is the caller told.

use super::error::ApprovalError;
use super::event;
use super::outcome::{ApprovalOutcome, RawOutcome};
use super::pending::{Pending, Pendings};
use super::policy::ApprovalPolicy;
use super::port::{ApprovalPort, DecidedBy, Explained};
use super::request::{Approval, ApprovalId, ApprovalRequest};
use crate::chain::{Answer, Chain, Names, Registrar};
use crate::flight::{Ending, Flight};
use crate::internal::Site;
use crate::plane::{Plane, said};
use crate::scope::Authority;
use async_trait::async_trait;
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::store::{Gate, Session};
use gatelog_validator::facts::Facts;
use std::fmt;
use std::sync::Arc;

pub(super) struct Inner {
    pub(super) plane: Plane,
    pub(super) chain: Chain<Approval>,
    pub(super) default: ApprovalPolicy,
    pub(super) pendings: Pendings,
}

/// One-shot approvals and the policy of sessions. Copies are the same service.
#[derive(Clone)]
pub struct ApprovalService(pub(super) Arc<Inner>);

/// What stands in the log of a request, and what was read with it.
struct Opened {
    turn_seq: u64,
    policy: ApprovalPolicy,
}

impl ApprovalService {
    /// Makes the service. Where the log says nothing of a policy, `default` is in force; without
    /// one, [`ApprovalPolicy::Ask`].
    pub fn new(plane: &Plane, default: Option<ApprovalPolicy>) -> Self {
        Self(Arc::new(Inner {
            plane: plane.clone(),
            chain: Chain::new(plane.clone()),
            default: default.unwrap_or_default(),
            pendings: Pendings::default(),
        }))
    }

    /// Returns the right to register answerers, as far as an authority goes.
    pub fn registrar(&self, authority: Authority) -> Registrar<Approval> {
        self.0.chain.registrar(authority)
    }

    /// Returns how many requests wait for an answer or for its place in the log.
    pub fn pending(&self) -> usize {
        self.0.pendings.count()
    }

    /// Ends every request that waits, as `unavailable`, and refuses all that come later. Returns
    /// when the log of each says how it ended.
    pub async fn shutdown(&self) {
        for pending in self.0.pendings.shut() {
            pending.flight.close();
            pending.settled().await;
        }
    }
}

#[async_trait]
impl ApprovalPort for ApprovalService {
    async fn request(&self, request: ApprovalRequest) -> Result<ApprovalOutcome, ApprovalError> {
        Ok(self.request_explained(request).await?.outcome)
    }

    async fn request_explained(
        &self,
        request: ApprovalRequest,
    ) -> Result<Explained, ApprovalError> {
        let flight = Flight::new(request.cancel.clone());
        // A future that is dropped takes its request back; the task says so in the log.
        let caller = Caller(Arc::clone(&flight));
        let inner = Arc::clone(&self.0);
        let task = self.0.plane.spawn(async move { inner.carry(request, flight).await });
        let ended = task.await.unwrap_or_else(|failed| {
            let what = format!("the approval's task did not end: {failed}");
            Err(ApprovalError::Append(AppendError::Refused(Refusal::Internal { what })))
        });
        drop(caller);
        ended
    }
}

/// The caller's future: dropping it cancels what is not settled.
struct Caller(Arc<Flight<Answer<Approval>>>);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Inner {
    async fn carry(
        &self,
        request: ApprovalRequest,
        flight: Arc<Flight<Answer<Approval>>>,
    ) -> Result<Explained, ApprovalError> {
        let agent = request.agent.clone();
        if request.lease.as_ref().is_some_and(|lease| !lease.is_of(agent.scope())) {
            return Err(ApprovalError::ForeignLease);
        }
        let session = request.session.as_ref().unwrap_or(agent.session()).clone();
        self.plane.check_entry(&agent, &session)?;
        // Taken before anything waits: what is published meanwhile is for later requests.
        let lease = request.lease.clone();
        let lease = lease.unwrap_or_else(|| Arc::new(agent.scope().lease()));
        let id = ApprovalId::mint();
        // Known before it is in the log, so that whoever drains the turn sees one or the other.
        let pending = Pending::new(&session, &id, &flight);
        let mut known = self.pendings.enter(pending).ok_or(ApprovalError::ShutDown)?;
        let opened = self.open(&session, &id, &request).await?;
        let approval = Approval::new(id.clone(), request);
        let explained = self.decide(approval, &flight, lease, opened.policy).await;
        self.close(&session, &id, opened.turn_seq, explained.outcome).await?;
        known.decided();
        Ok(explained)
    }

    /// Appends `approval/asked` inside the open turn, and reads the policy under the same hold.
    async fn open(
        &self,
        session: &Session,
        id: &ApprovalId,
        request: &ApprovalRequest,
    ) -> Result<Opened, ApprovalError> {
        let (asked, default) = (event::asked(id, request), self.default);
        let opened = self.plane.under_gate(session, move |gate| {
            let facts: &Facts = gate.facts()?;
            let Some(turn) = facts.turn else { return Ok(None) };
            gate.append(asked, Durability::Synced)?;
            Ok(Some(Opened { turn_seq: turn.seq, policy: policy_in_force(gate, default)? }))
        });
        opened.await?.ok_or(ApprovalError::OutsideTurn)
    }

    /// Finds out how a request ends that stands in the log.
    async fn decide(
        &self,
        approval: Approval,
        flight: &Arc<Flight<Answer<Approval>>>,
        lease: Arc<crate::scope::Lease>,
        policy: ApprovalPolicy,
    ) -> Explained {
        let approval = Arc::new(approval);
        let cancel = approval.request.cancel.clone().unwrap_or_default();
        let giver = Arc::clone(flight);
        let subscription = cancel.subscribe(move || {
            giver.cancel();
        });
        let session = approval.request.agent.session().id().to_owned();
        let names = Names { session: Some(session), subject: Some(approval.id.to_string()) };
        let mut dispatched = None;
        if policy == ApprovalPolicy::Never {
            // Nobody is asked, and a caller that cancelled before is heard first.
            flight.answer(Ok(ApprovalOutcome::Rejected.into()));
        } else if !flight.is_settled() {
            let (ask, route) = (Arc::clone(&approval), Arc::clone(flight));
            dispatched = Some(self.chain.dispatch(ask, route, Some(lease), names.clone()));
        }
        let ending = flight.ending().await;
        drop(subscription);
        drop(dispatched);
        self.explain(ending, &approval, policy, &names)
    }

    fn explain(
        &self,
        ending: Ending<Answer<Approval>>,
        approval: &Approval,
        policy: ApprovalPolicy,
        names: &Names,
    ) -> Explained {
        use ApprovalOutcome::{Cancelled, Unavailable};
        let (outcome, by) = match ending {
            Ending::Answered(Ok(RawOutcome::Known(outcome))) => (
                outcome,
                match policy {
                    ApprovalPolicy::Never => DecidedBy::Policy,
                    ApprovalPolicy::Ask if approval.was_nobodys() && outcome == Unavailable => {
                        DecidedBy::Nobody
                    }
                    ApprovalPolicy::Ask => DecidedBy::Answerer,
                },
            ),
            Ending::Answered(Ok(RawOutcome::Other(value))) => {
                let text = format!("an answerer said what is no outcome: {value}");
                let (session, subject) = (names.session.as_deref(), names.subject.as_deref());
                self.plane.report(Site::ForeignOutcome, session, subject, said(text));
                (Unavailable, DecidedBy::Fault)
            }
            Ending::Answered(Err(_)) => (Unavailable, DecidedBy::Fault),
            Ending::Cancelled => (Cancelled, DecidedBy::Caller),
            Ending::Withdrawn => (Unavailable, DecidedBy::Unload),
            Ending::Closed if self.pendings.is_shut() => (Unavailable, DecidedBy::Unload),
            Ending::Closed => (Cancelled, DecidedBy::Drain),
        };
        Explained { outcome, by }
    }

    /// Appends `approval/decided`, in the turn in which it was asked for and in no other.
    async fn close(
        &self,
        session: &Session,
        id: &ApprovalId,
        turn_seq: u64,
        outcome: ApprovalOutcome,
    ) -> Result<(), ApprovalError> {
        let decided = event::decided(&id.to_json(), outcome);
        let closed = self.plane.under_gate(session, move |gate| {
            let facts: &Facts = gate.facts()?;
            if facts.turn.is_none_or(|turn| turn.seq != turn_seq) {
                return Ok(false);
            }
            gate.append(decided, Durability::Synced)?;
            Ok(true)
        });
        if closed.await? { Ok(()) } else { Err(ApprovalError::TurnClosed) }
    }
}

/// Returns the policy in force at the last commit: what the log said last, else the default. A word
/// that is none, which only a log of somebody else can have, asks nobody.
pub(super) fn policy_in_force(
    gate: &mut Gate,
    default: ApprovalPolicy,
) -> Result<ApprovalPolicy, AppendError> {
    let facts: &Facts = gate.facts()?;
    let said = facts.policy.as_ref();
    Ok(said.map_or(default, |said| ApprovalPolicy::of(&said.word).unwrap_or(ApprovalPolicy::Never)))
}

impl fmt::Debug for ApprovalService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalService")
            .field("default", &self.0.default)
            .field("pending", &self.pending())
            .finish_non_exhaustive()
    }
}
