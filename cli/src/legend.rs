//! What the text output says once, at the end, of rules whose findings it does not show.
//!
//! A note can stand on every file of a root. It is named on the file's line and explained once.

use crate::printable::{clip, path};
use crate::words::counted;
use gatelog_engine::companion::RuleId;
use gatelog_validator::report::{DirectoryReport, Finding};
use std::collections::{BTreeMap, BTreeSet};

/// Folders that are named for a rule; the rest is in the count.
const EXAMPLES_MAX: usize = 3;
/// Characters of a message or a help that are shown.
const CHARACTERS_MAX: usize = 600;

/// The rules that were only named so far, in their own order.
#[derive(Debug, Default)]
pub(crate) struct Legend(BTreeMap<RuleId, Entry>);

/// What is known of one rule.
#[derive(Debug, Default)]
struct Entry {
    files: u64,
    folders: u64,
    help: String,
    /// The first folders, each with its message; a file is named where its line stands.
    examples: Vec<String>,
}

impl Legend {
    /// Counts findings of one file, each rule once, and returns those rules.
    pub(crate) fn file<'a>(
        &mut self,
        findings: impl Iterator<Item = &'a Finding>,
    ) -> BTreeSet<RuleId> {
        let mut rules = BTreeSet::new();
        for finding in findings {
            if rules.insert(finding.rule) {
                self.entry(finding).files += 1;
            }
        }
        rules
    }

    /// Counts a finding of a folder, and keeps it if it is one of the first.
    pub(crate) fn folder(&mut self, report: &DirectoryReport, finding: &Finding) {
        let entry = self.entry(finding);
        entry.folders += 1;
        if entry.examples.len() < EXAMPLES_MAX {
            let message = clip(&finding.message, CHARACTERS_MAX);
            entry.examples.push(format!("{}: {message}", path(&report.path)));
        }
    }

    /// Returns the lines of the legend, escaped.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(rule, entry)| {
            let count = match entry {
                Entry { folders: 0, files, .. } => counted(*files, "file"),
                Entry { folders, .. } => counted(*folders, "folder"),
            };
            let first = format!("  {rule} ({count}): {}", clip(&entry.help, CHARACTERS_MAX));
            let examples = entry.examples.iter().map(|example| format!("      {example}"));
            std::iter::once(first).chain(examples)
        })
    }

    fn entry(&mut self, finding: &Finding) -> &mut Entry {
        let new = || Entry { help: finding.help.clone(), ..Entry::default() };
        self.0.entry(finding.rule).or_insert_with(new)
    }
}

#[cfg(test)]
mod tests {
    use super::Legend;
    use crate::sink::tests::finding;
    use gatelog_validator::report::{DirectoryReport, HostAct};
    use gatelog_validator::rule::Severity;

    #[test]
    fn a_note_on_many_folders_is_said_once_with_examples() {
        let mut legend = Legend::default();
        let note = finding(Severity::Note);
        for number in 0..9 {
            let path = format!("ro\not/{number}").into();
            let folder = DirectoryReport { path, host: HostAct::Loads, findings: Vec::new() };
            legend.folder(&folder, &note);
        }
        let lines: Vec<_> = legend.lines().collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("  envelope/seq-gap (9 folders): copy the file"), "{lines:?}");
        assert_eq!(lines[3], "      ro\\not/2: seq 14 follows seq 11");
    }

    #[test]
    fn a_note_twice_in_a_file_counts_the_file_once() {
        let mut legend = Legend::default();
        let notes = [finding(Severity::Note), finding(Severity::Note)];
        assert_eq!(legend.file(notes.iter()).len(), 1);
        assert!(legend.lines().next().expect("a line").contains("(1 file)"));
    }
}
