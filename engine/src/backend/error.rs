//! What could not be done: the trouble, the place, the source.

use crate::machine::Holder;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What kind of trouble an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system failed to read or write.
    Io,
    /// There is no room.
    NoSpace,
    /// Another process, or another opening of this one, writes the store.
    Locked,
    /// What is stored contradicts what was acknowledged.
    Corrupt,
    /// A newer version than this program knows; nothing is damaged.
    Unsupported,
    /// There is no store here.
    NotAStore,
    /// The directory lies on a network file system.
    NetworkFileSystem,
    /// A sync failed; the store must be reopened.
    Poisoned,
    /// The store is open for reading only.
    ReadOnly,
    /// An argument is out of its range.
    Config,
    /// There is no such session.
    NoSession,
    /// The session was deleted.
    Deleted,
    /// Files changed under a reader too often.
    Busy,
}

/// Something could not be done: what, where, and why.
#[derive(Debug)]
pub struct Error {
    /// What kind of trouble it is, for programs.
    pub kind: ErrorKind,
    /// What happened and what to do next, in lower case.
    pub message: String,
    /// The file or directory.
    pub path: Option<PathBuf>,
    /// Where in it, in bytes.
    pub offset: Option<u64>,
    /// The rule that says that it is corrupt, such as `segment/missing`.
    pub rule: Option<&'static str>,
    /// Who holds the lock.
    pub holder: Option<Holder>,
    /// What the system said.
    pub source: Option<io::Error>,
}

impl Error {
    /// Makes an error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        let (path, offset, rule, holder, source) = (None, None, None, None, None);
        Self { kind, message, path, offset, rule, holder, source }
    }

    /// Makes an error of what the system said about a path.
    pub fn io(path: impl Into<PathBuf>, doing: &str, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::NoSpace,
            _ => ErrorKind::Io,
        };
        let mut error = Self::new(kind, format!("{doing}: {source}")).at(path, None);
        error.source = Some(source);
        error
    }

    /// Makes an error of content that contradicts what was acknowledged.
    pub fn corrupt(rule: &'static str, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Corrupt, message);
        error.rule = Some(rule);
        error
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>, offset: Option<u64>) -> Self {
        self.path = Some(path.into());
        self.offset = offset;
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}", path.display())?;
            if let Some(offset) = self.offset {
                write!(f, " at byte {offset}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
