//! Colours, and when there are none.
//!
//! In this order: `NO_COLOR` set to anything but the empty string says no; `CLICOLOR_FORCE` or
//! `FORCE_COLOR` set to anything but the empty string and `0` says yes; `CLICOLOR=0`, `TERM=dumb`
//! and an output that is no terminal say no; everything else says yes.

/// What a piece of text is, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// All is well.
    Good,
    /// Something to look at.
    Doubtful,
    /// Something is wrong.
    Bad,
    /// Of another kind than good and bad.
    Other,
    /// Beside the point for most readers.
    Quiet,
    /// A label.
    Label,
}

impl Role {
    /// Returns the SGR parameters of the role.
    fn parameters(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Doubtful => "33",
            Self::Bad => "1;31",
            Self::Other => "35",
            Self::Quiet => "2",
            Self::Label => "1",
        }
    }
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// Decides from the environment and from whether the output is a terminal.
    pub(crate) fn decide(variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> Self {
        let says = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let forces = |name: &str| says(name) && variable(name).as_deref() != Some("0");
        let coloured = if says("NO_COLOR") {
            false
        } else if forces("CLICOLOR_FORCE") || forces("FORCE_COLOR") {
            true
        } else {
            is_terminal
                && variable("CLICOLOR").as_deref() != Some("0")
                && variable("TERM").as_deref() != Some("dumb")
        };
        Self { coloured }
    }

    /// Returns the text painted for its role; only text that is already printable goes in.
    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        if self.coloured {
            format!("\u{1b}[{}m{text}\u{1b}[0m", role.parameters())
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Role, Style};

    fn coloured(variables: &[(&str, &str)], is_terminal: bool) -> bool {
        let find = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Style::decide(find, is_terminal).coloured
    }

    #[test]
    fn every_row_of_the_decision() {
        for (variables, terminal, expected) in [
            (&[][..], true, true),
            (&[], false, false),
            (&[("NO_COLOR", "1")], true, false),
            (&[("NO_COLOR", "")], true, true),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, false),
            (&[("CLICOLOR_FORCE", "1")], false, true),
            (&[("CLICOLOR_FORCE", "0")], false, false),
            (&[("CLICOLOR_FORCE", "")], false, false),
            (&[("FORCE_COLOR", "1")], false, true),
            (&[("FORCE_COLOR", "0")], true, true),
            (&[("CLICOLOR", "0")], true, false),
            (&[("TERM", "dumb")], true, false),
            (&[("TERM", "dumb"), ("FORCE_COLOR", "1")], true, true),
            (&[("TERM", "xterm-256color")], true, true),
        ] {
            assert_eq!(coloured(variables, terminal), expected, "{variables:?} {terminal}");
        }
    }

    #[test]
    fn without_colours_nothing_is_added() {
        let style = Style::decide(|_| None, false);
        assert_eq!(style.paint(Role::Bad, "corrupt"), "corrupt");
    }
}
