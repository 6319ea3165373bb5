//! The agent: its loop, and what a line is taken for.

mod console;
mod note;
mod services;
mod storage;
mod tools;
mod turn;

pub(crate) use console::Console;
pub(crate) use storage::Kind;

use console::Heard;
use gatelog_engine::store::Session;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{CommandResult, Dispatch, ExecuteOptions};
use gatelog_interaction::sandbox::{SandboxError, SandboxUnavailable};
use serde_json::{Value, json};
use services::Services;
use std::path::PathBuf;
use std::sync::Arc;
use tools::{Call, Told};
use turn::Turn;

/// What the agent is started with.
pub(crate) struct Options {
    /// Which store.
    pub(crate) store: Kind,
    /// No service is mounted.
    pub(crate) is_bare: bool,
    /// Where the store is.
    pub(crate) dir: PathBuf,
    /// Id of the session.
    pub(crate) session: String,
    /// Where the agent works; absolute.
    pub(crate) workspace: PathBuf,
    /// The preset of new sessions, if one was chosen.
    pub(crate) preset: Option<String>,
}

/// An agent at work.
struct Shell {
    console: Arc<Console>,
    session: Session,
    workspace: PathBuf,
    /// Nothing, if it is bare.
    services: Option<Services>,
}

/// Opens the store and the session, and takes lines until there are none.
pub(crate) async fn run(options: &Options, console: &Arc<Console>) -> Result<(), BoxError> {
    let store = storage::open(options.store, &options.dir)?;
    // Presets go first: a session is pinned in the batch that creates it.
    let mounting = if options.is_bare {
        None
    } else {
        Some(services::Mounting::begin(&store, options.preset.clone())?)
    };
    let (session, is_new) = storage::session(&store, &options.session, &options.workspace)?;
    let services = match mounting {
        Some(mounting) => Some(mounting.finish(&session, console).await?),
        None => None,
    };
    let workspace = options.workspace.clone();
    let shell = Shell { console: Arc::clone(console), session, workspace, services };
    console.say(&format!(
        "session {}, {}",
        options.session,
        if is_new { "new" } else { "resumed" }
    ));
    console.say(&shell.status().await?);
    let ended = shell.take_lines().await;
    if let Some(services) = shell.services {
        services.unmount().await;
    }
    store.close()?;
    ended
}

impl Shell {
    async fn take_lines(&self) -> Result<(), BoxError> {
        loop {
            let line = match self.console.hear("> ").await {
                Heard::Line(line) => line,
                Heard::Interrupt => {
                    self.console.say(":quit leaves");
                    continue;
                }
                Heard::End => return Ok(()),
            };
            match line.trim() {
                "" => {}
                ":quit" => return Ok(()),
                ":status" => self.console.say(&self.status().await?),
                ":help" => self.help(),
                command if command.starts_with('/') => self.command(&line).await,
                said => self.turn(said).await?,
            }
        }
    }

    async fn status(&self) -> Result<String, BoxError> {
        match &self.services {
            Some(services) => Ok(services.presets.status(&self.session).await?),
            None => Ok("bare: no permissions, no commands, nobody to ask".to_owned()),
        }
    }

    fn help(&self) {
        self.console.say("read FILE, write FILE TEXT, ask TEXT | OPTION | OPTION");
        for command in self.services.iter().flat_map(Services::commands) {
            self.console.say(&command);
        }
        self.console.say(":status, :help, :quit");
    }

    /// Runs a command. A line that is none is refused here, and never becomes a message.
    async fn command(&self, line: &str) {
        let dispatch = match &self.services {
            Some(services) => {
                let cancel = self.console.begin();
                let options = ExecuteOptions { cancel, ..ExecuteOptions::default() };
                let dispatch = services.registry.execute(services.agent(), line, options).await;
                self.console.end();
                dispatch
            }
            None => Ok(Dispatch::NotMatched),
        };
        let shown = match dispatch {
            Ok(Dispatch::Executed(execution)) => match execution.result {
                CommandResult::Success { text, .. } => text.unwrap_or_default(),
                CommandResult::Error { text } => format!("error: {}", text.as_str()),
            },
            Ok(Dispatch::NotMatched) => {
                let name = line.split_whitespace().next().unwrap_or(line);
                format!("refused: {name} is no command here")
            }
            Err(error) => format!("failed: {error}"),
        };
        self.console.say(&shown);
    }

    /// One turn, from its start to its end in the log. If an append fails within, the turn stays
    /// open, and is closed when the session is opened again.
    async fn turn(&self, said: &str) -> Result<(), BoxError> {
        let cancel = self.console.begin();
        let turned = self.turn_until(said, &cancel).await;
        self.console.end();
        turned
    }

    async fn turn_until(&self, said: &str, cancel: &Cancel) -> Result<(), BoxError> {
        let mut turn = Turn::begin(&self.session).await?;
        turn.user(said, json!({"kind": "user"})).await?;
        for notice in self.services.iter().flat_map(|services| services.notices.take()) {
            turn.user(&notice.text, serde_json::from_str(&notice.source)?).await?;
        }
        let reason = self.steps(&mut turn, said, cancel).await?;
        if let Some(services) = &self.services {
            // Whatever still waits for an answer is settled before the turn ends.
            services.approvals.drain_turn(&self.session).await?;
        }
        turn.end(&reason).await
    }

    /// What the model would do. Returns why the turn ends.
    async fn steps(&self, turn: &mut Turn, said: &str, cancel: &Cancel) -> Result<Value, BoxError> {
        if let Some(services) = &self.services {
            match services.sandbox.check_turn(services.agent()).await {
                Ok(_) => {}
                Err(SandboxError::Unavailable(unavailable)) => {
                    let message = unavailable.to_string();
                    self.console.say(&message);
                    let code = SandboxUnavailable::CODE;
                    return Ok(
                        json!({"kind": "error", "step": 0, "message": message, "code": code}),
                    );
                }
                Err(error) => return Err(error.into()),
            }
        }
        let Some(call) = Call::of(said) else {
            turn.answer(said).await?;
            self.console.say(said);
            return Ok(json!({"kind": "completed"}));
        };
        let told = self.step_with(turn, call, cancel).await?;
        if cancel.is_cancelled() {
            self.console.say("The turn was taken back.");
            return Ok(json!({"kind": "aborted"}));
        }
        let answer = if told.error.is_some() { "That did not work." } else { "Done." };
        turn.answer(answer).await?;
        self.console.say(answer);
        Ok(json!({"kind": "completed"}))
    }

    /// A step with one call of a tool and its result, which a failure of the tool is as well.
    async fn step_with(
        &self,
        turn: &mut Turn,
        call: Call,
        cancel: &Cancel,
    ) -> Result<Told, BoxError> {
        let placed = turn.call(&call).await?;
        let told = match &self.services {
            Some(services) => services.carry_out(&call, &placed.id, &self.workspace, cancel).await,
            None => tools::bare(&call, &self.workspace),
        };
        self.console.say(&format!("[{}] {}", call.name, told.text));
        turn.result(&placed, &told).await?;
        Ok(told)
    }
}
