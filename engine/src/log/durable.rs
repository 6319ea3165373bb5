//! `DURABLE`: one record of 64 bytes, written again after each sync that returned.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `GLD1` |
//! | 4 | 4 | epoch |
//! | 8 | 8 | `segment_id` |
//! | 16 | 8 | `durable_lsn` |
//! | 24 | 8 | `end_offset` |
//! | 32 | 16 | `store_id` |
//! | 48 | 8 | counter |
//! | 56 | 4 | zeros |
//! | 60 | 4 | CRC over [0, 60) |
//!
//! It is valid if and only if magic, CRC and zeros are right and every field is in its range. It is
//! never synced: it can be behind the truth, and never ahead of it.

use super::chain::StoreId;
use super::crc::crc;
use super::field::{array_at, is_zero, put, put_u32, put_u64, u32_at, u64_at};
use super::limit::LSN_MAX;
use super::superblock::is_end_offset;

/// Bytes of the record, and of the file.
pub(crate) const DURABLE_BYTES: usize = 64;

const MAGIC: [u8; 4] = *b"GLD1";
const CRC_AT: usize = DURABLE_BYTES - 4;

/// What is durable, as other processes learn it.
#[expect(clippy::struct_field_names, reason = "these are the words of the format")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Durable {
    /// The write-open of the store.
    pub(crate) epoch: u32,
    /// The life of the file that holds the last durable frame.
    pub(crate) segment_id: u64,
    /// The last durable lsn; 0 for none.
    pub(crate) durable_lsn: u64,
    /// The first byte behind that frame in its file.
    pub(crate) end_offset: u64,
    /// The store.
    pub(crate) store_id: StoreId,
    /// Counts the records of this epoch.
    pub(crate) counter: u64,
}

/// Why bytes are no such record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DurableFault {
    /// The file is too short.
    Short,
    /// Not the magic.
    Magic,
    /// The CRC does not hold.
    Crc,
    /// The CRC holds, and a field is out of its range.
    Field(&'static str),
}

impl Durable {
    /// Returns the bytes of the record.
    pub(crate) fn encode(&self) -> [u8; DURABLE_BYTES] {
        let mut bytes = [0; DURABLE_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put_u32(&mut bytes, 4, self.epoch);
        put_u64(&mut bytes, 8, self.segment_id);
        put_u64(&mut bytes, 16, self.durable_lsn);
        put_u64(&mut bytes, 24, self.end_offset);
        put(&mut bytes, 32, &self.store_id);
        put_u64(&mut bytes, 48, self.counter);
        let sum = crc(&bytes[..CRC_AT]);
        put_u32(&mut bytes, CRC_AT, sum);
        bytes
    }

    /// Makes a record usable: reads the first 64 of some bytes and judges them.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, DurableFault> {
        let bytes: &[u8; DURABLE_BYTES] = bytes.first_chunk().ok_or(DurableFault::Short)?;
        if bytes[..4] != MAGIC {
            return Err(DurableFault::Magic);
        }
        if u32_at(bytes, CRC_AT) != crc(&bytes[..CRC_AT]) {
            return Err(DurableFault::Crc);
        }
        let durable = Self {
            epoch: u32_at(bytes, 4),
            segment_id: u64_at(bytes, 8),
            durable_lsn: u64_at(bytes, 16),
            end_offset: u64_at(bytes, 24),
            store_id: array_at(bytes, 32),
            counter: u64_at(bytes, 48),
        };
        let checks = [
            (durable.segment_id != 0, "segment_id"),
            (durable.durable_lsn <= LSN_MAX, "durable_lsn"),
            (is_end_offset(durable.end_offset), "end_offset"),
            (is_zero(&bytes[56..CRC_AT]), "zeros"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, field)) => Err(DurableFault::Field(field)),
            None => Ok(durable),
        }
    }
}
