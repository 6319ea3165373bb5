//! Scalars: where a string, a number or a literal ends, and whether it is one.
//!
//! These decide and do not explain: nothing comes back for a malformed scalar, and whoever asked
//! lets [`grammar`](super::grammar) say what is wrong with the text, which never has to be fast.

#![expect(clippy::inline_always, reason = "a call costs more than most scalars do")]

use super::block;
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
pub(super) fn scalar(text: &[u8], start: usize, first: u8) -> Option<Scalar> {
    match first {
        b'"' => {
            let (end, flag) = string(text, start)?;
            Some(Scalar { kind: Kind::String, flag, end })
        }
        b'0'..=b'9' | b'-' => {
            let end = number(text, start, first)?;
            Some(Scalar { kind: Kind::Number, flag: false, end })
        }
        _ => literal(text, start, first),
    }
}

/// Returns where the string ends whose opening quote is at `start`, and whether it holds a
/// backslash or a byte at or above 0x80.
#[inline(always)]
pub(super) fn string(text: &[u8], start: usize) -> Option<(usize, bool)> {
    let body = start + 1;
    let word = block::at(text, body);
    let stops = block::string_stops(word);
    let stop = body + block::count_before(stops);
    // Most strings are short and plain: their closing quote is what stops them.
    if stops != 0 && text.get(stop) == Some(&b'"') {
        return Some((stop + 1, block::has_high_before(word, stops)));
    }
    long_string(text, body)
}

/// Goes on from within a string.
#[inline(never)]
fn long_string(text: &[u8], mut position: usize) -> Option<(usize, bool)> {
    let mut flag = false;
    loop {
        let word = block::at(text, position);
        let stops = block::string_stops(word);
        flag |= block::has_high_before(word, stops);
        position += block::count_before(stops);
        if stops == 0 {
            position = skip_plain(text, position, &mut flag);
            continue;
        }
        match *text.get(position)? {
            b'"' => return Some((position + 1, flag)),
            b'\\' => {
                flag = true;
                position = escape(text, position)?;
            }
            _ => return None,
        }
    }
}

/// Skips stretches of a string that have nothing special; sets the flag for high bytes.
#[inline(always)]
fn skip_plain(text: &[u8], mut position: usize, flag: &mut bool) -> usize {
    while let Some(stretch) = text.get(position..).and_then(|rest| rest.first_chunk()) {
        if !block::is_plain_stretch(stretch) {
            break;
        }
        *flag |= block::is_high_stretch(stretch);
        position += block::STRETCH;
    }
    position
}

/// Returns where the escape ends whose backslash is at `start`.
#[inline(always)]
fn escape(text: &[u8], start: usize) -> Option<usize> {
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
fn number(text: &[u8], start: usize, first: u8) -> Option<usize> {
    // A minus stops at once; sixteen digits and more do not stop.
    let count = block::count_before(block::not_digits(block::at(text, start)));
    let end = start + count;
    let plain = ((first != b'0') | (count == 1)) & (count.wrapping_sub(1) < block::WIDTH - 1);
    if plain && !matches!(text.get(end), Some(b'.' | b'e' | b'E')) {
        return Some(end);
    }
    any_number(text, start)
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
fn literal(text: &[u8], start: usize, first: u8) -> Option<Scalar> {
    let (kind, word): (Kind, &[u8]) = match first {
        b'n' => (Kind::Null, b"null"),
        b't' => (Kind::True, b"true"),
        b'f' => (Kind::False, b"false"),
        _ => return None,
    };
    let end = start + word.len();
    (text.get(start..end)? == word).then_some(Scalar { kind, flag: false, end })
}
