//! Who carries a command out.

use super::attachment::AttachmentBlock;
use super::lifecycle::CommandId;
use super::name::CommandName;
use super::result::CommandResult;
use crate::agent::{Agent, BoxError};
use crate::cancel::Cancel;
use async_trait::async_trait;
use std::sync::Arc;

/// One use of a command, as its handler sees it.
#[derive(Clone, Debug)]
pub struct CommandInvocation {
    /// The id under which it stands in the log.
    pub id: CommandId,
    /// The name under which it was called.
    pub name: CommandName,
    /// The agent that it is for.
    pub agent: Agent,
    /// All behind the name, byte for byte; the command's own grammar.
    pub raw_input: Arc<str>,
    /// What came with the line, in the person's order: durable references only. Empty unless the
    /// command declares that it takes attachments.
    pub attachments: Arc<[AttachmentBlock]>,
    /// Given with the caller's own signal, and when the caller is gone. A handler that gives it
    /// cancels its command.
    pub cancel: Cancel,
}

/// Carries a command out.
///
/// Who calls: the task of an execution, once, after `command/run` is in the log. What the command
/// changes is for the handler to append, as events of its own domain; work for a model is for it to
/// queue. A panic is contained. When the command is cancelled nobody waits for the handler any
/// more, and what it says then is ignored.
#[async_trait]
pub trait CommandHandler: Send + Sync + 'static {
    /// Carries the command out.
    ///
    /// # Errors
    ///
    /// A failure that nobody expected; the caller is given this very error. What a person may well
    /// get wrong is a [`CommandResult::Error`].
    async fn run(&self, invocation: CommandInvocation) -> Result<CommandResult, BoxError>;
}
