//! What counts as blank, and what trimming takes off.
//!
//! The host trims as JavaScript does: U+FEFF is white space there and U+0085 is not, the other way
//! round than in Rust.

fn is_space(character: char) -> bool {
    match character {
        '\u{feff}' => true,
        '\u{85}' => false,
        other => other.is_whitespace(),
    }
}

/// Returns a text without the white space at its ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns whether a text is empty, or white space only.
pub fn is_blank(text: &str) -> bool {
    trim(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::{is_blank, trim};

    #[test]
    fn a_byte_order_mark_is_white_space_and_a_next_line_is_not() {
        assert!(is_blank(" \t\u{feff}\u{a0}\u{2028}\n"));
        assert!(!is_blank("\u{85}"));
        assert_eq!(trim("\u{feff} a b\u{b}"), "a b");
    }
}
