//! Why a command was not registered, or did not come to a result.

use super::result::BadResult;
use super::shape::BadDefinition;
use crate::agent::BoxError;
use crate::cancel::Reason;
use crate::chain::Panicked;
use crate::plane::StaleAgent;
use crate::scope::RegisterError;
use gatelog_engine::backend::AppendError;

/// Why a command was not registered; nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRegisterError {
    /// The definition is none.
    #[error(transparent)]
    Definition(#[from] BadDefinition),
    /// The composition may not register there.
    #[error(transparent)]
    Scope(#[from] RegisterError),
    /// Another command is seen by everybody under the name.
    #[error(
        "command \"{0}\" is already registered (for a per-agent variant, mount a command-injected \
         plugin under that agent's `agent.ctx`)"
    )]
    DuplicateGlobal(String),
    /// Another command has the name in the same scope.
    #[error("command \"{0}\" is already registered in this scope")]
    DuplicateScoped(String),
}

/// Why a command came to no result. The variant says which promise holds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The agent is not the exact live one of its session. Nothing was logged.
    #[error(transparent)]
    Stale(#[from] StaleAgent),
    /// It was cancelled before it began. Nothing was logged.
    #[error("{0}")]
    PreCancelled(Reason),
    /// `command/run` was not appended: the handler was not entered, and there is no
    /// `command/done`.
    #[error("command/run append failed: {0}")]
    Run(#[source] AppendError),
    /// It was cancelled while it ran. `command/done` says so, unless that failed as well, which
    /// was reported; so with the following ones.
    #[error("{0}")]
    Cancelled(Reason),
    /// The attachment store or the resolver of receipts failed; the error is its own. The handler
    /// was not entered.
    #[error(transparent)]
    Attachments(BoxError),
    /// The handler failed; the error is its own.
    #[error(transparent)]
    Handler(BoxError),
    /// The handler returned no result.
    #[error(transparent)]
    BadResult(BadResult),
    /// The handler, the store or the resolver panicked.
    #[error("command handler rejected with a non-Error value: {}", .0.0)]
    Panicked(Panicked),
    /// The handler did its work and said so, but `command/done` was not appended: the log has a
    /// command without an end, and no success may be reported.
    #[error("command/done append failed: {0}")]
    Done(#[source] AppendError),
    /// The runtime stopped under the command; the log may have one without an end.
    #[error("the runtime stopped before the command was done")]
    Stopped,
}
