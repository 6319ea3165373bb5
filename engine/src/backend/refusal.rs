//! How an append ends, if not in a receipt.

use super::error::Error;
use crate::companion::Violation;
use std::fmt;
use std::path::PathBuf;

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

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FrameBytes => "the batch",
            Self::Records => "the number of events in the batch",
            Self::IdBytes => "the id of the session",
            Self::HeaderBytes => "the header of the session",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation(violation) => write!(f, "{}: {}", violation.rule, violation.message),
            Self::Unregistered { kind } => write!(
                f,
                "nobody registered the type \"{kind}\": register it, or mark the event ignorable"
            ),
            Self::Unsupported { what } => write!(f, "the store has no place for {what}"),
            Self::Malformed { what } | Self::Internal { what } => f.write_str(what),
            Self::Empty => f.write_str("the batch has no event"),
            Self::TooLarge { what, bytes, limit } => write!(
                f,
                "{what} is {bytes}, over the limit of {limit}: keep large payloads elsewhere, and \
                 cite them"
            ),
            Self::WrongSeq { expected, actual } => {
                write!(
                    f,
                    "the session is at seq {actual}, not at {expected}: read on, and decide anew"
                )
            }
            Self::KeyReused => f.write_str("the idempotency key was used for other events"),
            Self::NoSession => f.write_str("there is no such session"),
            Self::Exists => f.write_str("there is such a session already"),
            Self::Deleted => f.write_str("the session was deleted"),
            Self::Reentrant => {
                f.write_str("session append cannot reenter while another append is being published")
            }
            Self::Busy => f.write_str("the session's gate was not free in time: try again"),
            Self::Full => f.write_str("the session or the store can take no further event"),
            Self::Stale => f.write_str("the session is no longer live: open it anew"),
            Self::Poisoned => f.write_str("a sync failed before: reopen the store"),
            Self::ReadOnly => f.write_str("the session can only be read"),
            Self::ForeignWrite { path } => {
                write!(f, "{}: somebody else wrote to it: open the session anew", path.display())
            }
            Self::GenerationMoved { path } => {
                write!(f, "{}: a newer generation of the session is there", path.display())
            }
            Self::Damaged { what } => write!(f, "the session's log is damaged: {what}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// How an append ended, if not in a [`Commit`](super::batch::Commit).
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

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "refused: {refusal}"),
            Self::NotWritten(error) => write!(f, "not written: {error}"),
            Self::Unknown(error) => {
                write!(f, "written or not, a reopen of the store will tell: {error}")
            }
            Self::Rewound { next_seq } => write!(
                f,
                "events that were accepted and not yet synced are gone, and nothing was appended: \
                 the session is at seq {next_seq}"
            ),
        }
    }
}

impl std::error::Error for AppendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::NotWritten(error) | Self::Unknown(error) => Some(error),
            Self::Rewound { .. } => None,
        }
    }
}
