//! How a native store is opened.

use super::canary::Canary;
use super::limit;
use crate::backend::{Error, ErrorKind};

/// How a native store is opened for writing.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// Size of a segment in bytes once the store has grown, a power of two from 16 KiB to 1 GiB.
    /// Default 64 MiB. The first segment of a store has 1 MiB or this, whichever is less, and each
    /// later one twice the last, up to this.
    pub segment_bytes: u64,
    /// Largest frame in bytes, that is a batch with its header. Default 16 MiB, at most 256 MiB;
    /// a quarter of `segment_bytes` where that is less.
    pub frame_bytes_max: u64,
    /// After how many milliseconds what was accepted and not synced is synced. Default 1,000.
    pub sync_interval_ms: u64,
    /// How many milliseconds after the last record a watermark is written. Default 50.
    pub idle_watermark_ms: u64,
    /// Write on a network file system all the same. Default false: their syncs and locks do not
    /// mean what is needed here.
    pub allow_network_fs: bool,
    /// Make the store if there is none. Default true.
    pub create: bool,
    /// Run a thread that syncs what nobody waits for, writes watermarks and makes spares. Default
    /// true. Without it [`Log::tick`](super::Log::tick) does so, and nothing happens by itself.
    pub has_housekeeper: bool,
    /// A mistake that is made on purpose; for trials only.
    #[doc(hidden)]
    pub canary: Option<Canary>,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            segment_bytes: limit::SEGMENT_BYTES_DEFAULT,
            frame_bytes_max: limit::FRAME_BYTES_DEFAULT_MAX,
            sync_interval_ms: 1_000,
            idle_watermark_ms: 50,
            allow_network_fs: false,
            create: true,
            has_housekeeper: true,
            canary: None,
        }
    }
}

impl LogConfig {
    /// Refuses what is out of its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let is_size = self.segment_bytes.is_power_of_two()
            && (limit::SEGMENT_BYTES_MIN..=limit::SEGMENT_BYTES_MAX).contains(&self.segment_bytes);
        if !is_size {
            let message = format!(
                "segment_bytes is {}; it must be a power of two from {} to {}",
                self.segment_bytes,
                limit::SEGMENT_BYTES_MIN,
                limit::SEGMENT_BYTES_MAX
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        if self.frame_bytes_max > limit::FRAME_BYTES_MAX {
            let message = format!(
                "frame_bytes_max is {}; it must not be more than {}",
                self.frame_bytes_max,
                limit::FRAME_BYTES_MAX
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(())
    }

    /// Returns the largest frame of this store, in bytes.
    pub(crate) fn frame_bytes(&self) -> u64 {
        self.frame_bytes_max.min(self.segment_bytes / 4)
    }

    /// Returns the size of the first segment of a store, in bytes.
    pub(crate) fn first_segment_bytes(&self) -> u64 {
        limit::FIRST_SEGMENT_BYTES.min(self.segment_bytes)
    }
}
