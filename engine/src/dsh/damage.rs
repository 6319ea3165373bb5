//! Damage described as what it is: a gap, two branches, a restart, a glued or split record, NULs, a BOM.

use crate::companion::RuleId;
use crate::dsh::row::Row;
use crate::event::Place;
use std::collections::VecDeque;

/// How many of the last kept records are remembered to compare an overlap with.
const REMEMBERED: usize = 1 << 16;

/// How many bytes at each end of a line its fingerprint looks at.
const SAMPLE_BYTES: usize = 96;

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
    /// It is the beginning of a record that goes on in the next line.
    Split,
    /// It is not JSON in any other way.
    Malformed,
    /// It is a packed row that breaks its rules.
    Packed(&'static str),
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
            Self::Glued => "line/glued",
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
        Row::BadPacked(why) => return Defective::Packed(why),
        Row::Malformed(defect) => defect.offset,
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
    Defective::Malformed
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
    kept: VecDeque<(u64, u64)>,
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
}

impl Damage {
    /// Remembers a kept record.
    pub fn keep(&mut self, seq: u64, line: &[u8]) {
        if self.kept.len() == REMEMBERED {
            self.kept.pop_front();
        }
        self.kept.push_back((seq, fingerprint(line)));
    }

    /// Remembers a kept `turn/end`.
    pub fn keep_turn_end(&mut self, seq: u64, time_ms: f64) {
        self.kept_turn_end = Some((seq, time_ms));
    }

    /// Takes a parsable row that lies after the damage.
    pub fn after(&mut self, first: u64, members: u64, line: &[u8], place: Place) {
        self.events += members;
        let count = self.runs.len();
        match self.runs.last_mut() {
            Some(run) if run.end == first => run.end += members,
            _ if count < 8 => {
                self.runs.push(Run { first, end: first + members, place, turn_end_ms: None });
            }
            _ => return,
        }
        if self.runs.len() == 1 && !self.differing {
            let at = self.kept.binary_search_by_key(&first, |(seq, _)| *seq);
            match at.map(|at| self.kept[at].1 == fingerprint(line)) {
                Ok(true) => self.alike += members,
                _ => self.differing = true,
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
            Defective::Split => {
                "a record breaks off in the middle of its line and the next line begins".into()
            }
            Defective::Malformed => "a line is not JSON".into(),
            Defective::Packed(why) => format!("a packed row breaks its rules: {why}"),
            Defective::Invalid(detail) => format!("a row is no event of this format: {detail}"),
        }
    }

    fn describe_seq(&self, got: f64, expected: u64) -> String {
        if got > expected as f64 {
            let missing = got - expected as f64;
            return format!(
                "a gap: events {expected} to {} are missing ({missing} of them); the log goes on at \
                 seq {got}",
                got - 1.0
            );
        }
        let Some(run) = self.runs.first() else {
            return format!("seq {got} came where {expected} was due");
        };
        let what = if got == 0.0 { "the log starts again" } else { "two branches" };
        let overlap = run.end.min(expected) - run.first.min(expected);
        let mut text = format!(
            "{what}: one branch has {expected} events (seq 0 to {}), the other {} (seq {} to {}); they \
             overlap in {overlap}",
            expected.saturating_sub(1),
            run.end - run.first,
            run.first,
            run.end - 1,
        );
        text.push_str(&match self.alike {
            0 => ", which differ from the first on".into(),
            alike if alike >= overlap => ", which are the same in both".into(),
            alike => format!(", of which the first {alike} are the same"),
        });
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
    let mut hash = line.len() as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let tail = line.len().saturating_sub(SAMPLE_BYTES).max(SAMPLE_BYTES.min(line.len()));
    for part in [&line[..line.len().min(SAMPLE_BYTES)], &line[tail..]] {
        for chunk in part.chunks(8) {
            let mut bytes = [0u8; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
            hash ^= hash >> 32;
        }
    }
    hash
}
