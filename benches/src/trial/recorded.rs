//! A disk that remembers, as one digest, everything that was done to it.

use gatelog_engine::storage::{
    Create, DirLocked, Entry, File, FileId, Stat, Storage, Volume, WriteFile,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where the header of a segment states what a cut left behind, and where its own sum stands.
const RESIDUE: [std::ops::Range<usize>; 2] = [128..140, 4092..4096];
const HEADER_BYTES: usize = 4096;
const HEADER_MAGIC: &[u8] = b"GATELOG\x01";

/// A disk of which the calls that change or sync something are remembered: what was called, on
/// which names, where, and with which bytes.
///
/// What the header of a new segment says of the bytes behind a cut, their number and their sum, is
/// left out: nobody who recovers a store reads it.
#[derive(Clone)]
pub(crate) struct Recorded {
    disk: Arc<dyn Volume>,
    calls: Arc<Mutex<blake3::Hasher>>,
}

struct RecordedFile {
    file: Arc<dyn WriteFile>,
    path: PathBuf,
    disk: Recorded,
}

impl Recorded {
    /// Wraps a disk.
    pub(crate) fn new(disk: Arc<dyn Volume>) -> Self {
        Self { disk, calls: Arc::default() }
    }

    /// Returns a digest of all calls so far, in their order.
    pub(crate) fn digest(&self) -> [u8; 32] {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner).finalize().as_bytes()
    }

    fn note(&self, call: &str, path: &Path, number: u64, bytes: &[u8]) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        for part in [call.as_bytes(), path.as_os_str().as_encoded_bytes()] {
            calls.update(&(part.len() as u64).to_le_bytes()).update(part);
        }
        calls.update(&number.to_le_bytes()).update(&(bytes.len() as u64).to_le_bytes());
        if bytes.len() == HEADER_BYTES && bytes.starts_with(HEADER_MAGIC) {
            let mut header = bytes.to_vec();
            RESIDUE.into_iter().for_each(|range| header[range].fill(0));
            calls.update(&header);
        } else {
            calls.update(bytes);
        }
    }
}

impl Storage for Recorded {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        self.disk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.disk.list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.disk.stat(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.disk.canonical(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        self.disk.lock_holders(file)
    }
}

impl Volume for Recorded {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        let is_there = self.disk.stat(path).is_ok();
        let file = self.disk.open_write(path, create)?;
        if !is_there {
            self.note("create", path, 0, &[]);
        }
        Ok(Arc::new(RecordedFile { file, path: path.to_owned(), disk: self.clone() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.note("create dir", path, 0, &[]);
        self.disk.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.note("rename", from, 0, to.as_os_str().as_encoded_bytes());
        self.disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.note("link", from, 0, to.as_os_str().as_encoded_bytes());
        self.disk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.note("remove", path, 0, &[]);
        self.disk.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.note("remove dir", path, 0, &[]);
        self.disk.remove_dir(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.note("sync dir", dir, 0, &[]);
        self.disk.sync_dir(dir)
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        self.disk.try_lock_dir(dir)
    }

    fn link_count(&self, path: &Path) -> io::Result<u64> {
        self.disk.link_count(path)
    }

    fn network_name(&self, path: &Path) -> Option<String> {
        self.disk.network_name(path)
    }
}

impl File for RecordedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

impl WriteFile for RecordedFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.disk.note("write", &self.path, offset, bytes);
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.disk.note("set len", &self.path, bytes, &[]);
        self.file.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.note("sync", &self.path, 0, &[]);
        self.file.sync_data()
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.file.read_device_at(offset, buffer)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
