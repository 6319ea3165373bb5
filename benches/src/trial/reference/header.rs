//! The header of a raw segment: section 3.1.

use super::bytes::{has_crc, is_zero, number, sixteen};

#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) store_id: [u8; 16],
    pub(super) segment_id: u64,
    pub(super) epoch: u64,
    pub(super) first_lsn: u64,
    pub(super) segment_bytes: u64,
    pub(super) prev_first_lsn: u64,
    pub(super) prev_segment_id: u64,
    pub(super) prev_end_offset: u64,
    pub(super) prev_last_lsn: u64,
    pub(super) prev_digest: [u8; 16],
    pub(super) begin: u64,
    pub(super) prev_table_offset: u64,
}

pub(super) enum Page {
    Valid(Header),
    UnknownMajor,
    Invalid,
}

impl Page {
    pub(super) fn valid(&self) -> Option<&Header> {
        match self {
            Page::Valid(header) => Some(header),
            _ => None,
        }
    }
}

pub(super) fn judge(file: &[u8]) -> Page {
    let Some(page) = file.get(..4096) else { return Page::Invalid };
    if page[..8] != *b"GATELOG\x01" || !has_crc(page, 4092) {
        return Page::Invalid;
    }
    if number(page, 8, 2) != 1 {
        return Page::UnknownMajor;
    }
    let header = Header {
        store_id: sixteen(page, 16),
        segment_id: number(page, 32, 8),
        epoch: number(page, 40, 4),
        first_lsn: number(page, 48, 8),
        segment_bytes: number(page, 56, 8),
        prev_first_lsn: number(page, 64, 8),
        prev_segment_id: number(page, 72, 8),
        prev_end_offset: number(page, 80, 8),
        prev_last_lsn: number(page, 88, 8),
        prev_digest: sixteen(page, 96),
        begin: number(page, 120, 1),
        prev_table_offset: number(page, 152, 8),
    };
    if is_valid(page, &header) { Page::Valid(header) } else { Page::Invalid }
}

fn is_valid(page: &[u8], header: &Header) -> bool {
    let (cut_bytes, cut_crc) = (number(page, 128, 8), number(page, 136, 4));
    let is_first_minor = number(page, 10, 2) == 0;
    let has_zeros =
        is_zero(&page[122..128]) && is_zero(&page[140..144]) && is_zero(&page[160..4092]);
    let fields = number(page, 12, 4) == 4096
        && number(page, 44, 4) == 4096
        && number(page, 121, 1) == 1
        && (has_zeros || !is_first_minor)
        && header.segment_id != 0
        && header.first_lsn >= 1
        && header.first_lsn < 1 << 63
        && header.segment_bytes.is_power_of_two()
        && (16 << 10..=1 << 30).contains(&header.segment_bytes)
        && header.prev_last_lsn < header.first_lsn
        && header.prev_first_lsn < header.first_lsn
        && number(page, 112, 8) == header.prev_last_lsn
        && header.begin <= 4
        && (cut_crc == 0 || cut_bytes != 0);
    let (end, table) = (header.prev_end_offset, header.prev_table_offset);
    let predecessor = if header.begin == 0 {
        header.prev_first_lsn == 0
            && header.prev_segment_id == 0
            && end == 0
            && header.prev_last_lsn == 0
            && cut_bytes == 0
            && table == 0
    } else {
        header.prev_first_lsn != 0
            && header.prev_segment_id != 0
            && end.is_multiple_of(8)
            && (4096..=1 << 30).contains(&end)
            && cut_bytes <= (1 << 30) - end
            && (cut_bytes == 0 || header.begin != 1)
            && (table == 0 || table.is_multiple_of(8) && (4096..end).contains(&table))
    };
    fields && predecessor
}
