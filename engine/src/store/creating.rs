//! Which creations are under way, so that who asks to be asked knows when all others are over.

use super::lock::lock;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

#[derive(Default)]
struct State {
    /// One more for each who asked to be asked.
    round: u64,
    /// Creations that began in a round and have not ended.
    under_way: BTreeMap<u64, usize>,
}

/// The creations that are under way.
#[derive(Default)]
pub(crate) struct Creating {
    state: Mutex<State>,
    ended: Condvar,
}

impl Creating {
    /// Says that a creation begins; it ends when what is returned is dropped.
    pub(crate) fn begin(&self) -> Creation<'_> {
        let mut state = lock(&self.state);
        let round = state.round;
        *state.under_way.entry(round).or_default() += 1;
        Creation { creating: self, round }
    }

    /// Waits until every creation that began before has ended. Those that begin meanwhile go on.
    pub(crate) fn settle(&self) {
        let mut state = lock(&self.state);
        state.round += 1;
        let round = state.round;
        let is_before = |state: &mut State| {
            state.under_way.first_key_value().is_some_and(|(began, _)| *began < round)
        };
        let waited = self.ended.wait_while(state, is_before);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// A creation that is under way.
pub(crate) struct Creation<'a> {
    creating: &'a Creating,
    round: u64,
}

impl Drop for Creation<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.creating.state);
        if let Some(count) = state.under_way.get_mut(&self.round) {
            *count -= 1;
            if *count == 0 {
                state.under_way.remove(&self.round);
            }
        }
        drop(state);
        self.creating.ended.notify_all();
    }
}
