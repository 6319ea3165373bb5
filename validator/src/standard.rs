//! The standard rules of a store: the host's loader, its companions, those of the strict profile,
//! and those that a front end brings along for types of its own.
//!
//! A [`Standard`] is the rule set that a store is opened with. The judge that it makes drives the
//! very object that [`crate::verify`] drives over a stored file, so what it admits is found sound,
//! and what it refuses would have been found.
//!
//! | an event breaks | `admit` | `adopt` |
//! |---|---|---|
//! | a rule of the loader | refuses; the first in the loader's order | reports each |
//! | an error of a companion | refuses; the first in the companions' order | reports each |
//! | a warning or a note, or a rule of the end | admits | reports each |
//!
//! Under [`Profile::Strict`] what only that profile demands counts as an error, since nothing but
//! the gate writes to a store of our own; [`Standard::with_extras_as_warnings`] takes that back.

use crate::catalogue;
use crate::companion::{Fork, Settings};
use crate::facts::Facts;
use crate::fold::Fold;
use crate::load::{Load, Refusal};
use crate::rule::{Basis, Profile, Severity};
use crate::vocabulary;
use gatelog_engine::companion::{End, Violation};
use gatelog_engine::dsh::header;
use gatelog_engine::dsh::read::HeaderSink as _;
use gatelog_engine::dsh::record::{Record, RecordSink as _};
use gatelog_engine::dsh::vocabulary::is_known;
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::{Document, is_safe_integer};
use gatelog_engine::rules::{
    Catalogue, Closers, Draft, Judge, Owned, Placement, RuleSet, SessionHeader, TypeEntry,
};
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A new one whenever a verdict can change.
const VERSION: u32 = 1;

/// The host format whose rules these are.
const DIALECT: u32 = 0;

/// Makes a companion for one session.
type Factory = Arc<dyn Fn(&Settings) -> Box<dyn Fork> + Send + Sync>;

/// Why a type was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRegistered {
    /// Somebody owns the type already.
    Owned(Owned),
    /// The format makes model messages of its own types only.
    NoMessage {
        /// The type.
        kind: String,
    },
}

impl fmt::Display for NotRegistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned(Owned { kind, owner }) => {
                write!(f, "type \"{kind}\" is owned by \"{owner}\"; choose a name of your own")
            }
            Self::NoMessage { kind } => write!(
                f,
                "type \"{kind}\" cannot stand on the surface of format {DIALECT}; register it as \
                 log-only, and append a user/message for what the model should see"
            ),
        }
    }
}

impl std::error::Error for NotRegistered {}

/// The standard rules, for sessions of format 0.
#[derive(Clone)]
pub struct Standard {
    settings: Settings,
    catalogue: Catalogue,
    foreign: Arc<BTreeSet<String>>,
    factories: Vec<Factory>,
}

impl fmt::Debug for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standard")
            .field("settings", &self.settings)
            .field("foreign", &self.foreign)
            .finish_non_exhaustive()
    }
}

impl Standard {
    /// Makes the rules of a profile; the extras of the strict one are errors.
    pub fn new(profile: Profile) -> Self {
        let extras_are_errors = profile == Profile::Strict;
        Self {
            settings: Settings { profile, extras_are_errors, ..Settings::default() },
            catalogue: vocabulary::catalogue(u64::from(DIALECT), profile),
            foreign: Arc::default(),
            factories: Vec::new(),
        }
    }

    /// Takes the extras of the strict profile for warnings, as they are for files of the host.
    #[must_use]
    pub fn with_extras_as_warnings(mut self) -> Self {
        self.settings.extras_are_errors = false;
        self
    }

    /// Says which permission presets there are; the name of another one is then refused.
    #[must_use]
    pub fn with_presets(mut self, presets: Vec<String>) -> Self {
        self.settings.presets = Some(presets);
        self
    }

    /// Adds a companion that speaks after all that were there before. A rule of its own that it
    /// says is broken is an error.
    #[must_use]
    pub fn with_companion(
        mut self,
        make: impl Fn(&Settings) -> Box<dyn Fork> + Send + Sync + 'static,
    ) -> Self {
        self.factories.push(Arc::new(make));
        self
    }

    /// Registers a type of events.
    ///
    /// # Errors
    ///
    /// [`NotRegistered`] if somebody owns it, or if it asks for a place on the surface.
    pub fn with_type(
        mut self,
        kind: impl Into<String>,
        entry: TypeEntry,
    ) -> Result<Self, NotRegistered> {
        let kind = kind.into();
        if let Some(there) = self.catalogue.get(&kind) {
            return Err(NotRegistered::Owned(Owned { kind, owner: there.owner.clone() }));
        }
        if entry.placement != Placement::LogOnly {
            return Err(NotRegistered::NoMessage { kind });
        }
        Arc::make_mut(&mut self.foreign).insert(kind.clone());
        self.catalogue.register(kind, entry).map_err(NotRegistered::Owned)?;
        Ok(self)
    }
}

impl RuleSet for Standard {
    fn profile(&self) -> &str {
        match self.settings.profile {
            Profile::Host => "host",
            Profile::Strict => "strict",
        }
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn judge(&self, id: &str, header: &SessionHeader) -> Result<Box<dyn Judge>, Violation> {
        if header.dialect != DIALECT {
            let text = format!(
                "session \"{id}\" is of format {}, and these rules are those of format {DIALECT}",
                header.dialect
            );
            return Err(Violation::new("header/version", text));
        }
        let document = Document::parse(header.json.clone());
        let root = document.as_ref().map(Document::root).map_err(|defect| *defect);
        let judged = header::judge(&header.json, root, Some(u64::from(header.dialect)));
        let accepted =
            judged.header.map_err(|fault| Violation::new(fault.rule, fault.message.clone()))?;
        if accepted.id != id.as_bytes() {
            let shown = judged.shown_id.unwrap_or_default();
            let text = format!("the header of session \"{id}\" has the id \"{shown}\"");
            return Err(Violation::new("identity/other-id", text));
        }
        if let Some((rule, message)) = accepted.late() {
            return Err(Violation::new(rule, message));
        }
        let settings = Settings {
            seed_length: accepted.seed_length(),
            session: accepted.id.clone(),
            ..self.settings.clone()
        };
        let further = self.factories.iter().map(|make| make(&settings)).collect();
        let mut fold = Fold::new(settings).with(further);
        fold.header(&accepted);
        let foreign = Arc::clone(&self.foreign);
        Ok(Box::new(Standing { fold, facts: Facts::default(), foreign, heard: 0 }))
    }
}

/// The judge of one session: where it stands.
#[derive(Clone)]
struct Standing {
    fold: Fold,
    facts: Facts,
    foreign: Arc<BTreeSet<String>>,
    /// How many events were taken.
    heard: usize,
}

impl Standing {
    /// Takes an event; what was found before it is forgotten, since it was told then.
    fn take(&mut self, event: &Event<'_>) {
        self.fold.violations.clear();
        if let Some(load) = &mut self.fold.load {
            load.flaws.clear();
        }
        let known = event.packed || is_known(u64::from(DIALECT), event.kind);
        self.fold.record(&Record {
            event: *event,
            lawful: is_safe_integer(event.time_ms),
            known: known || self.foreign.contains(event.kind),
            shown_kind: event.kind,
            has_data: true,
            opaque: false,
        });
        self.facts.take(event);
        self.heard += 1;
    }

    /// Returns whether a live gate refuses what breaks a rule.
    fn refuses(&self, violation: &Violation) -> bool {
        match catalogue::find(violation.rule) {
            // A rule that nobody here knows is one of a companion that was brought along.
            None => true,
            Some(rule) => {
                rule.basis != Basis::End
                    && self.fold.settings.severity(rule) == Some(Severity::Error)
            }
        }
    }

    /// Returns what the loader finds wrong with the last event.
    fn flaw(&self) -> Option<Violation> {
        self.fold.load.as_ref().and_then(|load| load.at_hand()).map(flaw)
    }

    /// Returns what recovery adds, the acts of the strict profile first.
    fn plan_closers(&self) -> Vec<Draft> {
        let Some(load) = &self.fold.load else { return Vec::new() };
        let closers = load.closers();
        if !closers.is_open() || load.refusal().is_some() || closers.unclosable().is_some() {
            return Vec::new();
        }
        let is_strict = self.fold.settings.profile == Profile::Strict;
        let time_ms = closers.last_time_ms().map(|time_ms| time_ms as u64);
        let mut drafts = Vec::new();
        if is_strict {
            for ask in self.facts.asks().into_iter().filter(|ask| ask.is_of_open_turn) {
                let data = format!(r#"{{"id":{},"outcome":"cancelled"}}"#, ask.id);
                drafts.push(Draft { time_ms, ..Draft::new("approval/decided", data) });
            }
            if let Some(compaction) = self.facts.compaction() {
                let data = format!(r#"{{{},"error":"interrupted"}}"#, compaction.members);
                drafts.push(Draft { time_ms, ..Draft::new("compaction/end", data) });
            }
        }
        let others = drafts.len() as u64;
        drafts.extend(closers.lines_after(others).into_iter().filter_map(draft));
        if is_strict {
            // A call that was asked for twice and answered once has its result.
            let mut ahead = self.clone();
            drafts.retain(|draft| ahead.admits(draft));
        }
        drafts
    }

    /// Takes a draft as the next event if it is lawful; stays as it was if not.
    fn admits(&mut self, draft: &Draft) -> bool {
        let before = self.clone();
        let parse = |text: &[u8]| Document::parse(text.to_vec()).ok();
        let sources = draft.sources.as_deref().and_then(parse);
        let surface = draft.surface.as_deref().and_then(parse);
        let Some(data) = parse(&draft.data) else { return false };
        let time_ms = draft.time_ms.unwrap_or_default() as f64;
        let seq = self.facts.next_seq;
        let admitted = self.admit(&Event {
            seq,
            members: 1,
            time_ms,
            last_time_ms: time_ms,
            kind: &draft.kind,
            data: data.root(),
            packed: false,
            ignorable: draft.ignorable,
            sources: sources.as_ref().map(Document::root),
            surface: surface.as_ref().map(Document::root),
            place: Place { seq: Some(seq), ..Place::default() },
        });
        if admitted.is_err() {
            *self = before;
        }
        admitted.is_ok()
    }
}

/// Turns what the loader found into a violation.
fn flaw(refusal: &Refusal) -> Violation {
    let message = refusal.inner.strip_prefix("Error: ").unwrap_or(&refusal.inner);
    Violation { rule: refusal.rule, message: message.to_owned(), seq: refusal.place.seq }
}

/// Reads a closer's line back into a draft.
fn draft(line: String) -> Option<Draft> {
    let document = Document::parse(line).ok()?;
    let root = document.root();
    let raw = |key| root.get(key).map(|value| value.raw().to_vec());
    let kind = root.get("type")?.as_text()?.to_lossy().into_owned();
    let time_ms = root.get("time").and_then(|time| time.as_number()).map(|time| time as u64);
    Some(Draft {
        sources: raw("sourceEventSeqs"),
        surface: raw("surfaceOp"),
        time_ms,
        ..Draft::new(kind, raw("data")?)
    })
}

impl Closers for Standing {
    fn closers(&self) -> Vec<Draft> {
        self.plan_closers()
    }
}

impl Judge for Standing {
    fn admit(&mut self, event: &Event<'_>) -> Result<(), Violation> {
        self.take(event);
        if let Some(flaw) = self.flaw() {
            return Err(flaw);
        }
        match self.fold.violations.iter().position(|(violation, _)| self.refuses(violation)) {
            None => Ok(()),
            Some(at) => Err(self.fold.violations.swap_remove(at).0),
        }
    }

    fn adopt(&mut self, event: &Event<'_>, report: &mut dyn FnMut(Violation)) {
        self.take(event);
        let flaws = self.fold.load.iter().flat_map(|load| &load.flaws);
        flaws.map(flaw).for_each(&mut *report);
        self.fold.violations.drain(..).for_each(|(violation, _)| report(violation));
    }

    fn finish(&self, end: &End, report: &mut dyn FnMut(Violation)) {
        let mut fold = self.fold.clone();
        fold.violations.clear();
        let before = fold.load.as_ref().map_or(0, |load| load.flaws.len());
        match fold.settings.profile {
            Profile::Host => fold.finish(end.events, true),
            // What closes a session under this profile is planned so that it is lawful.
            Profile::Strict => fold.end(end.events, true),
        }
        let flaws = fold.load.iter().flat_map(|load| &load.flaws[before..]);
        flaws.map(flaw).for_each(&mut *report);
        fold.violations.drain(..).for_each(|(violation, _)| report(violation));
    }

    fn fork(&self) -> Box<dyn Judge> {
        Box::new(self.clone())
    }

    fn facts(&self) -> &dyn Any {
        &self.facts
    }

    fn state_bytes(&self) -> usize {
        /// What the empty companions take, and what they keep of an event on average.
        const COMPANIONS_BYTES: usize = 16 << 10;
        const EVENT_BYTES: usize = 32;
        let load = self.fold.load.as_deref().map_or(0, Load::state_bytes);
        load + self.facts.state_bytes() + COMPANIONS_BYTES + self.heard * EVENT_BYTES
    }
}
