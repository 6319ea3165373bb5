//! What became of damaged stores, counted.

use super::change::Change;
use std::collections::BTreeMap;

/// What became of one damaged store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused with this rule, when it was opened.
    Refused(&'static str),
    /// It was opened, and a session that the damage reaches was refused when it was read.
    RefusedAtRead,
    /// It is what it was.
    Harmless,
    /// Frames above W were cut.
    Undecidable,
    /// What a witness vouches for is gone, and nobody said so.
    Lost(String),
    /// The engine and the reference reader do not say the same.
    Disagreed(String),
}

/// How many of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// All of them.
    pub tried: u64,
    /// Refused at the open, by rule.
    pub refused: BTreeMap<&'static str, u64>,
    /// Opened, and refused when a session was read.
    pub refused_at_read: u64,
    /// Nothing was lost and nothing moved.
    pub harmless: u64,
    /// Frames above W were cut.
    pub undecidable: u64,
    /// Lost in silence.
    pub lost: u64,
    /// Not what the document says.
    pub disagreed: u64,
    /// The first few of the last two, in words.
    pub faults: Vec<String>,
}

/// So many faults are told.
const FAULTS_MAX: usize = 8;

impl Outcomes {
    /// Counts one.
    pub fn of(change: &Change, outcome: Outcome) -> Self {
        let mut all = Self { tried: 1, ..Self::default() };
        match outcome {
            Outcome::Refused(rule) => *all.refused.entry(rule).or_default() += 1,
            Outcome::RefusedAtRead => all.refused_at_read += 1,
            Outcome::Harmless => all.harmless += 1,
            Outcome::Undecidable => all.undecidable += 1,
            Outcome::Lost(what) => {
                all.lost += 1;
                all.faults.push(format!("{change}: lost in silence: {what}"));
            }
            Outcome::Disagreed(what) => {
                all.disagreed += 1;
                all.faults.push(format!("{change}: {what}"));
            }
        }
        all
    }

    /// Adds others.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.tried += other.tried;
        for (rule, count) in other.refused {
            *self.refused.entry(rule).or_default() += count;
        }
        self.refused_at_read += other.refused_at_read;
        self.harmless += other.harmless;
        self.undecidable += other.undecidable;
        self.lost += other.lost;
        self.disagreed += other.disagreed;
        self.faults.extend(other.faults);
        self.faults.truncate(FAULTS_MAX);
        self
    }

    /// Returns how many were refused at the open.
    pub fn refused(&self) -> u64 {
        self.refused.values().sum()
    }
}
