//! The standing rule under which asks are put to somebody or not.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether an ask is put to somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// The answerers are asked.
    #[default]
    Ask,
    /// Nobody is asked; every ask is rejected.
    Never,
}

/// A word that is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("approval policy must be one of \"ask\" or \"never\"")]
pub struct NotAPolicy;

impl ApprovalPolicy {
    /// Every policy.
    pub const ALL: [Self; 2] = [Self::Ask, Self::Never];

    /// Returns the word that stands in the log.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Never => "never",
        }
    }

    /// Returns the policy of a word.
    ///
    /// # Errors
    ///
    /// [`NotAPolicy`].
    pub fn of(word: &str) -> Result<Self, NotAPolicy> {
        Self::ALL.into_iter().find(|policy| policy.word() == word).ok_or(NotAPolicy)
    }

    /// Returns the sentence that tells the model of the policy.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Ask => {
                "Approval policy: ask. Operations that require approval may ask through the \
                 configured answerers; without an available answerer, the request fails closed."
            }
            Self::Never => {
                "Approval prompts are disabled in this session: actions that require approval are \
                 rejected automatically — do not request sandbox escalation (do not set \
                 `sandbox_permissions`)."
            }
        }
    }
}

impl fmt::Display for ApprovalPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who set a knob of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KnobSource {
    /// The user, or whoever acts for them.
    #[default]
    User,
    /// The parent of a child agent, when it made the child.
    Delegation,
}

impl KnobSource {
    /// Returns the word that stands in the log; the user's own choice has none.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::User => None,
            Self::Delegation => Some("delegation"),
        }
    }
}
