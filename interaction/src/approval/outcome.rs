//! How an approval ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// How an approval ends. There are four ways, and one of them grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[must_use = "what was not granted must not be done"]
pub enum ApprovalOutcome {
    /// This one action may be done, once.
    AllowedOnce,
    /// It may not.
    Rejected,
    /// Nobody wants to know any more.
    Cancelled,
    /// Nobody could say.
    Unavailable,
}

impl ApprovalOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] =
        [Self::AllowedOnce, Self::Rejected, Self::Cancelled, Self::Unavailable];

    /// Returns whether the action may be done. Three of four are refusals.
    pub const fn is_granted(self) -> bool {
        matches!(self, Self::AllowedOnce)
    }

    /// Returns the word that stands in the log.
    pub const fn word(self) -> &'static str {
        match self {
            Self::AllowedOnce => "allowed-once",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
        }
    }

    /// Returns the outcome of a word, if there is one.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}

impl fmt::Display for ApprovalOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a listener says: an outcome, or something foreign that came from an untyped edge. What is
/// foreign is seen by outer listeners as it is, and is `unavailable` if it leaves the outermost.
#[derive(Clone, Debug, PartialEq)]
pub enum RawOutcome {
    /// One of the four.
    Known(ApprovalOutcome),
    /// Anything else.
    Other(Value),
}

impl RawOutcome {
    /// Reads what came over an untyped edge.
    pub fn of(value: Value) -> Self {
        match value.as_str().and_then(ApprovalOutcome::of) {
            Some(outcome) => Self::Known(outcome),
            None => Self::Other(value),
        }
    }
}

impl From<ApprovalOutcome> for RawOutcome {
    fn from(outcome: ApprovalOutcome) -> Self {
        Self::Known(outcome)
    }
}
