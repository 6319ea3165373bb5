//! The one module that touches the file system, behind two small traits.
//!
//! Everything else of the engine is given a [`Storage`] and reads through it, so that it runs on
//! [`Memory`] as well as on [`Disk`]. Whoever reads a log drives: it opens a [`File`] once and
//! reads it by offset, in any order and from any thread. A storage keeps no position, caches
//! nothing and maps nothing: a file that another process truncates gives a short read, never a
//! signal.
//!
//! Only regular files are opened. A FIFO, a socket or a device is refused before it can block.

mod disk;
mod memory;
pub mod sim;
mod volume;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use disk::Disk;
pub use memory::{Change, Memory, Operation};
pub use sim::{Sim, SimDisk};
pub use volume::{Create, DirLock, DirLocked, Volume, WriteFile};

/// What a path names, as far as a reader of logs cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A file with bytes.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link; only [`Storage::list`] says so, since [`Storage::stat`] follows it.
    Symlink,
    /// A FIFO, a socket, a device: nothing that holds a log.
    Other,
}

/// Which file it is, whatever it is called. Both numbers are 0 where the system has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    /// Number of the device.
    pub device: u64,
    /// Number of the file on its device.
    pub inode: u64,
}

/// What the system says of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Size in bytes.
    pub bytes: u64,
    /// Which file it is.
    pub identity: FileId,
    /// Time of the last change of content, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Time of the last change of content or of what is said here, in nanoseconds since 1970.
    pub changed_ns: i64,
    /// What it is; never [`Kind::Symlink`].
    pub kind: Kind,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, which need not be text.
    pub name: OsString,
    /// What it names, a link not followed.
    pub kind: Kind,
}

/// A file that is open for reading.
pub trait File: Send + Sync {
    /// Reads bytes from `offset` on and returns how many; 0 is the end of the file at this moment.
    ///
    /// # Errors
    ///
    /// What the system says; never `Interrupted`.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Returns what the system says of this file now, even if its name is gone.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn stat(&self) -> io::Result<Stat>;
}

/// A file system, for reading.
pub trait Storage: Send + Sync {
    /// Opens a regular file, following links, without ever waiting for another process.
    ///
    /// # Errors
    ///
    /// `IsADirectory` for a directory, `InvalidInput` ("not a regular file") for what is neither;
    /// otherwise what the system says.
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>>;

    /// Returns every name in a directory but `.` and `..`, sorted by its bytes: the order in which
    /// the host sees them.
    ///
    /// # Errors
    ///
    /// What the system says; a directory that can be read in part only is an error.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;

    /// Returns what the system says of the file behind a path, following links.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Returns the absolute path without links that names the same file, as `realpath` does.
    ///
    /// # Errors
    ///
    /// What the system says; a path that names nothing is `NotFound`.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns whether any process holds a lock on a file, taking none; `None` where nobody can
    /// say. Locks of processes that this one may not see are not seen.
    fn lock_holders(&self, file: FileId) -> Option<bool>;
}

/// Refuses what is no regular file, before it is opened and again after.
fn refuse_unless_regular(kind: Kind) -> io::Result<()> {
    match kind {
        Kind::Regular => Ok(()),
        Kind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        Kind::Symlink | Kind::Other => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
        }
    }
}

/// Puts a listing into the order of the names' bytes.
fn sort(entries: &mut [Entry]) {
    entries.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
}
