//! What is asked of a chain, and who may be asked.

use super::contained::Panicked;
use super::next::Next;
use crate::agent::BoxError;
use async_trait::async_trait;
use std::sync::Arc;

/// A kind of request that listeners answer.
pub trait Ask: Send + Sync + 'static {
    /// What a listener says.
    type Reply: Send + 'static;

    /// Returns what it means that everybody delegated, or that there is nobody.
    ///
    /// # Errors
    ///
    /// Where that is a failure.
    fn nobody(&self) -> Result<Self::Reply, ListenerError>;
}

/// Why a listener gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum ListenerError {
    /// The request has ended; nothing that is said now matters, and nobody is called any more.
    #[error("the request has ended")]
    Closed,
    /// The listener panicked.
    #[error("a listener {0}")]
    Panicked(Panicked),
    /// The listener failed; the error is its own.
    #[error(transparent)]
    Failed(BoxError),
}

impl ListenerError {
    /// Makes an error of somebody's own.
    pub fn failed(error: impl Into<BoxError>) -> Self {
        Self::Failed(error.into())
    }
}

/// Answers requests, or hands them on.
///
/// Who calls: the task of a request, at most once for each request. To return a reply is to claim
/// the request; to run `next` is to delegate it, and its result may be passed on, looked at or
/// replaced. A panic is contained. When the request ends while the listener runs, nobody waits for
/// it any more: it is told by [`Next::ended`] and is driven until it returns.
#[async_trait]
pub trait Listener<A: Ask>: Send + Sync + 'static {
    /// Answers a request, or hands it on.
    ///
    /// # Errors
    ///
    /// Whatever the listener makes of it; an outer listener sees it from `next`.
    async fn call(&self, ask: Arc<A>, next: Next<A>) -> Result<A::Reply, ListenerError>;
}
