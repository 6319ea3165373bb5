//! What verification says of a store: a rule, how grave, where, in words.

use crate::companion::RuleId;
use crate::event::Place;

/// What a finding does to the verdict on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// What is there contradicts what was synced; a writer's open refuses it, or should.
    Corrupt,
    /// A newer version of the format.
    Unsupported,
    /// It reads, and whoever wrote it had a bug.
    Violation,
    /// The log ends before bytes that no witness vouches for.
    Torn,
    /// It is said, and nothing more.
    Note,
}

impl Weight {
    /// Returns whether the finding says that something is damaged or missing.
    pub(super) fn is_damage(self) -> bool {
        self == Self::Corrupt
    }
}

/// One finding about a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// What it does to the verdict.
    pub weight: Weight,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub place: Place,
}

impl Finding {
    pub(super) fn new(rule: RuleId, weight: Weight, message: impl Into<String>) -> Self {
        Self { rule, weight, message: message.into(), place: Place::default() }
    }

    pub(super) fn corrupt(rule: RuleId, message: impl Into<String>) -> Self {
        Self::new(rule, Weight::Corrupt, message)
    }

    pub(super) fn violation(rule: RuleId, message: impl Into<String>) -> Self {
        Self::new(rule, Weight::Violation, message)
    }

    pub(super) fn note(rule: RuleId, message: impl Into<String>) -> Self {
        Self::new(rule, Weight::Note, message)
    }

    /// Says in which segment, by its first lsn, and where in it.
    pub(super) fn at(mut self, segment: u64, offset: u64) -> Self {
        self.place.segment = Some(segment);
        self.place.byte = Some(offset);
        self
    }

    /// Says which frame.
    pub(super) fn of(mut self, lsn: u64) -> Self {
        self.place.frame = Some(lsn);
        self
    }
}
