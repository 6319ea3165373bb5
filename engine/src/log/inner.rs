//! What of an open store its threads share: it outlives a reopen and ends with a close.

use super::body;
use super::config::LogConfig;
use super::frame::Kind;
use super::frame_index::Indexes;
use super::lock::StoreLock;
use super::open;
use super::prepared::Prepared;
use super::superblock::Stop;
use super::writer::Writer;
use crate::backend::{AppendError, Durability, Error, ErrorKind, RecordedRules};
use crate::machine::Machine;
use crate::storage::Volume;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What of a store outlives a reopen.
pub(crate) struct Inner {
    pub(crate) volume: Arc<dyn Volume>,
    pub(crate) dir: PathBuf,
    pub(crate) config: LogConfig,
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) writer: Writer,
    pub(crate) lock: Mutex<Option<StoreLock>>,
    pub(crate) rules: Mutex<Option<RecordedRules>>,
    pub(crate) indexes: Indexes,
    /// Held while a file is made or changed that is not the leader's.
    pub(crate) background: Mutex<()>,
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<StoreLock>> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the store anew under the same lock.
    pub(crate) fn reopen(&self) -> Result<(), Error> {
        let lock = self.lock();
        if lock.is_none() {
            return Err(Error::new(ErrorKind::ReadOnly, "the store is closed").at(&self.dir, None));
        }
        // Nothing is accepted any more, and what is being written is waited for.
        let message = "the store is being opened anew";
        let told = self.writer.poison(None, &Error::new(ErrorKind::Poisoned, message));
        self.writer.tell(told);
        let idle = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        self.writer.replace(|| open::open(&self.volume, &self.dir, &self.machine, &self.config))?;
        drop(idle);
        self.indexes.clear();
        *self.rules.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.writer.bell.notify_one();
        Ok(())
    }

    /// Ends the log with a `Close` frame, says so in `STORE`, and gives the lock back.
    pub(crate) fn close(&self) -> Result<(), Error> {
        let mut lock = self.lock();
        let Some(held) = lock.take() else { return Ok(()) };
        let closed = self.write_close();
        let mut order = self.writer.order();
        order.is_stopped = true;
        if order.poisoned.is_none() {
            order.poisoned = Some("the store is closed".into());
        }
        drop(order);
        self.writer.bell.notify_all();
        // A write in flight is waited for: the lock must outlive it.
        drop(self.background.lock().unwrap_or_else(PoisonError::into_inner));
        drop(self.writer.io());
        held.give_back();
        closed
    }

    fn write_close(&self) -> Result<(), Error> {
        let order = self.writer.order();
        if order.poisoned.is_some() {
            return Ok(());
        }
        let rows = order.sessions.rows(&order.segment.shares);
        drop(order);
        let prepared = Prepared::of_store(body::encode_table(Kind::Close, &rows));
        let failed = |error| match error {
            AppendError::NotWritten(error) | AppendError::Unknown(error) => error,
            AppendError::Refused(_) | AppendError::Rewound { .. } => {
                Error::new(ErrorKind::Poisoned, "the end of the log could not be written")
                    .at(&self.dir, None)
            }
        };
        self.writer.commit(prepared, Durability::Synced, |_| Ok(())).map_err(failed)?;
        let mut io = self.writer.io();
        let durable = self.writer.order().progress.durable;
        let stop = Stop::Clean { end_offset: io.mark.end, end_digest: io.mark.digest };
        io.state(stop, durable)
    }
}
