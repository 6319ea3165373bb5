//! Delegation: the way on to the listeners behind.

use super::ask::{Ask, ListenerError};
use super::contained::{Contained, contained};
use super::registration::Registered;
use crate::agent::BoxError;
use crate::cancel::Cancel;
use crate::flight::{Entered, Flight};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What the outermost listener said.
pub(crate) type Answer<A> = Result<<A as Ask>::Reply, ListenerError>;

type Cleanup = Box<dyn FnOnce() -> Result<(), BoxError> + Send>;

/// One request on its way through the listeners that it captured.
pub(crate) struct Route<A: Ask> {
    pub(crate) ask: Arc<A>,
    pub(crate) flight: Arc<Flight<Answer<A>>>,
    pub(crate) listeners: Vec<Arc<Registered<A>>>,
    /// Given when the request has ended, in whatever way.
    pub(crate) ended: Cancel,
    pub(crate) cleanups: Mutex<Vec<Cleanup>>,
}

/// The way on to the listeners behind. It is consumed by use: nobody delegates twice.
///
/// ```compile_fail
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
            // Held until the listener returns: a withdrawal before that ends the request.
            let _claim = match registered.entry.enter(&route.flight) {
                Entered::Claimed(claim) => claim,
                Entered::Gone => continue,
                Entered::Void => return Err(ListenerError::Closed),
            };
            let next = Self { route: Arc::clone(&route), at };
            let (registered, ask) = (Arc::clone(registered), Arc::clone(&route.ask));
            let call = Contained::new(async move { registered.listener.call(ask, next).await });
            return call.await.map_err(ListenerError::Panicked)?;
        }
        if route.flight.is_settled() {
            return Err(ListenerError::Closed);
        }
        match contained(|| route.ask.nobody()) {
            Ok(nobody) => nobody,
            Err(panicked) => Err(ListenerError::Panicked(panicked)),
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

    /// Has something done when the listeners have returned and the request has ended. That it fails
    /// is reported and changes nothing.
    pub fn cleanup(&self, work: impl FnOnce() -> Result<(), BoxError> + Send + 'static) {
        let mut cleanups = self.route.cleanups.lock().unwrap_or_else(PoisonError::into_inner);
        cleanups.push(Box::new(work));
    }
}

impl<A: Ask> fmt::Debug for Next<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}
