//! `/note TEXT`: a command of the shell's own, with a type of event of its own.

use async_trait::async_trait;
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::command::{
    CommandDefinition, CommandHandler, CommandInvocation, CommandResult,
};
use gatelog_interaction::text::trim;
use serde_json::json;

/// The type of its event.
pub(crate) const KIND: &str = "shell/note";

/// Makes the definition. What was typed stands in the note, so that the run need not have it too.
pub(crate) fn command() -> CommandDefinition {
    CommandDefinition::new("note", "Keep a note in the session's log.", Note)
        .with_hint("what to keep")
        .without_recording()
}

struct Note;

#[async_trait]
impl CommandHandler for Note {
    async fn run(&self, invocation: CommandInvocation) -> Result<CommandResult, BoxError> {
        let text = trim(&invocation.raw_input);
        if text.is_empty() {
            let text = "say what to keep: /note TEXT";
            return Ok(CommandResult::error(text).ok_or("a refusal says something")?);
        }
        // Readers that do not know the type, the host among them, may skip it.
        let data = json!({"text": text}).to_string();
        let note = Draft { ignorable: true, ..Draft::new(KIND, data) };
        let appended = invocation.agent.session().append_async([note], Durability::Synced);
        let seq = appended.await?.first_seq;
        let text = Some(format!("kept as event {seq}"));
        Ok(CommandResult::Success { text, source_event_seq: Some(seq) })
    }
}
