//! The traits that give events meaning; the gate and the cold replay drive the same ones.
//!
//! Who drives: for each event, in order, the driver asks every companion that listens to the
//! event's type for its [`Companion::plan`]. Cold, a violation is recorded and the companion is
//! told to [`Companion::apply`] all the same, so that it adopts what the record claims and one
//! fault is one finding. Live, any violation refuses the event and nobody applies anything. After
//! the last event of a log at rest, [`Companion::finish`] judges what only an end can decide.

use crate::event::Event;

/// A stable rule identifier in two parts, `family/name`, in kebab case.
pub type RuleId = &'static str;

/// A rule that a record breaks. A value, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: RuleId,
    /// What is wrong, in the host's own words where it has them.
    pub message: String,
    /// The event that the violation is about, where that is not the event being planned.
    pub seq: Option<u64>,
}

impl Violation {
    /// Makes a violation of the event being planned.
    pub fn new(rule: RuleId, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), seq: None }
    }

    /// Makes a violation that is about the event at `seq`.
    pub fn at(rule: RuleId, message: impl Into<String>, seq: u64) -> Self {
        Self { rule, message: message.into(), seq: Some(seq) }
    }
}

/// Which events a companion listens to.
#[derive(Clone, Copy, Debug)]
pub enum Listens {
    /// Every event.
    All,
    /// Events whose type is one of these.
    Kinds(&'static [&'static str]),
}

impl Listens {
    /// Returns whether an event of a type is among them.
    pub fn hears(&self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::Kinds(kinds) => kinds.contains(&kind),
        }
    }
}

/// The state of a session at its end, as far as the driver knows it.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// How many events the log holds.
    pub events: u64,
    /// A turn is open at the end.
    pub turn_open: bool,
}

/// A family of invariants, folded along one session.
///
/// `plan` is pure: it may be called any number of times and changes nothing. `apply` is called once
/// for each event that is in the log, whether `plan` was content with it or not.
pub trait Companion {
    /// Returns the name of the family, for messages.
    fn name(&self) -> &'static str;

    /// Returns which events the companion is asked about.
    fn listens(&self) -> Listens;

    /// Judges an event against the state folded from all earlier ones, and changes nothing.
    ///
    /// # Errors
    ///
    /// The first rule of this family, in the host's order, that the event breaks.
    fn plan(&self, event: &Event<'_>) -> Result<(), Violation>;

    /// Takes the event into the state: what it claims is adopted even where `plan` faulted it.
    fn apply(&mut self, event: &Event<'_>);

    /// Judges a log at rest, after its last event, and reports what an end leaves undone.
    fn finish(&self, end: &End, report: &mut dyn FnMut(Violation));
}

/// A state folded along the events of one session.
pub trait Fold {
    /// Takes one event into the state.
    fn fold(&mut self, event: &Event<'_>);
}

/// A fold with a versioned view. Never consulted by a companion.
pub trait Projection: Fold {
    /// What the projection shows.
    type View;

    /// Returns the name under which the view is stored.
    fn name(&self) -> &'static str;

    /// Returns the version of the view's shape.
    fn version(&self) -> u32;

    /// Returns which events may change the state. All others must leave it as it is.
    fn listens(&self) -> Listens {
        Listens::All
    }

    /// Returns the view at the last folded event.
    fn view(&self) -> Self::View;
}
