//! How a store of session files is opened.

pub use crate::dsh::name::Encoding;

/// How long an event may stay buffered, at most, in milliseconds.
pub(super) const BUFFER_MS_MAX: u64 = 1_000;

/// What [`super::SessionFiles::open`] has to be told.
///
/// There is no default: the format is a decision, since hosts of different formats do not see each
/// other's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesConfig {
    /// The host format whose logs are read and written. Only 0 is written yet.
    pub format: u32,
    /// How logs lie on the disk. One root holds one encoding; [`Encoding::Zstd`] is the host's own
    /// choice.
    pub encoding: Encoding,
    /// Whether sessions are created and continued although nothing in the format keeps a second
    /// writer out. Without it the store of format 0 is for reading.
    ///
    /// A host of format 0 takes no lock and sees none. While it runs, it holds its sessions in
    /// memory and appends from its own cursor: **if we append to a session that a host has open,
    /// the host's next write forks the log**, two events claim one seq, and no reader opens it
    /// again. Set this only where no host of format 0 has a session of this root open. What it
    /// wrote *before* we write is noticed ([`crate::backend::Refusal::ForeignWrite`]); what it
    /// writes after is not, until our next write.
    pub allow_unlocked: bool,
    /// How long an event that was accepted as `Buffered` may wait for its sync, in milliseconds.
    /// Default of [`FilesConfig::new`] 200, as the host waits; from 1 to 1,000.
    pub buffer_ms_max: u64,
}

impl FilesConfig {
    /// Makes a configuration for logs of a format in the host's usual encoding, which cannot write
    /// where the format has no lock.
    pub fn new(format: u32) -> Self {
        Self { format, encoding: Encoding::Zstd, allow_unlocked: false, buffer_ms_max: 200 }
    }
}
