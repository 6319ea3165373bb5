//! A call of a tool on its way to its body.

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::chain::{Ask, ListenerError};
use gatelog_engine::json::Document;
use gatelog_engine::store::Session;
use std::sync::Arc;

/// A call of a tool: who makes it, in which session, and with what.
#[derive(Clone, Debug)]
pub struct ToolCall {
    pub(super) session: Session,
    pub(super) agent: Option<Agent>,
    pub(super) name: Arc<str>,
    pub(super) id: Arc<str>,
    pub(super) arguments: Arc<str>,
    pub(super) cancel: Option<Cancel>,
}

impl ToolCall {
    /// Makes a call of a session, with arguments as JSON text.
    pub fn new(
        session: &Session,
        name: impl Into<Arc<str>>,
        id: impl Into<Arc<str>>,
        arguments: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            session: session.clone(),
            agent: None,
            name: name.into(),
            id: id.into(),
            arguments: arguments.into(),
            cancel: None,
        }
    }

    /// Says which agent makes it.
    #[must_use]
    pub fn by(mut self, agent: &Agent) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Says by which signal its caller takes it back.
    #[must_use]
    pub fn until(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the arguments, as JSON text.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the agent, if one makes it.
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref()
    }

    /// Returns the session in which it was begun.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the caller's signal, if there is one.
    pub fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_cancelled)
    }

    /// Returns whether the arguments are JSON at all, which a log keeps without loss.
    pub(super) fn has_json(&self) -> bool {
        Document::parse(self.arguments.as_bytes().to_vec()).is_ok()
    }
}

/// What is decided before a tool runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreDecision {
    /// It may run, if no guard speaks against it.
    Allow,
    /// It may not.
    Deny {
        /// Why.
        reason: String,
    },
    /// A person is to say.
    Ask {
        /// Why.
        reason: Option<String>,
    },
}

impl Ask for ToolCall {
    type Reply = PreDecision;

    /// Whom nobody speaks against is allowed.
    fn nobody(&self) -> Result<PreDecision, ListenerError> {
        Ok(PreDecision::Allow)
    }
}
