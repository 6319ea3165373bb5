//! The sandbox mode of a session: read, set, and stamped on a call.

use super::enforcement::{Enforcement, SandboxUnavailable};
use super::mode::SandboxMode;
use crate::agent::Agent;
use crate::approval::KnobSource;
use crate::plane::Plane;
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Storage;
use gatelog_engine::store::{Gate, Session};
use gatelog_validator::facts::Facts;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A deployment default that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "sandbox mode must be one of \"read-only\", \"workspace-write\" or \
     \"danger-full-access\", not \"{0}\""
)]
pub struct NotAMode(pub String);

/// Why a call or a turn may not go on.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// Nothing here can confine it.
    #[error(transparent)]
    Unavailable(#[from] SandboxUnavailable),
    /// The session could not be read.
    #[error(transparent)]
    Append(#[from] AppendError),
}

struct Inner {
    plane: Plane,
    default: SandboxMode,
    enforcement: Option<Arc<dyn Enforcement>>,
}

/// The sandbox mode of sessions, and who enforces it. Copies are the same.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

/// Makes the event that sets the mode of a session.
pub(crate) fn event(mode: SandboxMode, source: KnobSource) -> Draft {
    let source = source.word().map_or_else(String::new, |word| format!(r#","source":"{word}""#));
    Draft::new("sandbox/mode", format!(r#"{{"mode":"{mode}"{source}}}"#))
}

impl Sandbox {
    /// Makes the knob. Where a log says nothing, `default` is in force; without one,
    /// [`SandboxMode::ReadOnly`]. Without an enforcement no confining mode is usable.
    pub fn new(
        plane: &Plane,
        default: Option<SandboxMode>,
        enforcement: Option<Arc<dyn Enforcement>>,
    ) -> Self {
        let default = default.unwrap_or(SandboxMode::ReadOnly);
        Self(Arc::new(Inner { plane: plane.clone(), default, enforcement }))
    }

    /// Reads a deployment default from a configuration.
    ///
    /// # Errors
    ///
    /// [`NotAMode`].
    pub fn default_of(word: &str) -> Result<SandboxMode, NotAMode> {
        SandboxMode::of(word).ok_or_else(|| NotAMode(word.to_owned()))
    }

    /// Returns the deployment default.
    pub fn default_mode(&self) -> SandboxMode {
        self.0.default
    }

    /// Returns the mode that a session's log says, if it says one that there is.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn override_of(&self, session: &Session) -> Result<Option<SandboxMode>, AppendError> {
        self.0.plane.under_gate(session, said).await
    }

    /// Returns the mode of a call: what was approved for this very call, else what the session's
    /// log says, else the default. A call keeps what it was stamped with.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn effective(
        &self,
        session: &Session,
        approved: Option<SandboxMode>,
    ) -> Result<SandboxMode, AppendError> {
        match approved {
            Some(mode) => Ok(mode),
            None => Ok(self.override_of(session).await?.unwrap_or(self.0.default)),
        }
    }

    /// Sets the mode of a session: one event, whatever it was. Returns its seq. The next confined
    /// call has it.
    ///
    /// # Errors
    ///
    /// Why the event could not be appended.
    pub async fn set_mode(
        &self,
        session: &Session,
        mode: SandboxMode,
        source: KnobSource,
    ) -> Result<u64, AppendError> {
        let draft = event(mode, source);
        let appended =
            self.0.plane.under_gate(session, move |gate| gate.append(draft, Durability::Synced));
        Ok(appended.await?.first_seq)
    }

    /// Gives a child the mode that its parent's log says: no default, and nothing that was granted
    /// for one call. Returns the event's seq, if there is anything to give.
    ///
    /// # Errors
    ///
    /// Why it could not be read or appended.
    pub async fn copy_to_child(
        &self,
        parent: &Session,
        child: &Session,
    ) -> Result<Option<u64>, AppendError> {
        match self.override_of(parent).await? {
            Some(mode) => Ok(Some(self.set_mode(child, mode, KnobSource::Delegation).await?)),
            None => Ok(None),
        }
    }

    /// Looks whether a mode can be had here.
    ///
    /// # Errors
    ///
    /// [`SandboxUnavailable`] for a mode that confines where nothing can confine.
    pub fn check(&self, mode: SandboxMode) -> Result<(), SandboxUnavailable> {
        let usable =
            |enforcement: &Arc<dyn Enforcement>| super::enforcement::usable(&**enforcement, mode);
        if !mode.is_confining() || self.0.enforcement.as_ref().is_some_and(usable) {
            return Ok(());
        }
        Err(SandboxUnavailable { mode })
    }

    /// Looks, at the start of a turn, whether its session's mode can be had here.
    ///
    /// # Errors
    ///
    /// [`SandboxError`]; the turn must end before any tool runs.
    pub async fn check_turn(&self, agent: &Agent) -> Result<SandboxMode, SandboxError> {
        self.check_call(agent, None).await
    }

    /// Stamps a confined call with its mode, if that can be had here. What was approved widens the
    /// mode and bypasses nothing.
    ///
    /// # Errors
    ///
    /// [`SandboxError`]; the call must not run.
    pub async fn check_call(
        &self,
        agent: &Agent,
        approved: Option<SandboxMode>,
    ) -> Result<SandboxMode, SandboxError> {
        let mode = self.effective(agent.session(), approved).await?;
        self.check(mode)?;
        Ok(mode)
    }
}

/// Returns the mode that the log says last, if it says one.
pub(crate) fn said(gate: &mut Gate) -> Result<Option<SandboxMode>, AppendError> {
    let facts: &Facts = gate.facts()?;
    // A word that is none, which only a log of somebody else can have, widens nothing.
    let mode = |word: &str| SandboxMode::of(word).unwrap_or(SandboxMode::ReadOnly);
    Ok(facts.mode.as_ref().map(|said| mode(&said.word)))
}

/// Returns the root of a session's workspace: the directory of the session, else the configured
/// one, absolute and without links.
///
/// # Errors
///
/// That there is none, or that it cannot be looked up.
pub fn workspace_root(
    storage: &dyn Storage,
    cwd: Option<&Path>,
    configured: Option<&Path>,
) -> io::Result<PathBuf> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "no workspace root is known");
    storage.canonical(cwd.or(configured).ok_or_else(missing)?)
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("default", &self.0.default).finish_non_exhaustive()
    }
}
