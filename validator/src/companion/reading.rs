//! The text of a clock reading, taken apart.
//!
//! A text is a reading if and only if it is, as a whole,
//!
//! ```text
//! Time sampled while preparing turn N, step N: YYYY-MM-DDTHH:MM:SS(Z|±HH:MM)[zone]
//! Browser time zone for this request: …
//! Elapsed since the preceding (model-visible message|step context): elapsed.
//! ```
//!
//! with no line end behind the last full stop, where `N` is digits, `zone` is anything but a `]`
//! and not empty, the second line says anything but nothing, and `elapsed` is `unavailable` or
//! `[Nd ][Nh ][Nm ]Ns`.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.14, TIM-2.

use gatelog_engine::json::display;

use super::instant;

/// What starts the second line.
const BROWSER: &[u8] = b"Browser time zone for this request: ";

/// A clock reading, borrowed from its text.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    turn: f64,
    step: f64,
    /// Date, time of day and zone offset.
    pub(super) instant: &'a [u8],
    /// The whole second line.
    pub(super) browser_line: &'a [u8],
    /// What the elapsed time is counted from.
    pub(super) baseline: &'static str,
}

impl<'a> Reading<'a> {
    /// What the reading of a turn's first step counts from.
    pub(super) const FIRST_BASELINE: &'static str = "model-visible message";

    /// What the other readings count from.
    const NEXT_BASELINE: &'static str = "step context";

    /// Takes a text apart, or returns nothing where it is no reading.
    pub(super) fn of(text: &'a [u8]) -> Option<Self> {
        let rest = text.strip_prefix(b"Time sampled while preparing turn ")?;
        let (turn, rest) = split_digits(rest)?;
        let rest = rest.strip_prefix(b", step ")?;
        let (step, rest) = split_digits(rest)?;
        let rest = rest.strip_prefix(b": ")?;
        let (instant, rest) = rest.split_at(instant::zoned_len(rest)?);
        let rest = rest.strip_prefix(b"[")?;
        let zone_bytes = rest.iter().position(|byte| *byte == b']').filter(|bytes| *bytes > 0)?;
        let rest = rest[zone_bytes + 1..].strip_prefix(b"\n")?;
        let line_bytes = rest.iter().position(|byte| *byte == b'\n')?;
        let (browser_line, rest) = rest.split_at(line_bytes);
        let said = browser_line.strip_prefix(BROWSER)?;
        if said.is_empty() || has_line_end(said) {
            return None;
        }
        let rest = rest.strip_prefix(b"\nElapsed since the preceding ")?;
        let (baseline, rest) = [Self::FIRST_BASELINE, Self::NEXT_BASELINE]
            .into_iter()
            .find_map(|baseline| Some((baseline, rest.strip_prefix(baseline.as_bytes())?)))?;
        let elapsed = rest.strip_prefix(b": ")?.strip_suffix(b".")?;
        let is_reading = is_elapsed(elapsed);
        let (turn, step) = (number(turn)?, number(step)?);
        is_reading.then_some(Self { turn, step, instant, browser_line, baseline })
    }

    /// Returns the turn that is named, as the host's `Number` reads it.
    pub(super) fn turn(&self) -> f64 {
        self.turn
    }

    /// Returns the step that is named.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    /// Returns the turn as the host prints it.
    pub(super) fn turn_shown(&self) -> String {
        display(self.turn)
    }

    /// Returns the step as the host prints it.
    pub(super) fn step_shown(&self) -> String {
        display(self.step)
    }
}

/// Splits the digits off the start of a text; there is at least one.
fn split_digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

fn number(digits: &[u8]) -> Option<f64> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns whether a line holds one of the other line ends of ECMAScript: CR, U+2028, U+2029.
fn has_line_end(line: &[u8]) -> bool {
    line.contains(&b'\r') || line.windows(3).any(|bytes| matches!(bytes, [0xE2, 0x80, 0xA8 | 0xA9]))
}

/// Returns whether a text is `unavailable` or `[Nd ][Nh ][Nm ]Ns`.
fn is_elapsed(text: &[u8]) -> bool {
    if text == b"unavailable" {
        return true;
    }
    let mut rest = text;
    for unit in [&b"d "[..], b"h ", b"m "] {
        if let Some((_, after)) = split_digits(rest)
            && let Some(after) = after.strip_prefix(unit)
        {
            rest = after;
        }
    }
    split_digits(rest).is_some_and(|(_, after)| after == b"s")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Time sampled while preparing turn 3, step 2: \
        2024-01-02T03:04:05+01:00[Europe/Berlin]\nBrowser time zone for this request: x\n\
        Elapsed since the preceding step context: 1d 2h 3m 4s.";

    #[test]
    fn a_reading_is_taken_apart() {
        let reading = Reading::of(TEXT.as_bytes()).expect("the text is a reading");
        assert_eq!((reading.turn(), reading.step()), (3.0, 2.0));
        assert_eq!(reading.instant, b"2024-01-02T03:04:05+01:00");
        assert_eq!(reading.browser_line, b"Browser time zone for this request: x");
        assert_eq!(reading.baseline, "step context");
    }

    // Each was tried against the host's regular expression.
    #[test]
    fn the_form_is_matched_as_a_whole() {
        let cases = [
            ("1d 2h 3m 4s", "4s", true),
            ("1d 2h 3m 4s", "1d 4s", true),
            ("1d 2h 3m 4s", "unavailable", true),
            ("1d 2h 3m 4s", "3m 2h 4s", false),
            ("1d 2h 3m 4s", "3m", false),
            ("1d 2h 3m 4s", "", false),
            ("turn 3", "turn ", false),
            ("turn 3", "turn -3", false),
            ("turn 3", "turn 00003", true),
            ("+01:00", "Z", true),
            ("+01:00", "", false),
            ("Europe/Berlin", "", false),
            ("Europe/Berlin", "a\nb", true),
            ("Europe/Berlin", "a]b", false),
            ("request: x", "request: ", false),
            ("request: x", "request: a\rb", false),
            ("request: x", "request: a\u{2028}b", false),
            ("request: x", "request: a\nb", false),
            ("request: x", "request: a\u{85}b", true),
            ("4s.", "4s.\n", false),
            ("4s.", "4s", false),
            ("step context", "step contexts", false),
        ];
        for (from, to, expected) in cases {
            let text = TEXT.replace(from, to);
            assert_eq!(Reading::of(text.as_bytes()).is_some(), expected, "{from:?} -> {to:?}");
        }
    }
}
