//! The bytes of a file, in pages that copies share until one of them writes.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Bytes of a sector, the unit in which a crash keeps or loses what was written.
pub const SECTOR_BYTES: u64 = 512;

/// The bytes of one sector.
pub(super) type Sector = [u8; SECTOR_BYTES as usize];

type Page = [u8; PAGE_BYTES as usize];

/// The bytes of a file as the cache or the device has them. What was never written is zero and
/// takes no room; what lies behind the end is zero as well.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    pages: BTreeMap<u64, Arc<Page>>,
    bytes: u64,
}

impl Image {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes that the pages take.
    pub(super) fn allocated(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES
    }

    /// Returns the bytes that the pages would take if this range were written.
    pub(super) fn allocated_with(&self, offset: u64, bytes: u64) -> u64 {
        let new = pages_of(offset, bytes).filter(|page| !self.pages.contains_key(page)).count();
        self.allocated() + new as u64 * PAGE_BYTES
    }

    /// Fills the buffer from `offset` on, up to the end, and returns how many bytes that were.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let count = self.bytes.saturating_sub(offset).min(buffer.len() as u64);
        let buffer = &mut buffer[..count as usize];
        buffer.fill(0);
        for page in pages_of(offset, count) {
            if let Some(stored) = self.pages.get(&page) {
                let (from, to) = overlap(page, offset, count);
                let place = (page * PAGE_BYTES + from - offset) as usize;
                buffer[place..place + (to - from) as usize]
                    .copy_from_slice(&stored[from as usize..to as usize]);
            }
        }
        count as usize
    }

    /// Writes bytes and moves the end behind them.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let count = bytes.len() as u64;
        for page in pages_of(offset, count) {
            let (from, to) = overlap(page, offset, count);
            let place = (page * PAGE_BYTES + from - offset) as usize;
            let stored = self.pages.entry(page).or_insert_with(|| Arc::new(zeros()));
            Arc::make_mut(stored)[from as usize..to as usize]
                .copy_from_slice(&bytes[place..place + (to - from) as usize]);
        }
        self.bytes = self.bytes.max(offset + count);
    }

    /// Writes those bytes of a range that lie before the end.
    pub(super) fn overlay(&mut self, offset: u64, bytes: &[u8]) {
        let inside = self.bytes.saturating_sub(offset).min(bytes.len() as u64);
        if inside > 0 {
            self.write(offset, &bytes[..inside as usize]);
        }
    }

    pub(super) fn set_len(&mut self, bytes: u64) {
        if bytes < self.bytes {
            let _gone = self.pages.split_off(&bytes.div_ceil(PAGE_BYTES));
            if let Some(last) = self.pages.get_mut(&(bytes / PAGE_BYTES)) {
                Arc::make_mut(last)[(bytes % PAGE_BYTES) as usize..].fill(0);
            }
        }
        self.bytes = bytes;
    }

    /// Returns a sector, with zeros behind the end.
    pub(super) fn sector(&self, sector: u64) -> Sector {
        let mut bytes = [0; SECTOR_BYTES as usize];
        self.read(sector * SECTOR_BYTES, &mut bytes);
        bytes
    }

    pub(super) fn put_sector(&mut self, sector: u64, bytes: &Sector) {
        self.overlay(sector * SECTOR_BYTES, bytes);
    }

    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes as usize];
        self.read(0, &mut bytes);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut image = Self::default();
        image.write(0, bytes);
        image
    }
}

fn zeros() -> Page {
    [0; PAGE_BYTES as usize]
}

/// The pages that a range touches.
fn pages_of(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    if bytes == 0 { 0..0 } else { offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES) }
}

/// The part of a page, as places in it, that a range covers.
fn overlap(page: u64, offset: u64, bytes: u64) -> (u64, u64) {
    let start = page * PAGE_BYTES;
    (offset.saturating_sub(start), (offset + bytes - start).min(PAGE_BYTES))
}

/// The sectors that a range touches.
pub(super) fn sectors_of(offset: u64, bytes: u64) -> std::ops::Range<u64> {
    if bytes == 0 { 0..0 } else { offset / SECTOR_BYTES..(offset + bytes).div_ceil(SECTOR_BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_as_a_vector() {
        let mut chance = super::super::chance::Chance::new(1);
        let (mut image, mut twin) = (Image::default(), Vec::new());
        for round in 0..2000_u64 {
            let offset = chance.next() % 20_000;
            let bytes = vec![round as u8 | 1; (chance.next() % 9000) as usize];
            match chance.next() % 4 {
                0 => {
                    image.set_len(offset);
                    twin.resize(offset as usize, 0);
                }
                1 => {
                    image.overlay(offset, &bytes);
                    for (place, byte) in twin.iter_mut().skip(offset as usize).zip(&bytes) {
                        *place = *byte;
                    }
                }
                _ => {
                    let end = offset as usize + bytes.len();
                    if !bytes.is_empty() {
                        twin.resize(twin.len().max(end), 0);
                        twin[offset as usize..end].copy_from_slice(&bytes);
                        image.write(offset, &bytes);
                    }
                }
            }
            assert!(image.to_vec() == twin, "round {round}");
            let shared = image.clone();
            image.overlay(0, b"x");
            assert!(shared.to_vec() == twin, "a copy changed in round {round}");
            image = shared;
        }
    }
}
