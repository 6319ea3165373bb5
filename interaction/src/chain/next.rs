//! Delegation: the way on to the listeners behind.

use super::ask::{Ask, ListenerError};
use super::contained::{Contained, contained};
use super::route::Route;
use crate::agent::BoxError;
use crate::cancel::Cancel;
use crate::flight::Entered;
use std::fmt;
use std::sync::Arc;

/// The way on to the listeners behind. It is consumed by use: nobody delegates twice.
///
/// ```
/// use gatelog_interaction::chain::{Ask, ListenerError, Next};
/// async fn once<A: Ask>(next: Next<A>) -> Result<A::Reply, ListenerError> {
///     next.run().await
/// }
/// ```
///
/// ```compile_fail,E0382
/// use gatelog_interaction::chain::{Ask, ListenerError, Next};
/// async fn twice<A: Ask>(next: Next<A>) -> Result<A::Reply, ListenerError> {
///     next.run().await?;
///     next.run().await
/// }
/// ```
pub struct Next<A: Ask> {
    pub(crate) route: Arc<Route<A>>,
    pub(crate) at: usize,
}

impl<A: Ask> Next<A> {
    /// Asks the next listener that is still there, and returns what it says; if there is none, what
    /// it means that nobody answers.
    ///
    /// # Errors
    ///
    /// [`ListenerError::Closed`] if the request has ended; what became of the listener otherwise.
    pub async fn run(self) -> Result<A::Reply, ListenerError> {
        let Self { route, mut at } = self;
        while let Some(registered) = route.listeners.get(at) {
            at += 1;
            // Counted before it is claimed: the request is not drained while it runs, wherever.
            let _inside = route.inside.token();
            // Held until the listener returns: a withdrawal before that ends the request.
            let _claim = match registered.entry.enter(&route.flight) {
                Entered::Claimed(claim) => claim,
                Entered::Gone => continue,
                Entered::Void => return Err(ListenerError::Closed),
            };
            let next = Self { route: Arc::clone(&route), at };
            let (registered, ask) = (Arc::clone(registered), Arc::clone(&route.ask));
            let call = Contained::new(async move { registered.listener.call(ask, next).await });
            return match call.await {
                Ok(reply) => reply,
                Err(panicked) => Err(route.panicked(panicked)),
            };
        }
        if route.flight.is_settled() {
            return Err(ListenerError::Closed);
        }
        match contained(|| route.ask.nobody()) {
            Ok(nobody) => nobody,
            Err(panicked) => Err(route.panicked(panicked)),
        }
    }

    /// Returns whether the request has ended.
    pub fn is_closed(&self) -> bool {
        self.route.flight.is_settled()
    }

    /// Returns a signal that is given when the request has ended, in whatever way.
    pub fn ended(&self) -> Cancel {
        self.route.ended.clone()
    }

    /// Has something done when the listeners have returned and the request has ended, at once if
    /// that was before. That it fails is reported and changes nothing.
    pub fn cleanup(&self, work: impl FnOnce() -> Result<(), BoxError> + Send + 'static) {
        self.route.clean_up(Box::new(work));
    }
}

impl<A: Ask> fmt::Debug for Next<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}
