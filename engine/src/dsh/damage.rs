//! Damage described as what it is: a gap, two branches, a restart, a glued or split record, NULs, a
//! BOM.

use crate::companion::RuleId;
use crate::dsh::chunk::Chunks;
use crate::dsh::row::{Packed, Row};
use crate::event::Place;
use crate::json::{Document, Json};
use std::borrow::Cow;
use std::collections::VecDeque;

/// How many of the last kept records are remembered to compare an overlap with.
const REMEMBERED: usize = 1 << 16;

/// How many bytes at each end of a line its fingerprint looks at.
const SAMPLE_BYTES: usize = 96;

/// The longest record that recovery writes, in bytes, with room to spare.
const RECOVERY_BYTES_MAX: usize = 4096;

/// The longest record that is looked for behind a cut one, in bytes.
const RECORD_BYTES_MAX: usize = 1 << 20;

/// Why a line ended the lawful prefix.
#[derive(Clone, Debug, PartialEq)]
pub enum Defective {
    /// It is blank.
    Blank,
    /// It starts with a byte order mark.
    Bom,
    /// It holds a run of NUL bytes.
    Nuls,
    /// It is one record followed by another without a line feed between them.
    Glued,
    /// It is the beginning of a record, and then a whole record: a write was cut, and the next one
    /// followed on the same line.
    Cut,
    /// It is the beginning of a record that goes on in the next line.
    Split,
    /// It is not JSON in any other way.
    Malformed,
    /// It is a packed row that breaks its rules.
    Packed(Cow<'static, str>),
    /// It is JSON, and no event of this format, as the detail says.
    Invalid(String),
    /// Its seq is not the next one; nothing when it is not a number.
    Seq(Option<f64>),
}

impl Defective {
    /// Returns the rule that names this kind of damage.
    pub fn rule(&self, expected: u64) -> RuleId {
        match self {
            Self::Blank => "line/blank",
            Self::Bom => "line/bom",
            Self::Nuls => "line/nul-run",
            Self::Glued | Self::Cut => "line/glued",
            Self::Split => "line/split",
            Self::Malformed => "json/malformed",
            Self::Packed(_) => "envelope/packed-row",
            Self::Invalid(_) => "envelope/invalid",
            Self::Seq(Some(got)) if *got == 0.0 => "envelope/seq-restart",
            Self::Seq(Some(got)) if *got < expected as f64 => "envelope/seq-overlap",
            Self::Seq(Some(_)) => "envelope/seq-gap",
            Self::Seq(None) => "envelope/not-an-event",
        }
    }
}

/// Tells what is wrong with a line that is no JSON.
pub fn classify(line: &[u8], row: &Row) -> Defective {
    let offset = match row {
        Row::BadPacked(bad) => return Defective::Packed(bad.why.into()),
        Row::Malformed(defect) => defect.offset,
        Row::Null | Row::Scalar => return Defective::Seq(None),
        _ => return Defective::Malformed,
    };
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return Defective::Blank;
    }
    if line.starts_with(b"\xEF\xBB\xBF") {
        return Defective::Bom;
    }
    if memchr::memmem::find(line, &[0; 4]).is_some() || line.first() == Some(&0) {
        return Defective::Nuls;
    }
    let rest = line.get(offset..).unwrap_or_default();
    if rest.first() == Some(&b'{') && line[..offset].trim_ascii_end().ends_with(b"}") {
        return Defective::Glued;
    }
    if holds_a_whole_record(line) {
        return Defective::Cut;
    }
    Defective::Malformed
}

/// What a kept record is, as far as branches are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A packed row: it may stand for the same events as other rows that look otherwise.
    Packed,
    /// What crash recovery writes: an interrupted result, the ends that follow it, a new lifecycle.
    Recovery,
    /// The end of a step.
    StepEnd,
    /// Anything else.
    Plain,
}

impl Nature {
    /// Returns the trait of an event row of a known type.
    pub fn of(kind: Option<&str>, line: &[u8]) -> Self {
        // What recovery writes is short; a long record is not worth the search.
        let is_short = line.len() <= RECOVERY_BYTES_MAX;
        let has = |needle: &[u8]| is_short && memchr::memmem::find(line, needle).is_some();
        let is_recovery = match kind {
            // A step ends in every branch: it tells nothing by itself.
            Some("step/end") => return Self::StepEnd,
            Some("session/end-seed") => true,
            Some("turn/end") => has(b"\"interrupted\""),
            Some("tool/result") => has(b"\"TOOL_OUTCOME_UNKNOWN\"") || has(b"\"TOOL_NOT_STARTED\""),
            _ => false,
        };
        if is_recovery { Self::Recovery } else { Self::Plain }
    }
}

/// A kept record, remembered.
#[derive(Clone, Copy, Debug)]
struct Kept {
    seq: u64,
    fingerprint: u64,
    what: Nature,
}

/// Returns whether a whole record starts within a line and ends it: a cut one was written over.
fn holds_a_whole_record(line: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(line, b"{\"type\":\"") else { return false };
    let tail = &line[at..];
    at > 0 && tail.len() <= RECORD_BYTES_MAX && Document::parse(tail.to_vec()).is_ok()
}

/// A run of consecutive seqs after the damage.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Seq of its first event.
    pub first: u64,
    /// One past the seq of its last event.
    pub end: u64,
    /// Where it starts.
    pub place: Place,
    /// Time of its last `turn/end`, in milliseconds.
    pub turn_end_ms: Option<f64>,
}

/// What lies around the first line that is not the next event.
#[derive(Debug, Default)]
pub struct Damage {
    kept: VecDeque<Kept>,
    kept_turn_end: Option<(u64, f64)>,
    /// Runs of events after the damage; the first few.
    pub runs: Vec<Run>,
    /// Lines after the damage, the damaged one included.
    pub lines: u64,
    /// Events that those lines would give.
    pub events: u64,
    /// Overlapping records that are alike in both branches, from the overlap's start on.
    pub alike: u64,
    differing: bool,
    /// The first records that differ are packed in one branch only, so that they may mean the same.
    is_unlike_in_form: bool,
}

impl Damage {
    /// Remembers a kept record.
    pub fn keep(&mut self, seq: u64, line: &[u8], what: Nature) {
        if self.kept.len() == REMEMBERED {
            self.kept.pop_front();
        }
        self.kept.push_back(Kept { seq, fingerprint: fingerprint(line), what });
    }

    /// Remembers a kept `turn/end`.
    pub fn keep_turn_end(&mut self, seq: u64, time_ms: f64) {
        self.kept_turn_end = Some((seq, time_ms));
    }

    /// Takes an event row that lies after the damage.
    pub fn after(&mut self, seq: u64, line: &[u8], place: Place) {
        if self.joins_first_run(seq, 1, place) {
            self.compare(seq, 1, line, false);
        }
    }

    /// Takes a packed row that lies after the damage, and its `data`.
    pub fn after_packed(&mut self, packed: &Packed, data: Json<'_>, line: &[u8], place: Place) {
        let (first, members) = (packed.seq0 as u64, packed.members);
        if !self.joins_first_run(first, members, place) {
            return;
        }
        let meets_packed = self.kept_at(first).is_none_or(|kept| kept.what == Nature::Packed);
        let Some(rows) = Chunks::of(packed, data).filter(|_| !meets_packed) else {
            return self.compare(first, members, line, true);
        };
        // The kept rows are loose, so each member is compared as the loose row that it could be.
        let end = self.kept.back().map_or(0, |last| last.seq + 1);
        for (seq, row) in (first..end).zip(rows) {
            let is_packed = self.kept_at(seq).is_none_or(|kept| kept.what == Nature::Packed);
            self.compare(seq, 1, row.as_bytes(), is_packed);
            if self.differing {
                return;
            }
        }
    }

    /// Notes events after the damage; returns whether they are of the first run, and that is alike
    /// so far.
    fn joins_first_run(&mut self, first: u64, members: u64, place: Place) -> bool {
        self.events += members;
        let count = self.runs.len();
        match self.runs.last_mut() {
            Some(run) if run.end == first => run.end += members,
            _ if count < 8 => {
                self.runs.push(Run { first, end: first + members, place, turn_end_ms: None });
            }
            _ => return false,
        }
        self.runs.len() == 1 && !self.differing
    }

    fn kept_at(&self, seq: u64) -> Option<Kept> {
        let at = self.kept.binary_search_by_key(&seq, |kept| kept.seq).ok()?;
        Some(self.kept[at])
    }

    /// Compares a row with the kept one of its seq.
    fn compare(&mut self, first: u64, members: u64, line: &[u8], is_packed: bool) {
        match self.kept_at(first) {
            Some(kept) if kept.fingerprint == fingerprint(line) => self.alike += members,
            Some(kept) => {
                self.differing = true;
                self.is_unlike_in_form = is_packed != (kept.what == Nature::Packed);
            }
            None => {
                self.differing = true;
                // In the midst of a packed row there is nothing to compare a row with.
                self.is_unlike_in_form = self.kept.back().is_some_and(|last| first <= last.seq);
            }
        }
    }

    /// Takes a `turn/end` that lies after the damage.
    pub fn after_turn_end(&mut self, time_ms: f64) {
        if let Some(run) = self.runs.last_mut() {
            run.turn_end_ms = Some(time_ms);
        }
    }

    /// Says in a sentence what lies around the damage; `expected` is the seq that should have come.
    pub fn describe(&self, why: &Defective, expected: u64) -> String {
        match why {
            Defective::Seq(Some(got)) => self.describe_seq(*got, expected),
            Defective::Seq(None) => "a line of JSON that is no event".into(),
            Defective::Blank => "a blank line between records".into(),
            Defective::Bom => "a record starts with a byte order mark".into(),
            Defective::Nuls => {
                "a run of NUL bytes where a record should be: space that was allocated and never \
                 written"
                    .into()
            }
            Defective::Glued => "two records are glued together on one line".into(),
            Defective::Cut => {
                "a record was cut, and the next one was written behind it on the same line".into()
            }
            Defective::Split => {
                "a record breaks off in the middle of its line and the next line begins".into()
            }
            Defective::Malformed => "a line is not JSON".into(),
            Defective::Packed(why) => format!("a packed row breaks its rules: {why}"),
            Defective::Invalid(detail) => format!("a row is no event of this format: {detail}"),
        }
    }

    /// Returns whether all that was kept from a seq on is what crash recovery writes.
    fn first_branch_is_recovery(&self, from: u64) -> bool {
        let mut has_recovery = false;
        for kept in self.kept.iter().rev().take_while(|kept| kept.seq >= from) {
            match kept.what {
                Nature::Recovery => has_recovery = true,
                Nature::StepEnd => {}
                Nature::Packed | Nature::Plain => return false,
            }
        }
        has_recovery
    }

    fn describe_seq(&self, got: f64, expected: u64) -> String {
        if got > expected as f64 {
            let missing = got - expected as f64;
            if !crate::json::is_safe_integer(got) {
                return format!("a seq that no event can have came where {expected} was due");
            }
            if missing == 1.0 {
                return format!("a gap: event {expected} is missing; the log goes on at seq {got}");
            }
            return format!(
                "a gap: events {expected} to {} are missing ({missing} of them); the log goes on \
                 at seq {got}",
                got - 1.0
            );
        }
        let Some(run) = self.runs.first() else {
            return format!("seq {got} came where {expected} was due");
        };
        let what = if got == 0.0 { "the log starts again" } else { "two branches" };
        let overlap = run.end.min(expected) - run.first.min(expected);
        let mut text = format!(
            "{what}: one branch has {expected} events (seq 0 to {}), the other {} (seq {} to {}); \
             they overlap in {overlap}",
            expected.saturating_sub(1),
            run.end - run.first,
            run.first,
            run.end - 1,
        );
        text.push_str(match self.alike {
            0 if self.is_unlike_in_form => ", in rows of other form",
            0 => ", which differ from the first on",
            alike if alike >= overlap => ", which are the same in both",
            _ => ", of which the first ones are the same",
        });
        if self.alike == 0 && self.first_branch_is_recovery(run.first) {
            text.push_str(
                "; from there on the first branch is only what crash recovery adds, so that the \
                 second is the live one",
            );
            return text;
        }
        let first = self.kept_turn_end.filter(|(seq, _)| *seq >= run.first).map(|(_, time)| time);
        text.push_str(match (first, run.turn_end_ms) {
            (Some(a), Some(b)) if b > a => "; the second branch has the later turn/end",
            (Some(_), Some(_)) => "; the first branch has the later turn/end",
            (None, Some(_)) => "; only the second branch ends a turn",
            (Some(_), None) => "; only the first branch ends a turn",
            (None, None) => "; neither branch ends a turn",
        });
        text
    }
}

/// A cheap fingerprint of a line: its length and its two ends. Exact for short lines.
fn fingerprint(line: &[u8]) -> u64 {
    let tail = line.len().saturating_sub(SAMPLE_BYTES).max(SAMPLE_BYTES.min(line.len()));
    let head = sample(&line[..line.len().min(SAMPLE_BYTES)]);
    // The two do not wait for each other.
    mix(mix(line.len() as u64, head), sample(&line[tail..]))
}

fn sample(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let hash =
        words.iter().fold(0x9E37_79B9_7F4A_7C15, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}

fn mix(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ hash >> 32
}
