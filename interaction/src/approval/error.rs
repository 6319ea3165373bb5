//! Why an approval could not be asked for, or its outcome is not told.

use crate::plane::StaleAgent;
use gatelog_engine::backend::AppendError;

/// Why an approval could not be asked for, or its outcome is not told. Nothing was granted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// No turn is open: a mistake of the caller.
    #[error(
        "approval.request() outside an open turn: the approval/asked + approval/decided audit \
         pair must be turn-enclosed (a bare event between turns is crash-tail garbage on reload). \
         Ask from inside the turn that needs the decision."
    )]
    OutsideTurn,
    /// The turn in which it was asked for ended before it was decided.
    #[error("the turn in which the approval was asked for has ended; nothing was granted")]
    TurnClosed,
    /// The agent is not the exact live one of its session.
    #[error(transparent)]
    StaleAgent(#[from] StaleAgent),
    /// The lease is of another agent's scope.
    #[error("the scope lease of an approval must be of the scope of its agent")]
    ForeignLease,
    /// `approval/asked` or `approval/decided` could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The service was shut down.
    #[error("the approval service was shut down")]
    ShutDown,
}

impl ApprovalError {
    /// Returns a stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OutsideTurn => "OUTSIDE_TURN",
            Self::TurnClosed => "TURN_CLOSED",
            Self::StaleAgent(_) => "STALE_AGENT",
            Self::ForeignLease => "FOREIGN_LEASE",
            Self::Append(_) => "APPEND",
            Self::ShutDown => "SHUT_DOWN",
        }
    }
}
