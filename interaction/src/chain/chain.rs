//! The list of listeners, and how a request goes through it.

use super::ask::{Ask, Listener};
use super::contained::contained;
use super::next::Next;
use super::registration::{Place, Registered, Registration};
use super::route::{Answer, Names, Route};
use crate::cancel::Cancel;
use crate::flight::{Entry, Flight};
use crate::plane::Plane;
use crate::scope::{Authority, Lease, RegisterError, Scope};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::task::TaskTracker;

/// The listeners of a chain, in the order in which they are asked.
pub(crate) struct Listeners<A: Ask> {
    // A request takes the whole list at once; who changes it makes another one.
    list: Mutex<Arc<Vec<Arc<Registered<A>>>>>,
}

impl<A: Ask> Listeners<A> {
    fn lock(&self) -> MutexGuard<'_, Arc<Vec<Arc<Registered<A>>>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remove(&self, registered: &Arc<Registered<A>>) -> bool {
        let mut list = self.lock();
        let there = list.iter().position(|other| Arc::ptr_eq(other, registered));
        let Some(at) = there else { return false };
        let mut changed = Vec::clone(&list);
        let removed = changed.remove(at);
        *list = Arc::new(changed);
        // What a listener holds is dropped outside the lock.
        drop(list);
        drop(removed);
        true
    }
}

/// A waterfall of listeners: approvals, questions and decisions before a tool runs each have one.
/// Copies are the same chain.
pub struct Chain<A: Ask> {
    plane: Plane,
    listeners: Arc<Listeners<A>>,
}

impl<A: Ask> Clone for Chain<A> {
    fn clone(&self) -> Self {
        Self { plane: self.plane.clone(), listeners: Arc::clone(&self.listeners) }
    }
}

impl<A: Ask> Chain<A> {
    /// Makes a chain without listeners.
    pub fn new(plane: Plane) -> Self {
        Self { plane, listeners: Arc::new(Listeners { list: Mutex::default() }) }
    }

    /// Returns the right to register, as far as the authority goes.
    pub fn registrar(&self, authority: Authority) -> Registrar<A> {
        Registrar { chain: self.clone(), authority }
    }

    /// Returns how many listeners are registered.
    pub fn count(&self) -> usize {
        self.listeners.lock().len()
    }

    /// Sends a request through the listeners that its lease sees, as they are now. The reply ends
    /// `flight`; without a lease only global listeners are asked.
    ///
    /// The listeners run in a task of their own, which begins when the caller next waits, and which
    /// holds the lease until they have returned and cleaned up.
    pub(crate) fn dispatch(
        &self,
        ask: Arc<A>,
        flight: Arc<Flight<Answer<A>>>,
        lease: Option<Arc<Lease>>,
        names: Names,
    ) -> Dispatched<A> {
        let list = Arc::clone(&self.listeners.lock());
        let ended = Cancel::new();
        let dispatched = Dispatched {
            plane: self.plane.clone(),
            flight: Arc::clone(&flight),
            ended: ended.clone(),
            lease: lease.clone(),
        };
        let plane = self.plane.clone();
        self.plane.drive(async move {
            let sees = |registered: &&Arc<Registered<A>>| match &lease {
                Some(lease) => lease.sees(&registered.stamp),
                None => registered.stamp.is_global(),
            };
            let listeners = list.iter().filter(sees).cloned().collect();
            let (inside, cleanups) = (TaskTracker::new(), Mutex::new(Some(Vec::new())));
            let route = Route { plane, names, ask, flight, listeners, ended, inside, cleanups };
            let route = Arc::new(route);
            // It may be the last that knew of a listener that is gone.
            if let Err(panicked) = contained(|| drop(list)) {
                drop(route.panicked(panicked));
            }
            // One turn of the runtime, so that requests that are made together all stand in the
            // log before the first listener runs.
            tokio::task::yield_now().await;
            let answer = Next { route: Arc::clone(&route), at: 0 }.run().await;
            if let Err(error) = &answer {
                route.failed(error);
            }
            route.flight.answer(answer);
            route.ended.cancelled().await;
            route.drain().await;
            // Listeners that were taken back go before the world that they belong to.
            drop(contained(|| drop(route)));
            drop(lease);
        });
        dispatched
    }
}

impl<A: Ask> fmt::Debug for Chain<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("listeners", &self.count()).finish_non_exhaustive()
    }
}

/// A request whose listeners run. Dropping it ends the request if it has not ended, and tells the
/// listeners.
pub(crate) struct Dispatched<A: Ask> {
    plane: Plane,
    flight: Arc<Flight<Answer<A>>>,
    ended: Cancel,
    lease: Option<Arc<Lease>>,
}

impl<A: Ask> Drop for Dispatched<A> {
    fn drop(&mut self) {
        // Behind this nobody is entered, so that what was entered can be waited for.
        self.flight.close();
        if self.ended.subscriptions() == 0 {
            self.ended.cancel();
            return;
        }
        // Whoever subscribed may block: not on this task, and the lease is held meanwhile.
        let (ended, lease) = (self.ended.clone(), self.lease.take());
        self.plane.drive(async move {
            ended.cancel();
            drop(lease);
        });
    }
}

/// The right to register listeners, as far as an authority goes.
pub struct Registrar<A: Ask> {
    chain: Chain<A>,
    authority: Authority,
}

impl<A: Ask> Registrar<A> {
    /// Returns how many listeners the chain has, whoever registered them.
    pub fn count(&self) -> usize {
        self.chain.count()
    }

    /// Registers a listener that sees every request.
    ///
    /// # Errors
    ///
    /// [`RegisterError::NotGlobal`] for a scoped composition.
    pub fn global(
        &self,
        place: Place,
        listener: impl Listener<A>,
    ) -> Result<Registration, RegisterError> {
        self.register(None, place, Box::new(listener), Cancel::new())
    }

    /// Registers a listener that sees the requests of a scope and of all below it.
    ///
    /// # Errors
    ///
    /// [`RegisterError::ForeignScope`] for a composition of another scope.
    pub fn scoped(
        &self,
        scope: &Scope,
        place: Place,
        listener: impl Listener<A>,
    ) -> Result<Registration, RegisterError> {
        self.register(Some(scope), place, Box::new(listener), Cancel::new())
    }

    /// Registers a listener with a signal that is given once the registration was taken back and
    /// what it had claimed has ended.
    pub(crate) fn register(
        &self,
        scope: Option<&Scope>,
        place: Place,
        listener: Box<dyn Listener<A>>,
        lifetime: Cancel,
    ) -> Result<Registration, RegisterError> {
        let stamp = self.authority.stamp(scope)?;
        let entry = Arc::new(Entry::default());
        let registered = Arc::new(Registered { listener, stamp, entry, lifetime });
        let listeners = &self.chain.listeners;
        let mut list = listeners.lock();
        let mut changed = Vec::clone(&list);
        match place {
            Place::First => changed.insert(0, Arc::clone(&registered)),
            Place::Last => changed.push(Arc::clone(&registered)),
        }
        *list = Arc::new(changed);
        drop(list);
        Ok(Registration::new(listeners, registered))
    }
}

impl<A: Ask> fmt::Debug for Registrar<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar").field("authority", &self.authority).finish_non_exhaustive()
    }
}
