//! The handle of a running agent, and who is live.

use crate::scope::Scope;
use gatelog_engine::store::Session;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An error of somebody else, as it is.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Something that the model is to read before its next step, as a message of the user's role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it says.
    pub text: String,
    /// Which part of the machine says it, so that nobody takes it for a person's words: a JSON
    /// object, as the host's messages carry it.
    pub source: String,
}

/// Takes notices for an agent's next step.
pub trait Notices: Send + Sync {
    /// Queues one.
    ///
    /// # Errors
    ///
    /// Why it could not be queued.
    fn queue(&self, notice: Notice) -> Result<(), BoxError>;
}

/// Keeps notices in memory until the loop takes them.
#[derive(Debug, Default)]
pub struct NoticeQueue(Mutex<Vec<Notice>>);

impl NoticeQueue {
    /// Takes all that were queued, in order.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut lock(&self.0))
    }
}

impl Notices for NoticeQueue {
    fn queue(&self, notice: Notice) -> Result<(), BoxError> {
        lock(&self.0).push(notice);
        Ok(())
    }
}

struct Inner {
    id: String,
    session: Session,
    scope: Scope,
    notices: Arc<dyn Notices>,
}

/// A running agent. Copies are the same agent; one with the same id that was made anew is not.
#[derive(Clone)]
pub struct Agent(Arc<Inner>);

impl Agent {
    /// Makes the handle of an agent: its session, the scope whose listeners see it, and where it
    /// takes notices.
    pub fn new(
        id: impl Into<String>,
        session: Session,
        scope: Scope,
        notices: Arc<dyn Notices>,
    ) -> Self {
        Self(Arc::new(Inner { id: id.into(), session, scope, notices }))
    }

    /// Returns the id. Never compared.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the session whose log has the agent's facts.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Returns the scope.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Returns where notices for the next step go.
    pub fn notices(&self) -> &dyn Notices {
        &*self.0.notices
    }
}

impl PartialEq for Agent {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Agent {}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Agent").field(&self.0.id).finish()
    }
}

/// Knows which agents are live, and who owns whom.
pub trait LiveAgents: Send + Sync {
    /// Returns whether this very instance is live.
    fn is_live(&self, agent: &Agent) -> bool;

    /// Returns the agent that owns a live one, live or not.
    fn owner(&self, agent: &Agent) -> Option<Agent>;
}

#[derive(Debug)]
struct Entered {
    agent: Agent,
    owner: Option<Agent>,
}

/// The agents of this process, for a host that keeps no registry of its own.
#[derive(Clone, Debug, Default)]
pub struct Agents(Arc<Mutex<Vec<Entered>>>);

impl Agents {
    /// Makes an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that an agent is live, until what is returned is dropped.
    pub fn enter(&self, agent: Agent, owner: Option<Agent>) -> LiveAgent {
        lock(&self.0).push(Entered { agent: agent.clone(), owner });
        LiveAgent { agents: self.clone(), agent }
    }
}

impl LiveAgents for Agents {
    fn is_live(&self, agent: &Agent) -> bool {
        lock(&self.0).iter().any(|entered| entered.agent == *agent)
    }

    fn owner(&self, agent: &Agent) -> Option<Agent> {
        let entered = lock(&self.0);
        entered.iter().find(|entered| entered.agent == *agent)?.owner.clone()
    }
}

/// An agent that is live until this is dropped.
#[must_use = "the agent is live until this is dropped"]
#[derive(Debug)]
pub struct LiveAgent {
    agents: Agents,
    agent: Agent,
}

impl LiveAgent {
    /// Returns the agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }
}

impl Drop for LiveAgent {
    fn drop(&mut self) {
        let mut entered = lock(&self.agents.0);
        if let Some(at) = entered.iter().position(|entered| entered.agent == self.agent) {
            entered.remove(at);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
