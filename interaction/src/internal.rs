//! The one sink of failures that are contained.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Where a failure was contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    /// A listener of a chain panicked or failed, and somebody else decided.
    Listener,
    /// What a listener left to clean up failed.
    Cleanup,
    /// An observer of a log panicked.
    Observer,
    /// `command/done` could not be appended behind another failure.
    CommandDone,
    /// An observer of the commands panicked.
    CommandsChanged,
    /// A listener said something outside the closed set of outcomes.
    ForeignOutcome,
    /// A projection's checkpoint could not be written back.
    Checkpoint,
    /// A session that was live already could not be given its permissions.
    Adoption,
    /// A turn could not be drained.
    Drain,
    /// An adapter lost or refused what it was given.
    Adapter,
}

impl Site {
    /// Every site.
    pub const ALL: [Self; 10] = [
        Self::Listener,
        Self::Cleanup,
        Self::Observer,
        Self::CommandDone,
        Self::CommandsChanged,
        Self::ForeignOutcome,
        Self::Checkpoint,
        Self::Adoption,
        Self::Drain,
        Self::Adapter,
    ];

    /// Returns its name, in kebab case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Listener => "listener",
            Self::Cleanup => "cleanup",
            Self::Observer => "observer",
            Self::CommandDone => "command-done",
            Self::CommandsChanged => "commands-changed",
            Self::ForeignOutcome => "foreign-outcome",
            Self::Checkpoint => "checkpoint",
            Self::Adoption => "adoption",
            Self::Drain => "drain",
            Self::Adapter => "adapter",
        }
    }
}

/// A failure that changed nothing, and that somebody should know of.
#[derive(Clone, Debug)]
pub struct InternalError {
    /// Where it was contained.
    pub site: Site,
    /// The session that it is about, if it is about one.
    pub session: Option<String>,
    /// Id of the request or command that it is about, if it is about one.
    pub subject: Option<String>,
    /// What happened.
    pub error: Arc<dyn Error + Send + Sync>,
}

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.site.name())?;
        if let Some(session) = &self.session {
            write!(f, ", session \"{session}\"")?;
        }
        if let Some(subject) = &self.subject {
            write!(f, ", \"{subject}\"")?;
        }
        write!(f, ": {}", self.error)
    }
}

/// Hears of every contained failure, on whatever thread it happened. Its own panics end there.
pub trait InternalErrors: Send + Sync {
    /// Is told of one.
    fn report(&self, error: &InternalError);
}

/// Tells nobody but `tracing`, which hears of every failure anyway.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracedOnly;

impl InternalErrors for TracedOnly {
    fn report(&self, _: &InternalError) {}
}

/// A message of our own where an error is asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Said(pub String);
