//! Counts names and keeps the first few, so that a million of them make one sentence.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

/// Names that a sentence shows.
const SHOWN_MAX: usize = 5;

/// Bytes of a name that a sentence shows.
const NAME_BYTES_MAX: usize = 300;

/// How many there are, and the first ones.
#[derive(Debug, Default)]
pub(super) struct Tally {
    count: u64,
    first: Vec<String>,
}

impl Tally {
    pub(super) fn add(&mut self, name: &OsStr) {
        self.add_with(name, "");
    }

    /// Counts a name about which there is something to say.
    pub(super) fn add_with(&mut self, name: &OsStr, remark: &str) {
        self.count += 1;
        if self.first.len() < SHOWN_MAX {
            let mut shown = quoted(&name.to_string_lossy());
            if !remark.is_empty() {
                let _ = write!(shown, " ({remark})");
            }
            self.first.push(shown);
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the names in words: `"a", "b" and 7 more`.
    pub(super) fn names(&self) -> String {
        let mut names = self.first.join(", ");
        let more = self.count - self.first.len() as u64;
        if more > 0 {
            let _ = write!(names, " and {more} more");
        }
        names
    }

    /// Returns the count with its noun: `1 file`, `2 files`.
    pub(super) fn of(&self, one: &str, many: &str) -> String {
        format!("{} {}", self.count, if self.count == 1 { one } else { many })
    }
}

/// Returns a path between quotes, safe to print.
pub(super) fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// Returns a text between quotes with nothing in it that a terminal would obey.
fn quoted(text: &str) -> String {
    let mut shown = String::from('"');
    for character in text.chars() {
        if shown.len() > NAME_BYTES_MAX {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            _ if character.is_control() || is_invisible(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    shown.push('"');
    shown
}

/// Marks that turn the direction of text or hide in it.
fn is_invisible(character: char) -> bool {
    let marks = ['\u{200B}'..='\u{200F}', '\u{2028}'..='\u{202E}', '\u{2060}'..='\u{206F}'];
    character == '\u{FEFF}' || marks.iter().any(|range| range.contains(&character))
}

/// Returns a path as the host quotes it: `JSON.stringify`.
pub(super) fn json_quoted(path: &Path) -> String {
    let mut quoted = String::from('"');
    for character in path.to_string_lossy().chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{C}' => quoted.push_str("\\f"),
            '\0'..'\u{20}' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_shows_the_first_names_and_counts_the_rest() {
        let mut tally = Tally::default();
        for number in 0..7 {
            tally.add(OsStr::new(&number.to_string()));
        }
        assert_eq!(tally.names(), r#""0", "1", "2", "3", "4" and 2 more"#);
        assert_eq!(tally.of("file", "files"), "7 files");
    }

    #[test]
    fn a_shown_name_cannot_drive_a_terminal() {
        assert_eq!(quoted("a\u{1b}[2J\n\"\u{202e}"), r#""a\u{1b}[2J\u{a}\"\u{202e}""#);
        assert!(quoted(&"x".repeat(10_000)).len() < 400);
    }

    #[test]
    fn a_path_is_quoted_as_the_host_does() {
        let path = Path::new("/a\n\u{1}\u{7f}\"\\\u{e9}");
        assert_eq!(json_quoted(path), "\"/a\\n\\u0001\u{7f}\\\"\\\\\u{e9}\"");
    }
}
