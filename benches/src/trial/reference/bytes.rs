//! Numbers, checksums and digests: sections 1 and 4 of the format.

pub(super) const PAGE: u64 = 4096;

/// A little-endian number of so many bytes.
pub(super) fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

pub(super) fn sixteen(bytes: &[u8], at: usize) -> [u8; 16] {
    bytes[at..at + 16].try_into().expect("sixteen bytes")
}

pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Whether the CRC of all bytes before `at` stands there.
pub(super) fn has_crc(bytes: &[u8], at: usize) -> bool {
    u64::from(crc32fast::hash(&bytes[..at])) == number(bytes, at, 4)
}

/// BLAKE3-128 over parts.
pub(super) fn digest(parts: &[&[u8]]) -> [u8; 16] {
    let hash = blake3::hash(&parts.concat());
    hash.as_bytes()[..16].try_into().expect("sixteen of thirty-two bytes")
}

/// The least multiple of a page that is not less.
pub(super) fn page_up(offset: u64) -> u64 {
    offset.div_ceil(PAGE) * PAGE
}

/// The first byte behind the last one that is not zero.
pub(super) fn content_end(file: &[u8]) -> u64 {
    file.iter().rposition(|byte| *byte != 0).map_or(0, |at| at as u64 + 1)
}
