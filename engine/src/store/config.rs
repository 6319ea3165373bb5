//! What the session layer can be told.

use std::time::Duration;

/// Events in a batch, at most, whatever the configuration says.
pub const RECORDS_MAX: usize = 65_536;

/// Bytes of a session id, at most.
pub const ID_BYTES_MAX: usize = 1_024;

/// Idempotency keys of a session that [`append_keyed`](super::Session::append_keyed) remembers.
pub const KEYS_REMEMBERED: usize = 1_024;

/// Greatest seq and greatest time: the greatest integer that a double has exactly.
pub(crate) const SAFE_MAX: u64 = (1 << 53) - 1;

/// How a store's gates behave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreConfig {
    /// How long a thread or a future waits for a gate before it is refused as
    /// [`Busy`](crate::backend::Refusal::Busy), in milliseconds. Default 30,000; with 0 nobody
    /// waits. A future may wait for an eighth longer.
    pub gate_wait_ms_max: u64,
    /// Events in a batch, at most. Default and greatest 65,536; at least 1.
    pub records_max: usize,
    /// Bytes of the texts of a batch, at most; a batch beyond is refused before any rule sees it.
    /// Default 16 MiB. The backend has the last word on the bytes of a frame.
    pub batch_bytes_max: u64,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { gate_wait_ms_max: 30_000, records_max: RECORDS_MAX, batch_bytes_max: 16 << 20 }
    }
}

impl StoreConfig {
    /// Returns how long a gate is waited for.
    pub(crate) fn gate_wait(&self) -> Duration {
        Duration::from_millis(self.gate_wait_ms_max)
    }

    /// Returns how many events a batch may have.
    pub(crate) fn records_max(&self) -> usize {
        self.records_max.clamp(1, RECORDS_MAX)
    }
}
