//! What a store's gate asks before it lets events in: a rule set, and its judge of one session.
//!
//! The engine knows no rule. A [`RuleSet`] is given to a store when it is opened; for each live
//! session it makes one [`Judge`], which holds the folded state of all companions. Who drives: the
//! session keeps two judges, one that stands at the last commit and one that runs ahead. A batch
//! is admitted, event by event, to the one ahead; once the batch is in the log, the other takes it
//! too. If any event is refused, or the write fails, the one ahead is thrown away and forked anew.
//! So a batch of any size is judged in time that grows with the batch, nothing that was refused
//! leaves a trace, and no companion needs an undo.
//!
//! Cold verification makes the same judge and drives it with the stored events.

use crate::companion::{End, Violation};
use crate::event::Event;
use crate::json::Json;
use std::any::Any;
use std::collections::BTreeMap;

/// Whether events of a type make model messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// They stand on the surface and carry a `surfaceOp`.
    Surface,
    /// They stand in the log only.
    LogOnly,
    /// They may do either.
    Either,
}

/// Judges the payload of a type; the message says what is wrong with it.
pub type PayloadCheck = fn(Json<'_>) -> Result<(), String>;

/// What the catalogue knows of one type of event.
#[derive(Clone, Debug)]
pub struct TypeEntry {
    /// Who owns the type: the package or front end that writes it.
    pub owner: String,
    /// Whether its events make model messages.
    pub placement: Placement,
    /// Judges its payload, where that is not a companion's business.
    pub check: Option<PayloadCheck>,
}

/// The types of events that a store admits. A type that is not here is refused, unless the draft
/// is `ignorable`.
#[derive(Clone, Debug, Default)]
pub struct Catalogue(BTreeMap<String, TypeEntry>);

/// A type that somebody else owns already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The type.
    pub kind: String,
    /// Who owns it.
    pub owner: String,
}

impl Catalogue {
    /// Enters a type.
    ///
    /// # Errors
    ///
    /// [`Owned`] if it is there already.
    pub fn register(&mut self, kind: impl Into<String>, entry: TypeEntry) -> Result<(), Owned> {
        let kind = kind.into();
        if let Some(there) = self.0.get(&kind) {
            return Err(Owned { kind, owner: there.owner.clone() });
        }
        self.0.insert(kind, entry);
        Ok(())
    }

    /// Returns what is known of a type.
    pub fn get(&self, kind: &str) -> Option<&TypeEntry> {
        self.0.get(kind)
    }

    /// Returns every type with what is known of it, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TypeEntry)> {
        self.0.iter().map(|(kind, entry)| (kind.as_str(), entry))
    }
}

/// An event before it is stamped: what a caller gives to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The type.
    pub kind: String,
    /// The payload: one JSON value, as text.
    pub data: Vec<u8>,
    /// The `sourceEventSeqs`, as JSON text, if there are any.
    pub sources: Option<Vec<u8>>,
    /// The `surfaceOp`, as JSON text: `"append"` in quotes, or an object. None for log-only.
    pub surface: Option<Vec<u8>>,
    /// A reader that does not know the type may skip the event.
    pub ignorable: bool,
    /// The time that the event keeps, in milliseconds since 1970; the gate's clock if there is
    /// none. For closers and copies.
    pub time_ms: Option<u64>,
}

impl Draft {
    /// Makes a draft of a type with a payload of JSON text.
    pub fn new(kind: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            kind: kind.into(),
            data: data.into(),
            sources: None,
            surface: None,
            ignorable: false,
            time_ms: None,
        }
    }

    /// Puts the event at the end of the surface.
    #[must_use]
    pub fn appended(mut self) -> Self {
        self.surface = Some(b"\"append\"".to_vec());
        self
    }

    /// Cites earlier events.
    #[must_use]
    pub fn citing(mut self, seqs: &[u64]) -> Self {
        let seqs: Vec<_> = seqs.iter().map(u64::to_string).collect();
        self.sources = Some(format!("[{}]", seqs.join(",")).into_bytes());
        self
    }
}

/// Plans the events that close what a dead process left open. The validator implements it; the
/// engine names no type of its own.
pub trait Closers {
    /// Returns the drafts that close the session as it stands, in order; none if nothing is open.
    fn closers(&self) -> Vec<Draft>;
}

/// The folded state of all rules over one session.
pub trait Judge: Closers + Send {
    /// Judges an event against the state folded so far and takes it in if it is lawful. After an
    /// error the judge is in no state that means anything and must be thrown away.
    ///
    /// # Errors
    ///
    /// The first rule, in the order of the companions, that the event breaks.
    fn admit(&mut self, event: &Event<'_>) -> Result<(), Violation>;

    /// Takes an event that is in the log, lawful or not; reports every rule that it breaks.
    fn adopt(&mut self, event: &Event<'_>, report: &mut dyn FnMut(Violation));

    /// Judges a log at rest after its last event.
    fn finish(&self, end: &End, report: &mut dyn FnMut(Violation));

    /// Returns an equal judge that goes its own way.
    fn fork(&self) -> Box<dyn Judge>;

    /// Returns the state that the rule set shows to its callers, such as the open turn.
    fn facts(&self) -> &dyn Any;

    /// Returns about how many bytes the state takes.
    fn state_bytes(&self) -> usize;
}

/// What a session says of itself when it is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHeader {
    /// The host format whose vocabulary, surface rules and closers apply.
    pub dialect: u32,
    /// The header as the host's format of that number writes it: one JSON object, as text.
    pub json: Vec<u8>,
}

/// The rules of a store.
pub trait RuleSet: Send + Sync {
    /// Returns the name of the profile, `host` or `strict` for the standard sets.
    fn profile(&self) -> &str;

    /// Returns the version of the set; a new one whenever a verdict can change.
    fn version(&self) -> u32;

    /// Returns the types that the set admits.
    fn catalogue(&self) -> &Catalogue;

    /// Makes the judge of a session from its header.
    ///
    /// # Errors
    ///
    /// The rule that the header breaks.
    fn judge(&self, id: &str, header: &SessionHeader) -> Result<Box<dyn Judge>, Violation>;
}
