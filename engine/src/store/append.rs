//! Appends as futures, on anybody's runtime.
//!
//! At its first poll an append goes into the session's line, which owns it from then on. When its
//! turn comes a carrier plans it and submits it to the backend, whose own thread writes and syncs;
//! a carrier takes in how it ended. The poller only ever looks whether there is a receipt.

use super::held::{Held, unknown};
use super::live::Live;
use super::lock::lock;
use super::queue::{Call, Denied, Task};
use super::request::{Plan, Planned, Request};
use crate::backend::{AppendError, Batch, Commit};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// An append that is carried through from its first poll on, whether it is awaited or dropped.
/// Dropped before, it does nothing.
///
/// It resolves when its class is reached, and perhaps before observers were told.
#[must_use = "an append begins at its first poll"]
pub struct Append(Stage);

enum Stage {
    Fresh(Arc<Live>, Box<Request>),
    Underway(Arc<Receipt>),
    Over,
}

impl Append {
    pub(crate) fn new(live: &Arc<Live>, request: Request) -> Self {
        Self(Stage::Fresh(Arc::clone(live), Box::new(request)))
    }
}

impl std::fmt::Debug for Append {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Stage::Fresh(..) => "Append(not polled)",
            Stage::Underway(_) => "Append(underway)",
            Stage::Over => "Append(over)",
        })
    }
}

impl Future for Append {
    type Output = Result<Commit, AppendError>;

    /// # Panics
    ///
    /// When it is polled after it resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let receipt = match std::mem::replace(&mut self.0, Stage::Over) {
            Stage::Fresh(live, request) => match begin(&live, *request) {
                Ok(receipt) => receipt,
                Err(error) => return Poll::Ready(Err(error)),
            },
            Stage::Underway(receipt) => receipt,
            Stage::Over => panic!("an append was polled after it resolved"),
        };
        let polled = receipt.poll(context);
        if polled.is_pending() {
            self.0 = Stage::Underway(receipt);
        }
        polled
    }
}

/// Where the outcome of an append is left for its future.
#[derive(Default)]
struct Receipt(Mutex<Outcome>);

#[derive(Default)]
struct Outcome {
    result: Option<Result<Commit, AppendError>>,
    waker: Option<Waker>,
}

impl Receipt {
    fn poll(&self, context: &Context<'_>) -> Poll<Result<Commit, AppendError>> {
        let mut outcome = lock(&self.0);
        if let Some(result) = outcome.result.take() {
            return Poll::Ready(result);
        }
        match &mut outcome.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}

/// The duty to leave an outcome; if it is dropped, nobody knows what became of the append.
struct Promise(Option<Arc<Receipt>>);

impl Promise {
    fn keep(mut self, result: Result<Commit, AppendError>) {
        self.leave(result);
    }

    fn leave(&mut self, result: Result<Commit, AppendError>) {
        let Some(receipt) = self.0.take() else { return };
        let waker = {
            let mut outcome = lock(&receipt.0);
            outcome.result = Some(result);
            outcome.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.leave(Err(unknown("an append was not carried through")));
    }
}

/// Puts an append into its session's line.
fn begin(live: &Arc<Live>, request: Request) -> Result<Arc<Receipt>, AppendError> {
    live.check().and_then(|()| live.check_caller()).map_err(AppendError::Refused)?;
    let receipt = Arc::new(Receipt::default());
    let task = task(live, request, Promise(Some(Arc::clone(&receipt))));
    let shared = &live.shared;
    let enlisted = live.queue.enlist(task, shared.ticks.now());
    match enlisted.map_err(|denied| live.denied(denied))? {
        Some((task, call)) => shared.carriers.run(Box::new(move || task(call))),
        None => shared.ticks.watch(&live.queue, &shared.carriers),
    }
    Ok(receipt)
}

fn task(live: &Arc<Live>, request: Request, promise: Promise) -> Task {
    let live = Arc::clone(live);
    Box::new(move |call| match call {
        Call::Yours(ticket) => {
            live.queue.take_up(ticket);
            carry(Held::with(&live, ticket), request, promise);
        }
        Call::TooLate => promise.keep(Err(live.denied(Denied::Busy))),
        Call::Shut => promise.keep(Err(live.denied(Denied::Shut))),
    })
}

/// Plans an append under the gate and submits it.
fn carry(mut held: Held, request: Request, promise: Promise) {
    let planned = match held.plan(request) {
        Ok(Plan::Fresh(planned)) => planned,
        Ok(Plan::Repeated(commit)) => return finish(held, promise, Ok(commit)),
        Err(error) => return finish(held, promise, Err(error)),
    };
    let live = Arc::clone(&held.live);
    let passage = match live.shared.pass(live.generation) {
        Ok(passage) => passage,
        Err(error) => {
            let result = held.settle(&planned, Err(error));
            return finish(held, promise, result);
        }
    };
    let (batch, durability) = (Batch::clone(&planned.batch), planned.durability);
    live.queue.lay_down(held.ticket);
    let carriers = Arc::clone(&live.shared.carriers);
    let done = move |result| {
        drop(passage);
        carriers.run(Box::new(move || land(held, &planned, promise, result)));
    };
    live.shared.backend.submit(&live.id, batch, durability, Box::new(done));
}

/// Takes in how a submitted batch ended.
fn land(mut held: Held, planned: &Planned, promise: Promise, result: Result<Commit, AppendError>) {
    held.live.queue.take_up(held.ticket);
    let result = held.settle(planned, result);
    finish(held, promise, result);
}

/// Frees the gate, leaves the receipt, and tells observers last: one that waits for the receipt's
/// owner must not wait for ever.
fn finish(held: Held, promise: Promise, result: Result<Commit, AppendError>) {
    let live = Arc::clone(&held.live);
    drop(held);
    promise.keep(result);
    live.deliveries.tell(&live.id);
}
