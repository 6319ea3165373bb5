//! The contract between the session layer and where batches are kept, in parts.
//!
//! A [`Backend`] keeps streams of batches; it knows no gate, no rule and no event type. The session
//! layer drives it and holds a session's gate while a batch of that session is on its way, so a
//! backend sees at most one batch of a session at a time, `Buffered` ones that were accepted apart.
//! Two backends exist: the native log, and the host's own session files. They cannot promise the
//! same; each says in [`Parts`] what it keeps, and refuses the rest by name.

use crate::companion::Violation;
use crate::machine::Holder;
use crate::rules::{Draft, SessionHeader};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// What an acknowledgement means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// It is in the group's buffer, survives nothing, and is synced within a second.
    Buffered,
    /// The kernel took its whole group; survives the death of the process.
    Written,
    /// The sync that covers it returned; survives power loss.
    #[default]
    Synced,
}

/// An idempotency key: whoever repeats an append gives the same one.
pub type Key = [u8; 16];

/// An event as it is written: a draft with its time. Its seq is its place in the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Milliseconds since 1970, stamped under the gate.
    pub time_ms: u64,
    /// The draft.
    pub draft: Draft,
}

/// What one append writes: whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Seq of the first row.
    pub first_seq: u64,
    /// The idempotency key.
    pub key: Option<Key>,
    /// The rows, in order; none only in the batch that creates a session.
    pub rows: Vec<Row>,
}

/// The receipt of a batch that reached its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Place of its frame in the store; none where the store has no order across sessions.
    pub lsn: Option<u64>,
    /// Seq of its first event.
    pub first_seq: u64,
    /// How many events.
    pub events: u64,
    /// The class that was reached.
    pub durability: Durability,
}

/// Whether a store keeps a promise, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// With every append.
    Always,
    /// With an append that expects a seq only, by comparing drafts.
    WithExpectedSeq,
}

/// What a failed write leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterFailedWrite {
    /// The log goes on in a new segment.
    NewSegment,
    /// The file is cut back to where it was.
    CutBack,
}

/// How one writer among processes is made sure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OneWriter {
    /// A lock; a second writer is refused.
    Locked,
    /// Nothing in the format prevents a second writer; a foreign write is detected before ours.
    Detected,
}

/// The promises of a store, one field each; the contract suite runs the parts that are kept and
/// checks that the others are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a promise of its own")]
pub struct Parts {
    /// How a second writer is kept out.
    pub one_writer: OneWriter,
    /// Damage that was acknowledged is told from a torn end.
    pub tells_torn_from_rot: bool,
    /// Commits have an lsn, which orders them across sessions.
    pub order_across_sessions: bool,
    /// Where idempotency keys are honoured.
    pub keys: Keys,
    /// What a failed write leaves.
    pub after_failed_write: AfterFailedWrite,
    /// Types beyond the format's own are recorded, by a frame of rules.
    pub records_rules: bool,
    /// A newer generation of a session can appear beside the one that is written.
    pub generations: bool,
}

/// Which limit an append is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limited {
    /// Bytes of a whole batch as one frame.
    FrameBytes,
    /// Events in a batch.
    Records,
    /// Bytes of a session id.
    IdBytes,
    /// Bytes of a session header.
    HeaderBytes,
}

/// Why an append was refused: nothing changed, and no seq was used.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// A rule speaks against it.
    Violation(Violation),
    /// Nobody registered the type, and the draft is not ignorable.
    Unregistered {
        /// The type.
        kind: String,
    },
    /// The store's format has no place for the type, the placement or the value.
    Unsupported {
        /// What it has no place for.
        what: String,
    },
    /// A draft is no JSON, or none that the format can keep.
    Malformed {
        /// What is wrong.
        what: String,
    },
    /// The batch has no event.
    Empty,
    /// A payload this large belongs into an attachment store, with a reference in the log.
    TooLarge {
        /// What is too large.
        what: Limited,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The session is at another seq than the caller expects.
    WrongSeq {
        /// What the caller expects.
        expected: u64,
        /// Where the session is.
        actual: u64,
    },
    /// The key was used for other drafts.
    KeyReused,
    /// There is no such session.
    NoSession,
    /// There is such a session already.
    Exists,
    /// The session was deleted.
    Deleted,
    /// The caller holds the gate that it asks for, or runs under it.
    Reentrant,
    /// The gate was not free within `gate_wait_ms_max`.
    Busy,
    /// The seq or the lsn is at its end.
    Full,
    /// The handle is of a session that is no longer live.
    Stale,
    /// The store was poisoned before the append began.
    Poisoned,
    /// The store is open for reading, or this session can no longer be written.
    ReadOnly,
    /// Somebody else wrote the file since we last looked.
    ForeignWrite {
        /// The file.
        path: PathBuf,
    },
    /// A newer generation of the session was published beside the file.
    GenerationMoved {
        /// The newer file.
        path: PathBuf,
    },
    /// Damage lies in the part of the log that the session needs.
    Damaged {
        /// What is damaged.
        what: String,
    },
    /// A companion, an `init` or the engine itself failed; nothing was written.
    Internal {
        /// What failed.
        what: String,
    },
}

/// How an append ended, if not in a [`Commit`].
#[derive(Debug)]
pub enum AppendError {
    /// Nothing changed, and no seq was used.
    Refused(Refusal),
    /// The write failed: the batch is not in the log and never will be.
    NotWritten(Error),
    /// A sync failed, or the store was poisoned while the append waited: the batch may be there or
    /// not after a reopen. The idempotency key will tell.
    Unknown(Error),
    /// Events that were accepted and not yet synced are gone; nothing was appended. Told once.
    Rewound {
        /// Where the session is now.
        next_seq: u64,
    },
}

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
    /// [`AppendError::Unknown`] if the sync failed.
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
