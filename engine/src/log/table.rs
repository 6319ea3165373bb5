//! The session table of a segment: the body of its `Rotate` and `Close` frames.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4+4+8 | `row_count`, `id_bytes`, zeros |
//! | 16 | 4,096 each | pages: 42 rows of 96 bytes, zeros, at 4,092 the CRC over [0, 4,092) |
//! | … | `id_bytes` | ids, in the order of the rows |
//!
//! One row for each session with a frame in the segment, in ascending order of the keys; all pages
//! but the last are full, and what a page has no row for is zero. A row:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 16 | key |
//! | 16 | 8+8 | `first_seq`, `last_seq` = `first_seq` − 1 modulo 2⁶⁴ where it has no event here |
//! | 32 | 8+8 | `first_lsn`, `last_lsn` |
//! | 48 | 8 | `last_time_ms`, 0 without an event |
//! | 56 | 4+4 | `first_block`, `block_count`: 0 in a raw segment |
//! | 64 | 4+4 | `frame_count`, flags (1 created, 2 forked, 4 deleted here) |
//! | 72 | 4+4+16 | `id_offset` among the ids, `id_bytes` (both 0 for none), zeros |
//!
//! The table is valid if and only if its length is what its front says, each page's CRC holds, and
//! each row is in its range. It is searched in place: a search looks at the pages that it needs.

use super::chain::SessionKey;
use super::crc::crc;
use super::field::{array_at, is_zero, put, put_u32, put_u64, u32_at, u64_at};
use super::limit::{ID_BYTES_MAX, LSN_MAX, SEQ_MAX};
use std::cmp::Ordering;

const FRONT_BYTES: usize = 16;
const PAGE_BYTES: usize = 4096;
const ROW_BYTES: usize = 96;
const PAGE_ROWS: usize = 42;
const CRC_AT: usize = PAGE_BYTES - 4;

/// The session was created in this segment.
pub(crate) const CREATED: u32 = 1;
/// The session was made in this segment, by a fork.
pub(crate) const FORKED: u32 = 2;
/// The session was deleted in this segment.
pub(crate) const DELETED: u32 = 4;

/// What a segment holds of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionRow {
    /// The session.
    pub(crate) key: SessionKey,
    /// Seq of its first event here; where it has none, the next one it will have.
    pub(crate) first_seq: u64,
    /// Seq of its last event here; where it has none, `first_seq - 1`, wrapping.
    pub(crate) last_seq: u64,
    /// Its first frame here.
    pub(crate) first_lsn: u64,
    /// Its last frame here.
    pub(crate) last_lsn: u64,
    /// Time of its last event here, in milliseconds since 1970; 0 where it has none.
    pub(crate) last_time_ms: u64,
    /// How many frames it has here.
    pub(crate) frame_count: u32,
    /// [`CREATED`], [`FORKED`], [`DELETED`].
    pub(crate) flags: u32,
    /// Its id; none once it was deleted.
    pub(crate) id: Option<String>,
}

/// Why bytes are no session table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFault {
    /// The length is not what the front says.
    Length,
    /// The CRC of a page does not hold; pages are counted from 0.
    Page(u32),
    /// A row is out of its range, or not in its order; rows are counted from 0.
    Row(u32),
}

/// Returns the number of bytes of a table of so many sessions whose ids have so many bytes.
pub(crate) fn bytes_for(sessions: usize, id_bytes: usize) -> u64 {
    let pages = sessions.div_ceil(PAGE_ROWS) as u64;
    FRONT_BYTES as u64 + pages * PAGE_BYTES as u64 + id_bytes as u64
}

/// Returns the bytes of a table; the rows may come in any order.
pub(crate) fn encode(rows: &[SessionRow]) -> Vec<u8> {
    let mut table = Vec::new();
    encode_into(&mut table, rows);
    table
}

/// Puts the bytes of a table behind others.
pub(crate) fn encode_into(to: &mut Vec<u8>, rows: &[SessionRow]) {
    let mut rows: Vec<&SessionRow> = rows.iter().collect();
    rows.sort_unstable_by_key(|row| row.key);
    let ids = || rows.iter().filter_map(|row| row.id.as_deref());
    let id_bytes: usize = ids().map(str::len).sum();
    to.reserve(bytes_for(rows.len(), id_bytes) as usize);
    to.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    to.extend_from_slice(&(id_bytes as u32).to_le_bytes());
    to.extend_from_slice(&[0; 8]);
    let mut id_offset = 0;
    for rows in rows.chunks(PAGE_ROWS) {
        let mut page = [0; PAGE_BYTES];
        for (row, bytes) in rows.iter().zip(page.chunks_exact_mut(ROW_BYTES)) {
            let id_bytes = row.id.as_ref().map_or(0, String::len) as u32;
            encode_row(row, if id_bytes == 0 { 0 } else { id_offset }, bytes);
            id_offset += id_bytes;
        }
        let sum = crc(&page[..CRC_AT]);
        put_u32(&mut page, CRC_AT, sum);
        to.extend_from_slice(&page);
    }
    for id in ids() {
        to.extend_from_slice(id.as_bytes());
    }
}

fn encode_row(row: &SessionRow, id_offset: u32, bytes: &mut [u8]) {
    put(bytes, 0, &row.key.0);
    put_u64(bytes, 16, row.first_seq);
    put_u64(bytes, 24, row.last_seq);
    put_u64(bytes, 32, row.first_lsn);
    put_u64(bytes, 40, row.last_lsn);
    put_u64(bytes, 48, row.last_time_ms);
    put_u32(bytes, 64, row.frame_count);
    put_u32(bytes, 68, row.flags);
    put_u32(bytes, 72, id_offset);
    put_u32(bytes, 76, row.id.as_ref().map_or(0, String::len) as u32);
}

/// Finds the row of a session in a table, looking only at the pages that the search needs.
pub(crate) fn find(table: &[u8], key: SessionKey) -> Result<Option<SessionRow>, TableFault> {
    Table::parse(table)?.find(key)
}

/// A table whose length is right. Its pages are judged when they are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    pages: &'a [u8],
    row_count: u32,
    ids: &'a [u8],
}

impl<'a> Table<'a> {
    /// Reads the front of a table and bounds the rest by it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, TableFault> {
        let (front, rest) = bytes.split_at_checked(FRONT_BYTES).ok_or(TableFault::Length)?;
        let (row_count, id_bytes) = (u32_at(front, 0), u32_at(front, 4));
        let expected = bytes_for(row_count as usize, id_bytes as usize);
        if expected != bytes.len() as u64 || !is_zero(&front[8..]) {
            return Err(TableFault::Length);
        }
        let (pages, ids) = rest.split_at(rest.len() - id_bytes as usize);
        Ok(Self { pages, row_count, ids })
    }

    /// Returns the number of rows.
    pub(crate) fn row_count(&self) -> u32 {
        self.row_count
    }

    /// Finds the row of a session.
    pub(crate) fn find(&self, key: SessionKey) -> Result<Option<SessionRow>, TableFault> {
        let mut pages = 0..self.row_count.div_ceil(PAGE_ROWS as u32);
        while !pages.is_empty() {
            let middle = pages.start + (pages.end - pages.start) / 2;
            let page = self.page(middle)?;
            match page.place_of(key) {
                Ordering::Less => pages.end = middle,
                Ordering::Greater => pages.start = middle + 1,
                Ordering::Equal => {
                    let keys = |row: usize| page.key(row).cmp(&key);
                    return (page.search(keys)).map(|row| self.row(&page, row)).transpose();
                }
            }
        }
        Ok(None)
    }

    /// Returns every row, in ascending order of the keys, up to the first fault.
    pub(crate) fn rows(&self) -> Rows<'a> {
        Rows { table: *self, page: None, next: 0, last_key: None }
    }

    /// Returns a page whose CRC holds.
    fn page(&self, number: u32) -> Result<Page<'a>, TableFault> {
        let start = number as usize * PAGE_BYTES;
        let bytes = &self.pages[start..start + PAGE_BYTES];
        let first_row = number * PAGE_ROWS as u32;
        let row_count = (self.row_count - first_row).min(PAGE_ROWS as u32) as usize;
        let is_whole = u32_at(bytes, CRC_AT) == crc(&bytes[..CRC_AT]);
        if !is_whole || !is_zero(&bytes[row_count * ROW_BYTES..CRC_AT]) {
            return Err(TableFault::Page(number));
        }
        Ok(Page { bytes, first_row, row_count })
    }

    /// Makes a row of a page usable.
    fn row(&self, page: &Page<'a>, row: usize) -> Result<SessionRow, TableFault> {
        let fault = TableFault::Row(page.first_row + row as u32);
        let bytes = page.row(row);
        let (id_offset, id_bytes) = (u32_at(bytes, 72) as usize, u32_at(bytes, 76) as usize);
        let id = self.ids.get(id_offset..id_offset + id_bytes).ok_or(fault)?;
        let id = std::str::from_utf8(id).map_err(|_| fault)?;
        let is_id = id_bytes <= ID_BYTES_MAX && (id_bytes > 0 || id_offset == 0);
        let row = SessionRow {
            key: page.key(row),
            first_seq: u64_at(bytes, 16),
            last_seq: u64_at(bytes, 24),
            first_lsn: u64_at(bytes, 32),
            last_lsn: u64_at(bytes, 40),
            last_time_ms: u64_at(bytes, 48),
            frame_count: u32_at(bytes, 64),
            flags: u32_at(bytes, 68),
            id: (id_bytes > 0).then(|| id.to_owned()),
        };
        let next_seq = row.last_seq.wrapping_add(1);
        let holds = is_id
            && row.key != SessionKey::STORE
            && (row.first_seq..=SEQ_MAX + 1).contains(&next_seq)
            && 1 <= row.first_lsn
            && (row.first_lsn..=LSN_MAX).contains(&row.last_lsn)
            && row.last_time_ms <= SEQ_MAX
            && row.frame_count >= 1
            && u64::from(row.frame_count) <= row.last_lsn - row.first_lsn + 1
            && row.flags & !(CREATED | FORKED | DELETED) == 0
            && is_zero(&bytes[56..64])
            && is_zero(&bytes[80..]);
        if holds { Ok(row) } else { Err(fault) }
    }
}

/// A page whose CRC holds.
#[derive(Clone, Copy, Debug)]
struct Page<'a> {
    bytes: &'a [u8],
    /// How many rows there are before the page.
    first_row: u32,
    /// How many of its rows count, at least one.
    row_count: usize,
}

impl<'a> Page<'a> {
    fn row(&self, row: usize) -> &'a [u8] {
        &self.bytes[row * ROW_BYTES..][..ROW_BYTES]
    }

    fn key(&self, row: usize) -> SessionKey {
        SessionKey(array_at(self.row(row), 0))
    }

    /// Returns whether a key is before the page, behind it, or between its first and last.
    fn place_of(&self, key: SessionKey) -> Ordering {
        if key < self.key(0) {
            Ordering::Less
        } else if key > self.key(self.row_count - 1) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    /// Finds the row of which `compare` says that it is the one.
    fn search(&self, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
        let mut rows = 0..self.row_count;
        while !rows.is_empty() {
            let middle = rows.start + rows.len() / 2;
            match compare(middle) {
                Ordering::Less => rows.start = middle + 1,
                Ordering::Greater => rows.end = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

/// The rows of a table.
#[derive(Clone, Debug)]
pub(crate) struct Rows<'a> {
    table: Table<'a>,
    page: Option<Page<'a>>,
    next: u32,
    last_key: Option<SessionKey>,
}

impl Rows<'_> {
    fn read(&mut self) -> Result<SessionRow, TableFault> {
        let (number, row) = (self.next / PAGE_ROWS as u32, self.next as usize % PAGE_ROWS);
        let page = match self.page {
            Some(page) if row > 0 => page,
            _ => *self.page.insert(self.table.page(number)?),
        };
        let read = self.table.row(&page, row)?;
        if self.last_key.is_some_and(|last| last >= read.key) {
            return Err(TableFault::Row(self.next));
        }
        self.last_key = Some(read.key);
        self.next += 1;
        Ok(read)
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<SessionRow, TableFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.table.row_count {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            self.next = self.table.row_count;
        }
        Some(read)
    }
}
