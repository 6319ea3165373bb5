//! Arrays of scalars, which most of a log is made of: gaps of time, pieces of text, sequence
//! numbers.
//!
//! Their elements are looked at and counted, and not laid down.

#![expect(clippy::inline_always, reason = "these are the body of one loop, which is hot")]

use super::block::{self, Window};
use super::lex;
use super::tape::Kind;

/// The elements of an array up to its end, or up to the first one that is a container.
pub(super) struct Flat {
    /// At the closing bracket, or at that container.
    pub(super) position: usize,
    /// How many there are.
    pub(super) count: u32,
    /// A bit for each of their kinds.
    pub(super) kinds: u8,
    /// The array ends there.
    pub(super) closed: bool,
}

/// Scans elements that are scalars, from behind the opening bracket of an array; nothing comes
/// back when the array is malformed.
#[inline(never)]
pub(super) fn elements(window: &mut Window<'_>, start: usize) -> Option<Flat> {
    let text = window.text;
    let mut position = lex::skip_space(text, start);
    let (mut count, mut kinds) = (0, 0);
    if text.get(position) == Some(&b']') {
        return Some(Flat { position, count, kinds, closed: true });
    }
    loop {
        let end = match *text.get(position)? {
            b'{' | b'[' => return Some(Flat { position, count, kinds, closed: false }),
            b'"' => {
                kinds |= Kind::String.bit();
                strings(window, position, &mut count)?
            }
            first @ (b'0'..=b'9' | b'-') => {
                kinds |= Kind::Number.bit();
                let (next, skipped) = integers(text, position);
                if skipped > 0 {
                    count += skipped;
                    position = lex::skip_space(text, next);
                    continue;
                }
                lex::number(text, position, first)?
            }
            first => {
                let scalar = lex::literal(text, position, first)?;
                kinds |= scalar.kind.bit();
                scalar.end
            }
        };
        count += 1;
        position = lex::skip_space(text, end);
        match text.get(position) {
            Some(b',') => position = lex::skip_space(text, position + 1),
            Some(b']') => return Some(Flat { position, count, kinds, closed: true }),
            _ => return None,
        }
    }
}

/// Scans strings with nothing but commas between them. Counts all but the last one, and returns
/// where that ends.
#[inline(always)]
fn strings(window: &mut Window<'_>, start: usize, count: &mut u32) -> Option<usize> {
    let text = window.text;
    let mut stop = window.stop_from(start + 1);
    loop {
        stop = match *text.get(stop)? {
            b'"' if text.get(stop..stop + 3) == Some(b"\",\"") => {
                *count += 1;
                window.stop_from(stop + 3)
            }
            b'"' => return Some(stop + 1),
            b'\\' => {
                let end = lex::escape(text, stop)?;
                window.stop_from(end)
            }
            _ => return None,
        }
    }
}

/// Skips elements that are integers without a sign, each with its comma behind it, from the first
/// byte of an element on. Returns what is behind the last comma, and how many it skipped.
///
/// It does not have to skip any, and leaves all that is out of the ordinary to others.
#[inline(always)]
fn integers(text: &[u8], mut position: usize) -> (usize, u32) {
    let mut count = 0;
    while let Some(block) = text.get(position..).and_then(|rest| rest.first_chunk()) {
        let digits = block::mask(block, |byte| byte.is_ascii_digit());
        let commas = block::mask(block, |byte| byte == b',');
        let zeros = block::mask(block, |byte| byte == b'0');
        // The commas before the first byte that is neither; up to the last of them it is judged.
        let others = !(digits | commas);
        let commas = commas & others.wrapping_sub(1) & !others;
        if commas == 0 {
            break;
        }
        let judged = u64::MAX >> commas.leading_zeros();
        let starts = commas << 1 | 1;
        let empty = starts & commas;
        let zero_led = (starts & zeros) << 1 & digits;
        if (empty | zero_led) & judged != 0 {
            break;
        }
        count += commas.count_ones();
        position += judged.trailing_ones() as usize;
    }
    (position, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_integers_are_lawful_and_counted() {
        let pieces =
            ["0,", "7,", "10,", "00,", "01,", ",", "123456,", "9", "-1,", "1.5,", " ", "0", "]"];
        // All sequences of three pieces, behind and before enough others to fill blocks.
        for number in 0..pieces.len().pow(3) {
            let piece = |place: u32| pieces[number / pieces.len().pow(place) % pieces.len()];
            for before in [0, 20, 31, 32] {
                let middle = [piece(0), piece(1), piece(2)].concat();
                let text = ["5,".repeat(before), middle, "4,".repeat(40)].concat();
                let (end, count) = integers(text.as_bytes(), 0);
                let skipped: Vec<&str> = text[..end].split_terminator(',').collect();
                assert_eq!(skipped.len(), count as usize, "{text}");
                assert!(end == 0 || text[..end].ends_with(','), "{text}");
                for integer in skipped {
                    let lawful = integer.bytes().all(|b| b.is_ascii_digit())
                        && (integer == "0" || !integer.is_empty() && !integer.starts_with('0'));
                    assert!(lawful, "{integer:?} in {text}");
                }
            }
        }
        assert_eq!(integers("5,".repeat(64).as_bytes(), 0), (128, 64));
    }
}
