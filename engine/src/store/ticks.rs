//! The patience of futures that wait for a gate: a thread for a while, and no clock.
//!
//! All wait equally long, so a task remembers the tick at which it came, and is out of time nine
//! ticks of an eighth of the wait later. The thread is there only while tasks wait.

use super::carriers::Carriers;
use super::lock::lock;
use super::queue::{Call, Queue};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// Ticks in a wait.
const TICKS: u32 = 8;

/// The lines in which tasks wait.
pub(crate) struct Ticks {
    state: Mutex<State>,
    /// Never rung; the thread waits on it for a tick.
    clock: Condvar,
    tick: Duration,
}

#[derive(Default)]
struct State {
    now: u64,
    lines: Vec<Weak<Queue>>,
    is_running: bool,
}

impl Ticks {
    /// Makes the ticks of a wait.
    pub(crate) fn new(wait: Duration) -> Self {
        let tick = (wait / TICKS).max(Duration::from_millis(1));
        Self { state: Mutex::default(), clock: Condvar::new(), tick }
    }

    /// Returns the tick that it is.
    pub(crate) fn now(&self) -> u64 {
        lock(&self.state).now
    }

    /// Watches a line in which a task has begun to wait.
    pub(crate) fn watch(self: &Arc<Self>, line: &Arc<Queue>, carriers: &Arc<Carriers>) {
        let mut state = lock(&self.state);
        let line = Arc::downgrade(line);
        if !state.lines.iter().any(|other| other.ptr_eq(&line)) {
            state.lines.push(line);
        }
        if state.is_running {
            return;
        }
        state.is_running = true;
        drop(state);
        let (own, carriers) = (Arc::clone(self), Arc::clone(carriers));
        let run = move || own.run(&carriers);
        if thread::Builder::new().name("gatelog-ticks".to_owned()).spawn(run).is_err() {
            // Without a thread they wait as long as the gate is held.
            lock(&self.state).is_running = false;
        }
    }

    fn run(&self, carriers: &Arc<Carriers>) {
        let mut state = lock(&self.state);
        loop {
            let waited = self.clock.wait_timeout(state, self.tick);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.now += 1;
            let mut late = Vec::new();
            let came = state.now.checked_sub(u64::from(TICKS) + 1);
            state.lines.retain(|line| {
                let Some(line) = line.upgrade() else { return false };
                let Some(came) = came else { return true };
                let (tasks, others_wait) = line.expire(came);
                late.extend(tasks);
                others_wait
            });
            let is_over = state.lines.is_empty();
            state.is_running = !is_over;
            drop(state);
            for task in late {
                carriers.run(Box::new(move || task(Call::TooLate)));
            }
            if is_over {
                return;
            }
            state = lock(&self.state);
        }
    }
}
