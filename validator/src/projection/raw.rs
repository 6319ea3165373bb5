//! A value of a log, kept as the JSON text that the host would print.

use gatelog_engine::json::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value as text: lone surrogates and any depth of nesting are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Keeps a value.
    ///
    /// # Panics
    ///
    /// Never: `null` is JSON.
    pub fn of(json: Json<'_>) -> Self {
        let text = RawValue::from_string(json.to_json());
        Self(text.or_else(|_| RawValue::from_string("null".to_owned())).expect("null is JSON"))
    }

    /// Keeps a word.
    ///
    /// # Panics
    ///
    /// Never: a quoted word is JSON.
    pub fn word(word: &str) -> Self {
        let quoted = serde_json::Value::from(word).to_string();
        Self(RawValue::from_string(quoted).expect("a quoted word is JSON"))
    }

    /// Keeps a member of a payload, where it is there.
    pub fn member(data: Json<'_>, key: &str) -> Option<Self> {
        data.get(key).map(Self::of)
    }

    /// Returns the JSON text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Raw {}
