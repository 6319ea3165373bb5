//! What is asked for, and by whom.

use super::outcome::{ApprovalOutcome, RawOutcome};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::chain::{Ask, ListenerError};
use crate::scope::Lease;
use gatelog_engine::store::Session;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish to do one thing that needs approval. It never carries the tool's arguments: an answerer
/// knows the call by its id.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    pub(crate) agent: Agent,
    pub(crate) session: Option<Session>,
    pub(crate) tool_name: Arc<str>,
    pub(crate) call_id: Option<Arc<str>>,
    pub(crate) reason: Option<Arc<str>>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) lease: Option<Arc<Lease>>,
}

impl ApprovalRequest {
    /// Makes the request of an agent that wants to use a tool.
    pub fn new(agent: &Agent, tool_name: impl Into<Arc<str>>) -> Self {
        Self {
            agent: agent.clone(),
            session: None,
            tool_name: tool_name.into(),
            call_id: None,
            reason: None,
            cancel: None,
            lease: None,
        }
    }

    /// Names the tool call that it is about.
    #[must_use]
    pub fn for_call(mut self, id: impl Into<Arc<str>>) -> Self {
        self.call_id = Some(id.into());
        self
    }

    /// Says why.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Arc<str>>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Says by which signal the caller takes it back.
    #[must_use]
    pub fn until(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Names the session in which the action began. It must be the agent's.
    #[must_use]
    pub fn in_session(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Asks the listeners of a lease that the caller holds. It must be of the agent's scope.
    #[must_use]
    pub fn with_lease(mut self, lease: Arc<Lease>) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.tool_name
    }

    /// Returns the id of the tool call, if there is one.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// Returns the reason, if there is one.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Returns the caller's signal, if there is one.
    pub fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }
}

/// Id of one approval, unique in its session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApprovalId(Arc<str>);

impl ApprovalId {
    /// Makes an id that was never used.
    pub(crate) fn mint() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// Returns it as JSON text.
    pub(crate) fn to_json(&self) -> String {
        serde_json::Value::from(&*self.0).to_string()
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request that stands in the log and is put to listeners; all of them see the same one.
#[derive(Debug)]
pub struct Approval {
    pub(crate) id: ApprovalId,
    pub(crate) request: ApprovalRequest,
    /// It came to the end of the chain.
    nobodys: AtomicBool,
}

impl Approval {
    pub(super) fn new(id: ApprovalId, request: ApprovalRequest) -> Self {
        Self { id, request, nobodys: AtomicBool::new(false) }
    }

    /// Returns whether it came to the end of the chain.
    pub(super) fn was_nobodys(&self) -> bool {
        self.nobodys.load(Ordering::Acquire)
    }

    /// Returns its id, as `approval/asked` has it.
    pub fn id(&self) -> &ApprovalId {
        &self.id
    }

    /// Returns what is asked for.
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }
}

impl Ask for Approval {
    type Reply = RawOutcome;

    fn nobody(&self) -> Result<RawOutcome, ListenerError> {
        self.nobodys.store(true, Ordering::Release);
        Ok(ApprovalOutcome::Unavailable.into())
    }
}
