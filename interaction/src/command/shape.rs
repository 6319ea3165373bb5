//! What speaks against a definition: one table, for typed and untyped ones alike.

use super::name::{CommandName, NotACommandName};
use crate::profile::Texts;
use crate::text::is_blank;

/// A definition as somebody gave it, before it was looked at. The inner nothings are values of
/// another type.
pub(super) struct Shape<'a> {
    pub(super) name: &'a str,
    pub(super) is_name_text: bool,
    pub(super) description: Option<&'a str>,
    pub(super) has_handler: bool,
    /// Nothing if there is no input.
    pub(super) input: Option<InputShape<'a>>,
}

/// An input as somebody gave it.
pub(super) struct InputShape<'a> {
    pub(super) hint: Option<&'a str>,
    pub(super) attachments: Option<bool>,
}

/// Why something defines no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDefinition {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] NotACommandName),
    /// The description is no text.
    #[error("command \"{0}\" description must be a string")]
    DescriptionType(String),
    /// The description is blank.
    #[error("command \"{0}\" description must not be empty")]
    DescriptionBlank(String),
    /// There is no handler.
    #[error("command \"{0}\" handler must be a function")]
    Handler(String),
    /// The hint is no text, or there is none.
    #[error("command \"{0}\" input hint must be a string")]
    HintType(String),
    /// The hint is blank.
    #[error("command \"{0}\" input hint must not be empty")]
    HintBlank(String),
    /// The flag is neither true nor false.
    #[error("command \"{name}\" input {flag} flag must be a boolean")]
    Flag {
        /// Name of the command.
        name: String,
        /// What the flag is called.
        flag: &'static str,
    },
}

/// Returns what the flag of attachments is called.
pub(super) const fn flag(texts: Texts) -> &'static str {
    match texts {
        Texts::Strict | Texts::Host => "attachments",
        Texts::Host011 => "images",
    }
}

impl Shape<'_> {
    /// Returns the name, or what speaks against the definition: the first in the host's order.
    pub(super) fn check(&self, texts: Texts) -> Result<CommandName, BadDefinition> {
        use BadDefinition as Bad;
        let shown = self.name.to_owned();
        if !self.is_name_text {
            return Err(NotACommandName(shown).into());
        }
        let name = CommandName::try_from(self.name)?;
        let Some(description) = self.description else { return Err(Bad::DescriptionType(shown)) };
        if is_blank(description) {
            return Err(Bad::DescriptionBlank(shown));
        }
        if !self.has_handler {
            return Err(Bad::Handler(shown));
        }
        if let Some(input) = &self.input {
            let Some(hint) = input.hint else { return Err(Bad::HintType(shown)) };
            if is_blank(hint) {
                return Err(Bad::HintBlank(shown));
            }
            if input.attachments.is_none() {
                return Err(Bad::Flag { name: shown, flag: flag(texts) });
            }
        }
        Ok(name)
    }
}
