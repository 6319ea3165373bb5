//! The claim-and-settle core: which listeners a request entered, and which ending was first.
//!
//! A request in flight is a [`Flight`]; a registration is an [`Entry`]. A request enters a listener
//! unless it is settled or the entry is gone, and leaves it when it returns. An entry that is
//! withdrawn settles every flight that has entered it and not left. Whoever settles first wins, and
//! everybody else is told so; behind that nobody is entered.
//!
//! Whatever ends a flight looks at the caller's signal under the flight's lock: of two endings that
//! are there at once, cancellation wins.
//!
//! Locks are taken in the order entry, flight, signal. Nothing foreign runs under any: who waits is
//! woken, and a value that came too late is dropped, when all of them are free again.

use crate::cancel::Cancel;
use crate::sync::{Arc, Mutex, Weak, lock};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// An attempt to end a flight, with what is left to do when no lock is held: what is foreign may be
/// dropped and woken then.
struct Ended<V> {
    stands: bool,
    waker: Option<Waker>,
    _void: Option<Ending<V>>,
}

impl<V> Ended<V> {
    /// Wakes who waits. Returns whether the ending that was wanted is the one that stands.
    fn tell(self) -> bool {
        if let Some(waker) = self.waker {
            drop(catch_unwind(AssertUnwindSafe(|| waker.wake())));
        }
        self.stands
    }
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

    /// Ends the flight with an answer. Returns whether the answer stands.
    ///
    /// Like every way to end it, it ends as cancelled if the caller's signal was given before.
    pub(crate) fn answer(&self, value: V) -> bool {
        self.end(Ending::Answered(value)).tell()
    }

    /// Ends the flight because the caller no longer wants it. Returns whether that is its ending,
    /// and this call was the one that made it.
    pub(crate) fn cancel(&self) -> bool {
        self.end(Ending::Cancelled).tell()
    }

    /// Ends the flight because its owner goes. Returns whether that is its ending.
    pub(crate) fn close(&self) -> bool {
        self.end(Ending::Closed).tell()
    }

    fn end(&self, wanted: Ending<V>) -> Ended<V> {
        let mut phase = lock(&self.phase);
        let Phase::Open(waker) = &mut *phase else {
            drop(phase);
            return Ended { stands: false, waker: None, _void: Some(wanted) };
        };
        let waker = waker.take();
        let cancelled = self.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        let loses = cancelled && !matches!(wanted, Ending::Cancelled);
        let (ending, void) = if loses { (Ending::Cancelled, Some(wanted)) } else { (wanted, None) };
        *phase = Phase::Settled(ending);
        drop(phase);
        Ended { stands: !loses, waker, _void: void }
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
        // Wakers are foreign: they are cloned before the lock and dropped behind it.
        let waker = context.waker().clone();
        let mut phase = lock(&self.0.phase);
        let before = match std::mem::replace(&mut *phase, Phase::Told) {
            Phase::Open(before) => {
                *phase = Phase::Open(Some(waker));
                before
            }
            Phase::Settled(ending) => {
                drop(phase);
                return Poll::Ready(ending);
            }
            // It was told to somebody already, who is the only one who may ask.
            Phase::Told => None,
        };
        drop(phase);
        drop(before);
        Poll::Pending
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
        // Who ends the flight behind this moment finds a listener that was entered before.
        if flight.is_settled() {
            return Entered::Void;
        }
        let key = standing.next;
        standing.next += 1;
        standing.claims.push((key, Arc::downgrade(flight)));
        Entered::Claimed(Claim { entry: Arc::clone(self), key })
    }

    /// Takes the registration back: nobody enters it any more, and what it has claimed ends now.
    /// Returns how many flights ended by it.
    pub(crate) fn withdraw(&self) -> usize {
        let mut standing = lock(&self.0);
        standing.gone = true;
        let claims = std::mem::take(&mut standing.claims);
        // Still under the entry's lock: a listener that returns meanwhile has not left before.
        let end = |flight: Arc<Flight<V>>| {
            let ended = flight.end(Ending::Withdrawn);
            (flight, ended)
        };
        let flights = claims.iter().filter_map(|(_, flight)| flight.upgrade());
        let ended: Vec<_> = flights.map(end).collect();
        drop(standing);
        ended.into_iter().map(|(_, ended)| usize::from(ended.tell())).sum()
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
