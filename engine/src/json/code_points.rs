//! The code points of a string body: escapes undone, surrogate pairs joined, bad bytes replaced.

/// Digits as the host writes them in escapes.
const HEX: [char; 16] =
    ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// What stands for bytes that are no UTF-8.
const REPLACEMENT: u32 = 0xFFFD;

/// The code points of what stands between the quotes of a scanned string; a lone surrogate is one.
#[derive(Clone, Debug)]
pub(super) struct CodePoints<'a> {
    rest: &'a [u8],
}

impl<'a> CodePoints<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    /// Takes one character of UTF-8, or the bytes that one U+FFFD stands for: a maximal subpart of
    /// a character, as the WHATWG decoder and Rust's have it.
    fn utf8(&mut self) -> u32 {
        // A character has at most four bytes; a fifth could not change what the first of them is.
        let window = &self.rest[..self.rest.len().min(4)];
        let Some(chunk) = window.utf8_chunks().next() else { return REPLACEMENT };
        let (point, bytes) = match chunk.valid().chars().next() {
            Some(character) => (u32::from(character), character.len_utf8()),
            None => (REPLACEMENT, chunk.invalid().len()),
        };
        self.rest = &self.rest[bytes..];
        point
    }

    /// Takes what is behind a backslash that has been taken.
    fn escape(&mut self) -> u32 {
        let Some((&escape, rest)) = self.rest.split_first() else { return REPLACEMENT };
        self.rest = rest;
        let byte = match escape {
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 0x0C,
            b'r' => b'\r',
            b'u' => {
                let unit = unit(self.rest);
                self.rest = self.rest.get(4..).unwrap_or_default();
                return self.join(unit);
            }
            itself => itself,
        };
        u32::from(byte)
    }

    /// Joins a unit with the escaped one that follows it, if they are the halves of a pair.
    fn join(&mut self, unit_before: u32) -> u32 {
        if !(0xD800..0xDC00).contains(&unit_before) || !self.rest.starts_with(b"\\u") {
            return unit_before;
        }
        let low = unit(&self.rest[2..]);
        if !(0xDC00..0xE000).contains(&low) {
            return unit_before;
        }
        self.rest = self.rest.get(6..).unwrap_or_default();
        0x1_0000 + ((unit_before - 0xD800) << 10) + (low - 0xDC00)
    }
}

impl Iterator for CodePoints<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (&first, rest) = self.rest.split_first()?;
        match first {
            b'\\' => {
                self.rest = rest;
                Some(self.escape())
            }
            0..0x80 => {
                self.rest = rest;
                Some(u32::from(first))
            }
            0x80.. => Some(self.utf8()),
        }
    }
}

/// Reads four hexadecimal digits.
fn unit(digits: &[u8]) -> u32 {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
    digits.iter().take(4).fold(0, |unit, byte| unit << 4 | digit(byte))
}

/// Puts a code point in WTF-8, a lone surrogate in the three bytes that UTF-8 would give it.
pub(super) fn push_wtf8(bytes: &mut Vec<u8>, point: u32) {
    if let Some(character) = char::from_u32(point) {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let low_six = |bits: u32| 0x80 | (bits & 0x3F) as u8;
    bytes.extend_from_slice(&[0xE0 | (point >> 12) as u8, low_six(point >> 6), low_six(point)]);
}

/// Puts a code point as the host's `JSON.stringify` writes it in a string.
///
/// # Source
/// ECMA-262, `QuoteJSONString`.
pub(super) fn push_escaped(to: &mut String, point: u32) {
    match point {
        0x08 => to.push_str("\\b"),
        0x09 => to.push_str("\\t"),
        0x0A => to.push_str("\\n"),
        0x0C => to.push_str("\\f"),
        0x0D => to.push_str("\\r"),
        0x22 => to.push_str("\\\""),
        0x5C => to.push_str("\\\\"),
        _ => match char::from_u32(point) {
            Some(character) if point >= 0x20 => to.push(character),
            _ => {
                to.push_str("\\u");
                to.extend([12, 8, 4, 0].map(|shift| HEX[point as usize >> shift & 0xF]));
            }
        },
    }
}

/// Returns whether ECMAScript's `trim()` takes a code point away: white space (TAB, VT, FF, U+FEFF
/// and all of category Zs) or a line terminator.
///
/// # Source
/// ECMA-262, `WhiteSpace` and `LineTerminator`.
pub(super) const fn is_trimmable(point: u32) -> bool {
    matches!(
        point,
        0x09..=0x0D | 0x20 | 0xA0 | 0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F
            | 0x3000 | 0xFEFF
    )
}
