//! The counts of a run, and the exit code that follows from them.

use gatelog_validator::report::{DirectoryReport, Finding, HostAct, Report, Verdict};
use gatelog_validator::rule::Severity;
use gatelog_validator::store::StoreReport;

/// Nothing at or above `--fail-on`.
pub(crate) const EXIT_CLEAN: u8 = 0;
/// Something at or above `--fail-on`.
pub(crate) const EXIT_FOUND: u8 = 1;
/// Wrong usage, or something left unchecked.
pub(crate) const EXIT_UNCHECKED: u8 = 2;

/// What a run has counted so far.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    fail_on: Severity,
    found: bool,
    unchecked: bool,
    /// Files reported.
    pub(crate) files: u64,
    /// Files by verdict, in the order of [`VERDICTS`].
    counts: [u64; VERDICTS.len()],
    /// Folders that the host refuses.
    pub(crate) refused_folders: u64,
    /// Bytes of those files on disk.
    pub(crate) bytes: u64,
    /// Events of those files.
    pub(crate) events: u64,
}

/// All verdicts, in the order of the summary.
pub(crate) const VERDICTS: [Verdict; 6] = [
    Verdict::Sound,
    Verdict::Torn,
    Verdict::Violation,
    Verdict::Corrupt,
    Verdict::Unsupported,
    Verdict::Unreadable,
];

impl Tally {
    /// Makes a tally that fails on findings of a severity and above.
    pub(crate) fn new(fail_on: Severity) -> Self {
        Self {
            fail_on,
            found: false,
            unchecked: false,
            files: 0,
            counts: [0; VERDICTS.len()],
            refused_folders: 0,
            bytes: 0,
            events: 0,
        }
    }

    /// Counts the report on a file.
    pub(crate) fn file(&mut self, report: &Report) {
        self.files += 1;
        self.bytes += report.bytes;
        self.events += report.events;
        for (verdict, count) in VERDICTS.iter().zip(&mut self.counts) {
            *count += u64::from(*verdict == report.verdict);
        }
        self.unchecked |= report.verdict == Verdict::Unreadable;
        self.findings(&report.findings);
    }

    /// Counts the report on a store; its sessions are files of their own.
    pub(crate) fn store(&mut self, report: &StoreReport) {
        self.unchecked |= report.verdict == Verdict::Unreadable;
        self.findings(&report.findings);
    }

    /// Counts the report on a folder.
    pub(crate) fn folder(&mut self, report: &DirectoryReport) {
        self.refused_folders += u64::from(report.host == HostAct::Refuses);
        self.findings(&report.findings);
    }

    /// Remembers that something was left unchecked.
    pub(crate) fn leave_unchecked(&mut self) {
        self.unchecked = true;
    }

    /// Returns how many files got a verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> u64 {
        let place = VERDICTS.iter().position(|known| *known == verdict);
        place.map_or(0, |place| self.counts[place])
    }

    /// Returns the exit code of what was counted so far.
    pub(crate) fn exit_code(&self) -> u8 {
        match (self.unchecked, self.found) {
            (true, _) => EXIT_UNCHECKED,
            (false, true) => EXIT_FOUND,
            (false, false) => EXIT_CLEAN,
        }
    }

    fn findings(&mut self, findings: &[Finding]) {
        self.found |= findings.iter().any(|finding| finding.severity >= self.fail_on);
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;
    use crate::sink::tests::{report, store};
    use gatelog_validator::report::Verdict;
    use gatelog_validator::rule::Severity;

    #[test]
    fn the_exit_code_follows_severity_and_what_was_left_unchecked() {
        use Severity::{Error, Note, Warning};
        for (fail_on, verdict, severity, expected) in [
            (Error, Verdict::Sound, None, 0),
            (Error, Verdict::Sound, Some(Note), 0),
            (Error, Verdict::Torn, Some(Warning), 0),
            (Error, Verdict::Corrupt, Some(Error), 1),
            (Error, Verdict::Unreadable, Some(Error), 2),
            (Warning, Verdict::Torn, Some(Warning), 1),
            (Warning, Verdict::Sound, Some(Note), 0),
            (Note, Verdict::Sound, Some(Note), 1),
            (Note, Verdict::Sound, None, 0),
        ] {
            let mut tally = Tally::new(fail_on);
            tally.file(&report(verdict, severity));
            assert_eq!(tally.exit_code(), expected, "{fail_on:?} {verdict:?} {severity:?}");
        }
    }

    #[test]
    fn a_store_counts_in_the_exit_code_and_is_no_file() {
        for (verdict, severity, expected) in [
            (Verdict::Torn, Severity::Warning, 0),
            (Verdict::Corrupt, Severity::Error, 1),
            (Verdict::Unreadable, Severity::Error, 2),
        ] {
            let mut tally = Tally::new(Severity::Error);
            tally.store(&store(verdict, severity));
            assert_eq!((tally.exit_code(), tally.files), (expected, 0), "{verdict:?}");
        }
    }

    #[test]
    fn what_was_left_unchecked_wins() {
        let mut tally = Tally::new(Severity::Error);
        tally.file(&report(Verdict::Unreadable, Some(Severity::Error)));
        tally.file(&report(Verdict::Corrupt, Some(Severity::Error)));
        assert_eq!(tally.exit_code(), 2);
        assert_eq!((tally.files, tally.count(Verdict::Corrupt)), (2, 1));
    }
}
