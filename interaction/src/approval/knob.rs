//! The approval policy of a session: read, set, and told to the model.

use super::event;
use super::policy::{ApprovalPolicy, KnobSource, NotAPolicy};
use super::service::{ApprovalService, Inner, policy_in_force};
use crate::agent::{Agent, BoxError, Notice};
use crate::chain::contained;
use crate::plane::{Plane, StaleAgent};
use crate::profile::Texts;
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::store::Session;
use gatelog_validator::facts::Facts;
use std::sync::Arc;

/// What setting the policy of a live agent changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    /// What was in force.
    pub old: ApprovalPolicy,
    /// What is in force.
    pub new: ApprovalPolicy,
    /// Seq of the event; nothing if nothing had to change.
    pub seq: Option<u64>,
}

/// Why the policy was not set, or not told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The word is no policy; the log was not touched.
    #[error(transparent)]
    NotAPolicy(#[from] NotAPolicy),
    /// The agent is not the exact live one of its session.
    #[error(transparent)]
    StaleAgent(#[from] StaleAgent),
    /// The event could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The policy is set, in the log; the notice for the model could not be queued. Do not set it
    /// again.
    #[error("the policy was changed, and the model's notice was not queued: {source}")]
    Notice {
        /// What was changed.
        change: PolicyChange,
        /// Why.
        source: BoxError,
    },
}

/// What the model is told of the policy, besides notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Under which name it stands.
    pub name: &'static str,
    /// Its place among contributions: behind that of the sandbox, which has 110.
    pub order: u32,
    /// One sentence; empty where no agent is given, and behind the end of the service.
    pub text: &'static str,
}

impl ApprovalService {
    /// Returns the policy that a session's log says, if it says one.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn override_of(
        &self,
        session: &Session,
    ) -> Result<Option<ApprovalPolicy>, AppendError> {
        let said = self.0.plane.under_gate(session, |gate| {
            let facts: &Facts = gate.facts()?;
            Ok(facts.policy.clone())
        });
        let word = said.await?.map(|said| said.word);
        Ok(word.map(|word| ApprovalPolicy::of(&word).unwrap_or(ApprovalPolicy::Never)))
    }

    /// Returns the policy in force in a session.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn effective_policy(&self, session: &Session) -> Result<ApprovalPolicy, AppendError> {
        let default = self.0.default;
        self.0.plane.under_gate(session, move |gate| policy_in_force(gate, default)).await
    }

    /// Sets the policy of a session, whatever it was, and tells nobody. Returns the event's seq.
    ///
    /// # Errors
    ///
    /// Why the event could not be appended.
    pub async fn set_session_policy(
        &self,
        session: &Session,
        policy: ApprovalPolicy,
        source: KnobSource,
    ) -> Result<u64, AppendError> {
        let draft = event::policy(policy, source);
        let appended =
            self.0.plane.under_gate(session, move |gate| gate.append(draft, Durability::Synced));
        Ok(appended.await?.first_seq)
    }

    /// As [`ApprovalService::set_session_policy`], for a word that came over an untyped edge.
    ///
    /// # Errors
    ///
    /// [`PolicyError::NotAPolicy`] before the log is touched; [`PolicyError::Append`].
    pub async fn set_session_policy_word(
        &self,
        session: &Session,
        word: &str,
        source: KnobSource,
    ) -> Result<u64, PolicyError> {
        let policy = ApprovalPolicy::of(word)?;
        Ok(self.set_session_policy(session, policy, source).await?)
    }

    /// Sets the policy of a live agent, if it is another than the one in force: the event first,
    /// then one notice for the model's next step.
    ///
    /// # Errors
    ///
    /// [`PolicyError`]; behind [`PolicyError::Notice`] the policy is set.
    pub async fn set_policy(
        &self,
        agent: &Agent,
        policy: ApprovalPolicy,
    ) -> Result<PolicyChange, PolicyError> {
        self.0.plane.check_entry(agent, agent.session())?;
        let (inner, agent) = (Arc::clone(&self.0), agent.clone());
        // A caller that goes between the event and its notice must not leave the model untold.
        let task = self.0.plane.spawn(async move { inner.switch(&agent, policy).await });
        task.await.unwrap_or_else(|failed| {
            let what = format!("the switch did not end: {failed}");
            Err(PolicyError::Append(AppendError::Refused(Refusal::Internal { what })))
        })
    }

    /// Sets the policy of a delegated child to `never`, behind whatever its log inherited: nobody
    /// is there to be asked for it.
    ///
    /// # Errors
    ///
    /// Why the event could not be appended.
    pub async fn pin_child(&self, child: &Session) -> Result<u64, AppendError> {
        self.set_session_policy(child, ApprovalPolicy::Never, KnobSource::Delegation).await
    }

    /// Returns what the model is told of the policy: the same bytes as long as it does not change.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn contribution(&self, agent: Option<&Agent>) -> Result<Contribution, AppendError> {
        let text = match agent {
            Some(agent) if !self.0.pendings.is_shut() => {
                self.effective_policy(agent.session()).await?.sentence()
            }
            _ => "",
        };
        Ok(Contribution { name: "approval:policy", order: 115, text })
    }
}

impl Inner {
    async fn switch(
        &self,
        agent: &Agent,
        policy: ApprovalPolicy,
    ) -> Result<PolicyChange, PolicyError> {
        let default = self.default;
        let change = self.plane.under_gate(agent.session(), move |gate| {
            let old = policy_in_force(gate, default)?;
            if old == policy {
                return Ok(PolicyChange { old, new: policy, seq: None });
            }
            let draft = event::policy(policy, KnobSource::User);
            let seq = gate.append(draft, Durability::Synced)?.first_seq;
            Ok(PolicyChange { old, new: policy, seq: Some(seq) })
        });
        let change = change.await?;
        if change.seq.is_some() {
            notify(&self.plane, agent, change.old, change.new)
                .map_err(|source| PolicyError::Notice { change, source })?;
        }
        Ok(change)
    }
}

/// Queues the notice of a switch that stands in the log.
pub(crate) fn notify(
    plane: &Plane,
    agent: &Agent,
    old: ApprovalPolicy,
    new: ApprovalPolicy,
) -> Result<(), BoxError> {
    let text =
        format!("The approval policy changed from \"{old}\" to \"{new}\" (changed by the user).");
    let source = match plane.profile().texts {
        Texts::Strict => r#"{"kind":"user-approval"}"#,
        Texts::Host | Texts::Host011 => r#"{"kind":"plugin","plugin":"user-approval"}"#,
    };
    let notice = Notice { text, source: source.to_owned() };
    contained(|| agent.notices().queue(notice)).map_err(BoxError::from)?
}
