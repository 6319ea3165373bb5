//! What has been seen of a root so far: for what can only be said of all of it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::Discovery;
use super::tally::Tally;
use crate::dsh::name::Encoding;
use crate::storage::Storage;

/// A root, or the part of one that was named, while it is read.
pub(super) struct Scan<'a> {
    pub(super) storage: &'a dyn Storage,
    pub(super) discovery: Discovery,
    pub(super) zstd: Artifacts,
    pub(super) plain: Artifacts,
    /// Flat files: a log directly in a project folder.
    pub(super) flat: Artifacts,
    /// Session folders that hold a log.
    pub(super) sessions: Vec<SessionName>,
    pub(super) blockers: Vec<Blocker>,
    /// What the host has no eye for and that is no log's.
    pub(super) other: Tally,
}

/// Files of one sort; the host stops at the first one.
#[derive(Debug, Default)]
pub(super) struct Artifacts {
    pub(super) count: u64,
    /// Those of format 0, for which alone the host of format 0 looks.
    pub(super) count_v0: u64,
    /// The first one, as the host names it.
    pub(super) first: Option<PathBuf>,
}

/// A session folder by its names; ordered by the session's, which is what may occur twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SessionName {
    pub(super) session: OsString,
    pub(super) project: OsString,
    /// It holds a log of format 0.
    pub(super) has_v0: bool,
}

/// Something in a project folder that the host trips over when it looks for a session elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Blocker {
    /// Name of the session's folder.
    pub(super) session: OsString,
    /// What lies in the way, as the host names it.
    pub(super) path: PathBuf,
    pub(super) obstacle: Obstacle,
}

/// How something lies in the way of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Obstacle {
    /// It has the name of the session's folder and is no folder.
    NotFolder,
    /// It has the name of the session's folder and is a link that leads nowhere near one.
    BadLink,
    /// It has the name of the session's flat file, and opens.
    FlatPlace,
}

impl<'a> Scan<'a> {
    pub(super) fn new(storage: &'a dyn Storage, discovery: Discovery) -> Self {
        Self {
            storage,
            discovery,
            zstd: Artifacts::default(),
            plain: Artifacts::default(),
            flat: Artifacts::default(),
            sessions: Vec::new(),
            blockers: Vec::new(),
            other: Tally::default(),
        }
    }

    pub(super) fn of(&mut self, encoding: Encoding) -> &mut Artifacts {
        match encoding {
            Encoding::Zstd => &mut self.zstd,
            Encoding::Plain => &mut self.plain,
        }
    }

    pub(super) fn block(&mut self, session: &OsStr, path: PathBuf, obstacle: Obstacle) {
        self.blockers.push(Blocker { session: session.to_owned(), path, obstacle });
    }
}

impl Artifacts {
    pub(super) fn add(&mut self, path: PathBuf, is_v0: bool) {
        self.count += 1;
        self.count_v0 += u64::from(is_v0);
        self.first.get_or_insert(path);
    }
}
