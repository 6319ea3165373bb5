//! The longest lawful prefix of a log, and the decision between a torn tail and corruption.
//!
//! A line that is not the next event ends the prefix. What follows decides what that means: a later
//! line that is a `turn/end` proves that the region had been committed, so the log is corrupt;
//! without one it is a torn tail, which recovery cuts. In a Zstandard log the text of complete
//! frames must be lawful to its last byte.
//!
//! | text | the line is | a later `turn/end` | decision |
//! |---|---|---|---|
//! | plain, or of the torn frame | the next event | | kept |
//! | plain, or of the torn frame | anything else | no | torn here |
//! | plain, or of the torn frame | anything else | yes, or the line itself is one | corrupt |
//! | of complete frames | anything else, or not ended | | corrupt |
//! | any, format 0 | `null` | | corrupt at once |
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 2.3, 2.4 and 3.2 to 3.4.

mod exact;

use crate::dsh::damage::{Damage, Defective, Nature, classify};
use crate::dsh::fault::{Fault, FaultKind, clip};
use crate::dsh::line::{LineSink, LineView, Rest};
use crate::dsh::record::{Record, RecordSink};
use crate::dsh::row::{Envelope, Packed, Row, is_printable};
use crate::event::{Event, Place};
use crate::json::{Document, Json, display, is_safe_integer, is_seq};

/// How many bytes of lines are joined to see whether they are one record.
const PIECES_BYTES_MAX: usize = 1 << 16;

/// The first line that ended the prefix.
#[derive(Clone, Debug)]
pub struct Issue {
    /// What is wrong with it.
    pub why: Defective,
    /// The host's words for it.
    pub host: String,
    /// Where it is.
    pub place: Place,
    /// The seq that should have come.
    pub expected: u64,
}

/// The scan of one log's lines.
pub struct LogScan<'s> {
    format: u64,
    sink: &'s mut dyn RecordSink,
    null: Document,
    /// The type of the record at hand, when the catalogue does not know it.
    kind: String,
    /// Events of the prefix.
    pub events: u64,
    /// Number of the last line of the prefix; the header is line 1.
    pub kept_lines: u64,
    /// In plain text: where on disk the prefix ends.
    pub kept_bytes: u64,
    /// Number of the last line seen.
    pub lines: u64,
    /// Bytes of the lines seen.
    pub text_bytes: u64,
    /// The first line that ended the prefix.
    pub issue: Option<Issue>,
    /// The first reason for which the host refuses.
    pub fault: Option<Fault>,
    /// What lies around the issue.
    pub damage: Damage,
    /// The host broke off at a row without an issue: what follows only tells how much there is.
    broken_off: bool,
    /// The lines of what may be one record that line feeds cut, joined.
    pieces: Vec<u8>,
}

impl<'s> LogScan<'s> {
    /// Starts after the header line, which ended at `header_bytes` in plain text.
    ///
    /// # Panics
    ///
    /// Never: `null` is JSON.
    pub fn new(format: u64, sink: &'s mut dyn RecordSink, header_bytes: u64) -> Self {
        Self {
            format,
            sink,
            null: Document::parse("null").expect("null is JSON"),
            kind: String::new(),
            events: 0,
            kept_lines: 1,
            kept_bytes: header_bytes,
            lines: 1,
            text_bytes: 0,
            issue: None,
            fault: None,
            damage: Damage::default(),
            broken_off: false,
            pieces: Vec::new(),
        }
    }

    /// Ends the text of complete frames: every byte of it must have been kept.
    pub fn end_complete(&mut self, rest: Option<Rest>) {
        const HOST: &str =
            "corrupt Zstandard session log: complete frame contains a torn JSONL record";
        if self.fault.is_some() {
            return;
        }
        if let Some(issue) = &self.issue {
            let message = self.damage.describe(&issue.why, issue.expected);
            let rule = issue.why.rule(issue.expected);
            let (kind, host) = (FaultKind::Corrupt, Some(HOST.to_owned()));
            self.fault = Some(Fault::new(kind, rule, message, host, issue.place));
        } else if let Some(rest) = rest {
            let message = "the last complete frame ends in the middle of a record".to_owned();
            let place = Place { line: Some(self.lines + 1), ..rest.place };
            let (kind, host) = (FaultKind::Corrupt, Some(HOST.to_owned()));
            self.fault = Some(Fault::new(kind, "container/split-record", message, host, place));
        }
    }

    /// Describes the issue that ended the prefix, in a sentence.
    pub fn describe_issue(&self) -> Option<String> {
        self.issue.as_ref().map(|issue| self.damage.describe(&issue.why, issue.expected))
    }

    /// Rewrites a fault that an issue caused, now that all that follows it was seen.
    pub fn finish(&mut self) {
        if let (Some(issue), Some(fault)) = (&self.issue, &mut self.fault)
            && fault.place == issue.place
            && fault.kind == FaultKind::Corrupt
        {
            fault.message = self.damage.describe(&issue.why, issue.expected);
            fault.rule = issue.why.rule(issue.expected);
        }
    }

    fn refuse(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Refuses, and keeps nothing of what follows.
    fn break_off(&mut self, fault: Fault) {
        self.broken_off |= self.issue.is_none();
        self.refuse(fault);
    }

    /// Turns the issue into a refusal, because the damaged region had been committed.
    fn refuse_issue(&mut self) {
        let Some(issue) = &self.issue else { return };
        let rule = issue.why.rule(issue.expected);
        let fault = Fault::corrupt(rule, issue.host.clone(), issue.place);
        self.refuse(fault);
    }

    fn set_issue(&mut self, why: Defective, host: String, place: Place) {
        let expected = self.events;
        let own = match why {
            Defective::Seq(got) => got.filter(|got| is_seq(*got)).map(|got| got as u64),
            _ => place.seq,
        };
        let place = Place { seq: own, ..place };
        self.issue.get_or_insert(Issue { why, host, place, expected });
    }

    /// The number by which the host counts lines: from 1, after the header.
    fn row_number(&self) -> u64 {
        self.lines - 1
    }

    fn unparsable(&mut self, line: &LineView<'_>, place: Place) {
        self.damage.lines += 1;
        if self.issue.is_none() {
            let number = self.row_number();
            let host = format!("corrupt session log: unparsable committed event at line {number}");
            let why = classify(line.text, line.row);
            if why == Defective::Malformed && line.text.starts_with(b"{") {
                self.pieces = line.text.to_vec();
            }
            self.set_issue(why, host, place);
        } else if !self.pieces.is_empty() {
            self.join(line.text);
        }
    }

    /// Sees whether the lines since the issue are one record that line feeds cut.
    fn join(&mut self, piece: &[u8]) {
        self.pieces.extend_from_slice(piece);
        if self.pieces.len() > PIECES_BYTES_MAX {
            self.pieces.clear();
        } else if Document::parse(self.pieces.clone()).is_ok() {
            self.pieces.clear();
            if let Some(issue) = &mut self.issue {
                issue.why = Defective::Split;
            }
        }
    }

    /// A row of format 0.
    fn lenient(&mut self, line: &LineView<'_>, place: Place) {
        match line.row {
            Row::Malformed(_) | Row::BadPacked(_) => self.unparsable(line, place),
            Row::Null => {
                let property = if self.issue.is_some() { "type" } else { "seq" };
                let host = format!("Cannot read properties of null (reading '{property}')");
                let message = "a line holds `null`, on which the host's reader breaks off";
                let kind = FaultKind::Corrupt;
                self.break_off(Fault::new(kind, "envelope/null-row", message, Some(host), place));
            }
            Row::Scalar if self.issue.is_some() => self.damage.lines += 1,
            Row::Scalar => {
                self.damage.lines += 1;
                let host = self.gap_text("undefined");
                self.set_issue(Defective::Seq(None), host, place);
            }
            Row::Packed(packed) => self.packed(packed, line, place),
            Row::Event(envelope) => self.event(envelope, line, place),
        }
    }

    fn gap_text(&self, got: &str) -> String {
        let (row, expected) = (self.row_number(), self.events);
        let gap = format!("(expected {expected}, got {got})");
        if self.format == 1 {
            return self
                .invalid_text(&format!("released Session row {} has seq gap {gap}", row - 1));
        }
        format!("corrupt session log: seq gap in committed region at line {row} {gap}")
    }

    fn packed(&mut self, packed: &Packed, line: &LineView<'_>, place: Place) {
        if self.issue.is_some() || packed.seq0 != self.events as f64 {
            if self.issue.is_none() {
                let host = self.gap_text(&display(packed.seq0));
                self.set_issue(Defective::Seq(Some(packed.seq0)), host, place);
            }
            self.damage.lines += 1;
            self.damage.after_packed(packed, packed.data(line.text, line.tape), line.text, place);
            return;
        }
        let seq = self.events;
        let event = Event {
            seq,
            members: packed.members,
            time_ms: packed.time0,
            last_time_ms: packed.last_time,
            kind: "assistant/chunk",
            data: packed.data(line.text, line.tape),
            packed: true,
            ignorable: false,
            sources: None,
            surface: None,
            place: Place { seq: Some(seq), ..place },
        };
        self.damage.keep(seq, line.text, Nature::Packed);
        self.events += packed.members;
        self.kept(line, place);
        let (shown_kind, opaque) = (event.kind, line.opaque);
        let (lawful, known, has_data) = (true, true, true);
        self.sink.packed(packed, &Record { event, lawful, known, shown_kind, has_data, opaque });
    }

    fn kept(&mut self, line: &LineView<'_>, place: Place) {
        self.kept_lines = self.lines;
        if place.frame.is_none() {
            self.kept_bytes = place.byte.unwrap_or(0) + line.bytes + 1;
        }
    }

    fn event(&mut self, envelope: &Envelope, line: &LineView<'_>, place: Place) {
        let (text, tape) = (line.text, line.tape);
        let is_turn_end = envelope.known_name() == Some("turn/end");
        let seq = envelope.seq(text, tape);
        let number = seq.and_then(|seq| seq.as_number());
        let is_next = number == Some(self.events as f64);
        if self.issue.is_some() || !is_next {
            if self.issue.is_none() {
                if seq.is_some_and(|seq| !is_printable(seq)) {
                    let message = "a seq is an object that the host cannot even print";
                    let host = Some("Cannot convert object to primitive value".to_owned());
                    let rule = "envelope/not-an-event";
                    self.break_off(Fault::new(FaultKind::Corrupt, rule, message, host, place));
                    return;
                }
                let got = seq.map_or_else(|| "undefined".into(), |seq| clip(seq.to_js_string()));
                let host = self.gap_text(&got);
                self.set_issue(Defective::Seq(number), host, place);
            }
            self.after_issue(envelope, line, place);
            if is_turn_end {
                self.refuse_issue();
            }
            return;
        }
        self.keep_event(envelope, line, place);
    }

    /// Notes an event row that lies after the issue, or is it.
    fn after_issue(&mut self, envelope: &Envelope, line: &LineView<'_>, place: Place) {
        let (text, tape) = (line.text, line.tape);
        self.damage.lines += 1;
        let seq = envelope.seq(text, tape).and_then(|seq| seq.as_number());
        if let Some(seq) = seq.filter(|seq| crate::json::is_seq(*seq)) {
            self.damage.after(seq as u64, text, place);
        }
        if envelope.known_name() == Some("turn/end") {
            let time = envelope.time(text, tape).and_then(|time| time.as_number());
            self.damage.after_turn_end(time.unwrap_or(0.0));
        }
    }

    /// Keeps the next event and hands it on.
    fn keep_event(&mut self, envelope: &Envelope, line: &LineView<'_>, place: Place) {
        let (text, tape) = (line.text, line.tape);
        let time = envelope.time(text, tape).and_then(|time| time.as_number());
        let kind = envelope.kind(text, tape);
        let typed = kind.is_some_and(|kind| kind.is_string());
        let ignorable = envelope.ignorable(text, tape);
        let has_data = envelope.data(text, tape).is_some();
        let is_lawful_time = if self.format == 0 {
            time.is_some_and(is_safe_integer)
        } else {
            time.is_some_and(|n| is_safe_integer(n) && !(n == 0.0 && n.is_sign_negative()))
        };
        let is_true = |value: Json<'_>| value.as_bool() == Some(true);
        let lawful = !envelope.extra_key
            && typed
            && is_lawful_time
            && has_data
            && ignorable.is_none_or(is_true);
        if envelope.known.is_none() {
            self.kind = match kind {
                Some(kind) if is_printable(kind) => clip(kind.to_js_string()),
                Some(_) => "an object that cannot be printed".into(),
                None => "undefined".into(),
            };
        }
        let seq = self.events;
        self.damage.keep(seq, text, Nature::of(envelope.known_name(), text));
        if envelope.known_name() == Some("turn/end") {
            self.damage.keep_turn_end(seq, time.unwrap_or(0.0));
        }
        self.events += 1;
        self.kept(line, place);
        let time_ms = time.unwrap_or(f64::NAN);
        let event = Event {
            seq,
            members: 1,
            time_ms,
            last_time_ms: time_ms,
            kind: envelope.known_name().unwrap_or(if typed { &self.kind } else { "" }),
            data: envelope.data(text, tape).unwrap_or_else(|| self.null.root()),
            packed: false,
            ignorable: ignorable.is_some_and(is_true),
            sources: envelope.sources(text, tape),
            surface: envelope.surface(text, tape),
            place: Place { seq: Some(seq), ..place },
        };
        let shown_kind = envelope.known_name().unwrap_or(&self.kind);
        let known = envelope.known.is_some_and(|known| known.is_known_in(self.format));
        let opaque = line.opaque;
        self.sink.record(&Record { event, lawful, known, shown_kind, has_data, opaque });
    }
}

impl LineSink for LogScan<'_> {
    fn line(&mut self, line: LineView<'_>) {
        self.lines = line.number;
        self.text_bytes += line.bytes + 1;
        let place = Place { line: Some(line.number), ..line.place };
        if !self.pieces.is_empty() && !matches!(line.row, Row::Malformed(_)) {
            self.pieces.clear();
        }
        if line.over_limit {
            let message = format!(
                "line {} is not checked: larger than 512 MiB, or of too many or unkept values",
                line.number
            );
            self.break_off(Fault::new(FaultKind::Limit, "limit/line", message, None, place));
            return;
        }
        if self.broken_off {
            self.damage.lines += 1;
            return;
        }
        match self.format {
            0 => self.lenient(&line, place),
            1 => self.decoded(&line, place),
            _ => self.exact(&line, place),
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.refuse(fault);
    }
}
