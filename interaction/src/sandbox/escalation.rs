//! A wider mode for one call, if a person grants it.

use super::mode::SandboxMode;
use crate::agent::Agent;
use crate::approval::{ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest};
use crate::cancel::Cancel;
use crate::text::is_blank;

/// What a model wants, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escalation {
    /// The mode for this one call.
    pub mode: SandboxMode,
    /// Why, in a sentence.
    pub justification: String,
}

/// Arguments that make no escalation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EscalationArgument {
    /// A mode without a reason.
    #[error("invalid escalation: sandbox_permissions requires a justification")]
    NoJustification,
    /// A reason without a mode.
    #[error("invalid escalation: justification is only valid together with sandbox_permissions")]
    NoMode,
    /// A reason that says nothing.
    #[error("invalid justification: expected a non-empty sentence")]
    BlankJustification,
    /// A word that is no mode.
    #[error("invalid escalation: \"{0}\" is no sandbox mode")]
    NotAMode(String),
}

impl Escalation {
    /// Reads the two arguments of a call; nothing if it has neither.
    ///
    /// # Errors
    ///
    /// [`EscalationArgument`]; nobody is asked.
    pub fn of(
        sandbox_permissions: Option<&str>,
        justification: Option<&str>,
    ) -> Result<Option<Self>, EscalationArgument> {
        let (word, justification) = match (sandbox_permissions, justification) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(EscalationArgument::NoJustification),
            (None, Some(_)) => return Err(EscalationArgument::NoMode),
            (Some(word), Some(justification)) => (word, justification),
        };
        if is_blank(justification) {
            return Err(EscalationArgument::BlankJustification);
        }
        let mode = SandboxMode::of(word);
        let mode = mode.ok_or_else(|| EscalationArgument::NotAMode(word.to_owned()))?;
        Ok(Some(Self { mode, justification: justification.to_owned() }))
    }
}

/// A wish to run one call under a wider mode.
#[derive(Clone, Debug)]
pub struct EscalationRequest {
    /// What is wanted.
    pub escalation: Escalation,
    /// The mode that the call would have otherwise.
    pub current: SandboxMode,
    /// What is widened, for a sentence: `command`, `edit`.
    pub subject: String,
    /// Who wants it; nobody can be asked without.
    pub agent: Option<Agent>,
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub call_id: Option<String>,
    /// By which signal the caller takes it back.
    pub cancel: Option<Cancel>,
}

/// Why a call does not run under a wider mode. It does not run at all, then.
#[derive(Debug, thiserror::Error)]
pub enum EscalationError {
    /// The mode is no wider than that of the call.
    #[error(
        "sandbox escalation to \"{mode}\" is not strictly wider than this call's current \
         \"{current}\" mode"
    )]
    NotWider {
        /// What was wanted.
        mode: SandboxMode,
        /// What the call has.
        current: SandboxMode,
    },
    /// There is nobody who could be asked.
    #[error(
        "sandbox escalation to \"{mode}\" requires approval, but no approval service is composed"
    )]
    NoService {
        /// What was wanted.
        mode: SandboxMode,
    },
    /// Nobody wants it.
    #[error(
        "sandbox escalation to \"{mode}\" requires approval, but the call has no agent to route it \
         through"
    )]
    NoAgent {
        /// What was wanted.
        mode: SandboxMode,
    },
    /// It was refused.
    #[error("the user rejected escalating this {subject} to \"{mode}\"")]
    Rejected {
        /// What was to be widened.
        subject: String,
        /// What was wanted.
        mode: SandboxMode,
    },
    /// It was taken back.
    #[error("approval for escalating to \"{mode}\" was cancelled")]
    Cancelled {
        /// What was wanted.
        mode: SandboxMode,
    },
    /// Nobody could say.
    #[error(
        "sandbox escalation to \"{mode}\" requires approval, but no approval channel is available"
    )]
    Unavailable {
        /// What was wanted.
        mode: SandboxMode,
    },
    /// It could not be asked.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
}

/// Asks for a wider mode for one call. Nothing is remembered and no mode is set: the next call has
/// the session's own.
///
/// # Errors
///
/// [`EscalationError`]; the call does not run.
pub async fn approve_escalation(
    port: Option<&dyn ApprovalPort>,
    request: EscalationRequest,
) -> Result<SandboxMode, EscalationError> {
    let EscalationRequest { escalation, current, subject, agent, tool_name, call_id, cancel } =
        request;
    let Escalation { mode, justification } = escalation;
    if !mode.is_wider_than(current) {
        return Err(EscalationError::NotWider { mode, current });
    }
    let port = port.ok_or(EscalationError::NoService { mode })?;
    let agent = agent.ok_or(EscalationError::NoAgent { mode })?;
    let mut wish = ApprovalRequest::new(&agent, tool_name)
        .because(format!("escalate sandbox to {mode}: {justification}"));
    if let Some(call) = call_id {
        wish = wish.for_call(call);
    }
    if let Some(cancel) = cancel {
        wish = wish.until(cancel);
    }
    match port.request(wish).await? {
        ApprovalOutcome::AllowedOnce => Ok(mode),
        ApprovalOutcome::Rejected => Err(EscalationError::Rejected { subject, mode }),
        ApprovalOutcome::Cancelled => Err(EscalationError::Cancelled { mode }),
        ApprovalOutcome::Unavailable => Err(EscalationError::Unavailable { mode }),
    }
}

/// Returns the mark by which a result says that the sandbox denied something.
pub fn denial_marker(mode: SandboxMode) -> String {
    format!("[sandbox: file access denied under {mode} mode]")
}
