//! The edge for handlers whose world is JSON.

use super::handler::{CommandHandler, CommandInvocation};
use super::result::CommandResult;
use super::shown::{UNRENDERABLE, as_string};
use crate::agent::BoxError;
use crate::profile::Profile;
use async_trait::async_trait;
use serde_json::Value;
use std::fmt;

/// A value that a script threw although it is no error.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue {
    /// A value that can be shown.
    Json(Value),
    /// One that cannot.
    Opaque,
}

impl fmt::Display for ScriptValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(value) => f.write_str(&as_string(value)),
            Self::Opaque => f.write_str(UNRENDERABLE),
        }
    }
}

/// How a script failed.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFailure {
    /// With an error, which is handed on as it is.
    #[error(transparent)]
    Error(BoxError),
    /// It threw a value before it returned anything; the value is handed on as it is.
    #[error("{0}")]
    Thrown(ScriptValue),
    /// What it returned was later rejected with a value.
    #[error("command handler rejected with a non-Error value: {0}")]
    Rejected(ScriptValue),
}

/// A handler that returns JSON.
///
/// Who calls, and what becomes of it, is as with [`CommandHandler`].
#[async_trait]
pub trait ScriptedHandler: Send + Sync + 'static {
    /// Carries the command out.
    ///
    /// # Errors
    ///
    /// How the script failed.
    async fn run(&self, invocation: CommandInvocation) -> Result<Value, ScriptFailure>;
}

/// A scripted handler whose results are judged. Made by [`scripted`].
#[derive(Debug)]
pub struct Scripted<H> {
    handler: H,
    profile: Profile,
}

/// Judges what a scripted handler returns: a malformed result is a failure of the handler, a
/// [`BadResult`](super::BadResult).
pub fn scripted<H: ScriptedHandler>(handler: H, profile: Profile) -> Scripted<H> {
    Scripted { handler, profile }
}

#[async_trait]
impl<H: ScriptedHandler> CommandHandler for Scripted<H> {
    async fn run(&self, invocation: CommandInvocation) -> Result<CommandResult, BoxError> {
        let name = invocation.name.clone();
        let value = match self.handler.run(invocation).await {
            Ok(value) => value,
            Err(ScriptFailure::Error(error)) => return Err(error),
            Err(failure) => return Err(failure.into()),
        };
        Ok(CommandResult::from_json(name.as_str(), &value, &self.profile)?)
    }
}
