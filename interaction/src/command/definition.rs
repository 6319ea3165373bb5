//! A command as it is registered, and as adapters see it.

use super::handler::CommandHandler;
use super::name::CommandName;
use super::shape::{BadDefinition, InputShape, Shape, flag};
use super::shown::as_string;
use crate::profile::{Profile, Texts};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// What a command takes behind its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInput {
    /// What to show before a person has typed anything.
    pub hint: String,
    /// Attachments may come with the line.
    pub attachments: bool,
}

/// A command without its handler: what adapters see. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandDescriptor {
    /// The name.
    pub name: CommandName,
    /// What the command does.
    pub description: String,
    /// What it takes, if that is said.
    pub input: Option<CommandInput>,
}

impl CommandDescriptor {
    /// Returns whether attachments may come with the line.
    pub fn takes_attachments(&self) -> bool {
        self.input.as_ref().is_some_and(|input| input.attachments)
    }

    /// Returns the descriptor as JSON. The host's shapes leave out a flag that is false; its
    /// release 0.1.1 calls it `images`.
    pub fn to_json(&self, profile: &Profile) -> Value {
        let mut members = Map::new();
        members.insert("name".into(), self.name.as_str().into());
        members.insert("description".into(), self.description.as_str().into());
        if let Some(input) = &self.input {
            let mut shown = Map::new();
            shown.insert("hint".into(), input.hint.as_str().into());
            if input.attachments || profile.texts == Texts::Strict {
                shown.insert(flag(profile.texts).into(), input.attachments.into());
            }
            members.insert("input".into(), shown.into());
        }
        members.into()
    }
}

/// A command to be registered. It is judged when it is.
#[derive(Clone)]
pub struct CommandDefinition {
    name: String,
    description: String,
    input: Option<CommandInput>,
    records_input: bool,
    handler: Arc<dyn CommandHandler>,
}

/// A definition that was judged, and will not change.
pub(super) struct Defined {
    pub(super) descriptor: Arc<CommandDescriptor>,
    pub(super) records_input: bool,
    pub(super) handler: Arc<dyn CommandHandler>,
}

impl CommandDefinition {
    /// Makes a definition of a command that takes free text without a hint, and whose input is
    /// recorded.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: impl CommandHandler,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input: None,
            records_input: true,
            handler: Arc::new(handler),
        }
    }

    /// Says what the command takes.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        let attachments = self.input.is_some_and(|input| input.attachments);
        self.input = Some(CommandInput { hint: hint.into(), attachments });
        self
    }

    /// Says what the command takes, attachments included.
    #[must_use]
    pub fn with_attachments(mut self, hint: impl Into<String>) -> Self {
        self.input = Some(CommandInput { hint: hint.into(), attachments: true });
        self
    }

    /// Keeps the input out of `command/run`, for a command whose own event has it.
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.records_input = false;
        self
    }

    /// Reads the definition of a scripted host; the handler comes beside it. The flag of
    /// attachments is `attachments`, and under the host's profiles also `images`.
    ///
    /// # Errors
    ///
    /// [`BadDefinition`], the first in the host's order. `recordInput` is not looked at: only
    /// `false` is not true.
    pub fn from_json(
        value: &Value,
        handler: Option<Arc<dyn CommandHandler>>,
        profile: &Profile,
    ) -> Result<Self, BadDefinition> {
        let name = value.get("name");
        let shown = name.map_or_else(|| "undefined".to_owned(), as_string);
        let input = value.get("input");
        let shape = Shape {
            name: &shown,
            is_name_text: name.is_some_and(Value::is_string),
            description: value.get("description").and_then(Value::as_str),
            has_handler: handler.is_some(),
            input: input.map(|input| input_shape(input, profile.texts)),
        };
        let name = shape.check(profile.texts)?.to_string();
        let input = shape.input.map(|input| CommandInput {
            hint: input.hint.unwrap_or_default().to_owned(),
            attachments: input.attachments == Some(true),
        });
        let description = shape.description.unwrap_or_default().to_owned();
        let records_input = value.get("recordInput") != Some(&Value::Bool(false));
        match handler {
            Some(handler) => Ok(Self { name, description, input, records_input, handler }),
            None => Err(BadDefinition::Handler(name)),
        }
    }

    /// Judges the definition, and detaches it.
    pub(super) fn define(self, texts: Texts) -> Result<Defined, BadDefinition> {
        let shape = Shape {
            name: &self.name,
            is_name_text: true,
            description: Some(&self.description),
            has_handler: true,
            input: self.input.as_ref().map(|input| InputShape {
                hint: Some(&input.hint),
                attachments: Some(input.attachments),
            }),
        };
        let name = shape.check(texts)?;
        let Self { description, input, records_input, handler, .. } = self;
        let descriptor = Arc::new(CommandDescriptor { name, description, input });
        Ok(Defined { descriptor, records_input, handler })
    }
}

fn input_shape(input: &Value, texts: Texts) -> InputShape<'_> {
    let alias = (texts != Texts::Strict).then(|| input.get("images")).flatten();
    let attachments = match input.get("attachments").or(alias) {
        None => Some(false),
        Some(flag) => flag.as_bool(),
    };
    InputShape { hint: input.get("hint").and_then(Value::as_str), attachments }
}

impl fmt::Debug for CommandDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandDefinition")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("input", &self.input)
            .field("records_input", &self.records_input)
            .finish_non_exhaustive()
    }
}
