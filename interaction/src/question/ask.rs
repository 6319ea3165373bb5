//! A batch of questions on its way to a person.

use super::batch::{Answer, Question};
use super::error::QuestionError;
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::chain::{Ask, ListenerError};
use crate::profile::Profile;
use crate::scope::Lease;
use std::sync::Arc;

/// A batch of questions, who asks, and until when. Listeners see this very value.
#[derive(Clone, Debug)]
pub struct QuestionAsk {
    pub(super) questions: Arc<[Question]>,
    pub(super) agent: Option<Agent>,
    pub(super) cancel: Option<Cancel>,
    pub(super) lease: Option<Arc<Lease>>,
    pub(super) profile: Profile,
}

impl QuestionAsk {
    /// Makes a batch that no agent asks: only listeners without a scope see it.
    pub fn new(questions: impl Into<Arc<[Question]>>) -> Self {
        Self {
            questions: questions.into(),
            agent: None,
            cancel: None,
            lease: None,
            profile: Profile::STRICT,
        }
    }

    /// Says which agent asks.
    #[must_use]
    pub fn by(mut self, agent: &Agent) -> Self {
        self.agent = Some(agent.clone());
        self
    }

    /// Says by which signal the caller takes it back.
    #[must_use]
    pub fn until(mut self, cancel: Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Asks the listeners of a lease that the caller holds. It must be of the agent's scope.
    #[must_use]
    pub fn with_lease(mut self, lease: Arc<Lease>) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Returns the questions.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Returns the agent that asks, if one does.
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref()
    }

    /// Returns the caller's signal, if there is one.
    pub fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }
}

impl Ask for QuestionAsk {
    type Reply = Vec<Answer>;

    fn nobody(&self) -> Result<Vec<Answer>, ListenerError> {
        Err(ListenerError::failed(QuestionError::no_provider(&self.profile)))
    }
}
