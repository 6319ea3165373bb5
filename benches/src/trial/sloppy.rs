//! A disk that does less than it is told, to show that the trials notice.

use gatelog_engine::storage::{
    Create, DirLocked, Entry, File, FileId, Stat, Storage, Volume, WriteFile,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sloppiness {
    /// Directories are never synced.
    NoDirectorySync,
    /// Segments are not synced before the first of them is written.
    NoSyncAtOpen,
    /// The device is not asked: reads of it show the cache.
    ReadsCache,
}

/// A disk that leaves something undone and says that it did it.
#[derive(Clone)]
pub struct Sloppy {
    disk: Arc<dyn Volume>,
    sloppiness: Sloppiness,
    /// A segment was written.
    is_written: Arc<AtomicBool>,
}

struct SloppyFile {
    file: Arc<dyn WriteFile>,
    disk: Sloppy,
    is_segment: bool,
}

impl Sloppy {
    /// Wraps a disk.
    pub fn new(disk: Arc<dyn Volume>, sloppiness: Sloppiness) -> Self {
        Self { disk, sloppiness, is_written: Arc::default() }
    }
}

impl Storage for Sloppy {
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

impl Volume for Sloppy {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        let file = self.disk.open_write(path, create)?;
        let is_segment = path.extension().is_some_and(|extension| extension == "log");
        Ok(Arc::new(SloppyFile { file, disk: self.clone(), is_segment }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        match self.sloppiness {
            Sloppiness::NoDirectorySync => Ok(()),
            _ => self.disk.sync_dir(dir),
        }
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

impl File for SloppyFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

impl WriteFile for SloppyFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if self.is_segment {
            self.disk.is_written.store(true, Ordering::Relaxed);
        }
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        let is_first = !self.disk.is_written.load(Ordering::Relaxed);
        let skips = self.disk.sloppiness == Sloppiness::NoSyncAtOpen && self.is_segment && is_first;
        if skips { Ok(()) } else { self.file.sync_data() }
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.disk.sloppiness {
            Sloppiness::ReadsCache | Sloppiness::NoSyncAtOpen => {
                self.file.read_at(offset, buffer).map(Some)
            }
            Sloppiness::NoDirectorySync => self.file.read_device_at(offset, buffer),
        }
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
