//! One request on its way through the listeners that it captured.

use super::ask::{Ask, ListenerError};
use super::contained::{Panicked, contained};
use super::registration::Registered;
use crate::agent::BoxError;
use crate::cancel::Cancel;
use crate::flight::Flight;
use crate::internal::Site;
use crate::plane::{Plane, said};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::task::TaskTracker;

/// What the outermost listener said.
pub(crate) type Answer<A> = Result<<A as Ask>::Reply, ListenerError>;

pub(crate) type Cleanup = Box<dyn FnOnce() -> Result<(), BoxError> + Send>;

/// What a request is called in reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) session: Option<String>,
    pub(crate) subject: Option<String>,
}

/// One request on its way through the listeners that it captured.
pub(crate) struct Route<A: Ask> {
    pub(crate) plane: Plane,
    pub(crate) names: Names,
    pub(crate) ask: Arc<A>,
    pub(crate) flight: Arc<Flight<Answer<A>>>,
    pub(crate) listeners: Vec<Arc<Registered<A>>>,
    /// Given when the request has ended, in whatever way.
    pub(crate) ended: Cancel,
    /// The listeners that were entered and have not returned. Not all of them run within the
    /// request's task: who delegates may do so in another.
    pub(crate) inside: TaskTracker,
    /// Nothing any more once the request has drained.
    pub(crate) cleanups: Mutex<Option<Vec<Cleanup>>>,
}

impl<A: Ask> Route<A> {
    /// Reports a panic where it was contained.
    pub(crate) fn panicked(&self, panicked: Panicked) -> ListenerError {
        let error = ListenerError::Panicked(panicked);
        self.report(Site::Listener, error.to_string());
        error
    }

    /// Reports that the outermost listener failed. Panics were reported before, and what is said
    /// behind the ending is nobody's business.
    pub(crate) fn failed(&self, error: &ListenerError) {
        if matches!(error, ListenerError::Panicked(_)) || self.flight.is_settled() {
            return;
        }
        // The text is the listener's own.
        let text = contained(|| error.to_string()).unwrap_or_else(|panicked| panicked.to_string());
        self.report(Site::Listener, text);
    }

    /// Keeps a cleanup until the request has drained, or does it now.
    pub(crate) fn clean_up(&self, work: Cleanup) {
        if let Some(cleanups) = self.cleanups().as_mut() {
            cleanups.push(work);
            return;
        }
        self.run(work);
    }

    /// Waits until every listener has returned, and does what they left to clean up.
    pub(crate) async fn drain(&self) {
        self.inside.close();
        self.inside.wait().await;
        let cleanups = self.cleanups().take();
        for cleanup in cleanups.into_iter().flatten() {
            self.run(cleanup);
        }
    }

    fn cleanups(&self) -> MutexGuard<'_, Option<Vec<Cleanup>>> {
        self.cleanups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, cleanup: Cleanup) {
        let failed = contained(|| cleanup().err().map(|error| error.to_string()));
        if let Some(text) = failed.unwrap_or_else(|panicked| Some(panicked.to_string())) {
            self.report(Site::Cleanup, text);
        }
    }

    fn report(&self, site: Site, text: String) {
        let Names { session, subject } = &self.names;
        self.plane.report(site, session.as_deref(), subject.as_deref(), said(text));
    }
}
