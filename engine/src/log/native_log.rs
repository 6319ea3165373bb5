//! The native store: a [`Backend`] over segments in one directory.

use super::body;
use super::chain::SessionKey;
use super::config::LogConfig;
use super::frame_index::Indexes;
use super::housekeeper::{self, Seen};
use super::inner::Inner;
use super::limit;
use super::lock::StoreLock;
use super::open;
use super::order::{Order, Tail};
use super::prepared::Prepared;
use super::writer::Writer;
use crate::backend::{
    AfterFailedWrite, AppendError, Backend, Batch, Commit, Done, Durability, Error, ErrorKind,
    Keys, Limited, OneWriter, Parts, RecordedRules, Refusal, SessionInfo, Take,
};
use crate::machine::Machine;
use crate::rules::SessionHeader;
use crate::storage::Volume;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A native store, open for writing.
pub struct Log {
    inner: Arc<Inner>,
    housekeeper: Option<JoinHandle<()>>,
    seen: Mutex<Seen>,
}

impl Log {
    /// Opens the store in a directory for writing, makes it where there is none, and recovers what
    /// a crash left.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] with the holder; [`ErrorKind::Corrupt`] with the rule, where
    /// acknowledged content is damaged: nothing was changed then; [`ErrorKind::Unsupported`];
    /// [`ErrorKind::NetworkFileSystem`]; [`ErrorKind::NotAStore`] for a directory with other
    /// files; [`ErrorKind::Config`]; [`ErrorKind::Io`] and [`ErrorKind::NoSpace`].
    pub fn open(
        volume: Arc<dyn Volume>,
        dir: &Path,
        machine: Arc<dyn Machine>,
        config: LogConfig,
    ) -> Result<Self, Error> {
        config.check()?;
        if !config.allow_network_fs
            && let Some(name) = volume.network_name(dir)
        {
            let message = format!(
                "the store would lie on a network file system ({name}), whose locks and syncs do \
                 not keep our promises; put it on a local disk, or set allow_network_fs"
            );
            return Err(Error::new(ErrorKind::NetworkFileSystem, message).at(dir, None));
        }
        open::make_dir(&*volume, dir, &config)?;
        let lock = StoreLock::take(&*volume, dir, &*machine)?;
        let (order, io) = match open::open(&volume, dir, &machine, &config) {
            Ok(opened) => opened,
            Err(error) => {
                lock.give_back();
                return Err(error);
            }
        };
        let inner = Arc::new(Inner {
            volume,
            dir: dir.to_owned(),
            config,
            machine,
            writer: Writer::new(order, io),
            lock: Mutex::new(Some(lock)),
            rules: Mutex::default(),
            indexes: Indexes::default(),
            background: Mutex::default(),
        });
        let housekeeper = if inner.config.has_housekeeper {
            let weak = Arc::downgrade(&inner);
            let thread = std::thread::Builder::new().name("gatelog-housekeeper".into());
            let spawned = thread.spawn(move || housekeeper::run(&weak));
            Some(spawned.map_err(|error| Error::io(dir, "no thread can be had", error))?)
        } else {
            None
        };
        Ok(Self { inner, housekeeper, seen: Mutex::default() })
    }

    /// Does what is due and nobody waits for: for stores without a housekeeper.
    pub fn tick(&self) {
        self.inner.tick(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns the lsn up to which the log is durable, and that of the last accepted frame.
    pub fn progress(&self) -> (u64, u64) {
        let order = self.inner.writer.order();
        (order.progress.durable, order.last_lsn())
    }

    /// Returns how often a group was synced since the store was opened.
    pub fn syncs(&self) -> u64 {
        self.inner.writer.syncs.load(Ordering::Relaxed)
    }

    /// Returns how the end of the log was found when it was opened, or opened anew.
    pub fn tail(&self) -> Tail {
        self.inner.writer.order().tail
    }

    fn key(&self, id: &str) -> SessionKey {
        SessionKey::of(&self.inner.writer.order().store_id, id)
    }

    fn prepare(
        &self,
        id: &str,
        header: Option<&SessionHeader>,
        batch: &Batch,
    ) -> Result<Prepared, Refusal> {
        if id.is_empty() || id.len() > limit::ID_BYTES_MAX {
            let (bytes, limit) = (id.len() as u64, limit::ID_BYTES_MAX as u64);
            return Err(Refusal::TooLarge { what: Limited::IdBytes, bytes, limit });
        }
        if let Some(header) = header
            && header.json.len() > limit::HEADER_BYTES_MAX
        {
            let (bytes, limit) = (header.json.len() as u64, limit::HEADER_BYTES_MAX as u64);
            return Err(Refusal::TooLarge { what: Limited::HeaderBytes, bytes, limit });
        }
        if batch.rows.is_empty() && header.is_none() {
            return Err(Refusal::Empty);
        }
        if batch.rows.len() as u64 > u64::from(limit::RECORDS_MAX) {
            let (bytes, limit) = (batch.rows.len() as u64, u64::from(limit::RECORDS_MAX));
            return Err(Refusal::TooLarge { what: Limited::Records, bytes, limit });
        }
        let end = batch.first_seq.checked_add(batch.rows.len() as u64);
        if end.is_none_or(|end| end > limit::SEQ_MAX + 1) {
            return Err(Refusal::Full);
        }
        let limit = self.inner.config.frame_bytes();
        let encoded = match header {
            Some(header) => body::encode_create(id, header, batch, limit)?,
            None => body::encode_data(batch, limit)?,
        };
        Ok(Prepared {
            encoded,
            session: self.key(id),
            id: Some(id.into()),
            last_time_ms: batch.rows.last().map_or(0, |row| row.time_ms),
        })
    }
}

/// Refuses an append to a session that is not there, or not where the batch begins. What was
/// accepted before it may have fallen with its group since it was planned: then it is rewound.
fn check_append(order: &Order, key: SessionKey, first_seq: u64) -> Result<(), AppendError> {
    let session = order.sessions.get(key);
    if session.is_some_and(|session| session.standing.is_deleted) {
        return Err(AppendError::Refused(Refusal::Deleted));
    }
    let actual = session.map(|session| session.standing.next_seq);
    if actual == Some(first_seq) {
        return Ok(());
    }
    if let Some(next_seq) = order.sessions.rewound(key) {
        return Err(AppendError::Rewound { next_seq });
    }
    Err(AppendError::Refused(match actual {
        Some(actual) => Refusal::WrongSeq { expected: first_seq, actual },
        None => Refusal::NoSession,
    }))
}

/// Refuses to create a session whose id was ever used.
fn check_create(order: &Order, key: SessionKey) -> Result<(), AppendError> {
    match order.sessions.get(key) {
        None => Ok(()),
        Some(session) if session.standing.is_deleted => Err(AppendError::Refused(Refusal::Deleted)),
        Some(_) => Err(AppendError::Refused(Refusal::Exists)),
    }
}

impl Backend for Log {
    fn parts(&self) -> Parts {
        Parts {
            one_writer: OneWriter::Locked,
            tells_torn_from_rot: true,
            order_across_sessions: true,
            keys: Keys::Always,
            after_failed_write: AfterFailedWrite::NewSegment,
            records_rules: true,
            generations: false,
        }
    }

    fn epoch(&self) -> u32 {
        self.inner.writer.order().epoch
    }

    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        let all = self.inner.writer.order().sessions.all();
        all.iter().map(|(key, session)| self.inner.info(*key, session)).collect()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let key = self.key(id);
        let session = self.inner.writer.order().sessions.get(key).cloned();
        match session {
            None => Ok(None),
            Some(session) if session.standing.is_deleted => {
                Err(Error::new(ErrorKind::Deleted, format!("session `{id}` was deleted")))
            }
            Some(session) => self.inner.info(key, &session).map(Some),
        }
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.inner.read(self.key(id), id, from, take)
    }

    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        let prepared = self.prepare(id, Some(header), &batch).map_err(AppendError::Refused)?;
        let key = prepared.session;
        self.inner.writer.commit(prepared, durability, |order| check_create(order, key))
    }

    fn append(
        &self,
        id: &str,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        let prepared = self.prepare(id, None, &batch).map_err(AppendError::Refused)?;
        let key = prepared.session;
        let check = |order: &Order| check_append(order, key, batch.first_seq);
        self.inner.writer.commit(prepared, durability, check)
    }

    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        match self.prepare(id, None, &batch) {
            Err(refusal) => done(Err(AppendError::Refused(refusal))),
            Ok(prepared) => {
                let (key, first_seq) = (prepared.session, batch.first_seq);
                let check = Box::new(move |order: &Order| check_append(order, key, first_seq));
                self.inner.writer.submit(prepared, durability, check, done);
            }
        }
    }

    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        let key = self.key(id);
        self.inner.writer.raise(durability, |order| {
            // What is left of the session may well be synced; what was committed is not all left.
            if let Some(next_seq) = order.sessions.rewound(key) {
                return Err(AppendError::Rewound { next_seq });
            }
            let session = order.sessions.get(key).map(|session| session.standing.last_lsn);
            session.ok_or(AppendError::Refused(Refusal::NoSession))
        })
    }

    fn take_rewound(&self, id: &str) -> Option<u64> {
        let mut order = self.inner.writer.order();
        let key = SessionKey::of(&order.store_id, id);
        order.sessions.take_rewound(key)
    }

    fn record_rules(&self, rules: &RecordedRules) -> Result<(), AppendError> {
        let mut last = self.inner.rules.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() == Some(rules) {
            return Ok(());
        }
        let encoded = body::encode_rules(rules, self.inner.config.frame_bytes())
            .map_err(AppendError::Refused)?;
        let prepared = Prepared::of_store(encoded);
        self.inner.writer.commit(prepared, Durability::Synced, |_| Ok(()))?;
        *last = Some(rules.clone());
        Ok(())
    }

    fn poisoned(&self) -> Option<String> {
        self.inner.writer.order().poisoned.as_ref().map(ToString::to_string)
    }

    fn reopen(&self) -> Result<(), Error> {
        self.inner.reopen()
    }

    fn close(&self) -> Result<(), Error> {
        self.inner.close()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // What fails here is found at the next open, as after a crash.
        let _ = self.inner.close();
        if let Some(thread) = self.housekeeper.take() {
            let _ = thread.join();
        }
    }
}
