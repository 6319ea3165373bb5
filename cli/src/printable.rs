//! What may be printed: names and messages from a hostile file must not drive a terminal.
//!
//! A session id, a path or a message that quotes either can hold escape sequences, line breaks or
//! marks that turn the direction of text. They are shown as Rust would write them, `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Returns whether a character must not reach a terminal as it is.
///
/// Control characters (C0, DEL and C1, the latter being escape sequences of their own on some
/// terminals), line separators, marks of text direction, and characters without a shape.
pub(crate) fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

/// Returns the text with every hostile character spelled out.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            hostile if is_hostile(hostile) => {
                write!(shown, "\\u{{{:x}}}", u32::from(hostile)).expect("a String takes all");
            }
            harmless => shown.push(harmless),
        }
    }
    Cow::Owned(shown)
}

/// Returns the text escaped and, past `characters_max`, cut, with the number of those left out.
///
/// A message may quote an id of a megabyte; a screen is for people.
pub(crate) fn clip(text: &str, characters_max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters_max) {
        None => escape(text),
        Some((end, _)) => {
            let left_out = text[end..].chars().count();
            Cow::Owned(format!("{}... ({left_out} more characters)", escape(&text[..end])))
        }
    }
}

/// Returns a path as text, escaped; bytes that are no UTF-8 are replaced.
pub(crate) fn path(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{clip, escape};

    #[test]
    fn an_escape_sequence_is_spelled_out() {
        assert_eq!(escape("a\u{1b}[31mb\nc\u{9b}2J"), "a\\u{1b}[31mb\\nc\\u{9b}2J");
    }

    #[test]
    fn marks_of_direction_are_spelled_out() {
        assert_eq!(escape("gpj\u{202e}.exe"), "gpj\\u{202e}.exe");
    }

    #[test]
    fn harmless_text_is_borrowed_as_it_is() {
        let text = "sitzung-\u{e9}-\u{1f600}-C:\\w";
        assert!(matches!(escape(text), std::borrow::Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(clip("\u{e9}\u{e9}\u{e9}\u{e9}", 2), "\u{e9}\u{e9}... (2 more characters)");
        assert_eq!(clip("\u{e9}\u{e9}", 2), "\u{e9}\u{e9}");
    }
}
