//! The loader and the companions, fed with the records of one log: by `verify` with those of a
//! file, by the judge of a live session with those that its gate is asked for.

use crate::catalogue;
use crate::companion::{Fork, Settings, companions};
use crate::load::Load;
use crate::rule::Severity;
use gatelog_engine::companion::{End, Listens, Violation};
use gatelog_engine::dsh::header::Header;
use gatelog_engine::dsh::read::HeaderSink;
use gatelog_engine::dsh::record::{Record, RecordSink};
use gatelog_engine::dsh::vocabulary;
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::Document;
use std::collections::HashMap;

/// How many findings of one file are kept.
pub(crate) const FINDINGS_MAX: usize = 1000;

/// The loader and the companions of one log.
#[derive(Clone)]
pub(crate) struct Fold {
    pub(crate) settings: Settings,
    /// Boxed, since it is taken out for each record.
    pub(crate) load: Option<Box<Load>>,
    companions: Vec<Box<dyn Fork>>,
    /// Companions of others, which speak after ours.
    further: Vec<Box<dyn Fork>>,
    /// Who listens to the types that the vocabulary has, by their index.
    by_index: Vec<Vec<usize>>,
    /// Who listens to other types, by name.
    by_name: HashMap<&'static str, Vec<usize>>,
    /// Who listens to any type.
    to_all: Vec<usize>,
    /// What was found, in the order of the log.
    pub(crate) violations: Vec<(Violation, Place)>,
    /// How many findings were not kept.
    pub(crate) dropped: u64,
}

impl Fold {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            load: None,
            companions: Vec::new(),
            further: Vec::new(),
            by_index: Vec::new(),
            by_name: HashMap::new(),
            to_all: Vec::new(),
            violations: Vec::new(),
            dropped: 0,
        }
    }

    /// Adds companions that speak after ours; before the header.
    pub(crate) fn with(mut self, further: Vec<Box<dyn Fork>>) -> Self {
        self.further = further;
        self
    }

    /// Asks every companion that listens, then lets it adopt the event.
    ///
    /// An event that the loader faulted already is only adopted: one fault is one finding.
    fn companions(&mut self, event: &Event<'_>, is_lawful: bool) {
        let by_index = vocabulary::find(event.kind.as_bytes())
            .map(|known| self.by_index.get(known.index()).unwrap_or(&self.to_all));
        let listening =
            by_index.unwrap_or_else(|| self.by_name.get(event.kind).unwrap_or(&self.to_all));
        for at in listening {
            let companion = &mut self.companions[*at];
            if is_lawful && let Err(violation) = companion.plan(event) {
                if self.violations.len() < FINDINGS_MAX {
                    self.violations.push((violation, event.place));
                } else {
                    self.dropped += 1;
                }
            }
            companion.apply(event);
        }
    }

    /// Judges the end, then what recovery would add to it.
    pub(crate) fn finish(&mut self, events: u64, at_rest: bool) {
        self.end(events, at_rest);
        self.recover(events);
    }

    /// Judges the end.
    pub(crate) fn end(&mut self, events: u64, at_rest: bool) {
        let Some(load) = &mut self.load else { return };
        load.finish();
        let end = End { events, turn_open: load.closers().is_open() };
        if at_rest {
            for companion in &self.companions {
                companion.finish(&end, &mut |violation| {
                    if self.violations.len() < FINDINGS_MAX {
                        let place = Place { seq: violation.seq, ..Place::default() };
                        self.violations.push((violation, place));
                    } else {
                        self.dropped += 1;
                    }
                });
            }
        }
    }

    /// Judges what recovery would add.
    fn recover(&mut self, events: u64) {
        let Some(load) = self.load.take() else { return };
        // A log that is at fault already is not blamed for what recovery makes of it.
        if !self.violations.iter().any(|(violation, _)| is_error(violation)) {
            let found = self.violations.len();
            for (seq, line) in (events..).zip(load.closer_lines()) {
                // A closer that is no JSON would be a fault of ours, and no finding.
                let Ok(document) = Document::parse(line) else { continue };
                self.closer(&document, seq);
            }
            let added = self.violations.split_off(found);
            self.violations
                .extend(added.into_iter().filter(|(violation, _)| is_error(violation)).take(1));
        }
        self.load = Some(load);
    }

    fn closer(&mut self, document: &Document, seq: u64) {
        let root = document.root();
        let Some(kind) = root.get("type").and_then(|kind| kind.as_text()) else { return };
        let Some(data) = root.get("data") else { return };
        let kind = kind.to_lossy();
        let time_ms = root.get("time").and_then(|time| time.as_number()).unwrap_or(0.0);
        let event = Event {
            seq,
            members: 1,
            time_ms,
            last_time_ms: time_ms,
            kind: &kind,
            data,
            packed: false,
            ignorable: false,
            sources: root.get("sourceEventSeqs"),
            surface: root.get("surfaceOp"),
            place: Place { seq: Some(seq), ..Place::default() },
        };
        self.companions(&event, true);
    }
}

/// Returns whether a violation is an error under the host's own profile.
fn is_error(violation: &Violation) -> bool {
    catalogue::find(violation.rule).is_some_and(|rule| rule.host == Some(Severity::Error))
}

impl HeaderSink for Fold {
    fn header(&mut self, header: &Header) {
        self.settings.seed_length = header.seed_length();
        self.settings.session.clone_from(&header.id);
        self.load = Some(Box::new(Load::new(header)));
        if header.version != 0 {
            return;
        }
        self.companions = companions(&self.settings);
        self.companions.append(&mut self.further);
        self.by_index = vec![Vec::new(); vocabulary::TYPES];
        for (at, companion) in self.companions.iter().enumerate() {
            match companion.listens() {
                Listens::All => {
                    self.by_index.iter_mut().for_each(|all| all.push(at));
                    self.by_name.values_mut().for_each(|all| all.push(at));
                    self.to_all.push(at);
                }
                Listens::Kinds(kinds) => {
                    for kind in kinds {
                        if let Some(known) = vocabulary::find(kind.as_bytes()) {
                            self.by_index[known.index()].push(at);
                            continue;
                        }
                        let all = self.by_name.entry(kind).or_insert_with(|| self.to_all.clone());
                        all.push(at);
                    }
                }
            }
        }
    }
}

impl RecordSink for Fold {
    fn record(&mut self, record: &Record<'_>) {
        let Some(mut load) = self.load.take() else { return };
        load.take(record, &mut |event, is_lawful| self.companions(event, is_lawful));
        self.load = Some(load);
    }
}
