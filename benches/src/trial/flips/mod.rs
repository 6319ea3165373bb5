//! The flip matrix: every small damage to a raw store, and what becomes of it.
//!
//! A store is damaged in one place, opened, and read. It may be refused with a rule, or be what it
//! was: every session reads byte-equal and the next append gets the seq and the lsn that it would
//! have had. Only frames above W may be cut, and those are counted in a column of their own, which
//! must be what the reference reader computes. Nothing else may happen.

mod change;
mod outcome;
mod state;

pub use change::{Change, Kind};
pub use outcome::{Outcome, Outcomes};
pub use state::State;

use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which part of a matrix is tried.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// One change in so many; 1 for all.
    pub one_in: u64,
    /// Which of them.
    pub seed: u64,
}

impl Slice {
    /// Returns whether it has the change of a number.
    pub(crate) fn has(self, number: u64) -> bool {
        let mut word = (number ^ self.seed << 32).wrapping_add(0x9E37_79B9_7F4A_7C15);
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ word >> 31).is_multiple_of(self.one_in)
    }
}

/// Tries the changes of one kind to a state; `progress` counts them as they are done.
pub fn run(state: &State, kind: Kind, slice: Slice, progress: &AtomicU64) -> Outcomes {
    let mut changes = kind.changes(state);
    let mut number = 0;
    changes.retain(|_| {
        number += 1;
        slice.has(number)
    });
    let tried = changes.par_iter().map(|change| {
        progress.fetch_add(1, Ordering::Relaxed);
        Outcomes::of(change, state.attempt(change))
    });
    tried.reduce(Outcomes::default, Outcomes::and)
}
