//! A disk in memory that takes its time for each group.

use gatelog_engine::storage::{
    Create, DirLocked, Entry, File, FileId, Memory, Stat, Storage, Volume, WriteFile,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Longer than it takes to submit the next append.
const WRITE: Duration = Duration::from_millis(2);

/// More is no group of these tests: zeros of a spare.
const GROUP_BYTES_MAX: usize = 64 * 1024;

pub(crate) struct Slow(pub(crate) Memory);

struct SlowFile(Arc<dyn WriteFile>);

impl Storage for Slow {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        self.0.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.0.list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.0.stat(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        self.0.lock_holders(file)
    }
}

impl Volume for Slow {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        Ok(Arc::new(SlowFile(self.0.open_write(path, create)?)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.remove_dir(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.sync_dir(dir)
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        self.0.try_lock_dir(dir)
    }

    fn link_count(&self, path: &Path) -> io::Result<u64> {
        self.0.link_count(path)
    }

    fn network_name(&self, path: &Path) -> Option<String> {
        self.0.network_name(path)
    }
}

impl File for SlowFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }
}

impl WriteFile for SlowFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() <= GROUP_BYTES_MAX {
            thread::sleep(WRITE);
        }
        self.0.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.read_device_at(offset, buffer)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}
