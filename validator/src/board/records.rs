//! Where records are kept.

use super::record::{RECORD_BYTES_MAX, Record};
use gatelog_engine::storage::{Create, Volume};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps records, by session. Losing one costs time and nothing else.
pub trait Records: Send + Sync {
    /// Returns the record of a session, if there is one that can be read.
    fn load(&self, session: &str) -> Option<Record>;

    /// Keeps the record of a session in place of an earlier one.
    ///
    /// # Errors
    ///
    /// Why it could not be kept.
    fn save(&self, session: &str, record: &Record) -> io::Result<()>;
}

/// Keeps records in memory.
#[derive(Debug, Default)]
pub struct MemoryRecords(Mutex<HashMap<String, Vec<u8>>>);

impl Records for MemoryRecords {
    fn load(&self, session: &str) -> Option<Record> {
        let records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Record::decode(records.get(session)?)
    }

    fn save(&self, session: &str, record: &Record) -> io::Result<()> {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        records.insert(session.to_owned(), record.encode());
        Ok(())
    }
}

/// Keeps records as files of a directory, which is made when it is first needed. Their names are
/// digests of the sessions' ids.
pub struct RecordDir {
    volume: Arc<dyn Volume>,
    dir: PathBuf,
}

impl RecordDir {
    /// Makes it for a directory.
    pub fn new(volume: Arc<dyn Volume>, dir: impl Into<PathBuf>) -> Self {
        Self { volume, dir: dir.into() }
    }

    fn path(&self, session: &str) -> PathBuf {
        let name = blake3::hash(session.as_bytes()).to_hex();
        self.dir.join(format!("{name}.projections"))
    }
}

impl Records for RecordDir {
    fn load(&self, session: &str) -> Option<Record> {
        let file = self.volume.open(&self.path(session)).ok()?;
        let bytes = usize::try_from(file.stat().ok()?.bytes).ok()?;
        if bytes > RECORD_BYTES_MAX {
            return None;
        }
        let mut record = vec![0; bytes];
        let mut at = 0;
        while at < bytes {
            match file.read_at(at as u64, &mut record[at..]) {
                Ok(0) | Err(_) => return None,
                Ok(read) => at += read,
            }
        }
        Record::decode(&record)
    }

    fn save(&self, session: &str, record: &Record) -> io::Result<()> {
        match self.volume.create_dir(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // Whole under another name first: a reader sees the old one or the new one. Nothing is
        // synced, for a record that a power cut spoils does not have its digest.
        let path = self.path(session);
        let draft = path.with_extension("draft");
        let file = self.volume.open_write(&draft, Create::Either)?;
        file.set_len(0)?;
        let (bytes, mut at) = (record.encode(), 0);
        while at < bytes.len() {
            let written = file.write_at(at as u64, &bytes[at..])?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            at += written;
        }
        self.volume.rename(&draft, &path)
    }
}
