//! A disk that does less than it is told, to show that the trials notice.

use gatelog_engine::storage::{
    Create, DirLocked, Entry, File, FileId, Stat, Storage, Volume, WriteFile,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is left undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sloppiness {
    /// Directories are never synced.
    NoDirectorySync,
    /// Segments are not synced before the first of them is written.
    NoSyncAtOpen,
    /// The device is not asked: reads of it show the cache.
    ReadsCache,
    /// An open that finds a store with so many segments and spares syncs the next segment only
    /// behind `STORE`, which names it. In the end everything is synced: only who cuts that open
    /// off can notice.
    StoreBeforeSegment(usize),
}

/// A disk that leaves something undone and says that it did it.
#[derive(Clone)]
pub struct Sloppy {
    disk: Arc<dyn Volume>,
    sloppiness: Sloppiness,
    /// A segment was written.
    is_written: Arc<AtomicBool>,
    /// Nothing is synced late, or nothing any more.
    is_in_order: Arc<AtomicBool>,
    /// What is synced later.
    late: Arc<Mutex<Vec<Arc<dyn WriteFile>>>>,
}

struct SloppyFile {
    file: Arc<dyn WriteFile>,
    disk: Sloppy,
    is_segment: bool,
    is_spare: bool,
    is_store: bool,
}

impl Sloppy {
    /// Wraps a disk, on which a store lies in a directory or will.
    pub fn new(disk: Arc<dyn Volume>, dir: &Path, sloppiness: Sloppiness) -> Self {
        let names: Vec<_> =
            disk.list(dir).into_iter().flatten().map(|entry| PathBuf::from(entry.name)).collect();
        let count = names.iter().filter(|name| is_segment(name) || is_spare(name)).count();
        let has_store = names.iter().any(|name| is_store(name));
        let is_in_order = match sloppiness {
            Sloppiness::StoreBeforeSegment(enough) => !has_store || count < enough,
            _ => true,
        };
        Self {
            disk,
            sloppiness,
            is_written: Arc::default(),
            is_in_order: Arc::new(AtomicBool::new(is_in_order)),
            late: Arc::default(),
        }
    }
}

fn is_segment(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

fn is_spare(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"spare-"))
}

fn is_store(path: &Path) -> bool {
    path.ends_with("STORE")
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
        Ok(Arc::new(SloppyFile {
            file,
            disk: self.clone(),
            is_segment: is_segment(path),
            is_spare: is_spare(path),
            is_store: is_store(path),
        }))
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
        let disk = &self.disk;
        let late = || disk.late.lock().unwrap_or_else(PoisonError::into_inner);
        match disk.sloppiness {
            Sloppiness::NoSyncAtOpen
                if self.is_segment && !disk.is_written.load(Ordering::Relaxed) =>
            {
                Ok(())
            }
            _ if self.is_spare && !disk.is_in_order.load(Ordering::Relaxed) => {
                late().push(self.file.clone());
                Ok(())
            }
            _ if self.is_store => {
                self.file.sync_data()?;
                disk.is_in_order.store(true, Ordering::Relaxed);
                late().drain(..).try_for_each(|file| file.sync_data())
            }
            _ => self.file.sync_data(),
        }
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self.disk.sloppiness {
            Sloppiness::ReadsCache | Sloppiness::NoSyncAtOpen => {
                self.file.read_at(offset, buffer).map(Some)
            }
            Sloppiness::NoDirectorySync | Sloppiness::StoreBeforeSegment(_) => {
                self.file.read_device_at(offset, buffer)
            }
        }
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.file.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}
