//! One log that is open for write: what we left of it, and what waits to be written.
//!
//! An append looks first. If the file is not as we left it, by device, inode, size and both times,
//! somebody else wrote, and we write nothing any more. Then the bytes go behind the end, in one
//! piece. What fails is cut off again; what cannot be cut off poisons the store.
//!
//! | failed | cut back to | answer |
//! |---|---|---|
//! | the look, a write | the end before | `NotWritten` |
//! | a sync, all before it synced | the end before | `NotWritten` |
//! | a sync, some before it only written | the last sync's end | `Rewound` |
//! | the cut itself; somebody wrote behind us | | `Unknown`, poisoned |
//!
//! After a sync that failed, pages of what was only written before may be lost as well.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 13.1, 13.2 and 18.4.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::encode;
use super::layout::Layout;
use super::lock::SessionLock;
use super::look::{self, Look};
use super::place::Root;
use super::spell::Spelt;
use crate::backend::{AppendError, Commit, Durability, Error, Refusal};
use crate::storage::{Create, Stat, Volume, WriteFile};

/// How far the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    bytes: u64,
    next_seq: u64,
}

/// A log that is open for write.
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    /// The header line.
    pub(super) header: Vec<u8>,
    /// Time of the last event, in milliseconds since 1970.
    pub(super) last_time_ms: u64,
    file: Arc<dyn WriteFile>,
    /// Held for as long as we may write.
    _lock: SessionLock,
    /// The file as we left it.
    left: Stat,
    written: Mark,
    synced: Mark,
    /// A torn end that is still there.
    cut: Option<u64>,
    /// Events that were accepted and are not written: of a torn frame, then buffered ones.
    queue: Vec<Spelt>,
    /// Since when the first buffered one of them waits; somebody was told of those.
    pub(super) since: Option<Instant>,
}

impl LogFile {
    /// Takes a log that is on the disk; `seen` is how it was when we last looked.
    ///
    /// # Errors
    ///
    /// [`Refusal::ForeignWrite`] if it is not as it was; [`Refusal::Damaged`] if the host refuses
    /// it.
    pub(super) fn open(
        volume: &dyn Volume,
        root: &Root,
        layout: &Layout,
        path: PathBuf,
        seen: Option<Stat>,
    ) -> Result<Self, AppendError> {
        let dir = path.parent().unwrap_or(&path);
        let lock = SessionLock::take(volume, dir).map_err(AppendError::NotWritten)?;
        let file = volume.open_write(&path, Create::Existing).map_err(|error| {
            AppendError::NotWritten(Error::io(&path, "cannot open the log for write", error))
        })?;
        let found = look::look(volume, root, layout, &path)
            .map_err(|error| AppendError::Refused(Refusal::Damaged { what: error.to_string() }))?;
        if seen.is_some_and(|seen| seen != found.stat) {
            return Err(AppendError::Refused(Refusal::ForeignWrite { path }));
        }
        // A process that died may have left what we read, or the log's name, in the cache only. It
        // counts as synced from here on, so it has to be.
        file.sync_data().and_then(|()| volume.sync_dir(dir)).map_err(|error| {
            AppendError::Unknown(Error::io(&path, "cannot sync the log", error))
        })?;
        let Look { header, events, last_time_ms, cut, recovered, stat } = found;
        let bytes = cut.unwrap_or(stat.bytes);
        // What is torn was never acknowledged, so what lies before it is what counts.
        let written = Mark { bytes, next_seq: events - recovered.len() as u64 };
        Ok(Self {
            path,
            header,
            last_time_ms,
            file,
            _lock: lock,
            left: stat,
            written,
            synced: written,
            cut,
            queue: recovered,
            since: None,
        })
    }

    /// Takes a log that was just published, synced.
    pub(super) fn published(
        volume: &dyn Volume,
        path: PathBuf,
        header: Vec<u8>,
        events: &[Spelt],
        (lock, left): (SessionLock, Stat),
    ) -> Result<Self, Error> {
        let file = volume.open_write(&path, Create::Existing);
        let file =
            file.map_err(|error| Error::io(&path, "cannot open the log for write", error))?;
        let written = Mark { bytes: left.bytes, next_seq: events.len() as u64 };
        Ok(Self {
            path,
            header,
            last_time_ms: last_time_ms(events).unwrap_or(0),
            file,
            _lock: lock,
            left,
            written,
            synced: written,
            cut: None,
            queue: Vec::new(),
            since: None,
        })
    }

    /// Returns the seq of the next event.
    pub(super) fn next_seq(&self) -> u64 {
        self.written.next_seq + self.queue.len() as u64
    }

    /// Returns the seq up to which events are in the file.
    pub(super) fn written_seq(&self) -> u64 {
        self.written.next_seq
    }

    /// Returns the seq up to which events are synced.
    pub(super) fn synced_seq(&self) -> u64 {
        self.synced.next_seq
    }

    /// Returns the file as we left it, and the seq up to which its events are whole.
    pub(super) fn left(&self) -> (Stat, u64) {
        (self.left, self.written.next_seq)
    }

    /// Returns what was accepted and is not written.
    pub(super) fn queue(&self) -> &[Spelt] {
        &self.queue
    }

    /// Accepts events without writing them.
    pub(super) fn buffer(&mut self, events: Vec<Spelt>) -> Commit {
        let (first_seq, count) = (self.next_seq(), events.len());
        self.last_time_ms = last_time_ms(&events).unwrap_or(self.last_time_ms);
        self.queue.extend(events);
        self.since.get_or_insert_with(Instant::now);
        Commit { lsn: None, first_seq, events: count as u64, durability: Durability::Buffered }
    }

    /// Writes what waits and then `events`, as one durable batch.
    ///
    /// # Errors
    ///
    /// As the table of this module has it.
    pub(super) fn append(
        &mut self,
        volume: &dyn Volume,
        root: &Root,
        events: Vec<Spelt>,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.look_first(volume, root)?;
        let (first_seq, count) = (self.next_seq(), events.len());
        let waiting = self.queue.len();
        let time_ms = last_time_ms(&events);
        self.queue.extend(events);
        let encoded = encode::batch(root.generation.encoding, &self.queue, self.written.next_seq);
        let ended = match encoded {
            Ok(bytes) => self.write(volume, &bytes, durability),
            Err(refusal) => Err(AppendError::Refused(refusal)),
        };
        match ended {
            Ok(()) => {
                self.queue.clear();
                self.since = None;
                self.last_time_ms = time_ms.unwrap_or(self.last_time_ms);
                Ok(Commit { lsn: None, first_seq, events: count as u64, durability })
            }
            Err(error) => {
                self.queue.truncate(waiting);
                Err(error)
            }
        }
    }

    /// Syncs what is written.
    ///
    /// # Errors
    ///
    /// As [`LogFile::append`].
    pub(super) fn sync(&mut self, volume: &dyn Volume, root: &Root) -> Result<(), AppendError> {
        if self.synced == self.written {
            return Ok(());
        }
        self.look_first(volume, root)?;
        let error = match self.file.sync_data() {
            Ok(()) => {
                self.synced = self.written;
                return Ok(());
            }
            Err(error) => self.failed(error),
        };
        Err(self.cut_back(volume, self.synced, self.written.bytes, error))
    }

    /// Refuses to write what is not as we left it.
    fn look_first(&mut self, volume: &dyn Volume, root: &Root) -> Result<(), AppendError> {
        let io = |path: &PathBuf, error| {
            AppendError::NotWritten(Error::io(path, "cannot look at the log", error))
        };
        let dir = self.path.parent().unwrap_or(&self.path).to_owned();
        let newer = root.newer(volume, &dir).map_err(|error| io(&dir, error))?;
        let now = match volume.stat(&self.path) {
            Ok(now) => Some(now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io(&self.path, error)),
        };
        let refusal = match newer {
            Some(path) => Refusal::GenerationMoved { path },
            None if now == Some(self.left) => return Ok(()),
            None => Refusal::ForeignWrite { path: self.path.clone() },
        };
        if self.since.is_some() {
            // What waits can never be written, and somebody was told of it.
            return Err(AppendError::Rewound { next_seq: self.written.next_seq });
        }
        Err(AppendError::Refused(refusal))
    }

    /// Writes bytes behind the end, which is first cut if it is torn.
    fn write(
        &mut self,
        volume: &dyn Volume,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<(), AppendError> {
        if let Some(cut) = self.cut {
            let done = self.file.set_len(cut);
            done.map_err(|error| AppendError::NotWritten(self.failed(error)))?;
            // Not even a second sync would tell whether this one did its work.
            self.file.sync_data().map_err(|error| AppendError::Unknown(self.failed(error)))?;
            self.left = self.file.stat().map_err(|e| AppendError::Unknown(self.failed(e)))?;
            self.cut = None;
        }
        let before = self.written;
        let end = before.bytes + bytes.len() as u64;
        if let Err(error) = write_all(&*self.file, before.bytes, bytes) {
            let error = self.failed(error);
            return Err(self.cut_back(volume, before, end, error));
        }
        if durability == Durability::Synced
            && let Err(error) = self.file.sync_data()
        {
            let error = self.failed(error);
            return Err(self.cut_back(volume, self.synced, end, error));
        }
        let left = volume.stat(&self.path).map_err(|e| AppendError::Unknown(self.failed(e)))?;
        if left.identity != self.left.identity || left.bytes != end {
            return Err(AppendError::Unknown(self.raced()));
        }
        self.left = left;
        self.written = Mark { bytes: end, next_seq: self.next_seq() };
        if durability == Durability::Synced {
            self.synced = self.written;
        }
        Ok(())
    }

    /// Cuts the file back to a mark after something failed; nothing of ours lies behind `end`.
    fn cut_back(&mut self, volume: &dyn Volume, to: Mark, end: u64, error: Error) -> AppendError {
        match volume.stat(&self.path) {
            Ok(now) if now.identity == self.left.identity && now.bytes <= end => {}
            Ok(_) => return AppendError::Unknown(self.raced()),
            Err(_) => return AppendError::Unknown(error),
        }
        let cut = self.file.set_len(to.bytes).and_then(|()| self.file.sync_data());
        let Ok(left) = cut.and_then(|()| volume.stat(&self.path)) else {
            return AppendError::Unknown(error);
        };
        self.left = left;
        let is_rewound = to.next_seq < self.written.next_seq;
        (self.written, self.synced) = (to, to);
        if is_rewound {
            return AppendError::Rewound { next_seq: to.next_seq };
        }
        AppendError::NotWritten(error)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io(&self.path, "cannot write the log", error)
    }

    fn raced(&self) -> Error {
        let message = "somebody else wrote the log at the very moment in which we did: close all \
                       other writers, then verify it";
        Error::new(crate::backend::ErrorKind::Corrupt, message).at(&self.path, None)
    }
}

fn last_time_ms(events: &[Spelt]) -> Option<u64> {
    events.last().map(|event| u64::try_from(event.time_ms).unwrap_or(0))
}

/// Writes all bytes, however many at a time the system takes.
pub(super) fn write_all(file: &dyn WriteFile, mut offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut left = bytes;
    while !left.is_empty() {
        let taken = file.write_at(offset, left)?;
        if taken == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        offset += taken as u64;
        left = left.get(taken..).unwrap_or_default();
    }
    Ok(())
}
