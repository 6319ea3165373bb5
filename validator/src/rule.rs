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

/// What a verdict on a breach rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// The header or an event, and the events before it: what a gate refuses, and what a log finds
    /// itself faulted for first.
    Prefix,
    /// The end of a log, or that something had not happened by some point: no append is refused
    /// for it.
    End,
    /// Bytes, files and folders: what keeps and reads the log sees to it.
    Engine,
}

impl Basis {
    /// Returns the word that lists print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prefix => "prefix",
            Self::End => "end",
            Self::Engine => "engine",
        }
    }
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
    /// What a verdict on a breach rests on.
    pub basis: Basis,
    /// What must hold, in one sentence.
    pub summary: &'static str,
    /// What it means for the reader of a report and what to do next.
    pub help: &'static str,
}

impl Rule {
    /// A rule with a severity of its own under each profile, judged by prefixes.
    pub const fn new(
        id: RuleId,
        host: Option<Severity>,
        strict: Severity,
        summary: &'static str,
        help: &'static str,
    ) -> Self {
        Self { id, host, strict, basis: Basis::Prefix, summary, help }
    }

    /// Says that an end decides it.
    #[must_use]
    pub const fn at_end(self) -> Self {
        Self { basis: Basis::End, ..self }
    }

    /// Says that whatever keeps and reads the log sees to it.
    #[must_use]
    pub const fn of_engine(self) -> Self {
        Self { basis: Basis::Engine, ..self }
    }

    /// A rule whose breach is an error under both profiles.
    pub const fn error(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self::new(id, Some(Severity::Error), Severity::Error, summary, help)
    }

    /// A rule whose breach is a warning under both profiles.
    pub const fn warning(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self::new(id, Some(Severity::Warning), Severity::Warning, summary, help)
    }

    /// A rule whose breach is a note under both profiles.
    pub const fn note(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self::new(id, Some(Severity::Note), Severity::Note, summary, help)
    }

    /// A rule that only [`Profile::Strict`] knows, as a warning.
    pub const fn strict(id: RuleId, summary: &'static str, help: &'static str) -> Self {
        Self::new(id, None, Severity::Warning, summary, help)
    }

    /// Returns the severity under a profile, or `None` where the rule does not run.
    pub fn severity(&self, profile: Profile) -> Option<Severity> {
        match profile {
            Profile::Host => self.host,
            Profile::Strict => Some(self.strict),
        }
    }
}
