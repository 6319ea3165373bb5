//! A listener in its place, until its guard is dropped.

use super::ask::{Ask, Listener};
use super::chain::Listeners;
use super::route::Answer;
use crate::cancel::Cancel;
use crate::flight::Entry;
use crate::scope::Stamp;
use std::fmt;
use std::sync::{Arc, Weak};

/// Where a listener stands among those that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Behind all.
    #[default]
    Last,
    /// Before all.
    First,
}

/// A listener in its place.
pub(crate) struct Registered<A: Ask> {
    pub(crate) listener: Box<dyn Listener<A>>,
    pub(crate) stamp: Stamp,
    pub(crate) entry: Arc<Entry<Answer<A>>>,
    /// Given after the registration was taken back and what it had claimed was ended.
    pub(crate) lifetime: Cancel,
}

trait Withdraw: Send + Sync {
    fn withdraw(&self) -> bool;
}

struct Of<A: Ask> {
    listeners: Weak<Listeners<A>>,
    registered: Arc<Registered<A>>,
}

impl<A: Ask> Withdraw for Of<A> {
    fn withdraw(&self) -> bool {
        // Out of the list first, so that a request that begins now never captures a dead entry.
        let listeners = self.listeners.upgrade();
        let removed = listeners.is_some_and(|listeners| listeners.remove(&self.registered));
        self.registered.entry.withdraw();
        self.registered.lifetime.cancel();
        removed
    }
}

/// A registration. Dropping it takes it back: what the listener had claimed and not answered ends
/// at once, and nobody else is asked.
#[must_use = "dropping the guard removes the listener"]
pub struct Registration(Option<Box<dyn Withdraw>>);

impl Registration {
    pub(crate) fn new<A: Ask>(
        listeners: &Arc<Listeners<A>>,
        registered: Arc<Registered<A>>,
    ) -> Self {
        Self(Some(Box::new(Of { listeners: Arc::downgrade(listeners), registered })))
    }

    /// Takes the registration back. Returns whether it was there: a second call does nothing.
    pub fn withdraw(&mut self) -> bool {
        self.0.take().is_some_and(|registered| registered.withdraw())
    }

    /// Lets the listener stay for as long as its chain lives.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("there", &self.0.is_some()).finish()
    }
}
