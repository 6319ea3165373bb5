//! The segment that takes frames, as far as their order is concerned; and its extent.

use super::segment_header::SegmentHeader;
use super::sessions::Shares;

/// The segment that takes frames now, as far as the order of frames is concerned.
#[derive(Clone)]
pub(crate) struct Segment {
    /// Random identity of this life of the file.
    pub(crate) id: u64,
    /// Lsn of its first frame, which is its name.
    pub(crate) first_lsn: u64,
    /// Size of the file in bytes.
    pub(crate) bytes: u64,
    /// Offset of the table that its last frame is; 0 while the last frame is another.
    pub(crate) table_offset: u64,
    /// It takes no more frames: a new one begins before the next.
    pub(crate) is_ended: bool,
    /// What each session has in it.
    pub(crate) shares: Shares,
}

impl Segment {
    /// Makes the state of a segment that was just begun.
    pub(crate) fn of(header: &SegmentHeader) -> Self {
        Self {
            id: header.segment_id,
            first_lsn: header.first_lsn,
            bytes: header.segment_bytes,
            table_offset: 0,
            is_ended: false,
            shares: Shares::default(),
        }
    }
}

/// A segment as its readers need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Random identity of this life of the file.
    pub(crate) segment_id: u64,
    /// Frames end here, as far as the kernel took them.
    pub(crate) end: u64,
}
