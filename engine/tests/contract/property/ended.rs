//! How a step ended.

use gatelog_engine::backend::{AppendError, Refusal};

/// How a step on one session ended.
pub(super) enum Ended {
    Done,
    Refused(Refusal),
    NotWritten,
    Unknown,
    Rewound(u64),
}

impl Ended {
    pub(super) fn of<T>(result: Result<T, AppendError>) -> (Self, Option<T>) {
        match result {
            Ok(done) => (Self::Done, Some(done)),
            Err(AppendError::Refused(refusal)) => (Self::Refused(refusal), None),
            Err(AppendError::NotWritten(_)) => (Self::NotWritten, None),
            Err(AppendError::Unknown(_)) => (Self::Unknown, None),
            Err(AppendError::Rewound { next_seq }) => (Self::Rewound(next_seq), None),
        }
    }
}
