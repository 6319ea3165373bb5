//! `STORE`: two slots of 4,096 bytes, written in turn, which name the store and its end.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `GATESTOR` |
//! | 8 | 4+4 | version = 1, state (1 open, 2 clean) |
//! | 16 | 16 | `store_id` |
//! | 32 | 8 | `slot_seq`; the greater one counts |
//! | 40 | 4+4 | epoch, zeros |
//! | 48 | 8+8 | `first_lsn` and `segment_id` of the active segment |
//! | 64 | 8 | `durable_lsn` |
//! | 72 | 8+16 | `end_offset`, `end_digest`; zeros unless clean |
//! | 96 | 8+8 | device, inode of this file |
//! | 112 | 3,980 | zeros |
//! | 4,092 | 4 | CRC over [0, 4,092) |
//!
//! A slot is valid if and only if magic and CRC hold, the version is known, every field is in its
//! range, and it lies where its `slot_seq` puts it: the even ones at 0, the odd ones at 4,096.

use super::chain::{Digest, StoreId};
use super::crc::crc;
use super::field::{array_at, is_zero, put, put_u32, put_u64, u32_at, u64_at};
use super::limit::{FRAME_ALIGN, LSN_MAX, SEGMENT_BYTES_MAX, SEGMENT_HEADER_BYTES};

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 4096;

/// Bytes of the file.
pub(crate) const STORE_BYTES: usize = 2 * SLOT_BYTES;

const MAGIC: [u8; 8] = *b"GATESTOR";
const VERSION: u32 = 1;
const OPEN: u32 = 1;
const CLEAN: u32 = 2;
const CRC_AT: usize = SLOT_BYTES - 4;

/// How the store was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is being written, or its writer died.
    Open,
    /// The last frame is a `Close`, and is durable.
    Clean {
        /// The first byte behind that frame in the active segment.
        end_offset: u64,
        /// The digest of that frame.
        end_digest: Digest,
    },
}

/// One slot of `STORE`.
#[expect(clippy::struct_field_names, reason = "these are the words of the format")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The store.
    pub(crate) store_id: StoreId,
    /// Counts the slots that were written; the greater one counts.
    pub(crate) slot_seq: u64,
    /// The write-open of the store.
    pub(crate) epoch: u32,
    /// First lsn, and name, of the segment that takes groups.
    pub(crate) active_first_lsn: u64,
    /// The life of that file.
    pub(crate) active_segment_id: u64,
    /// What is durable when the slot is written.
    pub(crate) durable_lsn: u64,
    /// How the store was left.
    pub(crate) stop: Stop,
    /// Device of this file, 0 where there is no such number.
    pub(crate) device: u64,
    /// Number of this file on its device, 0 where there is none.
    pub(crate) inode: u64,
}

/// Why bytes are no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotFault {
    /// The file ends before the slot does.
    Short,
    /// Not the magic.
    Magic,
    /// The CRC does not hold.
    Crc,
    /// The CRC holds, and the version is none that we know.
    Version(u32),
    /// The CRC holds, and a field is out of its range.
    Field(&'static str),
    /// The slot is whole and lies where the other one should be.
    Misplaced,
}

impl Slot {
    /// Returns where in `STORE` the slot lies, in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.slot_seq % 2 * SLOT_BYTES as u64
    }

    /// Returns the bytes of the slot.
    pub(crate) fn encode(&self) -> [u8; SLOT_BYTES] {
        let mut bytes = [0; SLOT_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put_u32(&mut bytes, 8, VERSION);
        put(&mut bytes, 16, &self.store_id);
        put_u64(&mut bytes, 32, self.slot_seq);
        put_u32(&mut bytes, 40, self.epoch);
        put_u64(&mut bytes, 48, self.active_first_lsn);
        put_u64(&mut bytes, 56, self.active_segment_id);
        put_u64(&mut bytes, 64, self.durable_lsn);
        match self.stop {
            Stop::Open => put_u32(&mut bytes, 12, OPEN),
            Stop::Clean { end_offset, end_digest } => {
                put_u32(&mut bytes, 12, CLEAN);
                put_u64(&mut bytes, 72, end_offset);
                put(&mut bytes, 80, &end_digest.0);
            }
        }
        put_u64(&mut bytes, 96, self.device);
        put_u64(&mut bytes, 104, self.inode);
        let sum = crc(&bytes[..CRC_AT]);
        put_u32(&mut bytes, CRC_AT, sum);
        bytes
    }

    /// Makes a slot usable, wherever it lies.
    pub(crate) fn parse(bytes: &[u8; SLOT_BYTES]) -> Result<Self, SlotFault> {
        if bytes[..8] != MAGIC {
            return Err(SlotFault::Magic);
        }
        if u32_at(bytes, CRC_AT) != crc(&bytes[..CRC_AT]) {
            return Err(SlotFault::Crc);
        }
        if u32_at(bytes, 8) != VERSION {
            return Err(SlotFault::Version(u32_at(bytes, 8)));
        }
        let (end_offset, end_digest) = (u64_at(bytes, 72), Digest(array_at(bytes, 80)));
        let slot = Self {
            store_id: array_at(bytes, 16),
            slot_seq: u64_at(bytes, 32),
            epoch: u32_at(bytes, 40),
            active_first_lsn: u64_at(bytes, 48),
            active_segment_id: u64_at(bytes, 56),
            durable_lsn: u64_at(bytes, 64),
            stop: match u32_at(bytes, 12) {
                OPEN => Stop::Open,
                CLEAN => Stop::Clean { end_offset, end_digest },
                _ => return Err(SlotFault::Field("state")),
            },
            device: u64_at(bytes, 96),
            inode: u64_at(bytes, 104),
        };
        let is_end = match slot.stop {
            Stop::Open => is_zero(&bytes[72..96]),
            Stop::Clean { .. } => is_end_offset(end_offset),
        };
        let checks = [
            ((1..=LSN_MAX).contains(&slot.active_first_lsn), "active first_lsn"),
            (slot.active_segment_id != 0, "active segment_id"),
            (slot.durable_lsn <= LSN_MAX, "durable_lsn"),
            (is_end, "end_offset"),
            (is_zero(&bytes[44..48]) && is_zero(&bytes[112..CRC_AT]), "zeros"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, field)) => Err(SlotFault::Field(field)),
            None => Ok(slot),
        }
    }
}

/// Returns whether an offset can be the first one behind a frame.
pub(super) fn is_end_offset(offset: u64) -> bool {
    (SEGMENT_HEADER_BYTES..=SEGMENT_BYTES_MAX).contains(&offset)
        && offset.is_multiple_of(FRAME_ALIGN)
}

/// Reads both slots of `STORE`, given its bytes.
pub(crate) fn read(store: &[u8]) -> [Result<Slot, SlotFault>; 2] {
    [0, 1].map(|index| {
        let bytes = store.get(index * SLOT_BYTES..).and_then(|rest| rest.first_chunk());
        let slot = Slot::parse(bytes.ok_or(SlotFault::Short)?)?;
        let is_here = slot.offset() == (index * SLOT_BYTES) as u64;
        if is_here { Ok(slot) } else { Err(SlotFault::Misplaced) }
    })
}

/// Returns the slot that counts, given the bytes of `STORE`.
pub(crate) fn newest(store: &[u8]) -> Option<Slot> {
    read(store).into_iter().flatten().max_by_key(|slot| slot.slot_seq)
}
