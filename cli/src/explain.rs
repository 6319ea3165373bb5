//! `--rules` and `--explain`: the catalogue of rules, for people and for programs.

use crate::args::Format;
use crate::json::write_rule;
use crate::printable::escape;
use crate::style::{Role, Style};
use gatelog_engine::companion::RuleId;
use gatelog_validator::rule::{Rule, Severity};
use std::io::{self, Write};

/// Rules that an unknown name may have meant, at most.
const NEAR_MAX: usize = 5;
/// No rule has a name as long as this, nor a slip of one.
const NAME_BYTES_MAX: usize = 100;

/// The one rule of this crate: a fault of ours is never blamed on a file.
pub(crate) const PANIC: Rule = Rule::error(
    "internal/panic",
    "verification ends with a report, whatever the file holds",
    "a fault of log-verify, not of the file, which was not checked; please report it with the file \
     or with what the message says",
)
.of_engine();

/// The rule of this crate in a place that lives as long as the program.
static OWN: [Rule; 1] = [PANIC];

/// Returns all rules, ordered by family.
pub(crate) fn catalogue() -> impl Iterator<Item = &'static Rule> {
    gatelog_validator::rules().chain(&OWN)
}

/// Writes all rules.
pub(crate) fn list(output: &mut impl Write, format: Format) -> io::Result<()> {
    let width = catalogue().map(|rule| rule.id.len()).max().unwrap_or(0);
    if format == Format::Text {
        writeln!(
            output,
            "{:<width$}  {:<8} {:<8} {:<7} what must hold",
            "rule", "host", "strict", "basis"
        )?;
    }
    for rule in catalogue() {
        match format {
            Format::Json => write_rule(output, rule)?,
            Format::Text => writeln!(
                output,
                "{:<width$}  {:<8} {:<8} {:<7} {}",
                rule.id,
                severity(rule.host),
                rule.strict.word(),
                rule.basis.word(),
                rule.summary
            )?,
        }
    }
    output.flush()
}

/// Writes what a rule means, or on the error output which rules have a name like it.
///
/// Returns whether there is such a rule.
pub(crate) fn explain(
    output: &mut impl Write,
    errors: &mut impl Write,
    style: Style,
    format: Format,
    name: &str,
) -> io::Result<bool> {
    let Some(rule) = catalogue().find(|rule| rule.id == name) else {
        writeln!(errors, "log-verify: there is no rule {}", escape(name))?;
        let near = near(name);
        if !near.is_empty() {
            writeln!(errors, "  did you mean {}?", near.join(", "))?;
        }
        writeln!(errors, "  log-verify --rules lists all of them")?;
        return Ok(false);
    };
    if format == Format::Json {
        write_rule(output, rule)?;
        return Ok(true);
    }
    let label = |text: &str| style.paint(Role::Label, text);
    writeln!(output, "{}", label(rule.id))?;
    writeln!(output, "  {}  {}", label("must hold"), rule.summary)?;
    writeln!(output, "  {}   {}", label("severity"), severities(rule))?;
    writeln!(output, "  {}       {}", label("next"), rule.help)?;
    output.flush()?;
    Ok(true)
}

fn severity(severity: Option<Severity>) -> &'static str {
    severity.map_or("-", Severity::word)
}

fn severities(rule: &Rule) -> String {
    match rule.host {
        Some(host) if host == rule.strict => format!("{} in both profiles", host.word()),
        Some(host) => format!("{} in profile host, {} in strict", host.word(), rule.strict.word()),
        None => format!("{} in profile strict; profile host does not know it", rule.strict.word()),
    }
}

/// Returns the rules whose names are like an unknown one, the nearest first.
fn near(name: &str) -> Vec<RuleId> {
    if name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let name = name.to_ascii_lowercase();
    let mut near: Vec<_> = catalogue()
        .map(|rule| (remoteness(&name, rule.id), rule.id))
        .filter(|(remoteness, _)| *remoteness <= name.len().div_ceil(3))
        .collect();
    near.sort_unstable();
    near.into_iter().take(NEAR_MAX).map(|(_, id)| id).collect()
}

/// Returns how far a name is from a rule: 1 for a part of it, else the least number of edits that
/// make the name the whole id or its second part.
fn remoteness(name: &str, id: &str) -> usize {
    let second = id.split_once('/').map_or(id, |(_, second)| second);
    if name.len() >= 3 && id.contains(name) {
        return 1;
    }
    edits(name, id).min(edits(name, second))
}

/// Returns the Levenshtein distance in bytes; rule ids are ASCII.
fn edits(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.bytes().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{PANIC, catalogue, edits, explain, list, near};
    use crate::args::Format;
    use crate::style::Style;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", "abc"), 0);
    }

    #[test]
    fn a_slip_finds_its_rule() {
        assert_eq!(near("internal/panik"), [PANIC.id]);
        assert_eq!(near("PANIC"), [PANIC.id]);
        assert!(near("qqqqqqqqqq").is_empty());
    }

    #[test]
    fn an_unknown_rule_is_wrong_usage_and_prints_nothing() {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let style = Style::decide(|_| None, false);
        let known = explain(&mut output, &mut errors, style, Format::Text, "no/\u{1b}such");
        assert!(!known.expect("a Vec takes all"));
        assert!(output.is_empty());
        assert!(String::from_utf8_lossy(&errors).contains("no/\\u{1b}such"));
    }

    #[test]
    fn the_list_has_a_line_a_rule() {
        for (format, header_lines) in [(Format::Text, 1), (Format::Json, 0)] {
            let mut output = Vec::new();
            list(&mut output, format).expect("a Vec takes all");
            let text = String::from_utf8(output).expect("text is UTF-8");
            assert_eq!(text.lines().count(), catalogue().count() + header_lines);
        }
    }
}
