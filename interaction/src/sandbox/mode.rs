//! How far the commands of a session may reach.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How far the commands of a session may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// They read.
    ReadOnly,
    /// They write inside the workspace and the temporary directories that are permitted.
    WorkspaceWrite,
    /// They are not confined.
    DangerFullAccess,
}

impl SandboxMode {
    /// Every mode, the narrowest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// Returns the word that stands in the log.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }

    /// Returns the mode of a word, if there is one.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Returns whether commands reach farther under this mode than under another.
    pub const fn is_wider_than(self, other: Self) -> bool {
        self as u8 > other as u8
    }

    /// Returns whether commands are confined at all.
    pub const fn is_confining(self) -> bool {
        !matches!(self, Self::DangerFullAccess)
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
