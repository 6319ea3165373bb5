//! What an append asks for, and what becomes of it.

use super::sheet::Sheet;
use crate::backend::{Batch, Commit, Durability, Key};
use crate::rules::Draft;
use std::sync::Arc;

/// One append, as it was called.
pub(crate) struct Request {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) durability: Durability,
    pub(crate) key: Option<Key>,
    /// The seq that the caller expects to be next.
    pub(crate) expected: Option<u64>,
}

impl Request {
    pub(crate) fn new(drafts: impl IntoIterator<Item = Draft>, durability: Durability) -> Self {
        let drafts = drafts.into_iter().collect();
        Self { drafts, durability, key: None, expected: None }
    }

    pub(crate) fn keyed(mut self, key: Option<Key>) -> Self {
        self.key = key;
        self
    }

    pub(crate) fn expecting(mut self, next_seq: u64) -> Self {
        self.expected = Some(next_seq);
        self
    }
}

/// What is to be done for a request.
pub(crate) enum Plan {
    /// It was made before; this is its receipt.
    Repeated(Commit),
    /// It goes to the backend.
    Fresh(Planned),
}

/// A batch that was stamped and admitted.
pub(crate) struct Planned {
    pub(crate) batch: Arc<Batch>,
    pub(crate) sheet: Sheet,
    pub(crate) durability: Durability,
}
