//! Sixteen bytes of text at a time, as one word: arithmetic on it looks at all of them at once.
//!
//! A mask has the top bit of a byte set for each byte that is meant. It is exact up to and including
//! the first such byte, which is all that anybody asks: a borrow may mark bytes behind it.

#![expect(clippy::inline_always, reason = "a call costs more than what these do")]

/// Bytes in a block.
pub(super) const WIDTH: usize = size_of::<Word>();

/// A block of text, its first byte in the lowest bits.
pub(super) type Word = u128;

/// A byte in every place of a word.
const fn all(byte: u8) -> Word {
    Word::from_ne_bytes([byte; WIDTH])
}

/// The top bit of every byte.
const HIGH: Word = all(0x80);

/// Returns the block that starts at `position`. Past the end of the text it is zeros, which are
/// control characters, so that whoever looks for a byte that matters stops there.
#[inline(always)]
pub(super) fn at(text: &[u8], position: usize) -> Word {
    match text.get(position..).and_then(|rest| rest.first_chunk()) {
        Some(block) => Word::from_le_bytes(*block),
        None => last(text, position),
    }
}

/// Returns the block at a position near the end of the text.
#[inline(never)]
fn last(text: &[u8], position: usize) -> Word {
    if let (Some(block), Some(bytes)) = (text.last_chunk(), text.len().checked_sub(position)) {
        // The last block of the text holds it; what comes before is shifted out.
        let shift = (WIDTH - bytes) * 8;
        return Word::from_le_bytes(*block).checked_shr(shift as u32).unwrap_or(0);
    }
    let mut block = [0; WIDTH];
    let rest = text.get(position..).unwrap_or_default();
    block[..rest.len()].copy_from_slice(rest);
    Word::from_le_bytes(block)
}

/// Returns where the first bytes are that end a string or are special in it: quotes, backslashes
/// and control characters.
#[inline(always)]
pub(super) fn string_stops(word: Word) -> Word {
    let quote = word ^ all(b'"');
    let backslash = word ^ all(b'\\');
    // Each difference borrows into the top bit of a byte that is too small, if it had none.
    let small = (quote.wrapping_sub(all(1)) & !quote)
        | (backslash.wrapping_sub(all(1)) & !backslash)
        | (word.wrapping_sub(all(0x20)) & !word);
    small & HIGH
}

/// Returns where the first bytes are that are no decimal digit.
#[inline(always)]
pub(super) fn not_digits(word: Word) -> Word {
    // What is left of a digit is below 10, and of no other byte; with the top bits out of the way no
    // byte carries into the next, and this mask is exact throughout.
    let value = word ^ all(b'0');
    (((value & !HIGH) + all(0x80 - 10)) | value) & HIGH
}

/// Returns how many bytes come before the first one of a mask; [`WIDTH`] for an empty mask.
#[inline(always)]
pub(super) fn count_before(mask: Word) -> usize {
    mask.trailing_zeros() as usize / 8
}

/// Returns whether, of the bytes before the first one of a mask, one is at or above 0x80.
#[inline(always)]
pub(super) fn has_high_before(word: Word, mask: Word) -> bool {
    // The bits below the lowest one of the mask; all of them for an empty mask.
    word & HIGH & mask.wrapping_sub(1) & !mask != 0
}

/// Bytes in a stretch.
pub(super) const STRETCH: usize = 32;

/// Returns whether a stretch has no byte that ends a string or is special in it. The compiler
/// makes vector instructions of it.
#[inline(always)]
pub(super) fn is_plain_stretch(stretch: &[u8; STRETCH]) -> bool {
    !stretch.iter().fold(false, |stop, &byte| stop | is_string_stop(byte))
}

/// Returns whether a stretch has a byte at or above 0x80.
#[inline(always)]
pub(super) fn is_high_stretch(stretch: &[u8; STRETCH]) -> bool {
    stretch.iter().fold(0, |bits, &byte| bits | byte) >= 0x80
}

/// Returns whether a byte ends a string or is special in it.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "without branches it is done for many at once")]
pub(super) fn is_string_stop(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_matters_is_found_for_every_byte_at_every_place() {
        for place in 0..WIDTH {
            for byte in 0..=u8::MAX {
                for around in [b' ', b'!', b'#', b'0', b'9', b'[', b']', 0x7F, 0x80, 0xFF] {
                    let mut block = [around; WIDTH];
                    block[place] = byte;
                    check(&block);
                    // What lies behind the first one must not matter.
                    for behind in [0, 1, b'"', b'#', b'\\', b']', b'/', b':', 0xFF] {
                        block[place + 1..].fill(behind);
                        check(&block);
                    }
                }
            }
        }
    }

    fn check(block: &[u8; WIDTH]) {
        let word = Word::from_le_bytes(*block);
        let first = |is: fn(u8) -> bool| block.iter().position(|b| is(*b)).unwrap_or(WIDTH);
        let stop = first(is_string_stop);
        let stops = string_stops(word);
        assert_eq!(count_before(stops), stop, "stops of {block:?}");
        let high = block[..stop].iter().any(|b| *b >= 0x80);
        assert_eq!(has_high_before(word, stops), high, "high bytes of {block:?}");
        let digits = first(|b| !b.is_ascii_digit());
        assert_eq!(count_before(not_digits(word)), digits, "digits of {block:?}");
    }

    #[test]
    fn a_block_at_the_end_of_a_text_goes_on_with_zeros() {
        let text: Vec<u8> = (1..=40).collect();
        for end in 0..text.len() {
            for start in 0..=end + 1 {
                let mut block = [0; WIDTH];
                let rest = text[..end].get(start..).unwrap_or_default();
                let count = rest.len().min(WIDTH);
                block[..count].copy_from_slice(&rest[..count]);
                assert_eq!(at(&text[..end], start).to_le_bytes(), block, "from {start} of {end}");
            }
        }
    }
}
