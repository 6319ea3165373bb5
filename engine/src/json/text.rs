//! The text of a string, decoded only as far as somebody asks.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::code_points::{self, CodePoints};
use super::tape::Node;

/// The content of a JSON string. Equality and hashing are those of the JavaScript string, however
/// it is written; the order is that of code points.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// What stands between the quotes.
    body: &'a [u8],
    /// The body may differ from the text: it has backslashes or bytes at or above 0x80.
    encoded: bool,
}

impl<'a> Text<'a> {
    /// The text of the string whose node this is.
    #[inline]
    pub(super) fn of(text: &'a [u8], node: &Node) -> Self {
        Self { body: &text[node.start as usize + 1..node.end as usize - 1], encoded: node.flag }
    }

    /// The text of a string as written, its quotes included.
    pub(super) fn of_raw(raw: &'a [u8]) -> Self {
        let body = &raw[1..raw.len() - 1];
        let encoded = body.iter().any(|byte| *byte == b'\\' || *byte >= 0x80);
        Self { body, encoded }
    }

    pub(super) fn code_points(&self) -> CodePoints<'a> {
        CodePoints::new(self.body)
    }

    /// Returns the text in WTF-8: UTF-8 that may hold lone surrogates, and only lone ones. Equal
    /// texts have equal bytes.
    pub fn to_wtf8(&self) -> Cow<'a, [u8]> {
        if !self.encoded {
            return Cow::Borrowed(self.body);
        }
        if !self.body.contains(&b'\\') {
            return match String::from_utf8_lossy(self.body) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
        }
        let mut bytes = Vec::with_capacity(self.body.len());
        for point in self.code_points() {
            code_points::push_wtf8(&mut bytes, point);
        }
        Cow::Owned(bytes)
    }

    /// Returns the text for a message: each lone surrogate is shown as U+FFFD.
    pub fn to_lossy(&self) -> Cow<'a, str> {
        if !self.encoded || !self.body.contains(&b'\\') {
            return String::from_utf8_lossy(self.body);
        }
        let shown = |point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
        Cow::Owned(self.code_points().map(shown).collect())
    }

    /// Returns whether the text is `s`.
    #[inline]
    pub fn eq_str(&self, s: &str) -> bool {
        if self.encoded {
            return self.code_points().eq(s.chars().map(u32::from));
        }
        self.body == s.as_bytes()
    }

    /// Returns whether the text begins with a character.
    pub fn starts_with(&self, first: char) -> bool {
        self.code_points().next() == Some(u32::from(first))
    }

    /// Returns the text as it is written, without its quotes.
    pub(super) fn as_written(&self) -> &'a [u8] {
        self.body
    }

    /// Returns the text in WTF-8 where it is written so.
    pub(super) fn as_wtf8(&self) -> Option<&'a [u8]> {
        let is_plain = !self.encoded
            || (memchr::memchr(b'\\', self.body).is_none() && str::from_utf8(self.body).is_ok());
        is_plain.then_some(self.body)
    }

    /// Returns the length of the text as it is written, in bytes; in WTF-8 it may be longer only
    /// where bytes are no UTF-8.
    pub(super) fn written_bytes(&self) -> usize {
        self.body.len()
    }

    /// Returns whether the text has no unit.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Returns the number of UTF-16 units, the host's `length`.
    pub fn utf16_len(&self) -> usize {
        if !self.encoded {
            return self.body.len();
        }
        self.code_points().map(|point| if point > 0xFFFF { 2 } else { 1 }).sum()
    }

    /// Returns whether the text equals its `trim()`: it neither starts nor ends with white space or
    /// a line terminator of ECMAScript. The empty text does.
    pub fn is_trimmed(&self) -> bool {
        let mut points = self.code_points();
        let Some(first) = points.next() else { return true };
        let last = if self.encoded {
            points.last().unwrap_or(first)
        } else {
            u32::from(self.body[self.body.len() - 1])
        };
        !code_points::is_trimmable(first) && !code_points::is_trimmable(last)
    }

    /// Returns the text as the host's `JSON.stringify` prints it: in quotes, with short escapes
    /// where there are such, lone surrogates as `\udxxx`, and everything else as it is.
    pub fn quoted(&self) -> String {
        let mut quoted = String::with_capacity(self.body.len() + 2);
        self.write_quoted(&mut quoted);
        quoted
    }

    pub(super) fn write_quoted(&self, to: &mut String) {
        to.push('"');
        for point in self.code_points() {
            code_points::push_escaped(to, point);
        }
        to.push('"');
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.encoded || other.encoded {
            return self.body == other.body || self.code_points().eq(other.code_points());
        }
        self.body == other.body
    }
}

impl Eq for Text<'_> {}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.encoded || other.encoded {
            return self.code_points().cmp(other.code_points());
        }
        self.body.cmp(other.body)
    }
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_wtf8().hash(state);
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.quoted())
    }
}
