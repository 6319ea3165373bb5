//! A live session: its identity, its gate's line and, while nobody holds the gate, its state.

use super::delivery::{Deliveries, News, Observers};
use super::lock::lock;
use super::queue::{Denied, Queue};
use super::shared::Shared;
use super::state::State;
use crate::backend::{AppendError, Refusal};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// What all handles of one session have in common. Handles compare by it.
pub(crate) struct Live {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: String,
    /// The generation of the store to which it belongs.
    pub(crate) generation: u64,
    pub(crate) queue: Arc<Queue>,
    /// Taken by whoever holds the gate and put back when it is freed.
    pub(crate) slot: Mutex<Slot>,
    pub(crate) deliveries: Deliveries,
    observers: Mutex<Observers>,
    status: AtomicU8,
    /// Why there can be no state: the session is read-only.
    fault: OnceLock<String>,
}

/// What goes with the gate.
#[derive(Default)]
pub(crate) struct Slot {
    /// None if it is still to be folded.
    pub(crate) state: Option<Box<State>>,
    /// Where the session was rewound to, if its next append is still to be told.
    pub(crate) rewound: Option<u64>,
}

/// How far a live session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not yet opened or created; perhaps there is no such session.
    Absent,
    /// Open for write.
    Open,
    /// No longer live.
    Gone,
}

impl Live {
    pub(crate) fn new(shared: Arc<Shared>, id: &str, generation: u64) -> Self {
        Self {
            shared,
            id: id.to_owned(),
            generation,
            queue: Arc::default(),
            slot: Mutex::default(),
            deliveries: Deliveries::default(),
            observers: Mutex::default(),
            status: AtomicU8::new(Status::Absent as u8),
            fault: OnceLock::new(),
        }
    }

    pub(crate) fn status(&self) -> Status {
        let status = self.status.load(Ordering::Acquire);
        let all = [Status::Absent, Status::Open, Status::Gone];
        all.into_iter().find(|one| *one as u8 == status).unwrap_or(Status::Gone)
    }

    pub(crate) fn set_status(&self, status: Status) {
        self.status.store(status as u8, Ordering::Release);
    }

    /// Returns why the session is read-only, if it is.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// Makes the session read-only, for the rest of its life.
    pub(crate) fn set_fault(&self, fault: String) {
        // The first one is the one that is told.
        let _ = self.fault.set(fault);
    }

    /// Refuses a handle that is stale, or of a store that was poisoned.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.shared.check(self.generation)?;
        if self.status() == Status::Gone { Err(Refusal::Stale) } else { Ok(()) }
    }

    /// Refuses a caller who could only wait for himself.
    pub(crate) fn check_caller(&self) -> Result<(), Refusal> {
        if self.deliveries.is_told_here() { Err(Refusal::Reentrant) } else { Ok(()) }
    }

    /// Says why the gate was not given.
    pub(crate) fn denied(&self, denied: Denied) -> AppendError {
        let is_over = if denied == Denied::Shut { self.check().err() } else { None };
        AppendError::Refused(is_over.unwrap_or(denied.into()))
    }

    /// Puts news into the queue for observers. Called under the gate.
    pub(crate) fn announce(&self, news: News) {
        let observers = [lock(&self.shared.observers).clone(), lock(&self.observers).clone()];
        self.deliveries.push(news, observers);
    }

    /// Registers an observer of this session.
    pub(crate) fn observe(&self, observer: Arc<dyn super::observer::Observer>) {
        Arc::make_mut(&mut *lock(&self.observers)).push(observer);
    }

    /// Ends the line before the gate; who waits is told. Observers are let go: one that holds a
    /// handle of its session would keep both for ever.
    pub(crate) fn shut(&self) {
        drop(std::mem::take(&mut *lock(&self.observers)));
        for task in self.queue.shut() {
            self.shared.carriers.run(Box::new(move || task(super::queue::Call::Shut)));
        }
    }
}
