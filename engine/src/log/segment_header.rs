//! The first 4,096 bytes of a raw segment.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `GATELOG\x01` |
//! | 8 | 2+2 | format major 1, minor 0 |
//! | 12 | 4 | `header_bytes` = 4,096 |
//! | 16 | 16 | `store_id` |
//! | 32 | 8 | `segment_id` |
//! | 40 | 4+4 | epoch, `group_align` = 4,096 |
//! | 48 | 8 | `first_lsn` |
//! | 56 | 8 | `segment_bytes` |
//! | 64 | 8+8 | `prev_first_lsn`, `prev_segment_id` |
//! | 80 | 8+8 | `prev_end_offset`, `prev_last_lsn` |
//! | 96 | 16 | `prev_digest` |
//! | 112 | 8 | `durable_lsn` |
//! | 120 | 1+1+6 | begin, `digest_kind` = 1, zeros |
//! | 128 | 8+4+4 | `cut_bytes`, `cut_crc`, zeros |
//! | 144 | 8 | `created_ms` |
//! | 152 | 8 | `prev_table_offset` |
//! | 160 | 3,932 | zeros |
//! | 4,092 | 4 | CRC over [0, 4,092) |
//!
//! It is valid if and only if magic and CRC hold, the major is known, every field is in its range,
//! and the fields that speak of the segment before agree with each other. That the file has the
//! name and the size that it states, and belongs to this store, whoever reads the directory checks.
//! Magic, versions and CRC stay where they are in every major version.

use super::chain::{Digest, StoreId};
use super::crc::crc;
use super::field::{array_at, is_zero, put, put_u16, put_u32, put_u64, u16_at, u32_at, u64_at};
use super::limit::{
    FRAME_ALIGN, GROUP_ALIGN, LSN_MAX, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, SEGMENT_HEADER_BYTES,
};

/// Bytes of a header.
const BYTES: usize = SEGMENT_HEADER_BYTES as usize;

const MAGIC: [u8; 8] = *b"GATELOG\x01";

/// The format that we write, and the only one that we read.
pub(crate) const FORMAT_MAJOR: u16 = 1;

/// What we write of it; another one may give zeros a meaning that we can do without.
pub(crate) const FORMAT_MINOR: u16 = 0;

/// The chain is of BLAKE3-128 over meaning.
const DIGEST_KIND: u8 = 1;

const CRC_AT: usize = BYTES - 4;

/// Why a segment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Begin {
    /// It is the first of its store.
    First = 0,
    /// The one before was full.
    Rotated = 1,
    /// Behind the kept end of the one before lay bytes that were cut.
    TornCut = 2,
    /// A write into the one before failed.
    FailedWrite = 3,
    /// The one before ends whole, but its stop was not clean.
    Unclean = 4,
}

impl Begin {
    /// Returns the reason of a number, if there is one.
    fn of(number: u8) -> Option<Self> {
        let all = [Self::First, Self::Rotated, Self::TornCut, Self::FailedWrite, Self::Unclean];
        all.into_iter().find(|begin| *begin as u8 == number)
    }
}

/// The header of a raw segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// The store that the segment belongs to.
    pub(crate) store_id: StoreId,
    /// Random, not 0, new for each life of the file.
    pub(crate) segment_id: u64,
    /// The write-open of the store that made the segment.
    pub(crate) epoch: u32,
    /// The lsn of the first frame, which is also the file's name.
    pub(crate) first_lsn: u64,
    /// Size of the file, in bytes.
    pub(crate) segment_bytes: u64,
    /// The first lsn of the segment before; 0 for none.
    pub(crate) prev_first_lsn: u64,
    /// The id of the segment before; 0 for none.
    pub(crate) prev_segment_id: u64,
    /// The first byte behind the last frame that was kept of the segment before.
    pub(crate) prev_end_offset: u64,
    /// The lsn of the last frame before this segment; 0 for none.
    pub(crate) prev_last_lsn: u64,
    /// The digest of that frame.
    pub(crate) prev_digest: Digest,
    /// What is durable when the header is written: `prev_last_lsn`.
    pub(crate) durable_lsn: u64,
    /// Why the segment begins.
    pub(crate) begin: Begin,
    /// Bytes from `prev_end_offset` to the last one there that is not zero.
    pub(crate) cut_bytes: u64,
    /// CRC of those bytes; 0 for none.
    pub(crate) cut_crc: u32,
    /// When the segment was made, in milliseconds since 1970.
    pub(crate) created_ms: u64,
    /// Where in the segment before its last kept frame starts, if that is a `Rotate` or a `Close`
    /// and so holds the table of that segment; 0 for none.
    pub(crate) prev_table_offset: u64,
}

/// Why bytes are no segment header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentHeaderFault {
    /// Fewer than 4,096 bytes.
    Short,
    /// Not the magic.
    Magic,
    /// The CRC does not hold.
    Crc,
    /// The CRC holds, and the format is of a major version that we do not know.
    Major(u16),
    /// The CRC holds, and a field is out of its range or contradicts another.
    Field(&'static str),
}

impl SegmentHeader {
    /// Returns the bytes of the header.
    pub(crate) fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        put(&mut bytes, 0, &MAGIC);
        put_u16(&mut bytes, 8, FORMAT_MAJOR);
        put_u16(&mut bytes, 10, FORMAT_MINOR);
        put_u32(&mut bytes, 12, BYTES as u32);
        put(&mut bytes, 16, &self.store_id);
        put_u64(&mut bytes, 32, self.segment_id);
        put_u32(&mut bytes, 40, self.epoch);
        put_u32(&mut bytes, 44, GROUP_ALIGN as u32);
        put_u64(&mut bytes, 48, self.first_lsn);
        put_u64(&mut bytes, 56, self.segment_bytes);
        put_u64(&mut bytes, 64, self.prev_first_lsn);
        put_u64(&mut bytes, 72, self.prev_segment_id);
        put_u64(&mut bytes, 80, self.prev_end_offset);
        put_u64(&mut bytes, 88, self.prev_last_lsn);
        put(&mut bytes, 96, &self.prev_digest.0);
        put_u64(&mut bytes, 112, self.durable_lsn);
        put(&mut bytes, 120, &[self.begin as u8, DIGEST_KIND]);
        put_u64(&mut bytes, 128, self.cut_bytes);
        put_u32(&mut bytes, 136, self.cut_crc);
        put_u64(&mut bytes, 144, self.created_ms);
        put_u64(&mut bytes, 152, self.prev_table_offset);
        let sum = crc(&bytes[..CRC_AT]);
        put_u32(&mut bytes, CRC_AT, sum);
        bytes
    }

    /// Makes a header usable: reads the first 4,096 of some bytes and judges them.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SegmentHeaderFault> {
        let bytes: &[u8; BYTES] = bytes.first_chunk().ok_or(SegmentHeaderFault::Short)?;
        if bytes[..8] != MAGIC {
            return Err(SegmentHeaderFault::Magic);
        }
        if u32_at(bytes, CRC_AT) != crc(&bytes[..CRC_AT]) {
            return Err(SegmentHeaderFault::Crc);
        }
        if u16_at(bytes, 8) != FORMAT_MAJOR {
            return Err(SegmentHeaderFault::Major(u16_at(bytes, 8)));
        }
        constants(bytes).map_err(SegmentHeaderFault::Field)?;
        let header = Self {
            store_id: array_at(bytes, 16),
            segment_id: u64_at(bytes, 32),
            epoch: u32_at(bytes, 40),
            first_lsn: u64_at(bytes, 48),
            segment_bytes: u64_at(bytes, 56),
            prev_first_lsn: u64_at(bytes, 64),
            prev_segment_id: u64_at(bytes, 72),
            prev_end_offset: u64_at(bytes, 80),
            prev_last_lsn: u64_at(bytes, 88),
            prev_digest: Digest(array_at(bytes, 96)),
            durable_lsn: u64_at(bytes, 112),
            begin: Begin::of(bytes[120]).ok_or(SegmentHeaderFault::Field("begin"))?,
            cut_bytes: u64_at(bytes, 128),
            cut_crc: u32_at(bytes, 136),
            created_ms: u64_at(bytes, 144),
            prev_table_offset: u64_at(bytes, 152),
        };
        header.judge().map_err(SegmentHeaderFault::Field)?;
        Ok(header)
    }

    /// Names the first field that is out of its range or contradicts another.
    fn judge(&self) -> Result<(), &'static str> {
        let size = self.segment_bytes;
        let is_size = |size: u64| {
            size.is_power_of_two() && (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&size)
        };
        demand(self.segment_id != 0, "segment_id")?;
        demand((1..=LSN_MAX).contains(&self.first_lsn), "first_lsn")?;
        demand(is_size(size), "segment_bytes")?;
        demand(self.prev_last_lsn < self.first_lsn, "prev_last_lsn")?;
        demand(self.durable_lsn == self.prev_last_lsn, "durable_lsn")?;
        demand(self.prev_first_lsn < self.first_lsn, "prev_first_lsn")?;
        let is_first = self.begin == Begin::First;
        demand(is_first == (self.prev_first_lsn == 0), "prev_first_lsn")?;
        demand(is_first == (self.prev_segment_id == 0), "prev_segment_id")?;
        if is_first {
            demand(self.prev_last_lsn == 0, "prev_last_lsn")?;
            demand(self.prev_end_offset == 0, "prev_end_offset")?;
        } else {
            let ends = SEGMENT_HEADER_BYTES..=SEGMENT_BYTES_MAX;
            let end = self.prev_end_offset;
            demand(ends.contains(&end) && end.is_multiple_of(FRAME_ALIGN), "prev_end_offset")?;
        }
        let may_cut = !matches!(self.begin, Begin::First | Begin::Rotated);
        let cut_max = if may_cut { SEGMENT_BYTES_MAX - self.prev_end_offset } else { 0 };
        demand(self.cut_bytes <= cut_max, "cut_bytes")?;
        demand(self.cut_bytes != 0 || self.cut_crc == 0, "cut_crc")?;
        let table = self.prev_table_offset;
        let tables = SEGMENT_HEADER_BYTES..self.prev_end_offset.max(SEGMENT_HEADER_BYTES);
        let is_table = tables.contains(&table) && table.is_multiple_of(FRAME_ALIGN);
        demand(table == 0 || is_table, "prev_table_offset")
    }
}

/// Names the first field that has not the only value it may have.
fn constants(bytes: &[u8; BYTES]) -> Result<(), &'static str> {
    demand(u32_at(bytes, 12) == BYTES as u32, "header_bytes")?;
    demand(u64::from(u32_at(bytes, 44)) == GROUP_ALIGN, "group_align")?;
    demand(bytes[121] == DIGEST_KIND, "digest_kind")?;
    let zeros = [122..128, 140..144, 160..CRC_AT];
    let is_ours = u16_at(bytes, 10) == FORMAT_MINOR;
    demand(!is_ours || zeros.into_iter().all(|range| is_zero(&bytes[range])), "zeros")
}

fn demand(holds: bool, field: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(field) }
}
