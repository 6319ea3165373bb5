//! What is said of an event beside its payload: one JSON object in UTF-8.
//!
//! Its members are `type`, and where they are there `sourceEventSeqs`, `surfaceOp` and `ignorable`,
//! in this order, once each, without white space around names and values. `type` is a string as
//! `JSON.stringify` writes it; the next two are any JSON values, as they were given; `ignorable` is
//! `true`. So an envelope has one form, and equal drafts have equal bytes.

use crate::json::{Json, Scanner, Tape};
use crate::rules::Draft;
use memchr::memchr2;
use std::borrow::Cow;
use std::ops::Range;

const TYPE: &str = "{\"type\":";
const SOURCES: &str = ",\"sourceEventSeqs\":";
const SURFACE: &str = ",\"surfaceOp\":";
const IGNORABLE: &str = ",\"ignorable\":true";

/// An envelope that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    /// The type; borrowed unless it holds what JSON escapes.
    pub(crate) kind: Cow<'a, str>,
    /// The `sourceEventSeqs`, as JSON text.
    pub(crate) sources: Option<&'a [u8]>,
    /// The `surfaceOp`, as JSON text.
    pub(crate) surface: Option<&'a [u8]>,
    /// A reader that does not know the type may skip the event.
    pub(crate) ignorable: bool,
}

impl Envelope<'_> {
    /// Returns whether this is what the envelope of a draft says.
    pub(super) fn is_of(&self, draft: &Draft) -> bool {
        self.kind == draft.kind
            && self.sources == draft.sources.as_deref().map(trim)
            && self.surface == draft.surface.as_deref().map(trim)
            && self.ignorable == draft.ignorable
    }
}

/// What is wrong with an envelope, in words.
pub(crate) type EnvelopeFault = &'static str;

/// Returns the number of bytes of the envelope of a draft.
pub(crate) fn bytes_of(draft: &Draft) -> usize {
    let member = |name: &str, value: &Option<Vec<u8>>| {
        value.as_deref().map_or(0, |value| name.len() + trim(value).len())
    };
    let kind: usize =
        draft.kind.chars().map(|c| escape(c).map_or(c.len_utf8(), |escape| escape.len())).sum();
    let ignorable = if draft.ignorable { IGNORABLE.len() } else { 0 };
    let others = member(SOURCES, &draft.sources) + member(SURFACE, &draft.surface);
    TYPE.len() + 2 + kind + others + ignorable + 1
}

/// Writes the envelope of a draft behind other bytes.
pub(crate) fn write(to: &mut Vec<u8>, draft: &Draft) {
    to.extend_from_slice(TYPE.as_bytes());
    write_quoted(to, &draft.kind);
    for (name, value) in [(SOURCES, &draft.sources), (SURFACE, &draft.surface)] {
        if let Some(value) = value {
            to.extend_from_slice(name.as_bytes());
            to.extend_from_slice(trim(value));
        }
    }
    if draft.ignorable {
        to.extend_from_slice(IGNORABLE.as_bytes());
    }
    to.push(b'}');
}

/// Reads envelopes; reusable, for the sake of its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelopes {
    scanner: Scanner,
    tape: Tape,
}

impl Envelopes {
    /// Makes an envelope usable.
    pub(crate) fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Envelope<'a>, EnvelopeFault> {
        let text = std::str::from_utf8(bytes).map_err(|_| "the envelope is not UTF-8")?;
        if let Some(kind) = lone_type(text) {
            let kind = Cow::Borrowed(kind);
            return Ok(Envelope { kind, sources: None, surface: None, ignorable: false });
        }
        self.tape.clear();
        let root = self.scanner.scan(bytes, &mut self.tape).map_err(|defect| defect.what)?;
        let object = self.tape.json(bytes, root);
        let value = |key| object.get(key).map(|value| value.start()..value.end());
        let (sources, surface) = (value("sourceEventSeqs"), value("surfaceOp"));
        let ignorable = value("ignorable").is_some();
        let kind = object.get("type").ok_or("the envelope has no type")?;
        // What was found says what must stand where; another order, a duplicate, another member
        // and a blank are something else.
        let end = Some(0)
            .and_then(|end| skip(bytes, end, TYPE, &(kind.start()..kind.end())))
            .and_then(|end| sources.as_ref().map_or(Some(end), |v| skip(bytes, end, SOURCES, v)))
            .and_then(|end| surface.as_ref().map_or(Some(end), |v| skip(bytes, end, SURFACE, v)));
        let rest = end.map(|end| &bytes[end..]);
        let rest =
            if ignorable { rest.and_then(|r| r.strip_prefix(IGNORABLE.as_bytes())) } else { rest };
        if rest != Some(b"}") {
            return Err("the envelope has other members, another order, or white space");
        }
        let kind = type_of(text, kind)?;
        let sources = sources.map(|range| &bytes[range]);
        let surface = surface.map(|range| &bytes[range]);
        Ok(Envelope { kind, sources, surface, ignorable })
    }
}

/// Returns the type where the envelope holds nothing else and no escape: nearly always.
fn lone_type(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(TYPE)?.strip_prefix('"')?;
    let end = memchr2(b'"', b'\\', rest.as_bytes())?;
    let kind = &rest[..end];
    (&rest[end..] == "\"}" && kind.bytes().all(|byte| byte >= 0x20)).then_some(kind)
}

/// Returns where the value ends that was found at `value`, if its name and it come next at `start`.
fn skip(bytes: &[u8], start: usize, name: &str, value: &Range<usize>) -> Option<usize> {
    let is_next = bytes[start..].starts_with(name.as_bytes()) && start + name.len() == value.start;
    is_next.then_some(value.end)
}

/// Decodes the type, given the bytes of its value, which stands at the front of the envelope.
fn type_of<'a>(text: &'a str, value: Json<'_>) -> Result<Cow<'a, str>, EnvelopeFault> {
    let decoded = value.as_text().ok_or("the type is no string")?.to_wtf8();
    let decoded = std::str::from_utf8(&decoded).map_err(|_| "the type has a lone surrogate")?;
    let mut quoted = Vec::new();
    write_quoted(&mut quoted, decoded);
    if quoted != value.raw() {
        return Err("the type has an escape that JSON.stringify does not write");
    }
    let is_plain = quoted.len() == decoded.len() + 2;
    let body = &text[TYPE.len() + 1..][..quoted.len() - 2];
    Ok(if is_plain { Cow::Borrowed(body) } else { Cow::Owned(decoded.to_owned()) })
}

/// Writes a string as `JSON.stringify` does.
fn write_quoted(to: &mut Vec<u8>, text: &str) {
    to.push(b'"');
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        to.extend_from_slice(text.as_bytes());
    } else {
        let mut buffer = [0; 4];
        for c in text.chars() {
            match escape(c) {
                Some(escape) => to.extend_from_slice(escape.as_bytes()),
                None => to.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()),
            }
        }
    }
    to.push(b'"');
}

/// Returns what is written for a character that does not stand for itself.
fn escape(c: char) -> Option<String> {
    Some(match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\r' => "\\r".to_owned(),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        _ => return None,
    })
}

/// Cuts the white space of JSON from both ends.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = value {
        value = rest;
    }
    value
}
