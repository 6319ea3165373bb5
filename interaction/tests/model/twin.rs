//! Twins of the core that are broken in one place each.

use crate::cancel::Cancel;
use crate::core::{Core, Refused};
use crate::flight::Ending;
use crate::sync::{Arc, Mutex, lock};
use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

/// Ends in two steps: looks, and then acts.
pub(crate) const TORN: u8 = 0;
/// Does not look at the caller's signal.
pub(crate) const DEAF: u8 = 1;
/// Enters without a look at the ending.
pub(crate) const BLIND: u8 = 2;
/// Enters in two steps: looks whether the listener is gone, and then claims.
pub(crate) const LATE: u8 = 3;
/// Waits in two steps: looks at the ending, and then leaves its waker.
pub(crate) const SLEEPY: u8 = 4;
/// Is broken nowhere.
pub(crate) const SOUND: u8 = 5;

#[derive(Default)]
struct State {
    ending: Option<Ending<u8>>,
    told: bool,
    waker: Option<Waker>,
    gone: bool,
    claims: usize,
}

/// One lock over everything, and a fault.
pub(crate) struct Twin<const FAULT: u8> {
    signal: Option<Cancel>,
    state: Arc<Mutex<State>>,
}

pub(crate) struct Held(Arc<Mutex<State>>);

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.claims = state.claims.saturating_sub(1);
    }
}

impl<const FAULT: u8> Twin<FAULT> {
    fn end(&self, wanted: Ending<u8>, needs_claim: bool) -> bool {
        let cancelled = || FAULT != DEAF && self.signal.as_ref().is_some_and(Cancel::is_cancelled);
        let mut state = lock(&self.state);
        if needs_claim {
            state.gone = true;
            if std::mem::take(&mut state.claims) == 0 {
                return false;
            }
        }
        if state.ending.is_some() {
            return false;
        }
        if FAULT == TORN {
            drop(state);
            state = lock(&self.state);
        }
        let loses = cancelled() && wanted != Ending::Cancelled;
        state.ending = Some(if loses { Ending::Cancelled } else { wanted });
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        !loses
    }
}

impl<const FAULT: u8> Core for Twin<FAULT> {
    type Claim = Held;

    fn make(signal: Option<Cancel>) -> Self {
        Self { signal, state: Arc::default() }
    }

    fn answer(&self, value: u8) -> bool {
        self.end(Ending::Answered(value), false)
    }

    fn cancel(&self) -> bool {
        self.end(Ending::Cancelled, false)
    }

    fn close(&self) -> bool {
        self.end(Ending::Closed, false)
    }

    fn withdraw(&self) -> bool {
        self.end(Ending::Withdrawn, true)
    }

    fn enter(&self) -> Result<Held, Refused> {
        let mut state = lock(&self.state);
        if state.gone {
            return Err(Refused::Gone);
        }
        if FAULT != BLIND && state.ending.is_some() {
            return Err(Refused::Void);
        }
        if FAULT == LATE {
            drop(state);
            state = lock(&self.state);
        }
        state.claims += 1;
        drop(state);
        Ok(Held(Arc::clone(&self.state)))
    }

    fn is_settled(&self) -> bool {
        lock(&self.state).ending.is_some()
    }

    fn ending(&self) -> impl Future<Output = Ending<u8>> + Send {
        poll_fn(|context| {
            let mut state = lock(&self.state);
            if let Some(ending) = state.ending.clone()
                && !std::mem::replace(&mut state.told, true)
            {
                return Poll::Ready(ending);
            }
            if FAULT == SLEEPY {
                drop(state);
                state = lock(&self.state);
            }
            state.waker = Some(context.waker().clone());
            drop(state);
            Poll::Pending
        })
    }
}
