//! `/permission`: shows the preset of a session, or chooses another.

use super::service::{PresetError, PresetService};
use super::table::PresetName;
use crate::agent::BoxError;
use crate::command::{CommandDefinition, CommandHandler, CommandInvocation, CommandResult};
use crate::text::trim;
use async_trait::async_trait;

/// Makes the definition of `/permission`.
pub fn permission_command(presets: &PresetService) -> CommandDefinition {
    let description = "Show the permission preset of this session, or choose another one.";
    let handler = Permission(presets.clone());
    CommandDefinition::new("permission", description, handler).with_hint("a preset")
}

struct Permission(PresetService);

impl Permission {
    fn available(&self) -> String {
        let names: Vec<_> = self.0.table().names().map(PresetName::as_str).collect();
        names.join(", ")
    }
}

#[async_trait]
impl CommandHandler for Permission {
    async fn run(&self, invocation: CommandInvocation) -> Result<CommandResult, BoxError> {
        let name = trim(&invocation.raw_input);
        if name.is_empty() {
            let current = self.0.current(invocation.agent.session()).await?;
            let text = format!("current preset {current} (available: {})", self.available());
            return Ok(CommandResult::text(text));
        }
        match self.0.select_for(&invocation.agent, name).await {
            Ok(_) => Ok(CommandResult::text(format!("preset {name}"))),
            Err(PresetError::Config(_)) => {
                let text = format!("unknown preset \"{name}\" (available: {})", self.available());
                Ok(CommandResult::error(text).ok_or("a refusal says something")?)
            }
            Err(error) => Err(error.into()),
        }
    }
}
