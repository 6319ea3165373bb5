//! Who is told that the commands are not what they were.

use super::shown::rendered;
use crate::agent::BoxError;
use crate::chain::contained;
use crate::internal::Site;
use crate::plane::{Plane, said};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// Is told of every registration and every removal.
///
/// Who calls: whoever registers or removes, once for each, after it is done. The observer may read
/// and change the registry. It can veto nothing: that it fails or panics is reported, and the next
/// observer is told all the same.
pub trait CommandsObserver: Send + Sync {
    /// Is told that the commands changed, for whichever agents.
    ///
    /// # Errors
    ///
    /// Whatever speaks against it; it is reported and changes nothing.
    fn changed(&self) -> Result<(), BoxError>;
}

struct List {
    observers: Mutex<Vec<(u64, Arc<dyn CommandsObserver>)>>,
}

impl List {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Arc<dyn CommandsObserver>)>> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Those who are told.
pub(super) struct Changes {
    list: Arc<List>,
    count: watch::Sender<u64>,
}

impl Changes {
    pub(super) fn new() -> Self {
        let list = Arc::new(List { observers: Mutex::default() });
        Self { list, count: watch::Sender::new(0) }
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.count.subscribe()
    }

    pub(super) fn observe(&self, observer: Arc<dyn CommandsObserver>) -> ObserverGuard {
        let mut observers = self.list.lock();
        let key = observers.last().map_or(0, |(key, _)| key + 1);
        observers.push((key, observer));
        ObserverGuard { list: Arc::downgrade(&self.list), key }
    }

    /// Tells everybody, once. No lock is held meanwhile.
    pub(super) fn tell(&self, plane: &Plane) {
        self.count.send_modify(|count| *count += 1);
        let observers = self.list.lock().clone();
        for (_, observer) in observers {
            let failed = match contained(|| observer.changed()) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => format!("rejected: {}", rendered(&error)),
                Err(panicked) => format!("threw: {}", panicked.0),
            };
            let text = format!("commands/change listener {failed}");
            plane.report(Site::CommandsChanged, None, None, said(text));
        }
    }
}

/// An observer in its place. Dropping it takes the observer back.
#[must_use = "the observer is told nothing once this is dropped"]
pub struct ObserverGuard {
    list: Weak<List>,
    key: u64,
}

impl Drop for ObserverGuard {
    fn drop(&mut self) {
        let Some(list) = self.list.upgrade() else { return };
        let mut observers = list.lock();
        let at = observers.iter().position(|(key, _)| *key == self.key);
        let removed = at.map(|at| observers.remove(at));
        // What the observer holds is dropped outside the lock.
        drop(observers);
        drop(removed);
    }
}

impl fmt::Debug for ObserverGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObserverGuard").finish_non_exhaustive()
    }
}
