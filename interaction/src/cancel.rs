//! That something is no longer wanted, said once, with a reason.

use crate::sync::{Arc, Mutex, lock};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Why something is no longer wanted.
#[derive(Clone, Debug, Default)]
pub enum Reason {
    /// Nobody said.
    #[default]
    Unsaid,
    /// In words.
    Message(std::sync::Arc<str>),
    /// An error, as it is.
    Error(std::sync::Arc<dyn Error + Send + Sync>),
}

impl Reason {
    /// Makes a reason of words.
    pub fn message(text: impl Into<std::sync::Arc<str>>) -> Self {
        Self::Message(text.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsaid => f.write_str("command aborted"),
            Self::Message(text) => f.write_str(text),
            Self::Error(error) => error.fmt(f),
        }
    }
}

type Callback = Box<dyn FnOnce() + Send>;

enum Subscriber {
    Call(Callback),
    Wake(Waker),
}

#[derive(Default)]
struct State {
    reason: Option<Reason>,
    next: u64,
    subscribers: BTreeMap<u64, Subscriber>,
}

/// A signal that something is no longer wanted. Copies are the same signal; the first reason stays.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Mutex<State>>);

impl Cancel {
    /// Makes a signal that was not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal, without a reason.
    pub fn cancel(&self) {
        self.cancel_because(Reason::Unsaid);
    }

    /// Gives the signal. If it was given before, nothing happens.
    ///
    /// Subscribers are called on this thread, in the order in which they came; their panics are
    /// theirs and end here. One that goes while another is called is not called any more.
    pub fn cancel_because(&self, reason: Reason) {
        let mut state = lock(&self.0);
        if state.reason.is_some() {
            drop(state);
            return;
        }
        state.reason = Some(reason);
        drop(state);
        // One at a time, so that whoever goes meanwhile is still there to be taken out. Nobody
        // comes any more: the reason is there.
        loop {
            let first = lock(&self.0).subscribers.pop_first();
            let Some((_, subscriber)) = first else { return };
            drop(catch_unwind(AssertUnwindSafe(move || match subscriber {
                Subscriber::Call(call) => call(),
                Subscriber::Wake(waker) => waker.wake(),
            })));
        }
    }

    /// Returns whether the signal was given.
    pub fn is_cancelled(&self) -> bool {
        lock(&self.0).reason.is_some()
    }

    /// Returns why, if the signal was given.
    pub fn reason(&self) -> Option<Reason> {
        lock(&self.0).reason.clone()
    }

    /// Calls something once when the signal is given, at once if it was. Dropping the subscription
    /// before takes it back; a call that has begun on another thread is not waited for.
    pub fn subscribe(&self, call: impl FnOnce() + Send + 'static) -> Subscription {
        let mut state = lock(&self.0);
        if state.reason.is_some() {
            drop(state);
            drop(catch_unwind(AssertUnwindSafe(call)));
            return Subscription(None);
        }
        let key = state.next;
        state.next += 1;
        state.subscribers.insert(key, Subscriber::Call(Box::new(call)));
        Subscription(Some((self.clone(), key)))
    }

    /// Waits until the signal is given.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { cancel: self.clone(), key: None }
    }

    /// Returns how many subscribe to the signal, waiting futures included.
    pub fn subscriptions(&self) -> usize {
        lock(&self.0).subscribers.len()
    }

    /// Returns whether two handles are the same signal.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn forget(&self, key: u64) {
        // Dropped outside the lock: what a callback holds may itself subscribe somewhere.
        let subscriber = lock(&self.0).subscribers.remove(&key);
        drop(subscriber);
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("reason", &self.reason()).finish_non_exhaustive()
    }
}

/// A subscription to a [`Cancel`], until it is dropped.
#[must_use = "the subscription ends when it is dropped"]
pub struct Subscription(Option<(Cancel, u64)>);

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some((cancel, key)) = self.0.take() {
            cancel.forget(key);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// Waits until a [`Cancel`] is given.
#[must_use = "a future does nothing until it is polled"]
#[derive(Debug)]
pub struct Cancelled {
    cancel: Cancel,
    key: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Wakers are foreign: they are cloned before the lock and dropped behind it.
        let waker = Subscriber::Wake(context.waker().clone());
        let mut state = lock(&self.cancel.0);
        if state.reason.is_some() {
            drop(state);
            return Poll::Ready(());
        }
        let key = self.key.unwrap_or(state.next);
        if self.key.is_none() {
            state.next += 1;
        }
        let before = state.subscribers.insert(key, waker);
        drop(state);
        drop(before);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.cancel.forget(key);
        }
    }
}
