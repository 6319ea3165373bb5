//! What of a report the text output shows: its name, its colour, its gravest findings.

use crate::printable::{clip, path};
use crate::style::Role;
use gatelog_validator::report::{Finding, HostAct, Report, Verdict};
use gatelog_validator::rule::Severity;

/// Characters of a session's id that are shown.
const NAME_CHARACTERS_MAX: usize = 100;

/// Returns what a report is about: a file, or a session of a store.
pub(crate) fn named(report: &Report) -> String {
    match (&report.session, report.host) {
        (Some(session), HostAct::None) => {
            format!("{}: {}", path(&report.path), clip(session, NAME_CHARACTERS_MAX))
        }
        _ => path(&report.path),
    }
}

/// Returns how a verdict is painted.
pub(crate) fn role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Sound => Role::Good,
        Verdict::Torn => Role::Doubtful,
        Verdict::Violation | Verdict::Corrupt => Role::Bad,
        Verdict::Unsupported | Verdict::Unreadable => Role::Other,
    }
}

/// Returns the findings below a severity.
pub(crate) fn below(findings: &[Finding], from: Severity) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(move |finding| finding.severity < from)
}

/// Returns the findings from a severity on, the gravest first, else in the order of the log.
pub(crate) fn by_severity(findings: &[Finding], from: Severity) -> Vec<&Finding> {
    let mut shown: Vec<_> = findings.iter().filter(|finding| finding.severity >= from).collect();
    shown.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    shown
}
