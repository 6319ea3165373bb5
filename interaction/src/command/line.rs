//! What a line says, if it is a command.

use super::name::name_bytes;

/// A line that has the form of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedLine<'a> {
    /// The name, without the slash.
    pub name: &'a str,
    /// All behind the name, byte for byte, what separates it included.
    pub raw_input: &'a str,
}

/// Returns the name and the raw input of a line, if its first byte is a slash, a name follows, and
/// behind it the line ends or has a tab, a line feed, a carriage return or a space.
///
/// Nothing else separates: no other white space of Unicode, no vertical tab, no second slash.
///
/// ```
/// use gatelog_interaction::command::parse;
///
/// let parsed = parse("/goal  ship it").expect("a command");
/// assert_eq!((parsed.name, parsed.raw_input), ("goal", "  ship it"));
/// assert_eq!(parse("/usr/bin"), None);
/// ```
pub fn parse(line: &str) -> Option<ParsedLine<'_>> {
    let rest = line.strip_prefix('/')?;
    let bytes = name_bytes(rest.as_bytes());
    let boundary = rest.as_bytes().get(bytes);
    if bytes == 0 || !matches!(boundary, None | Some(b'\t' | b'\n' | b'\r' | b' ')) {
        return None;
    }
    let (name, raw_input) = rest.split_at_checked(bytes)?;
    Some(ParsedLine { name, raw_input })
}
