//! Shapes of payload members that several families ask for, and fingerprints of what they remember.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};

use gatelog_engine::json::{Json, is_safe_integer, is_seq};

use super::script::{self, Value};
use crate::key::Key;

/// Returns the safe integer that a value is, if it is at least 1.
pub(super) fn positive(value: Value<'_>) -> Option<f64> {
    script::number(value).filter(|number| is_safe_integer(*number) && *number >= 1.0)
}

/// Returns the safe integer that a value is, if it is not below zero; minus zero is let through.
pub(super) fn not_negative(value: Value<'_>) -> Option<f64> {
    script::number(value).filter(|number| is_seq(*number))
}

/// Returns whether a value is a string that is not empty and has no white space at its ends.
pub(super) fn is_trimmed(value: Value<'_>) -> bool {
    value.and_then(|json| json.as_text()).is_some_and(|text| !text.is_empty() && text.is_trimmed())
}

/// Returns whether a value is absent or a string.
pub(super) fn is_string_or_absent(value: Value<'_>) -> bool {
    value.is_none_or(|json| json.is_string())
}

/// Returns the text of a value in WTF-8, if it is a string.
pub(super) fn bytes(value: Value<'_>) -> Option<Box<[u8]>> {
    value.and_then(|json| json.as_text()).map(|text| text.to_wtf8().into())
}

/// Returns the whole of `String(value)` in WTF-8.
pub(super) fn string_of(value: Value<'_>) -> Cow<'_, [u8]> {
    let Some(json) = value else { return Cow::Borrowed(b"undefined") };
    match json.as_text() {
        Some(text) => text.to_wtf8(),
        None => Cow::Owned(json.to_js_string().into_bytes()),
    }
}

/// Returns whether the sorted keys of an object, joined by commas, are `expected`.
///
/// The host compares the joined text and not the keys, so a key with a comma in its name counts
/// for two.
pub(super) fn has_joined_keys(value: Json<'_>, expected: &str) -> bool {
    let mut keys: Vec<_> = value.members().map(|(key, _)| key.to_wtf8()).collect();
    keys.sort_unstable();
    value.is_object() && keys.join(&b',') == expected.as_bytes()
}

/// Makes fingerprints of 128 bits, under keys that are drawn anew for each maker.
///
/// What has to be remembered to the end of a log is remembered as these: 16 bytes whatever was
/// written, and nobody can make a log in which two of them agree by design.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprints {
    high: RandomState,
    low: RandomState,
}

impl Fingerprints {
    /// Returns the fingerprint of a few texts in a row.
    pub(super) fn of_texts(&self, texts: &[&[u8]]) -> u128 {
        let half = |keys: &RandomState| {
            let mut hasher = keys.build_hasher();
            for text in texts {
                hasher.write_usize(text.len());
                hasher.write(text);
            }
            u128::from(hasher.finish())
        };
        half(&self.high) << 64 | half(&self.low)
    }

    /// Returns the fingerprint of a few values in a row, equal where each is `===` the other; or
    /// nothing where one is an object or an array, which equals nothing.
    pub(super) fn of_values(&self, values: &[Value<'_>]) -> Option<u128> {
        let keys: Option<Vec<Key>> = values.iter().map(|value| Key::of(*value)).collect();
        let keys = keys?;
        let texts: Vec<&[u8]> = keys.iter().map(std::borrow::Borrow::borrow).collect();
        Some(self.of_texts(&texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::json::Document;

    #[test]
    fn joined_keys_are_compared_as_text() {
        let cases = [
            (r#"{"b":1,"a":2}"#, true),
            (r#"{"a,b":1}"#, true),
            (r#"{"a":1}"#, false),
            (r#"{"a":1,"b":2,"c":3}"#, false),
            ("[]", false),
        ];
        for (text, expected) in cases {
            let document = Document::parse(text).expect("the case is JSON");
            assert_eq!(has_joined_keys(document.root(), "a,b"), expected, "{text}");
        }
    }

    #[test]
    fn fingerprints_tell_kinds_and_places_apart() {
        let prints = Fingerprints::default();
        let text = Document::parse(r#"["1",1,{},"ab","c","a","bc"]"#).expect("the case is JSON");
        let value = |index| text.root().at(index);
        assert_eq!(prints.of_values(&[value(1)]), prints.of_values(&[value(1)]));
        assert_ne!(prints.of_values(&[value(0)]), prints.of_values(&[value(1)]));
        assert_ne!(
            prints.of_values(&[value(3), value(4)]),
            prints.of_values(&[value(5), value(6)])
        );
        assert_eq!(prints.of_values(&[value(2)]), None);
    }
}
