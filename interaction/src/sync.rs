//! The locks of the claim-and-settle core.
//!
//! `cancel` and `flight` take theirs from here and name no other, so that a model checker can put
//! its own in their place (`interaction/tests/model`).

pub(crate) use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Locks what no panic can leave half changed: all that runs under these locks is ours.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
