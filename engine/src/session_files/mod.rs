//! The host's own session files as a store: what is written here, the host's loader reads, and
//! what the host wrote is continued.
//!
//! # What it does
//!
//! A session is one log in a folder of its own (`place`): a header line (`head`), then one frame,
//! or one block of lines, a durable batch (`encode`), each event spelt as the host spells it
//! (`spell`) and runs of chunks packed (`pack`). All that differs between the host's formats is one
//! table each (`layout`). A session comes into being whole, under its name at once (`publish`).
//!
//! An append first looks whether the log is as we left it and whether a newer generation lies
//! beside it, then writes behind the end, and cuts off what fails (`log_file`). A torn end is cut
//! before the first append, and what could be read of it is written again with that append. Reading
//! goes through `dsh::read` (`look`).
//!
//! # What it cannot do
//!
//! Nothing in format 0 keeps a second writer out: see [`FilesConfig::allow_unlocked`]. We hold
//! `session.lock`, which hosts of formats 3 and 4 respect and which keeps two of us apart. The look
//! before an append sees every write that came before it, unless the file's size and both its
//! times are the same as before; a write between look and append is seen afterwards, by the size,
//! and poisons the store.
//!
//! The format has no place for idempotency keys, lsns, rules or epochs; a commit leaves no trace
//! but its frame. What was acknowledged and rotted in the last frame looks like a torn end.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1, 2, 4.2, 5.1, 7.1, 12, 13 and 18.

mod layout;
mod config;
mod pack;
mod spell;
mod head;
mod encode;
mod place;
mod lock;
mod publish;
mod look;
mod log_file;
mod files;
mod reads;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::{
    AfterFailedWrite, AppendError, Backend, Batch, Commit, Done, Durability, Error, ErrorKind,
    Keys, OneWriter, Parts, RecordedRules, SessionInfo, Take,
};
use crate::machine::Machine;
use crate::rules::SessionHeader;
use crate::storage::Volume;
use files::Files;
use layout::{Layout, LockRule};
use place::Root;
use worker::Worker;

pub use config::{Encoding, FilesConfig};

/// A store of the host's session files.
pub struct SessionFiles {
    files: Arc<Files>,
    worker: Worker,
}

impl std::fmt::Debug for SessionFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionFiles").field("root", &self.files.root).finish_non_exhaustive()
    }
}

impl SessionFiles {
    /// Opens a sessions root, which need not be there yet. Nothing is written before a session is
    /// created or appended to, and no lock is taken.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`] for a format that is not written here; [`ErrorKind::Config`] for
    /// a relative root, a `buffer_ms_max` out of its range, and a root that the host would refuse
    /// whole: one with logs of the other encoding, or with a log directly in a project's folder;
    /// [`ErrorKind::Io`] for what cannot be listed.
    pub fn open(
        volume: Arc<dyn Volume>,
        root: impl Into<PathBuf>,
        machine: Arc<dyn Machine>,
        config: FilesConfig,
    ) -> Result<Self, Error> {
        let root = root.into();
        let layout = Layout::of(config.format).ok_or_else(|| {
            let format = config.format;
            let message =
                format!("session files of format {format} are not written: open format 0");
            Error::new(ErrorKind::Unsupported, message).at(&root, None)
        })?;
        let wrong = |message: &str| Err(Error::new(ErrorKind::Config, message).at(&root, None));
        if !root.is_absolute() {
            return wrong("the root of a store must be an absolute path");
        }
        if !(1..=config::BUFFER_MS_MAX).contains(&config.buffer_ms_max) {
            return wrong("buffer_ms_max must be from 1 to 1,000");
        }
        let root = Root::new(root, config.format, config.encoding);
        root.check(&*volume)?;
        let files = Arc::new(Files::new(volume, machine, root, layout, config));
        let worker = Worker::start(Arc::clone(&files))?;
        Ok(Self { files, worker })
    }
}

impl Backend for SessionFiles {
    fn parts(&self) -> Parts {
        Parts {
            one_writer: match self.files.layout.lock {
                LockRule::Ours => OneWriter::Detected,
                LockRule::Hosts => OneWriter::Locked,
            },
            tells_torn_from_rot: false,
            order_across_sessions: false,
            keys: Keys::WithExpectedSeq,
            after_failed_write: AfterFailedWrite::CutBack,
            records_rules: false,
            generations: true,
        }
    }

    /// Always 1: the files say nothing of who wrote them.
    fn epoch(&self) -> u32 {
        1
    }

    /// A session whose log the host refuses for its content is not in the list;
    /// [`Backend::find`] says why.
    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        self.files.sessions()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        self.files.find(id)
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.files.read(id, from, take)
    }

    /// The publication is always synced.
    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        _: Durability,
    ) -> Result<Commit, AppendError> {
        self.files.create(id, header, &batch)
    }

    fn append(
        &self,
        id: &str,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        let ended = self.files.append(id, &batch, durability);
        if durability == Durability::Buffered && ended.is_ok() {
            self.worker.buffered();
        }
        ended
    }

    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        self.worker.append(id, batch, durability, done);
    }

    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        self.files.raise(id, durability)
    }

    fn take_rewound(&self, id: &str) -> Option<u64> {
        self.files.take_rewound(id)
    }

    /// Does nothing: the format has no place for them.
    fn record_rules(&self, _: &RecordedRules) -> Result<(), AppendError> {
        Ok(())
    }

    fn poisoned(&self) -> Option<String> {
        self.files.poisoned()
    }

    fn reopen(&self) -> Result<(), Error> {
        self.files.root.check(&*self.files.volume)?;
        self.files.reopen();
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        self.worker.stop();
        self.files.close()
    }
}

impl Drop for SessionFiles {
    fn drop(&mut self) {
        self.worker.stop();
        // Locks go with the logs; what was only buffered goes as with the death of the process.
        self.files.reopen();
    }
}

/// Shows a text of a caller's or a log's in a message.
fn shown(text: &str) -> String {
    let mut quoted = String::new();
    spell::quote(&crate::dsh::fault::clip(text.to_owned()), &mut quoted);
    quoted
}
