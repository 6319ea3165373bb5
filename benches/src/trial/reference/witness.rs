//! `STORE` and `DURABLE`: sections 8.1 and 8.2.

use super::bytes::{has_crc, is_zero, number, sixteen};

#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) is_clean: bool,
    pub(super) store_id: [u8; 16],
    pub(super) slot_seq: u64,
    pub(super) first_lsn: u64,
    pub(super) segment_id: u64,
    pub(super) durable_lsn: u64,
    pub(super) end_offset: u64,
    pub(super) end_digest: [u8; 16],
}

#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) segment_id: u64,
    pub(super) durable_lsn: u64,
    pub(super) store_id: [u8; 16],
}

/// The page of a slot, if magic and CRC are right.
fn page(store: &[u8], place: usize) -> Option<&[u8]> {
    let page = store.get(place * 4096..)?.get(..4096)?;
    (page[..8] == *b"GATESTOR" && has_crc(page, 4092)).then_some(page)
}

/// Whether a slot has an unknown version and a right CRC.
pub(super) fn has_unknown_version(store: &[u8]) -> bool {
    (0..2).filter_map(|place| page(store, place)).any(|page| number(page, 8, 4) != 1)
}

/// The valid slots.
pub(super) fn slots(store: &[u8]) -> Vec<Slot> {
    (0..2).filter_map(|place| slot(store, place)).collect()
}

fn slot(store: &[u8], place: usize) -> Option<Slot> {
    let page = page(store, place)?;
    let slot = Slot {
        is_clean: number(page, 12, 4) == 2,
        store_id: sixteen(page, 16),
        slot_seq: number(page, 32, 8),
        first_lsn: number(page, 48, 8),
        segment_id: number(page, 56, 8),
        durable_lsn: number(page, 64, 8),
        end_offset: number(page, 72, 8),
        end_digest: sixteen(page, 80),
    };
    let end = slot.end_offset;
    let has_end = end.is_multiple_of(8) && (4096..=1 << 30).contains(&end);
    let is_valid = number(page, 8, 4) == 1
        && (1..=2).contains(&number(page, 12, 4))
        && is_zero(&page[44..48])
        && is_zero(&page[112..4092])
        && (1..1 << 63).contains(&slot.first_lsn)
        && slot.segment_id != 0
        && slot.durable_lsn < 1 << 63
        && (if slot.is_clean { has_end } else { is_zero(&page[72..96]) })
        && slot.slot_seq % 2 == place as u64;
    is_valid.then_some(slot)
}

/// The record of `DURABLE`, if it is valid.
pub(super) fn durable(file: &[u8]) -> Option<Durable> {
    let record = file.get(..64)?;
    let durable = Durable {
        segment_id: number(record, 8, 8),
        durable_lsn: number(record, 16, 8),
        store_id: sixteen(record, 32),
    };
    let end = number(record, 24, 8);
    let is_valid = record[..4] == *b"GLD1"
        && has_crc(record, 60)
        && is_zero(&record[56..60])
        && durable.segment_id != 0
        && durable.durable_lsn < 1 << 63
        && end.is_multiple_of(8)
        && (4096..=1 << 30).contains(&end);
    is_valid.then_some(durable)
}
