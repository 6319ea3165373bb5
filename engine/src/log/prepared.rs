//! A frame on its way to the log.

use super::chain::SessionKey;
use super::encoded::Encoded;
use std::sync::Arc;

/// A frame that is encoded but for its stamp.
pub(crate) struct Prepared {
    /// The frame.
    pub(crate) encoded: Encoded,
    /// Whose it is.
    pub(crate) session: SessionKey,
    /// Id of the session, where it has one: its key may be new to the segment.
    pub(crate) id: Option<Arc<str>>,
    /// Time of its last record, in milliseconds since 1970.
    pub(crate) last_time_ms: u64,
}

impl Prepared {
    /// Makes a control frame of the store ready.
    pub(crate) fn of_store(encoded: Encoded) -> Self {
        Self { encoded, session: SessionKey::STORE, id: None, last_time_ms: 0 }
    }

    /// Returns the bytes of the whole frame.
    pub(crate) fn bytes(&self) -> u64 {
        self.encoded.frame_bytes()
    }
}
