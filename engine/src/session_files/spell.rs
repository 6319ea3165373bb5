//! An event as the host spells it: `JSON.stringify` of the value, in the host's order of keys.
//!
//! A draft is text, and the host keeps values. What the text says and no value of the host's can
//! hold is refused: minus zero, numbers that overflow or vanish, integers that lose digits, one
//! key twice, bytes that are no UTF-8.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 4.2, 6.1 and 18.7.

use std::fmt::Write as _;

use super::layout::Layout;
use super::pack::Chunk;
use crate::backend::{Refusal, Row};
use crate::dsh::fault::MESSAGE_BYTES_MAX;
use crate::json::{Document, Json, display, is_safe_integer};

/// One event in the host's spelling, without its seq.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spelt {
    pub(super) kind: String,
    /// Milliseconds since 1970, a safe integer.
    pub(super) time_ms: i64,
    pub(super) data: String,
    pub(super) sources: Option<String>,
    pub(super) surface: Option<String>,
    pub(super) ignorable: bool,
    /// What it is to the packer, if it can stand in a packed row.
    pub(super) chunk: Option<Chunk>,
    /// It is a result by which the host closes a call.
    pub(super) is_closer: bool,
}

impl Spelt {
    /// Spells a row.
    ///
    /// # Errors
    ///
    /// [`Refusal::Unsupported`] for what the format has no place for, [`Refusal::Malformed`] for
    /// what it cannot keep as it was given.
    pub(super) fn of(layout: &Layout, row: &Row) -> Result<Self, Refusal> {
        let draft = &row.draft;
        let kind = &draft.kind;
        admit(layout, row)?;
        let time_ms = i64::try_from(row.time_ms).ok().filter(|n| is_safe_integer(*n as f64));
        let time_ms = time_ms.ok_or_else(|| malformed(kind, "its time is no safe integer"))?;
        let data = parse(kind, "payload", &draft.data)?;
        let printed = |part, text: &Option<Vec<u8>>| {
            let text = text.as_ref().map(|text| parse(kind, part, text)).transpose()?;
            Ok::<_, Refusal>(text.map(|document| document.root().to_json()))
        };
        let (sources, surface) =
            (printed("sourceEventSeqs", &draft.sources)?, printed("surfaceOp", &draft.surface)?);
        let mut spelt = Self {
            kind: kind.clone(),
            time_ms,
            data: data.root().to_json(),
            sources,
            surface,
            ignorable: draft.ignorable,
            chunk: None,
            is_closer: false,
        };
        spelt.judge(layout, data.root());
        Ok(spelt)
    }

    /// Notes what the payload says of how the event is written.
    pub(super) fn judge(&mut self, layout: &Layout, data: Json<'_>) {
        self.chunk = Chunk::of(layout, self, data);
        self.is_closer = layout.is_closer(&self.kind, data);
    }

    /// Writes the event's line, its line feed included.
    pub(super) fn write(&self, seq: u64, to: &mut String) {
        let (time_ms, data) = (self.time_ms, &self.data);
        to.push_str("{\"type\":");
        quote(&self.kind, to);
        // Writing to a string cannot fail.
        let _ = write!(to, ",\"seq\":{seq},\"time\":{time_ms},\"data\":{data}");
        let mut metadata = [("sourceEventSeqs", &self.sources), ("surfaceOp", &self.surface)];
        if self.is_closer {
            metadata.reverse();
        }
        for (key, value) in metadata {
            if let Some(value) = value {
                let _ = write!(to, ",\"{key}\":{value}");
            }
        }
        to.push_str(if self.ignorable { ",\"ignorable\":true}\n" } else { "}\n" });
    }
}

/// Judges type and placement.
fn admit(layout: &Layout, row: &Row) -> Result<(), Refusal> {
    let (draft, kind, format) = (&row.draft, &row.draft.kind, layout.format);
    let refuse = |what: &str| {
        let what = format!("{what} in format {format}: {}", super::shown(kind));
        Err(Refusal::Unsupported { what })
    };
    if kind.len() > MESSAGE_BYTES_MAX {
        return refuse("a type of more than 4,096 bytes");
    }
    if layout.has_no_place_for(kind) {
        return refuse("a type that no event can have");
    }
    let carries = draft.surface.is_some() || draft.sources.is_some();
    if !layout.knows(kind) {
        return match (draft.ignorable, carries) {
            (true, false) => Ok(()),
            (true, true) => refuse("surfaceOp or sourceEventSeqs on a type that is unknown"),
            (false, _) => refuse("a type that is unknown and not ignorable"),
        };
    }
    match (layout.surface.contains(&kind.as_str()), draft.surface.is_some()) {
        (true, false) => refuse("a type without surfaceOp that stands on the surface"),
        (false, _) if carries => refuse("surfaceOp or sourceEventSeqs on a type of the log only"),
        _ => Ok(()),
    }
}

fn malformed(kind: &str, what: &str) -> Refusal {
    Refusal::Malformed { what: format!("{}: {what}", super::shown(kind)) }
}

fn parse(kind: &str, part: &str, text: &[u8]) -> Result<Document, Refusal> {
    document(text).map_err(|what| malformed(kind, &format!("its {part} {what}")))
}

/// Reads a text that a value of the host's holds whole.
pub(super) fn document(text: &[u8]) -> Result<Document, String> {
    if str::from_utf8(text).is_err() {
        return Err("is no UTF-8".to_owned());
    }
    let document = Document::parse(text);
    let document = document.map_err(|defect| format!("is no JSON: {defect}"))?;
    match loss(document.root()) {
        Some((what, at)) => Err(format!("is no JSON that the host can keep: byte {at}: {what}")),
        None => Ok(document),
    }
}

/// Returns what a value of the host's would lose of a text, and where.
fn loss(root: Json<'_>) -> Option<(&'static str, usize)> {
    let mut pending = vec![root];
    while let Some(value) = pending.pop() {
        if let Some(what) = number_loss(value) {
            return Some((what, value.start()));
        }
        if value.repeats_a_key() {
            return Some(("an object has one key twice", value.start()));
        }
        pending.extend(value.elements().filter(|it| !it.is_string()));
        pending.extend(value.members().map(|(_, it)| it).filter(|it| !it.is_string()));
    }
    None
}

fn number_loss(value: Json<'_>) -> Option<&'static str> {
    let number = value.as_number()?;
    let raw = value.raw();
    if number.is_infinite() {
        return Some("a number is beyond the range of doubles");
    }
    if number == 0.0 {
        let mantissa = raw.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
        if mantissa.iter().any(|byte| matches!(byte, b'1'..=b'9')) {
            return Some("a number is too small for a double");
        }
        return number.is_sign_negative().then_some("a number is minus zero");
    }
    let is_whole = !raw.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if is_whole && raw.len() > 15 {
        // The host's own print of a double is not exact either, and yet it is the same value.
        let is_own = display(number).as_bytes() == raw;
        let exact = str::from_utf8(raw).ok().and_then(|raw| raw.parse::<i128>().ok());
        if !is_own && exact != Some(number as i128) {
            return Some("an integer has more digits than a double keeps");
        }
    }
    None
}

/// Writes a string as `JSON.stringify` does.
pub(super) fn quote(text: &str, to: &mut String) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\u{8}' => to.push_str("\\b"),
            '\t' => to.push_str("\\t"),
            '\n' => to.push_str("\\n"),
            '\u{c}' => to.push_str("\\f"),
            '\r' => to.push_str("\\r"),
            '\0'..='\u{1f}' => {
                let _ = write!(to, "\\u{:04x}", u32::from(character));
            }
            _ => to.push(character),
        }
    }
    to.push('"');
}
