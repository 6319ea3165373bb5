//! The claim-and-settle core: which listeners a request entered, and which ending was first.
//!
//! A request in flight is a [`Flight`]; a registration is an [`Entry`]. A request enters a listener
//! unless it is settled or the entry is gone, and leaves it when it returns. An entry that is
//! withdrawn settles every flight that has entered it and not left. Whoever settles first wins, and
//! everybody else is told so; behind that nobody is entered.
//!
//! Two locks, taken in the order entry, flight. Nothing foreign runs under either: whether the
//! caller cancelled is asked under the flight's lock and is a read of a [`Cancel`].

use crate::cancel::Cancel;
use crate::sync::{Arc, Mutex, Weak, lock};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending<V> {
    /// The outermost listener returned.
    Answered(V),
    /// The caller no longer wants it.
    Cancelled,
    /// A listener that was entered took its registration back.
    Withdrawn,
    /// Who owns the turn or the service ended it.
    Closed,
}

enum Phase<V> {
    Open(Option<Waker>),
    Settled(Ending<V>),
    Told,
}

/// A request in flight.
pub(crate) struct Flight<V> {
    cancel: Option<Cancel>,
    phase: Mutex<Phase<V>>,
}

impl<V: Send + 'static> Flight<V> {
    /// Makes a flight that looks at the caller's signal.
    pub(crate) fn new(cancel: Option<Cancel>) -> Arc<Self> {
        Arc::new(Self { cancel, phase: Mutex::new(Phase::Open(None)) })
    }

    /// Returns whether it has ended.
    pub(crate) fn is_settled(&self) -> bool {
        !matches!(*lock(&self.phase), Phase::Open(_))
    }

    /// Ends the flight with an answer, or as cancelled if the caller's signal was given before.
    /// Returns whether this was the ending.
    pub(crate) fn answer(&self, value: V) -> bool {
        self.end(|cancelled| if cancelled { Ending::Cancelled } else { Ending::Answered(value) })
    }

    /// Ends the flight because the caller no longer wants it.
    pub(crate) fn cancel(&self) -> bool {
        self.end(|_| Ending::Cancelled)
    }

    /// Ends the flight because its owner goes.
    pub(crate) fn close(&self) -> bool {
        self.end(|_| Ending::Closed)
    }

    fn withdraw(&self) -> bool {
        self.end(|_| Ending::Withdrawn)
    }

    fn end(&self, ending: impl FnOnce(bool) -> Ending<V>) -> bool {
        let mut phase = lock(&self.phase);
        let Phase::Open(waker) = &mut *phase else { return false };
        let waker = waker.take();
        let cancelled = self.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        *phase = Phase::Settled(ending(cancelled));
        drop(phase);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Waits for the ending. One may wait, and is given the ending once.
    pub(crate) fn ending(self: &Arc<Self>) -> Settling<V> {
        Settling(Arc::clone(self))
    }
}

impl<V> std::fmt::Debug for Flight<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let settled = !matches!(*lock(&self.phase), Phase::Open(_));
        f.debug_struct("Flight").field("settled", &settled).finish_non_exhaustive()
    }
}

/// Waits for the ending of a [`Flight`].
#[must_use = "a future does nothing until it is polled"]
#[derive(Debug)]
pub(crate) struct Settling<V>(Arc<Flight<V>>);

impl<V> Future for Settling<V> {
    type Output = Ending<V>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending<V>> {
        let mut phase = lock(&self.0.phase);
        match std::mem::replace(&mut *phase, Phase::Told) {
            Phase::Open(_) => {
                *phase = Phase::Open(Some(context.waker().clone()));
                Poll::Pending
            }
            Phase::Settled(ending) => Poll::Ready(ending),
            // It was told to somebody already, who is the only one who may ask.
            Phase::Told => Poll::Pending,
        }
    }
}

/// What became of the wish to enter a listener.
#[derive(Debug)]
pub(crate) enum Entered<V: Send + 'static> {
    /// The listener may be called; it has returned when this is dropped.
    Claimed(Claim<V>),
    /// The listener is gone; the next one may be tried.
    Gone,
    /// The request has ended; nobody may be called any more.
    Void,
}

struct Standing<V> {
    gone: bool,
    next: u64,
    claims: Vec<(u64, Weak<Flight<V>>)>,
}

/// A registration, as far as flights see it.
pub(crate) struct Entry<V>(Mutex<Standing<V>>);

impl<V: Send + 'static> Default for Entry<V> {
    fn default() -> Self {
        Self(Mutex::new(Standing { gone: false, next: 0, claims: Vec::new() }))
    }
}

impl<V: Send + 'static> Entry<V> {
    /// Enters the listener for a flight, unless it is gone or the flight is over.
    pub(crate) fn enter(self: &Arc<Self>, flight: &Arc<Flight<V>>) -> Entered<V> {
        let mut standing = lock(&self.0);
        if standing.gone {
            return Entered::Gone;
        }
        if flight.is_settled() {
            return Entered::Void;
        }
        let key = standing.next;
        standing.next += 1;
        standing.claims.push((key, Arc::downgrade(flight)));
        Entered::Claimed(Claim { entry: Arc::clone(self), key })
    }

    /// Takes the registration back: nobody enters it any more, and what it has claimed ends now.
    /// Returns how many flights it ended.
    pub(crate) fn withdraw(&self) -> usize {
        let mut standing = lock(&self.0);
        standing.gone = true;
        let claims = std::mem::take(&mut standing.claims);
        // Still under the entry's lock: a listener that returns meanwhile has not left before.
        let flights = claims.iter().filter_map(|(_, flight)| flight.upgrade());
        flights.filter(|flight| flight.withdraw()).count()
    }
}

impl<V> std::fmt::Debug for Entry<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let standing = lock(&self.0);
        f.debug_struct("Entry")
            .field("gone", &standing.gone)
            .field("claims", &standing.claims.len())
            .finish_non_exhaustive()
    }
}

/// A listener that was entered and has not returned.
#[derive(Debug)]
pub(crate) struct Claim<V: Send + 'static> {
    entry: Arc<Entry<V>>,
    key: u64,
}

impl<V: Send + 'static> Drop for Claim<V> {
    fn drop(&mut self) {
        lock(&self.entry.0).claims.retain(|(key, _)| *key != self.key);
    }
}
