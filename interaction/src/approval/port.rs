//! What consumers of approvals depend on.

use super::error::ApprovalError;
use super::outcome::ApprovalOutcome;
use super::request::ApprovalRequest;
use async_trait::async_trait;

/// Who or what decided. It is never logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecidedBy {
    /// The policy `never`.
    Policy,
    /// A listener.
    Answerer,
    /// There was nobody, or everybody delegated.
    Nobody,
    /// The caller took it back.
    Caller,
    /// A listener that had claimed it took its registration back.
    Unload,
    /// A listener failed, or said something foreign.
    Fault,
    /// Whoever owns the turn ended it.
    Drain,
}

/// An outcome, and who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The outcome.
    pub outcome: ApprovalOutcome,
    /// Who decided.
    pub by: DecidedBy,
}

/// Asks for approval. [`super::ApprovalService`] is the one that this crate has; a host may put
/// another in its place.
#[async_trait]
pub trait ApprovalPort: Send + Sync {
    /// Asks, and returns how it ended.
    ///
    /// # Errors
    ///
    /// That the call or the log is broken. Nothing was granted then.
    async fn request(&self, request: ApprovalRequest) -> Result<ApprovalOutcome, ApprovalError>;

    /// As [`ApprovalPort::request`], and says who decided.
    ///
    /// # Errors
    ///
    /// As [`ApprovalPort::request`].
    async fn request_explained(
        &self,
        request: ApprovalRequest,
    ) -> Result<Explained, ApprovalError> {
        let outcome = self.request(request).await?;
        let by = match outcome {
            ApprovalOutcome::Cancelled => DecidedBy::Caller,
            ApprovalOutcome::Unavailable => DecidedBy::Nobody,
            ApprovalOutcome::AllowedOnce | ApprovalOutcome::Rejected => DecidedBy::Answerer,
        };
        Ok(Explained { outcome, by })
    }
}
