//! Mutexes that no panic poisons.
//!
//! What they guard is moved in and out whole, and nothing foreign is called while one is held, so a
//! panic under one is a slip of this module's own and leaves nothing half done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, whether somebody panicked under it or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
