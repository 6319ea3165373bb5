//! Threads for appends that have none: they plan what a future handed over, and see to what follows
//! a commit. The writing and syncing is the backend's.
//!
//! Rules and observers are foreign and may block, so neither the poller of a future nor the
//! backend's own thread may run them. Two carriers are enough as long as nothing blocks. While
//! tasks wait, a foreman looks every few milliseconds; if none was taken up since, all carriers are
//! stuck and one more is hired. A carrier that finds nothing to do for a while leaves.

use super::contained::contained;
use super::lock::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Carriers that are hired without asking whether the others are stuck.
const CARRIERS_AT_ONCE: usize = 2;

/// How long a carrier without work stays.
const LINGER: Duration = Duration::from_secs(2);

/// How often the foreman looks.
const LOOK: Duration = Duration::from_millis(5);

/// Looks at an empty queue after which the foreman leaves.
const IDLE_LOOKS: usize = 200;

/// Something to be carried through.
pub(crate) type Errand = Box<dyn FnOnce() + Send>;

/// The carriers of one store.
#[derive(Default)]
pub(crate) struct Carriers {
    pool: Mutex<Pool>,
    work: Condvar,
    /// Never rung; the foreman waits on it for a while.
    watch: Condvar,
}

#[derive(Default)]
struct Pool {
    errands: VecDeque<Errand>,
    carriers: usize,
    idle: usize,
    /// How many errands were taken up so far.
    taken: u64,
    is_watched: bool,
}

impl Carriers {
    /// Hands an errand over; it is run soon, on another thread.
    pub(crate) fn run(self: &Arc<Self>, errand: Errand) {
        let mut pool = lock(&self.pool);
        pool.errands.push_back(errand);
        if pool.errands.len() <= pool.idle {
            self.work.notify_one();
            return;
        }
        let hires = pool.carriers < CARRIERS_AT_ONCE;
        let watches = !hires && !pool.is_watched;
        pool.carriers += usize::from(hires);
        pool.is_watched |= watches;
        drop(pool);
        if hires {
            self.hire();
        }
        if watches {
            let own = Arc::clone(self);
            if spawn("gatelog-foreman", move || own.watch()).is_err() {
                lock(&self.pool).is_watched = false;
            }
        }
    }

    /// Starts a carrier, who is counted already. Where the system gives no more threads and nobody
    /// else is there, this one does what waits.
    fn hire(self: &Arc<Self>) {
        let own = Arc::clone(self);
        if spawn("gatelog-carrier", move || own.carry()).is_ok() {
            return;
        }
        let mut pool = lock(&self.pool);
        pool.carriers -= 1;
        while pool.carriers == 0 {
            let Some(errand) = pool.errands.pop_front() else { return };
            drop(pool);
            let _ = contained(errand);
            pool = lock(&self.pool);
        }
    }

    fn carry(&self) {
        let mut pool = lock(&self.pool);
        loop {
            if let Some(errand) = pool.errands.pop_front() {
                pool.taken += 1;
                drop(pool);
                // What it holds frees itself when it is dropped; the carrier goes on.
                let _ = contained(errand);
                pool = lock(&self.pool);
                continue;
            }
            pool.idle += 1;
            let waited = self.work.wait_timeout(pool, LINGER);
            let (there, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            pool = there;
            pool.idle -= 1;
            if timeout.timed_out() && pool.errands.is_empty() {
                pool.carriers -= 1;
                return;
            }
        }
    }

    fn watch(self: &Arc<Self>) {
        let mut idle_looks = 0;
        let mut pool = lock(&self.pool);
        loop {
            let taken = pool.taken;
            let waited = self.watch.wait_timeout(pool, LOOK);
            pool = waited.unwrap_or_else(PoisonError::into_inner).0;
            idle_looks = if pool.errands.is_empty() { idle_looks + 1 } else { 0 };
            if idle_looks == IDLE_LOOKS {
                pool.is_watched = false;
                return;
            }
            if !pool.errands.is_empty() && pool.taken == taken {
                pool.carriers += 1;
                drop(pool);
                self.hire();
                pool = lock(&self.pool);
            }
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
