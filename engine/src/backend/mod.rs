//! The contract between the session layer and where batches are kept, in parts.
//!
//! A [`Backend`] keeps streams of batches; it knows no gate, no rule and no event type. The session
//! layer drives it and holds a session's gate while a batch of that session is on its way, so a
//! backend sees at most one batch of a session at a time, `Buffered` ones that were accepted apart.
//! Two backends exist: the native log, and the host's own session files. They cannot promise the
//! same; each says in [`Parts`] what it keeps, and refuses the rest by name.

mod error;
mod refusal;
mod parts;
mod batch;

pub use batch::{Batch, Commit, Durability, Key, Row};
pub use error::{Error, ErrorKind};
pub use parts::{AfterFailedWrite, Keys, OneWriter, Parts};
pub use refusal::{AppendError, Limited, Refusal};

use crate::rules::SessionHeader;
use std::ops::ControlFlow;

/// What a store knows of a session without folding it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// The id.
    pub id: String,
    /// The header.
    pub header: SessionHeader,
    /// Seq of the next event.
    pub next_seq: u64,
    /// Time of the last event, in milliseconds since 1970; 0 without one.
    pub last_time_ms: u64,
    /// Epoch of the writer that made its last batch; none where the store has no epochs.
    pub last_epoch: Option<u32>,
    /// How many of its last events no witness vouches for.
    pub unconfirmed: u64,
}

/// One stored event, borrowed from the batch that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored<'a> {
    /// Place in the session.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// The type.
    pub kind: &'a str,
    /// The payload, as JSON text.
    pub data: &'a [u8],
    /// The `sourceEventSeqs`, as JSON text.
    pub sources: Option<&'a [u8]>,
    /// The `surfaceOp`, as JSON text.
    pub surface: Option<&'a [u8]>,
    /// A reader that does not know the type may skip the event.
    pub ignorable: bool,
    /// Place of its frame in the store, where there is one.
    pub lsn: Option<u64>,
    /// Seq of the first event of its batch; its own where batches leave no trace.
    pub batch_first_seq: u64,
    /// The batch's idempotency key.
    pub key: Option<Key>,
    /// The store vouches that the event is durable.
    pub confirmed: bool,
}

/// Takes stored events in order, and may stop.
pub type Take<'a> = dyn FnMut(&Stored<'_>) -> ControlFlow<()> + 'a;

/// Is told how a submitted batch ended, exactly once, on a thread of the backend's choice.
pub type Done = Box<dyn FnOnce(Result<Commit, AppendError>) + Send>;

/// The rules in force, as the log records them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRules {
    /// The profile.
    pub profile: String,
    /// Version of the rule set.
    pub version: u32,
    /// Each type with its owner, and whether it stands on the surface.
    pub types: Vec<(String, String, bool)>,
}

/// Where batches are kept.
pub trait Backend: Send + Sync {
    /// Returns which promises are kept.
    fn parts(&self) -> Parts;

    /// Returns the number of this write-open of the store, greater than that of any before.
    fn epoch(&self) -> u32;

    /// Returns every session, in the order of their ids.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    fn sessions(&self) -> Result<Vec<SessionInfo>, Error>;

    /// Returns one session, or nothing if there is none.
    ///
    /// # Errors
    ///
    /// What cannot be read; [`ErrorKind::Deleted`].
    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error>;

    /// Hands the events of a session from a seq on to `take`, in order, what was accepted and not
    /// yet written included.
    ///
    /// # Errors
    ///
    /// What cannot be read, or [`ErrorKind::NoSession`].
    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error>;

    /// Creates a session with its first batch, whole or not at all.
    ///
    /// # Errors
    ///
    /// How it ended otherwise.
    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError>;

    /// Appends a batch to a session and returns when it has reached its class. The caller's thread
    /// writes and syncs the group if nobody else does.
    ///
    /// # Errors
    ///
    /// How it ended otherwise.
    fn append(&self, id: &str, batch: Batch, durability: Durability)
    -> Result<Commit, AppendError>;

    /// As [`Backend::append`], but returns at once; a thread of the backend writes and syncs.
    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done);

    /// Raises what was committed to a class: returns when everything of the session so far has
    /// reached it.
    ///
    /// # Errors
    ///
    /// [`AppendError::Unknown`] if the sync failed; [`AppendError::Rewound`] if some of it is gone,
    /// for as long as [`Backend::take_rewound`] did not tell.
    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError>;

    /// Returns the seq to which a session was rewound since this was last asked, if it was.
    fn take_rewound(&self, id: &str) -> Option<u64>;

    /// Records the rules in force, if they are not those last recorded.
    ///
    /// # Errors
    ///
    /// How it ended otherwise.
    fn record_rules(&self, rules: &RecordedRules) -> Result<(), AppendError>;

    /// Returns why nothing can be written any more, if so.
    fn poisoned(&self) -> Option<String>;

    /// Opens the store anew after it was poisoned, under the same lock: a new epoch.
    ///
    /// # Errors
    ///
    /// As opening it.
    fn reopen(&self) -> Result<(), Error>;

    /// Writes and syncs what was accepted, says that the stop was clean, and gives the lock back.
    ///
    /// # Errors
    ///
    /// What failed; the lock is given back all the same.
    fn close(&self) -> Result<(), Error>;
}
