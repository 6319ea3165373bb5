//! One line of a log: an event's envelope, a packed row, or neither.
//!
//! Reading a row locates the members of the envelope and builds nothing. A packed row is one line
//! that stands for a run of `assistant/chunk` events which differ in seq, time and text only; it is
//! valid if and only if
//!
//! * its keys are exactly `type`, `seq0`, `time0`, `data`, and those of `data` exactly `turn`,
//!   `step`, `index`, `dt` and `texts` (for `tool-call-chunks` `id`, perhaps `name`, and `args`
//!   instead);
//! * `seq0` is a safe integer from 0 on, `time0` and each member of `dt` are safe integers, `turn`,
//!   `step` and `index` are numbers, `id` and `name` strings, `texts` or `args` one or more
//!   strings;
//! * `dt` has one member less than the texts, and every running seq and time is a safe integer.
//!
//! # Source
//!
//! The format specification, sections 6.1 and 7.1.

use crate::dsh::vocabulary::{self, KnownType};
use crate::json::{
    Defect, DefectKind, Json, Kind, Numbers, Scanner, Tape, is_safe_integer, is_seq,
};
use std::borrow::Cow;

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
    let envelope = envelope(line, tape, root);
    if packs && let Some(tag) = packed_tag(envelope.kind(line, tape)) {
        return match packed(value, tag) {
            Ok(row) => Row::Packed(Packed { root, data_node: envelope.data_node, ..row }),
            Err(why) => Row::BadPacked(BadPacked { root, why }),
        };
    }
    Row::Event(envelope)
}

/// Locates the members of an object on the tape; of duplicates the last one counts.
fn envelope(line: &[u8], tape: &Tape, root: u32) -> Envelope {
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
    while key_node < end {
        let node = key_node + 1;
        let key = key_bytes(line, tape, key_node);
        key_node = node + tape.nodes[node as usize].span;
        match key.as_ref() {
            b"type" => found.kind_node = node,
            b"seq" => found.seq_node = node,
            b"time" => found.time_node = node,
            b"data" => found.data_node = node,
            b"ignorable" => found.ignorable_node = node,
            b"sourceEventSeqs" => found.sources_node = node,
            b"surfaceOp" => found.surface_node = node,
            _ => found.extra_key = true,
        }
    }
    if let Some(text) = found.kind(line, tape).and_then(|kind| kind.as_text()) {
        found.known = vocabulary::find(&text.to_wtf8());
    }
    found
}

fn key_bytes<'a>(line: &'a [u8], tape: &'a Tape, node: u32) -> Cow<'a, [u8]> {
    let key = tape.nodes[node as usize];
    if key.flag {
        return tape.json(line, node).as_text().map_or(Cow::Borrowed(b""), |text| text.to_wtf8());
    }
    Cow::Borrowed(&line[key.start as usize + 1..key.end as usize - 1])
}

fn packed_tag(kind: Option<Json<'_>>) -> Option<&'static str> {
    let kind = kind.filter(Json::is_string)?;
    vocabulary::PACKED.into_iter().find(|tag| kind.is_str(tag))
}

/// The members of a packed row's `data`, found in one pass.
#[derive(Default)]
struct RunData<'a> {
    turn: Option<Json<'a>>,
    step: Option<Json<'a>>,
    index: Option<Json<'a>>,
    id: Option<Json<'a>>,
    name: Option<Json<'a>>,
    gaps: Option<Json<'a>>,
    texts: Option<Json<'a>>,
    args: Option<Json<'a>>,
    extra_key: bool,
}

impl<'a> RunData<'a> {
    fn of(data: Json<'a>) -> Self {
        let mut found = Self::default();
        for (key, value) in data.members() {
            let slot = match key.to_wtf8().as_ref() {
                b"turn" => &mut found.turn,
                b"step" => &mut found.step,
                b"index" => &mut found.index,
                b"id" => &mut found.id,
                b"name" => &mut found.name,
                b"dt" => &mut found.gaps,
                b"texts" => &mut found.texts,
                b"args" => &mut found.args,
                _ => {
                    found.extra_key = true;
                    continue;
                }
            };
            *slot = Some(value);
        }
        found
    }
}

/// Judges a packed row; its nodes are left for the caller to fill in.
fn packed(row: Json<'_>, tag: &str) -> Result<Packed, &'static str> {
    if !row.has_exactly(&["type", "seq0", "time0", "data"], &[]) {
        return Err("envelope must be exactly {type, seq0, time0, data}");
    }
    let number = |key| row.get(key).and_then(|value| value.as_number());
    let seq0 = number("seq0").filter(|n| is_seq(*n));
    let seq0 = seq0.ok_or("seq0 must be a non-negative safe integer")?;
    let time0 = number("time0").filter(|n| is_safe_integer(*n));
    let time0 = time0.ok_or("time0 must be a safe integer")?;
    let data = row.get("data").filter(|data| data.is_object() || data.is_array());
    let data = RunData::of(data.ok_or("data must be an object")?);
    let has_all = data.turn.is_some()
        && data.step.is_some()
        && data.index.is_some()
        && data.gaps.is_some()
        && !data.extra_key;
    if tag == "tool-call-chunks" {
        if !has_all || data.id.is_none() || data.args.is_none() || data.texts.is_some() {
            return Err("data must be exactly {turn, step, index, id, name?, dt, args}");
        }
        let is_string = |value: Option<Json<'_>>| value.is_none_or(|value| value.is_string());
        if !is_string(data.id) || !is_string(data.name) {
            return Err("id (and name when present) must be strings");
        }
    } else if !has_all
        || data.texts.is_none()
        || data.id.is_some()
        || data.name.is_some()
        || data.args.is_some()
    {
        return Err("data must be exactly {turn, step, index, dt, texts}");
    }
    run(&data, seq0, time0)
}

fn run(data: &RunData<'_>, seq0: f64, time0: f64) -> Result<Packed, &'static str> {
    let is_number = |value: Option<Json<'_>>| value.is_some_and(|value| value.is_number());
    if !is_number(data.turn) || !is_number(data.step) || !is_number(data.index) {
        return Err("turn/step/index must be numbers");
    }
    let texts = data.texts.or(data.args).filter(Json::is_array).ok_or("members must be strings")?;
    if texts.is_empty() || texts.element_kinds() != 1 << Kind::String as u8 {
        return Err("members must be a non-empty string array");
    }
    let gaps = data.gaps.filter(Json::is_array).ok_or("dt must be an array")?;
    let numbers = gaps.numbers();
    if !gaps.is_empty() && numbers.is_none() {
        return Err("dt must be an array of safe integers");
    }
    let members = texts.len() as u64;
    if gaps.len() as u64 != members - 1 {
        return Err("dt length does not match the members");
    }
    if !is_safe_integer(seq0 + (members as f64) - 1.0) {
        return Err("member seqs must stay safe integers");
    }
    let time = last_time(time0, numbers)?;
    Ok(Packed { root: ABSENT, data_node: ABSENT, seq0, time0, members, last_time: time })
}

/// Returns the time of the last member, every running time being a safe integer.
fn last_time(time0: f64, gaps: Option<Numbers<'_>>) -> Result<f64, &'static str> {
    let mut time = time0;
    let Some(gaps) = gaps else { return Ok(time) };
    for gap in gaps {
        if !is_safe_integer(gap) {
            return Err("dt must be an array of safe integers");
        }
        time += gap;
        if !is_safe_integer(time) {
            return Err("member times must stay safe integers");
        }
    }
    Ok(time)
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
