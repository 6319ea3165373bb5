//! What was done to files, counted by name.

use std::ops::AddAssign;

/// How often something was done, and with how many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls of `write_at` that did not fail.
    pub writes: u64,
    /// Bytes that they took.
    pub bytes_written: u64,
    /// Calls of `read_at`.
    pub reads: u64,
    /// Bytes that they gave.
    pub bytes_read: u64,
    /// Calls of `read_device_at`.
    pub device_reads: u64,
    /// Bytes that they gave.
    pub device_bytes_read: u64,
    /// Calls of `sync_data`, failed ones among them.
    pub syncs: u64,
    /// Calls of `sync_dir`, failed ones among them; they count for the directory.
    pub dir_syncs: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.writes += other.writes;
        self.bytes_written += other.bytes_written;
        self.reads += other.reads;
        self.bytes_read += other.bytes_read;
        self.device_reads += other.device_reads;
        self.device_bytes_read += other.device_bytes_read;
        self.syncs += other.syncs;
        self.dir_syncs += other.dir_syncs;
    }
}
