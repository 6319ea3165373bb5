//! The life of a store: its generations, and what is on its way to the backend.
//!
//! A generation is one write-open as this layer counts it: `reopen` begins the next. Handles and
//! gates belong to theirs. A batch may be planned by a dying generation, but never reaches the
//! backend in the next one: whoever goes to the backend takes a [`Passage`], and a reopen first
//! ends the generation and then waits until everybody is back.

use super::lock::lock;
use crate::backend::{AppendError, Refusal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The life of one store.
#[derive(Default)]
pub(crate) struct Life {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    generation: u64,
    is_closed: bool,
    is_reopening: bool,
    /// How many are on their way to the backend or in it.
    away: u64,
    rules: Rules,
}

/// Whether the rules in force stand in the log.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Rules {
    #[default]
    Unknown,
    BeingRecorded,
    Recorded,
}

impl Life {
    /// Returns the generation that it is.
    pub(crate) fn generation(&self) -> u64 {
        lock(&self.state).generation
    }

    /// Refuses what belongs to a generation that is over.
    pub(crate) fn check(&self, generation: u64) -> Result<(), Refusal> {
        lock(&self.state).check(generation)
    }

    /// Lets somebody of a generation go to the backend.
    pub(crate) fn pass(self: &Arc<Self>, generation: u64) -> Result<Passage, Refusal> {
        let mut state = lock(&self.state);
        state.check(generation)?;
        state.away += 1;
        Ok(Passage(Arc::clone(self)))
    }

    /// Runs `record` once a generation, before the first batch; others wait for it meanwhile.
    pub(crate) fn record_once(
        &self,
        record: impl FnOnce() -> Result<(), AppendError>,
    ) -> Result<(), AppendError> {
        let state = self.wait_while(lock(&self.state), |state| state.rules == Rules::BeingRecorded);
        if state.rules == Rules::Recorded {
            return Ok(());
        }
        let mut state = state;
        state.rules = Rules::BeingRecorded;
        drop(state);
        // If it fails, or panics, the next one tries again.
        let mut recording = Recording { life: self, ended: Rules::Unknown };
        record()?;
        recording.ended = Rules::Recorded;
        Ok(())
    }

    /// Ends the generation and waits until nobody is on the way. Returns nothing if the store is
    /// closed, or if somebody else reopened it while this one waited and `is_needless` now says so.
    pub(crate) fn begin_reopen(&self, is_needless: impl Fn() -> bool) -> Option<Reopening<'_>> {
        let mut state = lock(&self.state);
        let mut others = false;
        while state.is_reopening {
            others = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if others {
            drop(state);
            if is_needless() {
                return None;
            }
            state = lock(&self.state);
        }
        if state.is_closed || state.is_reopening {
            return None;
        }
        state.generation += 1;
        state.is_reopening = true;
        // Whoever is recording the rules is on the way, so this comes behind him.
        self.wait_while(state, |state| state.away > 0).rules = Rules::Unknown;
        Some(Reopening(self))
    }

    /// Ends the last generation and waits until nobody is on the way; says whether it had not
    /// ended before.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.wait_while(lock(&self.state), |state| state.is_reopening);
        let was_open = !state.is_closed;
        state.is_closed = true;
        drop(self.wait_while(state, |state| state.away > 0));
        was_open
    }

    /// Returns whether the store was closed.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).is_closed
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_while(state, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self, generation: u64) -> Result<(), Refusal> {
        if self.is_closed {
            Err(Refusal::Stale)
        } else if self.is_reopening || self.generation != generation {
            Err(Refusal::Poisoned)
        } else {
            Ok(())
        }
    }
}

/// Somebody is on the way to the backend, or in it.
pub(crate) struct Passage(Arc<Life>);

impl Drop for Passage {
    fn drop(&mut self) {
        lock(&self.0.state).away -= 1;
        self.0.changed.notify_all();
    }
}

/// A generation has ended and the next has not begun: everybody is refused as poisoned.
pub(crate) struct Reopening<'a>(&'a Life);

impl Drop for Reopening<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_reopening = false;
        self.0.changed.notify_all();
    }
}

struct Recording<'a> {
    life: &'a Life,
    ended: Rules,
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        lock(&self.life.state).rules = self.ended;
        self.life.changed.notify_all();
    }
}
