//! Scalars: where a string, a number or a literal ends, and whether it is one.
//!
//! These decide and do not explain: nothing comes back for a malformed scalar, and whoever asked
//! lets [`grammar`](super::grammar) say what is wrong with the text, which never has to be fast.

#![expect(clippy::inline_always, reason = "a call costs more than most scalars do")]

use super::block::{self, Window};
use super::tape::Kind;

/// A scalar value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) kind: Kind,
    /// As [`Node::flag`](super::tape::Node::flag) of a string; unset for the others.
    pub(super) flag: bool,
    /// One past its last byte.
    pub(super) end: usize,
}

/// Returns whether a byte is white space between tokens.
#[inline(always)]
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the offset of the first byte from `position` that is no white space.
#[inline(always)]
pub(super) fn skip_space(text: &[u8], position: usize) -> usize {
    match text.get(position) {
        Some(&byte) if is_space(byte) => skip_spaces(text, position + 1),
        _ => position,
    }
}

#[cold]
fn skip_spaces(text: &[u8], mut position: usize) -> usize {
    while text.get(position).is_some_and(|byte| is_space(*byte)) {
        position += 1;
    }
    position
}

/// Returns the scalar that starts at `start` with the byte `first`, if there is one.
#[inline(always)]
pub(super) fn scalar(window: &mut Window<'_>, start: usize, first: u8) -> Option<Scalar> {
    match first {
        b'"' => {
            let (end, flag) = string(window, start)?;
            Some(Scalar { kind: Kind::String, flag, end })
        }
        b'0'..=b'9' | b'-' => {
            let end = number(window.text, start, first)?;
            Some(Scalar { kind: Kind::Number, flag: false, end })
        }
        _ => literal(window.text, start, first),
    }
}

/// Returns where the string ends whose opening quote is at `start`, and whether it holds a
/// backslash or a byte at or above 0x80.
#[inline(always)]
pub(super) fn string(window: &mut Window<'_>, start: usize) -> Option<(usize, bool)> {
    let stop = window.stop_from(start + 1);
    string_from(window, start, stop)
}

/// Returns what [`string`] does, when it is known where the string first stops.
#[inline(always)]
pub(super) fn string_from(
    window: &mut Window<'_>,
    start: usize,
    stop: usize,
) -> Option<(usize, bool)> {
    if window.text.get(stop) == Some(&b'"') {
        return Some((stop + 1, is_high(window, start, stop)));
    }
    escaped_string(window, stop).map(|end| (end, true))
}

/// Returns whether a byte at or above 0x80 is between two places, the second one in the window.
#[inline(always)]
pub(super) fn is_high(window: &Window<'_>, start: usize, end: usize) -> bool {
    window.high && block::has_high(&window.text[start..end])
}

/// Goes on in a string that stops at something else than its closing quote.
#[inline(never)]
fn escaped_string(window: &mut Window<'_>, mut stop: usize) -> Option<usize> {
    loop {
        match *window.text.get(stop)? {
            b'"' => return Some(stop + 1),
            b'\\' => {
                let end = escape(window.text, stop)?;
                stop = window.stop_from(end);
            }
            _ => return None,
        }
    }
}

/// Returns where the escape ends whose backslash is at `start`.
#[inline(always)]
pub(super) fn escape(text: &[u8], start: usize) -> Option<usize> {
    match *text.get(start + 1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(start + 2),
        b'u' => {
            let digits: &[u8; 4] = text.get(start + 2..)?.first_chunk()?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(start + 6)
        }
        _ => None,
    }
}

/// Returns where the number ends that starts at `start` with the byte `first`, a digit or a minus.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "the lengths of numbers are not to be foretold")]
pub(super) fn number(text: &[u8], start: usize, first: u8) -> Option<usize> {
    // A minus stops at once; sixteen digits and more do not stop.
    let mut count = digits(text, start);
    if count == 8 {
        count += digits(text, start + 8);
    }
    let end = start + count;
    let plain = ((first != b'0') | (count == 1)) & (count.wrapping_sub(1) < 15);
    if plain && !matches!(text.get(end), Some(b'.' | b'e' | b'E')) {
        return Some(end);
    }
    any_number(text, start)
}

/// Returns how many of the next eight bytes are decimal digits, up to the first one that is none.
#[inline(always)]
pub(super) fn digits(text: &[u8], start: usize) -> usize {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let Some(word) = text.get(start..).and_then(|rest| rest.first_chunk()) else {
        return digits_at_end(text, start);
    };
    // What is left of a digit is below 10, and of no other byte; with the top bits out of the way
    // no byte carries into the next.
    let value = u64::from_le_bytes(*word) ^ all(b'0');
    let others = (((value & all(0x7F)) + all(0x80 - 10)) | value) & all(0x80);
    others.trailing_zeros() as usize / 8
}

#[cold]
fn digits_at_end(text: &[u8], start: usize) -> usize {
    text.iter().skip(start).take_while(|byte| byte.is_ascii_digit()).count()
}

/// The grammar of numbers, as the RFC has it.
#[inline(never)]
fn any_number(text: &[u8], start: usize) -> Option<usize> {
    let mut position = start;
    if text.get(position) == Some(&b'-') {
        position += 1;
    }
    position = match *text.get(position)? {
        b'0' => position + 1,
        b'1'..=b'9' => skip_digits(text, position + 1),
        _ => return None,
    };
    if text.get(position) == Some(&b'.') {
        position = some_digits(text, position + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(position) {
        position += 1;
        if let Some(b'+' | b'-') = text.get(position) {
            position += 1;
        }
        position = some_digits(text, position)?;
    }
    Some(position)
}

fn some_digits(text: &[u8], start: usize) -> Option<usize> {
    let end = skip_digits(text, start);
    (end > start).then_some(end)
}

fn skip_digits(text: &[u8], mut position: usize) -> usize {
    while text.get(position).is_some_and(u8::is_ascii_digit) {
        position += 1;
    }
    position
}

/// Returns the literal that starts at `start` with the byte `first`, if there is one.
#[inline(always)]
pub(super) fn literal(text: &[u8], start: usize, first: u8) -> Option<Scalar> {
    let (kind, word): (Kind, &[u8]) = match first {
        b'n' => (Kind::Null, b"null"),
        b't' => (Kind::True, b"true"),
        b'f' => (Kind::False, b"false"),
        _ => return None,
    };
    let end = start + word.len();
    (text.get(start..end)? == word).then_some(Scalar { kind, flag: false, end })
}
