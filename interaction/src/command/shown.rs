//! How what others threw and gave is shown in a text.

use crate::chain::contained;
use serde_json::Value;
use std::fmt::Display;

/// What stands for a value that cannot be shown.
pub(super) const UNRENDERABLE: &str = "<unrenderable thrown value>";

/// Bytes of a failure's text in the log, at most: a text that did not fit into an event would
/// leave the command without its end.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Renders an error of somebody else, whose rendering may itself panic.
pub(super) fn rendered(value: &dyn Display) -> String {
    let text = contained(|| value.to_string());
    let mut text = text.unwrap_or_else(|_| UNRENDERABLE.to_owned());
    if text.len() > TEXT_BYTES_MAX {
        let is_cut = |at: &usize| text.is_char_boundary(*at);
        text.truncate((0..=TEXT_BYTES_MAX).rev().find(is_cut).unwrap_or(0));
    }
    text
}

/// Renders a JSON value as JavaScript's `String` does.
pub(super) fn as_string(value: &Value) -> String {
    let mut text = String::new();
    // The arrays that are open, innermost last; nothing here recurses.
    let mut open = Vec::new();
    let mut at = Some(value);
    loop {
        match at {
            Some(Value::Array(elements)) => open.push((elements.iter(), true)),
            // Inside an array nothing is shown for it.
            Some(Value::Null) if !open.is_empty() => {}
            Some(Value::String(string)) => text.push_str(string),
            Some(Value::Object(_)) => text.push_str("[object Object]"),
            Some(plain) => text.push_str(&plain.to_string()),
            None => {}
        }
        let Some((elements, is_first)) = open.last_mut() else { return text };
        at = elements.next();
        if at.is_none() {
            open.pop();
        } else if !std::mem::take(is_first) {
            text.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TEXT_BYTES_MAX, UNRENDERABLE, as_string, rendered};
    use serde_json::json;
    use std::fmt;

    #[test]
    fn json_is_shown_as_javascript_shows_it() {
        for (value, shown) in [
            (json!("a"), "a"),
            (json!(null), "null"),
            (json!(1.5), "1.5"),
            (json!(true), "true"),
            (json!({"a": 1}), "[object Object]"),
            (json!([1, [2, 3], [], null, {}]), "1,2,3,,,[object Object]"),
            (json!([]), ""),
        ] {
            assert_eq!(as_string(&value), shown);
        }
    }

    struct Panics;

    impl fmt::Display for Panics {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("nobody sees this")
        }
    }

    #[test]
    fn what_cannot_be_shown_has_a_placeholder_and_what_is_long_is_cut() {
        assert_eq!(rendered(&Panics), UNRENDERABLE);
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(rendered(&long).len(), TEXT_BYTES_MAX);
    }
}
