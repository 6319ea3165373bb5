//! One line of a log: an event's envelope, a packed row, or neither.
//!
//! Reading a row locates the members of the envelope and builds nothing. A packed row is one line
//! that stands for a run of `assistant/chunk` events which differ in seq, time and text only; what
//! makes it valid is said in `packed`.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 6.1 and 7.1.

mod packed;

use crate::dsh::vocabulary::{self, KnownType};
use crate::json::{Defect, DefectKind, Json, Kind, Scanner, Tape};

/// The keys of an event row.
pub const KEYS: [&str; 7] =
    ["type", "seq", "time", "data", "ignorable", "sourceEventSeqs", "surfaceOp"];

/// A node index that stands for an absent member.
const ABSENT: u32 = u32::MAX;

/// What one line holds, as indexes into the tape of its block.
#[derive(Clone, Debug)]
pub enum Row {
    /// An object that is no packed row: an event, as far as its line goes.
    Event(Envelope),
    /// A packed row.
    Packed(Packed),
    /// The literal `null`, on which the host's reader of format 0 throws a `TypeError`.
    Null,
    /// Any other JSON value: a number, a string, a boolean or an array.
    Scalar,
    /// Not JSON.
    Malformed(Defect),
    /// A packed row that breaks its rules, and why.
    BadPacked(BadPacked),
}

/// The members of an event row.
#[derive(Clone, Debug)]
pub struct Envelope {
    root: u32,
    kind_node: u32,
    seq_node: u32,
    time_node: u32,
    data_node: u32,
    ignorable_node: u32,
    sources_node: u32,
    surface_node: u32,
    /// The type, when it is one that any format knows.
    pub known: Option<KnownType>,
    /// There is a key that no envelope has.
    pub extra_key: bool,
}

/// A packed row that breaks its rules.
#[derive(Clone, Copy, Debug)]
pub struct BadPacked {
    root: u32,
    /// Why.
    pub why: &'static str,
}

/// A packed row whose rules hold.
#[derive(Clone, Debug)]
pub struct Packed {
    root: u32,
    data_node: u32,
    /// Its type.
    pub tag: &'static str,
    /// Seq of the first member.
    pub seq0: f64,
    /// Time of the first member, in milliseconds.
    pub time0: f64,
    /// How many events it stands for; at least 1.
    pub members: u64,
    /// Time of the last member, in milliseconds.
    pub last_time: f64,
}

impl Row {
    /// Returns whether the line was not judged, because a limit of ours was met.
    pub fn is_over_limit(&self) -> bool {
        matches!(self, Self::Malformed(defect) if defect.is_limit())
    }
}

impl Envelope {
    /// Returns the name of the type, when it is one that any format knows.
    pub fn known_name(&self) -> Option<&'static str> {
        self.known.map(|known| known.name)
    }

    /// Returns the whole row.
    pub fn root<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Json<'a> {
        tape.json(text, self.root)
    }

    /// Returns `type`.
    pub fn kind<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.kind_node, text, tape)
    }

    /// Returns `seq`.
    pub fn seq<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.seq_node, text, tape)
    }

    /// Returns `time`.
    pub fn time<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.time_node, text, tape)
    }

    /// Returns `data`.
    pub fn data<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.data_node, text, tape)
    }

    /// Returns `ignorable`.
    pub fn ignorable<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.ignorable_node, text, tape)
    }

    /// Returns `sourceEventSeqs`.
    pub fn sources<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.sources_node, text, tape)
    }

    /// Returns `surfaceOp`.
    pub fn surface<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
        at(self.surface_node, text, tape)
    }
}

impl BadPacked {
    /// Returns the whole row.
    pub fn root<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Json<'a> {
        tape.json(text, self.root)
    }
}

impl Packed {
    /// Returns the whole row.
    pub fn root<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Json<'a> {
        tape.json(text, self.root)
    }

    /// Returns the row's `data`.
    pub fn data<'a>(&self, text: &'a [u8], tape: &'a Tape) -> Json<'a> {
        tape.json(text, self.data_node)
    }
}

fn at<'a>(node: u32, text: &'a [u8], tape: &'a Tape) -> Option<Json<'a>> {
    (node != ABSENT).then(|| tape.json(text, node))
}

/// Reads one line, without its line feed, and lays its nodes down on `tape`.
///
/// With `packs`, rows that carry a packed tag are read as packed rows (formats 0 and 1).
pub fn read(scanner: &mut Scanner, line: &[u8], tape: &mut Tape, packs: bool) -> Row {
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        let (offset, what) = (line.len(), "the line is blank");
        return Row::Malformed(Defect { offset, what, kind: DefectKind::Malformed });
    }
    let root = match scanner.scan(line, tape) {
        Ok(root) => root,
        Err(defect) => return Row::Malformed(defect),
    };
    let value = tape.json(line, root);
    match value.kind() {
        Kind::Object => {}
        Kind::Null => return Row::Null,
        _ => return Row::Scalar,
    }
    let (envelope, start) = envelope(line, tape, root);
    if packs && let Some(tag) = packed_tag(&envelope, line, tape) {
        let data_node = envelope.data_node;
        return match packed::judge(&envelope, &start, line, tape, tag) {
            Ok(row) => Row::Packed(Packed { root, data_node, tag, ..row }),
            Err(why) => Row::BadPacked(BadPacked { root, why }),
        };
    }
    Row::Event(envelope)
}

/// Where a packed row starts.
struct Start {
    seq0_node: u32,
    time0_node: u32,
    /// There is a key that neither an envelope nor a packed row has.
    extra_key: bool,
}

/// Locates the members of an object on the tape; of duplicates the last one counts.
fn envelope(line: &[u8], tape: &Tape, root: u32) -> (Envelope, Start) {
    let mut start = Start { seq0_node: ABSENT, time0_node: ABSENT, extra_key: false };
    let mut found = Envelope {
        root,
        kind_node: ABSENT,
        seq_node: ABSENT,
        time_node: ABSENT,
        data_node: ABSENT,
        ignorable_node: ABSENT,
        sources_node: ABSENT,
        surface_node: ABSENT,
        known: None,
        extra_key: false,
    };
    let end = root + tape.nodes[root as usize].span;
    let mut key_node = root + 1;
    let mut decoded = Vec::new();
    while key_node < end {
        let node = key_node + 1;
        let key = key_bytes(line, tape, key_node, &mut decoded);
        key_node = node + tape.nodes[node as usize].span;
        match key {
            b"type" => found.kind_node = node,
            b"seq" => found.seq_node = node,
            b"time" => found.time_node = node,
            b"data" => found.data_node = node,
            b"ignorable" => found.ignorable_node = node,
            b"sourceEventSeqs" => found.sources_node = node,
            b"surfaceOp" => found.surface_node = node,
            b"seq0" => start.seq0_node = node,
            b"time0" => start.time0_node = node,
            _ => start.extra_key = true,
        }
    }
    found.extra_key = start.extra_key || start.seq0_node != ABSENT || start.time0_node != ABSENT;
    if let Some(text) = found.kind(line, tape).and_then(|kind| kind.as_text()) {
        found.known = vocabulary::find(&text.to_wtf8());
    }
    (found, start)
}

/// Returns the text of a key, in place or decoded.
#[inline]
fn key_bytes<'a>(line: &'a [u8], tape: &Tape, node: u32, decoded: &'a mut Vec<u8>) -> &'a [u8] {
    let key = &tape.nodes[node as usize];
    if key.flag {
        let text = tape.json(line, node).as_text().map(|text| text.to_wtf8());
        *decoded = text.unwrap_or_default().into_owned();
        return decoded;
    }
    &line[key.start as usize + 1..key.end as usize - 1]
}

fn packed_tag(envelope: &Envelope, line: &[u8], tape: &Tape) -> Option<&'static str> {
    if envelope.known.is_some() {
        return None;
    }
    let kind = envelope.kind(line, tape).filter(Json::is_string)?;
    vocabulary::PACKED.into_iter().find(|tag| kind.is_str(tag))
}

/// Returns whether JavaScript can make a string of a value: an object with a `toString` of its own,
/// which in JSON is never a function, throws.
pub fn is_printable(value: Json<'_>) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if value.is_object() && value.get("toString").is_some() {
            return false;
        }
        pending.extend(value.elements());
    }
    true
}
