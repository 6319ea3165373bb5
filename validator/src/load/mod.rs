//! What the host's loader of format 0 does with the records of a log, in its own order.
//!
//! The loader makes several passes over the whole log, and the first pass that fails gives the
//! message, whatever lies earlier in the file. Here it is one pass that keeps the first failure of
//! each stage. Two stages look at the same message; the fault is found once.
//!
//! | stage | looks at |
//! |---|---|
//! | retired | `request/header-delta`, `mode/set`, a fallback `request/header` |
//! | shape | old shapes given their present form, then the shape of messages |
//! | vocabulary | types that are neither known nor ignorable |
//! | closers | what recovery adds, and whether it can |
//! | header | the optional fields of the header |
//! | replay | each event's envelope, request header, message, surface |
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 6.2 and 11.1.

pub mod message;
pub mod request;
pub mod order;
pub mod places;
pub mod surface;

use crate::load::places::Places;
use crate::load::surface::Surface;
use gatelog_engine::companion::{Companion, RuleId};
use gatelog_engine::dsh::closer::{self, Closers};
use gatelog_engine::dsh::fault::{FaultKind, clip};
use gatelog_engine::dsh::header::Header;
use gatelog_engine::dsh::legacy::{self, Earlier, Shape};
use gatelog_engine::dsh::record::Record;
use gatelog_engine::dsh::vocabulary::PACKED;
use gatelog_engine::event::{Event, Place};

/// The stages of the host's loader, in the order in which they speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// `request/header-delta`.
    RetiredDelta,
    /// `mode/set`.
    RetiredMode,
    /// A fallback `request/header`.
    RetiredFallback,
    /// Old shapes and message shapes.
    Shape,
    /// Unknown types.
    Vocabulary,
    /// The closers.
    Closers,
    /// The header's optional fields.
    Header,
    /// The events one by one.
    Replay,
}

/// The types of which the loader, or what it asks, reads the payload.
pub const READS: &[&[&str]] =
    &[message::KINDS, &[request::KIND], closer::KINDS, legacy::KINDS, &PACKED];

/// Why the loader refuses a log.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The stage that speaks.
    pub stage: Stage,
    /// What kind of bad news it is.
    pub kind: FaultKind,
    /// The rule that is broken.
    pub rule: RuleId,
    /// The host's inner message, with the name of its error class where that is not plain.
    pub inner: String,
    /// Where.
    pub place: Place,
}

/// The loader, fed with the records of one log.
#[derive(Clone, Debug)]
pub struct Load {
    format: u64,
    /// The session's id inside JSON quotes.
    session_json: Vec<u8>,
    /// The session's id for messages.
    session: String,
    surface: Surface,
    closers: Closers,
    /// The first refusal of each stage.
    first: Vec<Refusal>,
    /// Every refusal, one for each broken rule of an event, as findings. Whoever follows a log
    /// event by event takes them out; of the others the first thousand are kept.
    pub flaws: Vec<Refusal>,
    /// How many refusals were not kept.
    pub dropped: u64,
    closers_failed: bool,
    /// How often a rule was broken.
    refused: u64,
    /// The first rule that the record at hand breaks.
    at_hand: Option<Refusal>,
    /// Where events are that a rule may still name.
    pub places: Places,
}

/// How many flaws of one log are kept.
const FLAWS_MAX: usize = 1000;

impl Earlier for Surface {
    fn message_id(&self, seq: f64) -> Option<Vec<u8>> {
        Surface::message_id(self, seq)
    }
}

impl Load {
    /// Makes the loader of a log whose header was accepted.
    pub fn new(header: &Header) -> Self {
        let id = header.json().get("id");
        let raw = id.map_or(b"\"\"".as_slice(), |id| id.raw());
        let mut load = Self {
            format: header.version,
            session_json: raw[1..raw.len() - 1].to_vec(),
            session: id.map(|id| clip(id.to_js_string())).unwrap_or_default(),
            surface: Surface::default(),
            closers: Closers::default(),
            first: Vec::new(),
            flaws: Vec::new(),
            dropped: 0,
            closers_failed: false,
            refused: 0,
            at_hand: None,
            places: Places::default(),
        };
        if let Some((rule, inner)) = header.late() {
            let place = Place { line: Some(1), byte: Some(0), ..Place::default() };
            let inner = format!("Error: {inner}");
            load.refuse(Stage::Header, FaultKind::Corrupt, rule, inner, place);
        }
        load
    }

    /// Returns the refusal that the host would give, of those that were found.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.first.iter().min_by_key(|refusal| refusal.stage)
    }

    /// Returns the first rule that the last record broke, if it broke any.
    pub fn at_hand(&self) -> Option<&Refusal> {
        self.at_hand.as_ref()
    }

    /// Returns about how many bytes the state takes.
    pub fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.surface.state_bytes() + self.flaws.len() * size_of::<Refusal>()
    }

    /// Returns what recovery would add.
    pub fn closers(&self) -> &Closers {
        &self.closers
    }

    fn refuse(&mut self, stage: Stage, kind: FaultKind, rule: RuleId, inner: String, place: Place) {
        self.refused += 1;
        let refusal = Refusal { stage, kind, rule, inner: clip(inner), place };
        if !self.first.iter().any(|first| first.stage == stage) {
            self.first.push(refusal.clone());
        }
        if self.at_hand.is_none() {
            self.at_hand = Some(refusal.clone());
        }
        if self.flaws.len() < FLAWS_MAX {
            self.flaws.push(refusal);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns what recovery would add, as lines of JSON; nothing when it cannot.
    pub fn closer_lines(&self) -> Vec<String> {
        if self.refusal().is_some() { Vec::new() } else { self.closers.lines() }
    }

    /// Takes one record; hands it on in its present form, with whether it was found lawful here.
    pub fn take(&mut self, record: &Record<'_>, next: &mut dyn FnMut(&Event<'_>, bool)) {
        self.at_hand = None;
        self.places.take(&record.event);
        if self.format != 0 {
            self.later_format(record);
            next(&record.event, true);
            return;
        }
        if record.event.packed {
            // A packed row was judged when it was read; it carries no message and opens nothing.
            self.closers.pass(&record.event);
            next(&record.event, true);
            return;
        }
        let before = self.refused;
        self.retired(record);
        if self.refused > before {
            // What is retired is not replayed; its envelope is all that could still be said of it.
            self.surface.apply(&record.event);
            self.closers_take(record, &record.event);
            next(&record.event, false);
            return;
        }
        match legacy::normalise(&record.event, &self.session_json, &self.surface) {
            Shape::Present => self.present(record, &record.event, next),
            Shape::Changed { kind, data } => {
                let event = Event { kind, data: data.root(), ..record.event };
                self.present(record, &event, next);
            }
            Shape::Malformed(inner) => {
                let place = record.event.place;
                let inner = format!("Error: {inner}");
                let rule = "turn/malformed-legacy";
                self.refuse(Stage::Shape, FaultKind::Violation, rule, inner, place);
                self.present(record, &record.event, next);
            }
        }
    }

    /// Formats 1 to 4: what envelope and vocabulary decide.
    fn later_format(&mut self, record: &Record<'_>) {
        let event = &record.event;
        if !record.lawful {
            let inner = format!("Error: event at seq {} has an invalid event envelope", event.seq);
            let rule = "envelope/invalid";
            self.refuse(Stage::Replay, FaultKind::Corrupt, rule, inner, event.place);
        }
        self.vocabulary(event, record.known, record.shown_kind);
    }

    fn vocabulary(&mut self, event: &Event<'_>, is_known: bool, shown: &str) {
        if is_known || event.ignorable {
            return;
        }
        let inner = format!(
            "session \"{}\" contains event type \"{}\" (seq {}) unknown to this harness and not \
             marked ignorable; refusing to interpret the log — it was likely written by a newer \
             harness",
            self.session, shown, event.seq
        );
        let rule = "envelope/unknown-type";
        self.refuse(Stage::Vocabulary, FaultKind::Unsupported, rule, inner, event.place);
    }

    /// Judges what the present vocabulary no longer has.
    fn retired(&mut self, record: &Record<'_>) {
        let event = &record.event;
        let (stage, what) = match event.kind {
            "request/header-delta" => (Stage::RetiredDelta, "request/header-delta event"),
            "mode/set" => (Stage::RetiredMode, "mode/set event"),
            request::KIND => {
                if !record.has_data || event.data.is_null() {
                    let what = if record.has_data { "null" } else { "undefined" };
                    let inner =
                        format!("TypeError: Cannot read properties of {what} (reading 'reason')");
                    let (stage, rule) = (Stage::RetiredFallback, "request/no-payload");
                    self.refuse(stage, FaultKind::Violation, rule, inner, event.place);
                    return;
                }
                if !event.field("reason").is_some_and(|reason| reason.is_str("fallback")) {
                    return;
                }
                (Stage::RetiredFallback, "request/header reason \"fallback\"")
            }
            _ => return,
        };
        let inner = format!(
            "Error: session \"{}\" contains unsupported legacy {what} at seq {}",
            self.session, event.seq
        );
        let rule = "envelope/retired-type";
        self.refuse(stage, FaultKind::Unsupported, rule, inner, event.place);
    }

    /// Judges an event in its present form.
    fn present(
        &mut self,
        record: &Record<'_>,
        event: &Event<'_>,
        next: &mut dyn FnMut(&Event<'_>, bool),
    ) {
        let seq = event.seq;
        let before = self.refused;
        let shape = message::judge(event);
        if let Err((rule, what)) = shape {
            let inner = format!("Error: session event at seq {seq} {what}");
            self.refuse(Stage::Shape, FaultKind::Violation, rule, inner, event.place);
        }
        // What was given its present form has a type that is known.
        let is_known = record.known || event.kind != record.event.kind;
        self.vocabulary(event, is_known, record.shown_kind);
        self.closers_take(record, event);
        self.replay(record, event, shape.is_ok());
        self.surface.apply(event);
        let is_lawful = self.refused == before && record.has_data;
        next(event, is_lawful);
    }

    fn closers_take(&mut self, record: &Record<'_>, event: &Event<'_>) {
        if !self.closers_failed
            && let Err(failure) = self.closers.take(event, record.has_data)
        {
            self.closers_failed = true;
            let inner = format!("TypeError: {}", failure.host);
            let rule = "envelope/null-payload";
            self.refuse(Stage::Closers, FaultKind::Corrupt, rule, inner, event.place);
        }
    }

    fn replay(&mut self, record: &Record<'_>, event: &Event<'_>, is_shaped: bool) {
        let seq = event.seq;
        if !record.lawful {
            let inner = format!("Error: seed event at index {seq} has an invalid event envelope");
            let rule = "envelope/invalid";
            self.refuse(Stage::Replay, FaultKind::Corrupt, rule, inner, event.place);
            return;
        }
        if let Err((rule, what)) = request::judge(event) {
            let inner = format!("Error: seed request/header at index {seq} {what}");
            self.refuse(Stage::Replay, FaultKind::Violation, rule, inner, event.place);
            return;
        }
        if !is_shaped {
            // The same message was faulted already, by an earlier stage.
            return;
        }
        if let Err(violation) = self.surface.plan(event) {
            let inner = format!("Error: invalid seed event at index {seq}: {}", violation.message);
            self.refuse(Stage::Replay, FaultKind::Violation, violation.rule, inner, event.place);
        }
    }

    /// Judges the end of the log: whether recovery can add what it must.
    pub fn finish(&mut self) {
        if self.format == 0
            && !self.closers_failed
            && let Some((place, seq)) = self.closers.unclosable()
        {
            let inner = format!("Error: session event at seq {seq} message must have tool source");
            let rule = "tool/unclosable-call";
            self.refuse(Stage::Closers, FaultKind::Violation, rule, inner, place);
        }
    }
}
