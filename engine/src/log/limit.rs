//! Every limit of the format, with its unit.

/// Groups start on multiples of this many bytes and are written as whole pages of it.
pub(crate) const GROUP_ALIGN: u64 = 4096;

/// Bytes of a segment's header.
pub(crate) const SEGMENT_HEADER_BYTES: u64 = 4096;

/// Bytes of a frame's header.
pub(crate) const FRAME_HEADER_BYTES: usize = 112;

/// Frames lie on multiples of this many bytes.
pub(crate) const FRAME_ALIGN: u64 = 8;

/// The smallest segment, in bytes.
pub(crate) const SEGMENT_BYTES_MIN: u64 = 16 << 10;

/// The largest segment, in bytes.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 1 << 30;

/// The largest segment of a store that was not told otherwise, in bytes.
pub(crate) const SEGMENT_BYTES_DEFAULT: u64 = 64 << 20;

/// The first segment of a store, in bytes; each later one has twice the last's, up to the largest.
pub(crate) const FIRST_SEGMENT_BYTES: u64 = 1 << 20;

/// The largest frame of a store that was not told otherwise, in bytes.
pub(crate) const FRAME_BYTES_DEFAULT_MAX: u64 = 16 << 20;

/// The largest frame of any store, in bytes: header, body and padding.
pub(crate) const FRAME_BYTES_MAX: u64 = 256 << 20;

/// The largest body of any frame, in bytes.
pub(crate) const BODY_BYTES_MAX: u32 = FRAME_BYTES_MAX as u32 - FRAME_HEADER_BYTES as u32;

/// The most records of a batch.
pub(crate) const RECORDS_MAX: u32 = 65_536;

/// The longest session id, in bytes of UTF-8.
pub(crate) const ID_BYTES_MAX: usize = 1024;

/// The longest header of a session, in bytes.
pub(crate) const HEADER_BYTES_MAX: usize = 1 << 20;

/// The greatest seq; also the latest time, in milliseconds since 1970.
pub(crate) const SEQ_MAX: u64 = (1 << 53) - 1;

/// The greatest lsn; the least is 1.
pub(crate) const LSN_MAX: u64 = (1 << 63) - 1;

/// A group with this many bytes takes no more frames.
pub(crate) const GROUP_BYTES_MAX: u64 = 4 << 20;

/// A group with this many frames takes no more.
pub(crate) const GROUP_FRAMES_MAX: usize = 4096;

/// The most types that a frame of rules names.
pub(crate) const RULES_TYPES_MAX: u32 = 65_536;

/// Forks of forks up to this depth refer to their parent; deeper ones are copied.
pub(crate) const FORK_DEPTH_MAX: u32 = 32;

/// Returns the largest frame of a store whose largest segment has `segment_bytes`, in bytes, unless
/// it was told otherwise.
pub(crate) fn frame_bytes_max(segment_bytes: u64) -> u64 {
    FRAME_BYTES_DEFAULT_MAX.min(segment_bytes / 4)
}
