//! Commands: what was run, and what came of it.

use super::kept::Resume;
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Its id.
    pub id: Option<Raw>,
    /// Its name.
    pub name: Option<Raw>,
    /// What it was given.
    pub args: Option<Raw>,
    /// Seq of its run.
    pub run_seq: u64,
    /// Seq of its result; nothing while it runs.
    pub done_seq: Option<u64>,
    /// `success` or `error`.
    pub kind: Option<Raw>,
    /// What it answered.
    pub text: Option<Raw>,
    /// Seq of the event that it made.
    pub source_event_seq: Option<Raw>,
}

/// The commands of a session, in the order of their runs. Of several results the first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commands {
    commands: Vec<Command>,
    by_id: BTreeMap<String, usize>,
}

impl Fold for Commands {
    fn fold(&mut self, event: &Event<'_>) {
        let key = || event.field("commandId").map_or_else(String::new, |id| id.to_json());
        let member = |key| Raw::member(event.data, key);
        match event.kind {
            "command/run" => {
                self.by_id.insert(key(), self.commands.len());
                self.commands.push(Command {
                    id: member("commandId"),
                    name: member("name"),
                    args: member("args"),
                    run_seq: event.seq,
                    done_seq: None,
                    kind: None,
                    text: None,
                    source_event_seq: None,
                });
            }
            "command/done" => {
                // Taken out, so that a second result finds nothing.
                let at = self.by_id.remove(&key());
                if let Some(command) = at.and_then(|at| self.commands.get_mut(at)) {
                    command.done_seq = Some(event.seq);
                    command.kind = member("kind");
                    command.text = member("text");
                    command.source_event_seq = member("sourceEventSeq");
                }
            }
            _ => {}
        }
    }
}

impl Projection for Commands {
    type View = Vec<Command>;

    fn name(&self) -> &'static str {
        "commands"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["command/run", "command/done"])
    }

    fn view(&self) -> Vec<Command> {
        self.commands.clone()
    }
}

impl Resume for Commands {}
