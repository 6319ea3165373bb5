//! The writing half of the disk: what a log needs to be durable, and no more.
//!
//! A reader is given a [`Storage`] and so cannot write. A writer is given a [`Volume`], which is a
//! storage and can create, write, sync, rename, remove and lock. Each promise that a platform
//! keeps in another way has a method of its own, so that a simulated disk can play each of them.
//!
//! Nothing here is durable before the sync that covers it has returned: bytes before
//! [`WriteFile::sync_data`], names before [`Volume::sync_dir`]. After a sync that failed nobody
//! knows what is on the device: the pages may be clean, and a second sync may say that all is well.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{File, Storage};

/// How [`Volume::open_write`] treats a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Create {
    /// The file must be there.
    Existing,
    /// The file must not be there, and is made empty, readable by its owner only.
    New,
    /// The file is opened, and made if it is not there.
    Either,
}

/// A file that is open for reading and writing.
pub trait WriteFile: File {
    /// Writes bytes at `offset` and returns how many, which may be fewer than given.
    ///
    /// # Errors
    ///
    /// What the system says; never `Interrupted`.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file to so many bytes, or grows it with a hole.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Makes bytes and size durable, as `fdatasync` does.
    ///
    /// # Errors
    ///
    /// What the system says. After an error nothing is known of what was written since the last
    /// sync that returned.
    fn sync_data(&self) -> io::Result<()>;

    /// Reads from the device and not from the cache: `Some` as [`File::read_at`], `None` where this
    /// file system has no such read. `offset` and the length of `buffer` are multiples of 4,096.
    ///
    /// # Errors
    ///
    /// What the system says; never `Interrupted`.
    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>>;

    /// Takes an exclusive lock on this file if nobody has one, and says whether it did. The lock
    /// is the open file's: it ends with [`WriteFile::unlock`].
    ///
    /// # Errors
    ///
    /// What the system says; a lock that another has is no error.
    fn try_lock(&self) -> io::Result<bool>;

    /// Gives the lock back. Dropping the file is not enough: a child that was being spawned may
    /// hold a copy of its descriptor.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn unlock(&self) -> io::Result<()>;
}

/// A lock on a directory.
pub trait DirLock: Send + Sync {
    /// Gives the lock back.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn unlock(&self) -> io::Result<()>;
}

/// What [`Volume::try_lock_dir`] answers.
pub enum DirLocked {
    /// The lock is ours.
    Ours(Box<dyn DirLock>),
    /// Another process, or another opening of this one, has it.
    Taken,
    /// Directories cannot be locked here.
    Unsupported,
}

/// A file system, for reading and writing.
pub trait Volume: Storage {
    /// Opens a regular file for reading and writing.
    ///
    /// # Errors
    ///
    /// `NotFound` for [`Create::Existing`] without a file, `AlreadyExists` for [`Create::New`]
    /// with one; otherwise as [`Storage::open`].
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>>;

    /// Makes a directory, readable by its owner only. The name is not durable before its parent is
    /// synced.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where the name is taken; otherwise what the system says.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name in the same file system, replacing what has that name.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name, and never replaces one.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where the name is taken; otherwise what the system says.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes the name of a file.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes an exclusive lock on a directory if nobody has one.
    ///
    /// # Errors
    ///
    /// What the system says; a lock that another has is no error.
    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked>;

    /// Returns how many names a file has.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn link_count(&self, path: &Path) -> io::Result<u64>;

    /// Returns the name of the network file system that a path lies on, or nothing for a local one
    /// and where nobody can say.
    fn network_name(&self, path: &Path) -> Option<String>;
}
