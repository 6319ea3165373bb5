//! The two events of a command.

use super::result::CommandResult;
use gatelog_engine::rules::Draft;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The id of one use of a command. No other has it, in this process or another.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct CommandId(String);

impl CommandId {
    /// Returns the id as it stands in the log.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Gives ids out.
#[derive(Debug)]
pub(super) struct Ids {
    /// Drawn for each registry, so that a log that is taken up again never sees an id twice.
    token: String,
    count: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        let token = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        Self { token, count: AtomicU64::new(0) }
    }

    /// Returns an id for one attempt; what becomes of it does not matter.
    pub(super) fn next(&self) -> CommandId {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        CommandId(format!("cmd-{}-{number}", self.token))
    }
}

#[derive(Serialize)]
struct Source {
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    command_id: &'a CommandId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'a str>,
    source: Source,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    command_id: &'a CommandId,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_event_seq: Option<u64>,
}

fn json(payload: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(payload).expect("texts and numbers are JSON")
}

/// Returns `command/run`; without `args` the input is not recorded.
pub(super) fn run(id: &CommandId, name: &str, args: Option<&Arc<str>>) -> Draft {
    let args = args.map(|args| &**args);
    let run = Run { command_id: id, name, args, source: Source { kind: "user" } };
    Draft::new("command/run", json(&run))
}

/// Returns the `command/done` of a result.
pub(super) fn done(id: &CommandId, result: &CommandResult) -> Draft {
    let done = Done {
        command_id: id,
        kind: result.kind(),
        text: result.shown(),
        source_event_seq: result.source_event_seq(),
    };
    Draft::new("command/done", json(&done))
}

/// Returns the `command/done` of a failure, whatever its text.
pub(super) fn failed(id: &CommandId, text: &str) -> Draft {
    let done = Done { command_id: id, kind: "error", text: Some(text), source_event_seq: None };
    Draft::new("command/done", json(&done))
}
