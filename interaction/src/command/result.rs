//! What a handler says of its command.

use super::shown::as_string;
use crate::profile::{Profile, Texts};
use crate::text::is_blank;
use gatelog_engine::json::is_seq;
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde_json::Value;

/// The largest integer that a double keeps apart from its neighbours.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// A text with something in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NonBlank(String);

impl NonBlank {
    /// Takes a text, unless it is blank.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        if is_blank(&text) { None } else { Some(Self(text)) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a command came to. An error is expected: it is a normal result, shown to the person.
///
/// Only a success can name the event that it made:
///
/// ```compile_fail
/// use gatelog_interaction::command::{CommandResult, NonBlank};
/// let text = NonBlank::new("no").expect("it says something");
/// let _ = CommandResult::Error { text, source_event_seq: Some(1) };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandResult {
    /// It worked.
    Success {
        /// What to show; it may be empty.
        text: Option<String>,
        /// Seq of the earlier event of the command's own domain that has more to show.
        source_event_seq: Option<u64>,
    },
    /// It did not.
    Error {
        /// What to show.
        text: NonBlank,
    },
}

/// That a handler returned no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadResult(String);

impl BadResult {
    fn of(command: &str, what: &str) -> Self {
        Self(format!("command \"{command}\" {what}"))
    }

    fn source(command: &str) -> Self {
        let what = "success sourceEventSeq must be a non-negative safe integer when supplied";
        Self::of(command, what)
    }
}

impl CommandResult {
    /// Makes a success that shows nothing.
    pub const fn success() -> Self {
        Self::Success { text: None, source_event_seq: None }
    }

    /// Makes a success that shows a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Success { text: Some(text.into()), source_event_seq: None }
    }

    /// Makes an error, unless its text is blank.
    pub fn error(text: impl Into<String>) -> Option<Self> {
        NonBlank::new(text).map(|text| Self::Error { text })
    }

    /// Returns the word for it in the log.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Success { .. } => "success",
            Self::Error { .. } => "error",
        }
    }

    /// Returns what to show.
    pub fn shown(&self) -> Option<&str> {
        match self {
            Self::Success { text, .. } => text.as_deref(),
            Self::Error { text } => Some(text.as_str()),
        }
    }

    /// Returns the seq of the event that has more to show.
    pub const fn source_event_seq(&self) -> Option<u64> {
        match self {
            Self::Success { source_event_seq, .. } => *source_event_seq,
            Self::Error { .. } => None,
        }
    }

    /// Reads the result of a scripted handler of a command, and leaves out what it does not know.
    ///
    /// # Errors
    ///
    /// [`BadResult`], in the host's words. Its release 0.1.1 lets minus zero pass.
    pub fn from_json(command: &str, value: &Value, profile: &Profile) -> Result<Self, BadResult> {
        let bad = |what: &str| Err(BadResult::of(command, what));
        let Some(kind) = value.as_object().and_then(|members| members.get("kind")) else {
            return bad("handler must return a CommandResult");
        };
        match kind.as_str() {
            Some("success") => {
                let text = match value.get("text") {
                    None => None,
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(_) => return bad("success text must be a string when supplied"),
                };
                let source = value.get("sourceEventSeq");
                let source_event_seq = match source.map(|source| seq(source, profile.texts)) {
                    None => None,
                    Some(Some(seq)) => Some(seq),
                    Some(None) => return Err(BadResult::source(command)),
                };
                Ok(Self::Success { text, source_event_seq })
            }
            Some("error") => {
                let text = value.get("text").and_then(Value::as_str);
                match text.and_then(Self::error) {
                    Some(error) => Ok(error),
                    None => bad("error text must be a non-empty string"),
                }
            }
            _ => bad(&format!("returned unknown result kind \"{}\"", as_string(kind))),
        }
    }

    /// Looks at what the type lets pass.
    pub(super) fn check(self, command: &str) -> Result<Self, BadResult> {
        match self.source_event_seq() {
            Some(seq) if seq > SAFE_INTEGER_MAX => Err(BadResult::source(command)),
            _ => Ok(self),
        }
    }
}

fn seq(value: &Value, texts: Texts) -> Option<u64> {
    let number = value.as_f64().filter(|number| is_seq(*number))?;
    let is_minus_zero = number == 0.0 && number.is_sign_negative();
    (!is_minus_zero || texts == Texts::Host011).then_some(number as u64)
}

impl Serialize for CommandResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (text, source) = (self.shown(), self.source_event_seq());
        let count = 1 + usize::from(text.is_some()) + usize::from(source.is_some());
        let mut members = serializer.serialize_struct("CommandResult", count)?;
        members.serialize_field("kind", self.kind())?;
        if let Some(text) = text {
            members.serialize_field("text", text)?;
        }
        if let Some(source) = source {
            members.serialize_field("sourceEventSeq", &source)?;
        }
        members.end()
    }
}
