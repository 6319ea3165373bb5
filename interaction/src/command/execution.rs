//! One use of a command, from its line to its end in the log.

use super::abandon::OnAbandon;
use super::admission::decode;
use super::attachment::{Attachment, AttachmentBlock, StoreFailure};
use super::attended::{Unattended, attended};
use super::error::CommandError;
use super::handler::CommandInvocation;
use super::lifecycle::{self, CommandId};
use super::line::parse;
use super::registry::CommandRegistry;
use super::result::{BadResult, CommandResult, NonBlank};
use super::shared::{Registered, Shared};
use super::shown::rendered;
use crate::agent::Agent;
use crate::cancel::{Cancel, Reason};
use crate::internal::Site;
use crate::plane::said;
use crate::profile::Texts;
use crate::scope::Lease;
use gatelog_engine::backend::{AppendError, Durability};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Gate;
use serde::Serialize;
use std::future::Future;
use std::sync::Arc;

/// How a line is executed. By default nothing came with it, and nobody cancels it.
#[derive(Clone, Debug, Default)]
pub struct ExecuteOptions {
    /// What came with the line, in the person's order.
    pub attachments: Vec<Attachment>,
    /// Says that the command is no longer wanted.
    pub cancel: Cancel,
    /// What becomes of the handler, or the store, when the command is cancelled.
    pub on_abandon: OnAbandon,
}

/// A command that was run and is done, in the log as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandExecution {
    /// Its id.
    pub command_id: CommandId,
    /// What it came to.
    pub result: CommandResult,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a line that matched nothing must be refused, and a result be shown"]
pub enum Dispatch {
    /// It is no command, or none that the agent has. Nothing was logged; whoever has the line
    /// refuses it, and never sends it to a model.
    NotMatched,
    /// The command was run and is done.
    Executed(CommandExecution),
}

/// Cancels what its caller no longer waits for.
struct CallerGone(Option<Cancel>);

impl Drop for CallerGone {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel.cancel();
        }
    }
}

impl CommandRegistry {
    /// Runs the command that a line names, if it names one of an agent's.
    ///
    /// From `command/run` on the work is a task of its own: if the future is dropped, the command
    /// is cancelled and its end is logged all the same. A success is told only after its
    /// `command/done` has reached the disk.
    ///
    /// # Errors
    ///
    /// [`CommandError`]. An expected error is no error here, but a result.
    pub async fn execute(
        &self,
        agent: &Agent,
        line: &str,
        options: ExecuteOptions,
    ) -> Result<Dispatch, CommandError> {
        let shared = &self.0;
        shared.plane.check_entry(agent, agent.session())?;
        let Some(parsed) = parse(line) else { return Ok(Dispatch::NotMatched) };
        let lease = Arc::new(agent.scope().lease());
        let Some(command) = shared.resolve(&lease, parsed.name) else {
            return Ok(Dispatch::NotMatched);
        };
        if let Some(reason) = options.cancel.reason() {
            return Err(CommandError::PreCancelled(reason));
        }
        // A signal of its own: whoever drops this future says nothing about the caller's other
        // work.
        let (cancel, given) = (Cancel::new(), options.cancel.clone());
        let passed_on = cancel.clone();
        let passing = options.cancel.subscribe(move || {
            passed_on.cancel_because(given.reason().unwrap_or_default());
        });
        let running = Running {
            shared: Arc::clone(shared),
            agent: agent.clone(),
            command,
            id: shared.ids.next(),
            raw_input: parsed.raw_input.into(),
            cancel: cancel.clone(),
            on_abandon: options.on_abandon,
            lease,
        };
        let attachments = options.attachments;
        let task = shared.plane.spawn(async move {
            let ended = running.run(attachments).await;
            drop(passing);
            ended
        });
        let mut caller = CallerGone(Some(cancel));
        let ended = task.await.unwrap_or(Err(CommandError::Stopped));
        caller.0 = None;
        ended.map(Dispatch::Executed)
    }
}

/// A command on its way.
struct Running {
    shared: Arc<Shared>,
    agent: Agent,
    /// As it was when the line was resolved, whatever becomes of its registration.
    command: Arc<Registered>,
    id: CommandId,
    raw_input: Arc<str>,
    cancel: Cancel,
    on_abandon: OnAbandon,
    lease: Arc<Lease>,
}

/// What became of the attachments.
enum Admitted {
    Blocks(Arc<[AttachmentBlock]>),
    /// An error that the person is shown.
    Refused(CommandResult),
    Failed(CommandError),
}

impl Running {
    async fn run(self, attachments: Vec<Attachment>) -> Result<CommandExecution, CommandError> {
        let args = self.command.defined.records_input.then_some(&self.raw_input);
        let run = lifecycle::run(&self.id, self.name(), args);
        self.append(run).await.map_err(CommandError::Run)?;
        let blocks = match self.admitted(attachments).await {
            Admitted::Blocks(blocks) => blocks,
            Admitted::Refused(error) => return self.settle(error).await,
            Admitted::Failed(failed) => return Err(self.fail(failed).await),
        };
        // Whatever was admitted, a handler that is no longer wanted is not entered.
        if let Some(reason) = self.cancel.reason() {
            return Err(self.fail(CommandError::Cancelled(reason)).await);
        }
        match self.handled(blocks).await {
            Ok(result) => self.settle(result).await,
            Err(failed) => Err(self.fail(failed).await),
        }
    }

    async fn admitted(&self, attachments: Vec<Attachment>) -> Admitted {
        if attachments.is_empty() {
            return Admitted::Blocks(Arc::default());
        }
        let name = self.name();
        let is_old = self.shared.plane.profile().texts == Texts::Host011;
        let what = if is_old { "image attachments" } else { "attachments" };
        if !self.command.defined.descriptor.takes_attachments() {
            return Admitted::refused(format!("/{name} does not accept {what}"));
        }
        let Some(store) = self.shared.store.clone() else {
            return Admitted::refused(format!(
                "/{name}: {what} are unavailable because no attachment store is composed"
            ));
        };
        let batch = match decode(attachments) {
            Ok(batch) => batch,
            Err(error) => return Admitted::refused(error.to_string()),
        };
        let resolver = self.shared.receipts.resolver();
        let work = batch.admit(self.agent.clone(), store, resolver, self.cancel.clone());
        match self.attended(work).await {
            Ok(Ok(blocks)) => Admitted::Blocks(blocks),
            Ok(Err(StoreFailure::Classified(error))) => Admitted::refused(error.to_string()),
            Ok(Err(StoreFailure::Other(error))) => {
                Admitted::Failed(CommandError::Attachments(error))
            }
            Err(failed) => Admitted::Failed(failed),
        }
    }

    async fn handled(&self, blocks: Arc<[AttachmentBlock]>) -> Result<CommandResult, CommandError> {
        let invocation = CommandInvocation {
            id: self.id.clone(),
            name: self.command.defined.descriptor.name.clone(),
            agent: self.agent.clone(),
            raw_input: Arc::clone(&self.raw_input),
            attachments: blocks,
            cancel: self.cancel.clone(),
        };
        let handler = Arc::clone(&self.command.defined.handler);
        let returned = self.attended(async move { handler.run(invocation).await }).await?;
        let result = returned.map_err(|error| match error.downcast::<BadResult>() {
            Ok(bad) => CommandError::BadResult(*bad),
            Err(error) => CommandError::Handler(error),
        })?;
        result.check(self.name()).map_err(CommandError::BadResult)
    }

    async fn attended<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, CommandError> {
        let kept = Arc::clone(&self.lease);
        let plane = &self.shared.plane;
        let attended = attended(plane, &self.cancel, self.on_abandon, kept, work).await;
        attended.map_err(|unattended| match unattended {
            Unattended::Cancelled(reason) => CommandError::Cancelled(reason),
            Unattended::Panicked(panicked) => CommandError::Panicked(panicked),
        })
    }

    /// Writes the end of a command that came to a result. Without it there is no result.
    async fn settle(&self, result: CommandResult) -> Result<CommandExecution, CommandError> {
        let done = lifecycle::done(&self.id, &result);
        self.append(done).await.map_err(CommandError::Done)?;
        Ok(CommandExecution { command_id: self.id.clone(), result })
    }

    /// Writes the end of a command that failed. That this fails as well is reported, and the
    /// failure stays what it was.
    async fn fail(&self, failed: CommandError) -> CommandError {
        let done = lifecycle::failed(&self.id, &text_of(&failed));
        if let Err(error) = self.append(done).await {
            let text = format!(
                "command \"{}\": command/done append failed: {}",
                self.name(),
                rendered(&error)
            );
            let session = Some(self.agent.session().id());
            let id = Some(self.id.as_str());
            self.shared.plane.report(Site::CommandDone, session, id, said(text));
        }
        failed
    }

    async fn append(&self, draft: Draft) -> Result<(), AppendError> {
        let session = self.agent.session();
        let append = move |gate: &mut Gate| gate.append(draft, Durability::Synced).map(drop);
        self.shared.plane.under_gate(session, append).await
    }

    fn name(&self) -> &str {
        self.command.defined.descriptor.name.as_str()
    }
}

/// Returns the text of a failure for the log.
fn text_of(failed: &CommandError) -> String {
    match failed {
        CommandError::Cancelled(Reason::Error(error)) => rendered(error),
        CommandError::Handler(error) | CommandError::Attachments(error) => rendered(error),
        other => rendered(other),
    }
}

impl Admitted {
    fn refused(text: String) -> Self {
        let text = NonBlank::new(text).or_else(|| NonBlank::new("the attachments were refused"));
        let text = text.expect("the second text is not blank");
        Self::Refused(CommandResult::Error { text })
    }
}
