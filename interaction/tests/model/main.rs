//! The very files of the claim-and-settle core, on locks whose interleavings are explored.
//!
//! `cancel.rs` and `flight.rs` take their locks from `crate::sync`; here these are the model
//! checker's. Each promise is a body that is run under random schedules, under schedules with few
//! and deep changes (PCT), and, where it is small, under all of them. The same bodies are run over
//! twins of the core that are broken in one place each, and must fail there.

mod sync {
    pub(crate) use shuttle::sync::{Arc, Mutex, MutexGuard, Weak};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[allow(dead_code, unreachable_pub, reason = "the file serves more than this binary")]
#[path = "../../src/cancel.rs"]
mod cancel;
#[allow(dead_code, unreachable_pub, reason = "the file serves more than this binary")]
#[path = "../../src/flight.rs"]
mod flight;

mod canaries;
mod core;
mod explore;
mod flights;
mod promises;
mod signals;
mod twin;
