//! What the host's JavaScript does with a payload that may be any JSON.
//!
//! A companion of the host reads members without asking first. Reading one of `null` or of nothing
//! throws a `TypeError`, which breaks the companion as surely as a rule does: it is reported as the
//! rule that was being judged. Reading one of anything else gives a value or nothing.

use gatelog_engine::companion::{RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{self, Brief, Document, Json};

/// How much of a value a message shows, in bytes; ids that people see are far shorter.
const SHOWN_BYTES_MAX: usize = 240;

/// Texts up to this many bytes, as written, are spelled whole before they are cut: every one of the
/// bytes that are shown may be written as an escape.
const SPELLED_BYTES_MAX: usize = 1 << 12;

/// A JavaScript value: JSON, or nothing for `undefined`.
pub(super) type Value<'a> = Option<Json<'a>>;

/// Reads a member of an event's payload; a `TypeError` becomes a violation of `rule`.
pub(super) fn field<'a>(
    event: &Event<'a>,
    key: &str,
    rule: RuleId,
) -> Result<Value<'a>, Violation> {
    member(Some(event.data), key, rule)
}

/// Reads a member of a value; a `TypeError` becomes a violation of `rule`.
pub(super) fn member<'a>(
    value: Value<'a>,
    key: &str,
    rule: RuleId,
) -> Result<Value<'a>, Violation> {
    match value {
        Some(json) if !json.is_null() => Ok(json.get(key)),
        _ => Err(type_error(value, key, rule)),
    }
}

/// Reads the first element of a value; of a string, what stands for it has no members either.
pub(super) fn first(value: Value<'_>, rule: RuleId) -> Result<Value<'_>, Violation> {
    match value {
        Some(json) if json.is_array() => Ok(json.at(0)),
        Some(json) if json.is_string() => Ok(value.filter(|_| json.is_nonempty_string())),
        _ => member(value, "0", rule),
    }
}

/// Reads `.length`: a number for strings, arrays and objects that have such a member.
pub(super) fn length(value: Value<'_>, rule: RuleId) -> Result<Option<f64>, Violation> {
    let Some(json) = value.filter(|json| !json.is_null()) else {
        return Err(type_error(value, "length", rule));
    };
    if json.is_array() {
        return Ok(Some(json.len() as f64));
    }
    match json.as_text() {
        Some(text) => Ok(Some(text.utf16_len() as f64)),
        None => Ok(json.get("length").and_then(|length| length.as_number())),
    }
}

/// Makes the violation that a read of `key` of `null` or of nothing amounts to.
fn type_error(value: Value<'_>, key: &str, rule: RuleId) -> Violation {
    let owner = if value.is_some() { "null" } else { "undefined" };
    Violation::new(rule, format!("TypeError: Cannot read properties of {owner} (reading '{key}')"))
}

/// Returns whether a value is the string `text`.
pub(super) fn is_str(value: Value<'_>, text: &str) -> bool {
    value.is_some_and(|json| json.is_str(text))
}

/// Returns whether a value is one of some strings.
pub(super) fn is_one_of(value: Value<'_>, texts: &[&str]) -> bool {
    value.is_some_and(|json| texts.iter().any(|text| json.is_str(text)))
}

/// Returns whether a value is a string of at least one UTF-16 unit.
pub(super) fn is_nonempty_string(value: Value<'_>) -> bool {
    value.is_some_and(|json| json.is_nonempty_string())
}

/// Returns whether a value is `true`.
pub(super) fn is_true(value: Value<'_>) -> bool {
    value.and_then(|json| json.as_bool()) == Some(true)
}

/// Returns whether a value is `null`.
pub(super) fn is_null(value: Value<'_>) -> bool {
    value.is_some_and(|json| json.is_null())
}

/// Returns the number that a value is.
pub(super) fn number(value: Value<'_>) -> Option<f64> {
    value.and_then(|json| json.as_number())
}

/// Prints a value as a template literal does.
pub(super) fn shown(value: Value<'_>) -> String {
    let Some(json) = value else { return "undefined".to_owned() };
    let cut = beginning(json);
    short(cut.as_ref().map_or(json, Document::root).to_js_string())
}

/// Prints a value as `JSON.stringify` does.
pub(super) fn quoted(value: Value<'_>) -> String {
    let Some(json) = value else { return "undefined".to_owned() };
    let cut = beginning(json);
    short(cut.as_ref().map_or(json, Document::root).to_json())
}

/// Returns the beginning of a long text, which is all that is shown of it.
fn beginning(json: Json<'_>) -> Option<Document> {
    let is_long = json.is_string() && json.raw().len() > SPELLED_BYTES_MAX;
    // A text that is cut is JSON; were it not, the whole would be spelled.
    is_long.then(|| Document::parse(json.cut(SPELLED_BYTES_MAX)).ok()).flatten()
}

/// Cuts what nobody reads to the end.
fn short(mut text: String) -> String {
    if text.len() > SHOWN_BYTES_MAX {
        let end = (0..=SHOWN_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.shrink_to_fit();
        text.push('…');
    }
    text
}

/// A value that outlives its record, compared as `===` compares and printed as a template does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    /// An absent member.
    Undefined,
    /// The literal `null`.
    Null,
    /// A literal.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string, as WTF-8.
    Text(Box<[u8]>),
    /// A long string.
    Long(Brief, Beginning),
    /// An object or an array, as it prints; it is identical to nothing that is read later.
    Reference(Box<str>),
}

/// The beginning of a long text, for messages; it decides nothing, so that all are equal.
#[derive(Clone, Debug)]
pub(super) struct Beginning(Box<str>);

impl PartialEq for Beginning {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Held {
    /// Takes a value out of its record.
    pub(super) fn of(value: Value<'_>) -> Self {
        let Some(json) = value else { return Self::Undefined };
        if let Some(number) = json.as_number() {
            Self::Number(number)
        } else if let Some(text) = json.as_text() {
            match text.brief() {
                Some(brief) => Self::Long(brief, Beginning(shown(value).into())),
                None => Self::Text(text.to_wtf8().into()),
            }
        } else if let Some(bool) = json.as_bool() {
            Self::Bool(bool)
        } else if json.is_null() {
            Self::Null
        } else {
            Self::Reference(shown(value).into())
        }
    }

    /// Returns whether the value is identical to one that is read now.
    pub(super) fn is(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Undefined, None) => true,
            (Self::Null, Some(json)) => json.is_null(),
            (Self::Bool(bool), Some(json)) => json.as_bool() == Some(*bool),
            (Self::Number(number), Some(json)) => json.as_number() == Some(*number),
            (Self::Text(text), Some(json)) => {
                json.as_text().is_some_and(|other| *other.to_wtf8() == **text)
            }
            (Self::Long(brief, _), Some(json)) => {
                json.as_text().and_then(|other| other.brief()) == Some(*brief)
            }
            _ => false,
        }
    }

    /// Returns whether two values that were read at two times are identical.
    pub(super) fn is_held(&self, other: &Self) -> bool {
        !matches!(self, Self::Reference(_)) && self == other
    }

    /// Prints the value as a template literal does.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool(bool) => bool.to_string(),
            Self::Number(number) => json::display(*number),
            Self::Text(text) => short(String::from_utf8_lossy(text).into_owned()),
            Self::Reference(text) | Self::Long(_, Beginning(text)) => text.to_string(),
        }
    }
}
