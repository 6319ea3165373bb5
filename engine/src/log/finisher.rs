//! Threads that make calls back: how a submitted append ended.
//!
//! A call runs code of a caller, who may block in it. So calls are not made by the leader, which
//! all wait for, nor by one thread, which all calls would wait for: a call finds an idle thread or
//! gets a new one, and a thread that found nothing to do for a while ends.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How long an idle thread waits for a call.
const IDLE: Duration = Duration::from_secs(2);

/// A call to be made.
pub(crate) type Call = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    idle: usize,
}

/// Makes calls, each on a thread that no other call holds up.
#[derive(Clone, Default)]
pub(crate) struct Finisher(Arc<(Mutex<State>, Condvar)>);

impl Finisher {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call soon. Where no thread can be had the call is made here and now: late is worse
    /// than slow.
    pub(crate) fn call(&self, call: Call) {
        let mut state = self.state();
        state.calls.push_back(call);
        if state.idle >= state.calls.len() {
            drop(state);
            self.0.1.notify_one();
            return;
        }
        drop(state);
        let this = self.clone();
        let spawned = thread::Builder::new().name("gatelog-call".into()).spawn(move || this.run());
        if spawned.is_err()
            && let Some(call) = { self.state().calls.pop_front() }
        {
            run(call);
        }
    }

    fn run(&self) {
        let mut state = self.state();
        loop {
            if let Some(call) = state.calls.pop_front() {
                drop(state);
                run(call);
                state = self.state();
                continue;
            }
            state.idle += 1;
            let (back, waited) =
                self.0.1.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = back;
            state.idle -= 1;
            if waited.timed_out() && state.calls.is_empty() {
                return;
            }
        }
    }
}

/// Makes a call; one that panics harms nobody else.
fn run(call: Call) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
}
