//! The name of a command.

use std::fmt;
use std::sync::Arc;

/// A name: a lower-case ASCII letter, then such letters, digits, `_` and `-`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandName(Arc<str>);

/// That a text is no name of a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("command name \"{0}\" must match /^[a-z][a-z0-9_-]*$/u")]
pub struct NotACommandName(pub String);

/// Returns how many bytes at the beginning are a name; 0 if none are.
pub(super) fn name_bytes(text: &[u8]) -> usize {
    if !text.first().is_some_and(u8::is_ascii_lowercase) {
        return 0;
    }
    let is_rest = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    text.iter().take_while(|byte| is_rest(byte)).count()
}

impl CommandName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for CommandName {
    type Error = NotACommandName;

    fn try_from(text: &str) -> Result<Self, NotACommandName> {
        let bytes = name_bytes(text.as_bytes());
        if bytes == 0 || bytes < text.len() {
            return Err(NotACommandName(text.to_owned()));
        }
        Ok(Self(text.into()))
    }
}

impl std::borrow::Borrow<str> for CommandName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CommandName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
