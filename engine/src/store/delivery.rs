//! What observers are still to be told, in commit order, and who tells them.

use super::contained::contained;
use super::lock::lock;
use super::observer::Observer;
use crate::backend::{Batch, Commit, Durability, Stored};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

/// Observers as they were registered at some moment.
pub(crate) type Observers = Arc<Vec<Arc<dyn Observer>>>;

/// Something to tell.
pub(crate) enum News {
    /// A batch was committed.
    Committed {
        /// Its rows.
        batch: Arc<Batch>,
        /// Its receipt.
        commit: Commit,
        /// Batches leave a trace in this store, and their keys with them.
        is_traced: bool,
    },
    /// What was accepted from this seq on is gone.
    Rewound(u64),
}

/// The queue of one session.
#[derive(Default)]
pub(crate) struct Deliveries(Mutex<Outbox>);

#[derive(Default)]
struct Outbox {
    waiting: VecDeque<(News, [Observers; 2])>,
    teller: Option<ThreadId>,
}

impl Deliveries {
    /// Puts news at the end, for whoever observed at this moment. Called under the gate.
    pub(crate) fn push(&self, news: News, observers: [Observers; 2]) {
        if observers.iter().any(|observers| !observers.is_empty()) {
            lock(&self.0).waiting.push_back((news, observers));
        }
    }

    /// Returns whether this thread tells observers of this session at the moment.
    pub(crate) fn is_told_here(&self) -> bool {
        lock(&self.0).teller == Some(thread::current().id())
    }

    /// Tells what is to be told, unless another thread does. Called when the gate is free.
    pub(crate) fn tell(&self, id: &str) {
        let mut outbox = lock(&self.0);
        if outbox.teller.is_some() {
            return;
        }
        while let Some((news, observers)) = outbox.waiting.pop_front() {
            outbox.teller = Some(thread::current().id());
            drop(outbox);
            for observer in observers.iter().flat_map(|observers| observers.iter()) {
                news.tell(id, &**observer);
            }
            outbox = lock(&self.0);
        }
        outbox.teller = None;
    }
}

impl News {
    fn tell(&self, id: &str, observer: &dyn Observer) {
        let (batch, commit, is_traced) = match self {
            Self::Committed { batch, commit, is_traced } => (batch, commit, *is_traced),
            Self::Rewound(next_seq) => {
                // A panic is the observer's own affair.
                let _ = contained(|| observer.rewound(id, *next_seq));
                return;
            }
        };
        for (index, row) in batch.rows.iter().enumerate() {
            let seq = batch.first_seq + index as u64;
            let stored = Stored {
                seq,
                time_ms: row.time_ms,
                kind: &row.draft.kind,
                data: &row.draft.data,
                sources: row.draft.sources.as_deref(),
                surface: row.draft.surface.as_deref(),
                ignorable: row.draft.ignorable,
                lsn: commit.lsn,
                batch_first_seq: if is_traced { batch.first_seq } else { seq },
                key: batch.key.filter(|_| is_traced),
                confirmed: commit.durability == Durability::Synced,
            };
            let _ = contained(|| observer.committed(id, &stored));
        }
    }
}
