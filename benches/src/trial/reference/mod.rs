//! A second reader of stores, slow and obvious, written from `docs/format.md` and nothing else.
//!
//! It shares no line with the engine, so that where the two agree the document says what the code
//! does. It takes a directory as names and bytes, reads all of it at once, and says what the
//! document says of it: the verdict and the row that gave it, W and its witness, where the log
//! ends, the frames, and the events of every session.
//!
//! It does not read sealed segments and forks, which nothing writes yet.

mod bytes;
mod frame;
mod header;
mod session;
mod table;
mod walk;
mod witness;

pub use session::{Event, Session};
pub use table::{Depth, read};
pub use walk::Place;

use gatelog_engine::storage::{Kind, Storage};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The regular files of a store's directory.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What the table says of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// There is no store yet.
    #[default]
    New,
    /// The log ends where its writer ended it.
    Clean,
    /// Something that no witness vouches for lies behind its end.
    Torn,
    /// What is there contradicts what was synced; the finding's name.
    Corrupt(&'static str),
    /// A newer version, or a sealed segment, which this reader cannot read.
    Unsupported,
}

/// Where the log ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Name of the last segment.
    pub segment: u64,
    /// The first byte behind its last frame.
    pub offset: u64,
    /// The last lsn of the store; 0 if it has no frame.
    pub lsn: u64,
    /// The digest of that frame.
    pub digest: [u8; 16],
}

/// What the header of a segment says of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Name of the segment.
    pub segment: u64,
    /// Why it was begun.
    pub begin: u64,
    /// Where the one before ends.
    pub prev_end_offset: u64,
    /// The last lsn before.
    pub prev_last_lsn: u64,
}

/// Everything the document says of a directory.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The verdict.
    pub verdict: Verdict,
    /// The row of the table that decided.
    pub row: &'static str,
    /// The notes of other rows, in the order in which they were met.
    pub notes: Vec<&'static str>,
    /// The greatest lsn that a witness states.
    pub w: u64,
    /// Which witness that is, in words.
    pub witness: String,
    /// Where the log ends, if that was looked at.
    pub end: Option<End>,
    /// How the last segment began, if it has a header.
    pub beginning: Option<Beginning>,
    /// Every frame that is shown, by lsn.
    pub frames: Vec<Place>,
    /// What those frames make of each session, by its id.
    pub sessions: BTreeMap<String, Session>,
}

impl Reading {
    /// Returns whether a frame lies above W, where no witness vouches for it.
    pub fn is_unconfirmed(&self, lsn: u64) -> bool {
        lsn > self.w
    }
}

/// Reads every regular file of a directory; one that is not there has none.
///
/// # Errors
///
/// What the storage says.
pub fn load(storage: &dyn Storage, dir: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    let listed = match storage.list(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        listed => listed?,
    };
    for entry in listed.iter().filter(|entry| entry.kind == Kind::Regular) {
        let Some(name) = entry.name.to_str() else { continue };
        let file = storage.open(&dir.join(name))?;
        let mut bytes = vec![0; file.stat()?.bytes as usize];
        let mut at = 0;
        while at < bytes.len() {
            match file.read_at(at as u64, &mut bytes[at..])? {
                0 => bytes.truncate(at),
                count => at += count,
            }
        }
        files.insert(name.to_owned(), bytes);
    }
    Ok(files)
}
