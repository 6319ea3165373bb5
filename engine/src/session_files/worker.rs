//! The thread of a store: it writes what was submitted, and what was buffered long enough.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::files::Files;
use crate::backend::{AppendError, Batch, Done, Durability, Error, Refusal};

/// What the thread is told.
enum Told {
    Append { id: String, batch: Batch, durability: Durability, done: Done },
    Buffered,
    Stop,
}

/// The thread, as the store sees it.
pub(super) struct Worker {
    tell: Sender<Told>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(super) fn start(files: Arc<Files>) -> Result<Self, Error> {
        let (tell, told) = channel();
        let thread = thread::Builder::new().name("gatelog-files".to_owned());
        let thread = thread.spawn(move || run(&files, &told));
        let thread = thread.map_err(|error| {
            let mut failed = Error::new(
                crate::backend::ErrorKind::Io,
                format!("cannot start the store's thread: {error}"),
            );
            failed.source = Some(error);
            failed
        })?;
        Ok(Self { tell, thread: Mutex::new(Some(thread)) })
    }

    /// Has a batch appended.
    pub(super) fn append(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        let told = Told::Append { id: id.to_owned(), batch, durability, done };
        if let Err(unsent) = self.tell.send(told)
            && let Told::Append { done, .. } = unsent.0
        {
            done(Err(AppendError::Refused(Refusal::ReadOnly)));
        }
    }

    /// Says that something waits to be synced.
    pub(super) fn buffered(&self) {
        // A thread that is gone has nothing left to sync: the store was closed.
        let _ = self.tell.send(Told::Buffered);
    }

    /// Stops the thread after all that it was told before.
    pub(super) fn stop(&self) {
        let _ = self.tell.send(Told::Stop);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|it| it.thread().id() != thread::current().id()) {
            // A panic was contained where it came from; there is none to pass on.
            let _ = thread.join();
        }
    }
}

fn run(files: &Arc<Files>, told: &Receiver<Told>) {
    let mut due: Option<Instant> = None;
    loop {
        let next = match due {
            None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => told.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match next {
            Ok(Told::Append { id, batch, durability, done }) => {
                let ended = files.append(&id, &batch, durability);
                // Whoever is told must not take the thread with it.
                let _ = catch_unwind(AssertUnwindSafe(|| done(ended)));
                if durability == Durability::Buffered {
                    due = due.or_else(|| files.next_due());
                }
            }
            Ok(Told::Buffered) => {
                due = due.or_else(|| files.next_due());
            }
            Ok(Told::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if due.is_some_and(|due| due <= Instant::now()) {
            files.sync_overdue();
            // What could not be written is tried again, but not at once.
            let soonest = Instant::now() + Duration::from_millis(1);
            due = files.next_due().map(|due| due.max(soonest));
        }
    }
}
