//! A rule: its stable id, how grave a breach is under each profile, and what to do about it.

use gatelog_engine::companion::RuleId;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// Legal for the host, and a sign of trouble or of coming loss.
    Warning,
    /// The host refuses the file, or an invariant of the host is broken.
    Error,
}

impl Severity {
    /// Returns the word that reports print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Which rules run, and how grave they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Exactly the rules of the host's loader and companions.
    #[default]
    Host,
    /// Those, and what a careful port demands besides.
    Strict,
}

/// One rule of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The stable id, `family/name`.
    pub id: RuleId,
    /// Its severity under [`Profile::Host`]; `None` where the host has no such rule.
    pub host: Option<Severity>,
    /// Its severity under [`Profile::Strict`].
    pub strict: Severity,
    /// What must hold, in one sentence.
    pub summary: &'static str,
    /// What it means for the reader of a report and what to do next.
    pub help: &'static str,
}

impl Rule {
    /// A rule whose breach is an error under both profiles.
    pub const fn error(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self { id, host: Some(Severity::Error), strict: Severity::Error, summary, help }
    }

    /// A rule whose breach is a warning under both profiles.
    pub const fn warning(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self { id, host: Some(Severity::Warning), strict: Severity::Warning, summary, help }
    }

    /// A rule whose breach is a note under both profiles.
    pub const fn note(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self { id, host: Some(Severity::Note), strict: Severity::Note, summary, help }
    }

    /// A rule that only [`Profile::Strict`] knows, as a warning.
    pub const fn strict(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self { id, host: None, strict: Severity::Warning, summary, help }
    }

    /// Returns the severity under a profile, or `None` where the rule does not run.
    pub fn severity(&self, profile: Profile) -> Option<Severity> {
        match profile {
            Profile::Host => self.host,
            Profile::Strict => Some(self.strict),
        }
    }
}
