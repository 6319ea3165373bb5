//! Delegation for callers that cannot be kept from trying it twice.

use super::ask::{Ask, ListenerError};
use super::next::Next;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The way on to the listeners behind, for listeners of another language, in which nothing is
/// consumed by use. Copies are the same way: it leads on once.
pub struct SharedNext<A: Ask>(Arc<Mutex<Option<Next<A>>>>);

impl<A: Ask> SharedNext<A> {
    /// Makes it of what the listener was given.
    pub fn new(next: Next<A>) -> Self {
        Self(Arc::new(Mutex::new(Some(next))))
    }

    /// Asks the next listener, the first time.
    ///
    /// # Errors
    ///
    /// [`ListenerError::Closed`] if it was run before, and as [`Next::run`].
    pub async fn run(&self) -> Result<A::Reply, ListenerError> {
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match next {
            Some(next) => next.run().await,
            None => Err(ListenerError::Closed),
        }
    }
}

impl<A: Ask> Clone for SharedNext<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: Ask> fmt::Debug for SharedNext<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedNext").finish_non_exhaustive()
    }
}
