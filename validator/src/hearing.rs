//! One session of a native store before its judge: what is found, and when.
//!
//! A finding points to the event that it is about, which may lie long before the one that broke the
//! rule. A report has them in the order in which a reader of the log meets the breach, and not in
//! that of what they point to: so what a gate would have refused comes before whatever followed
//! from it. What only the end of a log decides comes last.

use crate::catalogue;
use crate::companion::Settings;
use crate::fold::FINDINGS_MAX;
use crate::judge::finding;
use crate::report::Finding;
use crate::rule::{Basis, Severity};
use crate::standard::Standard;
use gatelog_engine::backend::{RecordedRules, Stored};
use gatelog_engine::check::{SessionSink, Sinks};
use gatelog_engine::companion::{End, Violation};
use gatelog_engine::dsh::vocabulary::is_known;
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::{Json, Scanner, Tape};
use gatelog_engine::rules::{Judge, RuleSet as _, SessionHeader};
use std::collections::BTreeSet;

/// The host format whose rules events are judged by.
const DIALECT: u64 = 0;

/// When something was found: what an end decides behind all else, and then by the frame that was
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct When {
    is_of_end: bool,
    lsn: u64,
}

impl When {
    /// Returns when a rule was found broken, at a place or, without a frame, at the header.
    pub(crate) fn of(rule: &str, found_at: &Place) -> Self {
        let is_of_end = catalogue::find(rule).is_some_and(|rule| rule.basis == Basis::End);
        Self { is_of_end, lsn: found_at.frame.unwrap_or(0) }
    }

    /// What is found when there is nothing further to read.
    const LAST: Self = Self { is_of_end: true, lsn: u64::MAX };
}

/// Makes a hearing for each session.
pub(crate) struct Hearings {
    pub(crate) rules: Standard,
    pub(crate) settings: Settings,
}

impl Sinks for Hearings {
    type Sink = Hearing;

    fn session(&self, id: &str, header: &SessionHeader) -> Hearing {
        let mut hearing = Hearing {
            judge: None,
            settings: self.settings.clone(),
            findings: Vec::new(),
            dropped: 0,
            closers: 0,
            foreign: BTreeSet::new(),
            scanner: Scanner::new(),
            tapes: Default::default(),
        };
        match self.rules.judge(id, header) {
            Ok(judge) => hearing.judge = Some(judge),
            Err(violation) => {
                let when = When::of(violation.rule, &Place::default());
                hearing.take(violation, Place::default(), when);
            }
        }
        hearing
    }
}

/// One session before its judge.
pub(crate) struct Hearing {
    /// None where the header is refused: then nothing is said of the events.
    judge: Option<Box<dyn Judge>>,
    settings: Settings,
    /// What was found, and when; in this order but for what an end decides.
    pub(crate) findings: Vec<(When, Finding)>,
    /// How many findings were not kept.
    pub(crate) dropped: u64,
    /// How many events recovery would add, once the end was heard.
    pub(crate) closers: u64,
    /// Types of others that were noted.
    foreign: BTreeSet<String>,
    scanner: Scanner,
    /// Of payload, sources and surface.
    tapes: [Tape; 3],
}

impl Hearing {
    fn take(&mut self, violation: Violation, place: Place, when: When) {
        let place = match violation.seq {
            Some(seq) if place.seq != Some(seq) => Place { seq: Some(seq), ..Place::default() },
            _ => place,
        };
        let rule = catalogue::find(violation.rule);
        // A rule that nobody here knows is one of a companion that was brought along.
        let severity = rule.map_or(Some(Severity::Error), |rule| self.settings.severity(rule));
        if let Some(severity) = severity {
            self.put(when, finding(violation.rule, severity, violation.message, place));
        }
    }

    fn put(&mut self, when: When, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push((when, finding));
        } else {
            self.dropped += 1;
        }
    }

    /// Notes a type that the log says somebody registered. Returns whether it is one.
    fn is_foreign(&mut self, kind: &str, place: Place, rules: Option<&RecordedRules>) -> bool {
        if is_known(DIALECT, kind) {
            return false;
        }
        let types = rules.into_iter().flat_map(|rules| &rules.types);
        let Some((_, owner, _)) = types.into_iter().find(|(name, _, _)| name == kind) else {
            return false;
        };
        if self.foreign.insert(kind.to_owned()) {
            let message =
                format!("events of type \"{kind}\" belong to \"{owner}\" and were not judged");
            let severity = Severity::Note;
            let rule = "envelope/foreign-type";
            self.put(When::of(rule, &place), finding(rule, severity, message, place));
        }
        true
    }

    /// Judges the end, and returns how many events recovery would add. Beside a writer, and before
    /// damage, the last event that is known is not the end.
    fn finish(&mut self, events: u64, is_at_rest: bool) -> u64 {
        let Some(judge) = self.judge.take() else { return 0 };
        let closers = judge.closers().len() as u64;
        if !is_at_rest {
            return closers;
        }
        let place = Place { seq: events.checked_sub(1), ..Place::default() };
        if closers > 0 {
            let message =
                format!("the session ends inside a turn; {closers} event(s) will close it");
            self.take(Violation::new("turn/open-at-end", message), place, When::LAST);
        }
        let mut violations = Vec::new();
        let end = End { events, turn_open: closers > 0 };
        judge.finish(&end, &mut |violation| violations.push(violation));
        for violation in violations {
            self.take(violation, Place::default(), When::LAST);
        }
        closers
    }
}

impl SessionSink for Hearing {
    fn event(&mut self, stored: &Stored<'_>, place: Place, rules: Option<&RecordedRules>) {
        let Some(mut judge) = self.judge.take() else { return };
        let is_foreign = self.is_foreign(stored.kind, place, rules);
        let mut violations = Vec::new();
        if let Ok((data, sources, surface)) = read(&mut self.scanner, &mut self.tapes, stored) {
            let time_ms = stored.time_ms as f64;
            let event = Event {
                seq: stored.seq,
                members: 1,
                time_ms,
                last_time_ms: time_ms,
                kind: stored.kind,
                data,
                packed: false,
                // What the log says is somebody's is no unknown type: nobody here looks into it.
                ignorable: stored.ignorable || is_foreign,
                sources,
                surface,
                place,
            };
            judge.adopt(&event, &mut |violation| violations.push(violation));
        } else {
            let message = "the payload of the event is no JSON";
            violations.push(Violation::new("json/malformed", message));
        }
        self.judge = Some(judge);
        for violation in violations {
            let when = When::of(violation.rule, &place);
            self.take(violation, place, when);
        }
    }

    fn malformed(&mut self, what: &str, place: Place) {
        let rule = "envelope/not-an-event";
        self.take(Violation::new(rule, what), place, When::of(rule, &place));
    }

    fn end(&mut self, events: u64, is_at_rest: bool) {
        self.closers = self.finish(events, is_at_rest);
        self.foreign = BTreeSet::new();
        (self.scanner, self.tapes) = (Scanner::new(), Default::default());
        self.findings.shrink_to_fit();
    }

    fn state_bytes(&self) -> usize {
        self.judge.as_ref().map_or(0, |judge| judge.state_bytes())
    }
}

/// A text is no JSON.
struct NotJson;

/// Payload, sources and surface of an event.
type Texts<'a> = (Json<'a>, Option<Json<'a>>, Option<Json<'a>>);

fn read<'a>(
    scanner: &mut Scanner,
    [data, sources, surface]: &'a mut [Tape; 3],
    stored: &Stored<'a>,
) -> Result<Texts<'a>, NotJson> {
    let data = scan(scanner, data, Some(stored.data))?.ok_or(NotJson)?;
    let sources = scan(scanner, sources, stored.sources)?;
    Ok((data, sources, scan(scanner, surface, stored.surface)?))
}

/// Scans a text, if there is one.
fn scan<'a>(
    scanner: &mut Scanner,
    tape: &'a mut Tape,
    text: Option<&'a [u8]>,
) -> Result<Option<Json<'a>>, NotJson> {
    let Some(text) = text else { return Ok(None) };
    tape.clear();
    let root = scanner.scan(text, tape).map_err(|_| NotJson)?;
    Ok(Some(tape.json(text, root)))
}
