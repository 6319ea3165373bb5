//! An answerer that speaks for a program which drives one agent.

use super::outcome::{ApprovalOutcome, RawOutcome};
use super::request::Approval;
use crate::agent::{Agent, BoxError};
use crate::chain::{Listener, ListenerError, Next};
use async_trait::async_trait;
use std::sync::Arc;

/// What a program chose of what it was offered: to allow once, and to reject once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selection {
    /// To allow it, once.
    AllowOnce,
    /// To reject it, once.
    RejectOnce,
    /// Something that it was not offered, such as to allow it always.
    NotOffered,
    /// Nothing: it put the question away.
    Dismissed,
}

impl Selection {
    /// Every selection.
    pub const ALL: [Self; 4] =
        [Self::AllowOnce, Self::RejectOnce, Self::NotOffered, Self::Dismissed];

    /// Returns what it means. What was not offered grants nothing.
    pub const fn outcome(self) -> ApprovalOutcome {
        match self {
            Self::AllowOnce => ApprovalOutcome::AllowedOnce,
            Self::RejectOnce | Self::NotOffered => ApprovalOutcome::Rejected,
            Self::Dismissed => ApprovalOutcome::Cancelled,
        }
    }
}

/// A program that knows the calls of one agent by their ids.
#[async_trait]
pub trait Machine: Send + Sync + 'static {
    /// Offers to allow or to reject a call, once, and returns what was chosen.
    ///
    /// # Errors
    ///
    /// That the program cannot be reached. The approval is then `unavailable`.
    async fn select(&self, call_id: &str, approval: &Approval) -> Result<Selection, BoxError>;
}

/// Claims the approvals of one agent that are about a call, and hands on all others.
#[derive(Debug)]
pub struct MachineAnswerer<M> {
    agent: Agent,
    machine: M,
}

impl<M: Machine> MachineAnswerer<M> {
    /// Makes the answerer of an agent: of this very one, and of no other with its id.
    pub fn new(agent: Agent, machine: M) -> Self {
        Self { agent, machine }
    }
}

#[async_trait]
impl<M: Machine> Listener<Approval> for MachineAnswerer<M> {
    async fn call(
        &self,
        ask: Arc<Approval>,
        next: Next<Approval>,
    ) -> Result<RawOutcome, ListenerError> {
        let call = ask.request().call_id().filter(|_| *ask.request().agent() == self.agent);
        // What the program cannot attach to a call it knows is not shown to it.
        let Some(call) = call else { return next.run().await };
        let selection = self.machine.select(call, &ask).await.map_err(ListenerError::Failed)?;
        Ok(selection.outcome().into())
    }
}
