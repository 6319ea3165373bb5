//! Requests that are not settled yet, so that a turn can be drained of them.

use super::request::{Approval, ApprovalId};
use crate::chain::Answer;
use crate::flight::Flight;
use gatelog_engine::store::Session;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A request that is not settled yet.
#[derive(Clone)]
pub(super) struct Pending {
    pub(super) session: Session,
    pub(super) id: ApprovalId,
    pub(super) flight: Arc<Flight<Answer<Approval>>>,
    settled: watch::Sender<Option<bool>>,
}

impl Pending {
    pub(super) fn new(
        session: &Session,
        id: &ApprovalId,
        flight: &Arc<Flight<Answer<Approval>>>,
    ) -> Self {
        let settled = watch::Sender::new(None);
        Self { session: session.clone(), id: id.clone(), flight: Arc::clone(flight), settled }
    }

    /// Waits until the request has its end in the log, or has failed; returns whether it has.
    pub(super) async fn settled(&self) -> bool {
        let mut settled = self.settled.subscribe();
        // The sender lives as long as `self`.
        let settled = settled.wait_for(Option::is_some).await;
        settled.is_ok_and(|settled| *settled == Some(true))
    }
}

#[derive(Default)]
struct State {
    all: Vec<Pending>,
    is_shut: bool,
}

/// All requests that are not settled yet.
#[derive(Default)]
pub(super) struct Pendings(Mutex<State>);

impl Pendings {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request until what is returned is dropped; nothing if no more are taken.
    pub(super) fn enter(&self, pending: Pending) -> Option<Known<'_>> {
        let mut state = self.lock();
        if state.is_shut {
            return None;
        }
        state.all.push(pending.clone());
        Some(Known { pendings: self, pending, is_decided: false })
    }

    /// Returns those of a session.
    pub(super) fn of(&self, session: &Session) -> Vec<Pending> {
        let of_session = |pending: &&Pending| pending.session == *session;
        self.lock().all.iter().filter(of_session).cloned().collect()
    }

    /// Takes no more, and returns all.
    pub(super) fn shut(&self) -> Vec<Pending> {
        let mut state = self.lock();
        state.is_shut = true;
        state.all.clone()
    }

    pub(super) fn is_shut(&self) -> bool {
        self.lock().is_shut
    }

    pub(super) fn count(&self) -> usize {
        self.lock().all.len()
    }
}

/// A request that is entered.
pub(super) struct Known<'a> {
    pendings: &'a Pendings,
    pending: Pending,
    is_decided: bool,
}

impl Known<'_> {
    /// Says that the decision is in the log.
    pub(super) fn decided(&mut self) {
        self.is_decided = true;
    }
}

impl Drop for Known<'_> {
    fn drop(&mut self) {
        self.pendings.lock().all.retain(|pending| pending.id != self.pending.id);
        self.pending.settled.send_replace(Some(self.is_decided));
    }
}
