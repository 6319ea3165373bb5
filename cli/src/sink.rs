//! Where reports go, one after the other.

use crate::tally::Tally;
use gatelog_validator::report::{DirectoryReport, Report};
use gatelog_validator::store::StoreReport;
use std::io;

/// Takes the reports of a run in order, prints each at once and keeps none.
///
/// The driver of a run calls [`Sink::folder`], [`Sink::store`] and [`Sink::file`] for each report,
/// in the order of the paths, a store before its sessions, and [`Sink::summary`] once at the end.
///
/// Every method fails only where the output does, and then nothing more is asked of the sink.
pub(crate) trait Sink {
    /// Prints what concerns a folder.
    fn folder(&mut self, report: &DirectoryReport) -> io::Result<()>;

    /// Prints what concerns a native store.
    fn store(&mut self, report: &StoreReport) -> io::Result<()>;

    /// Prints what concerns a file, or a session of a store.
    fn file(&mut self, report: &Report) -> io::Result<()>;

    /// Prints the counts of the run.
    fn summary(&mut self, tally: &Tally, seconds: f64) -> io::Result<()>;
}

#[cfg(test)]
pub(crate) mod tests {
    use gatelog_engine::event::Place;
    use gatelog_validator::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
    use gatelog_validator::rule::Severity;
    use gatelog_validator::store::StoreReport;

    /// Makes a report for the tests of other modules.
    pub(crate) fn report(verdict: Verdict, severity: Option<Severity>) -> Report {
        let host = match verdict {
            Verdict::Sound => HostAct::Loads,
            Verdict::Torn => HostAct::Repairs,
            _ => HostAct::Refuses,
        };
        Report {
            path: "root/--p--/s1/session.jsonl".into(),
            session: Some("s1".to_owned()),
            version: Some(0),
            encoding: Encoding::Plain,
            bytes: 8192,
            verdict,
            host,
            events: 12,
            closers: 0,
            lost: Lost::default(),
            host_error: None,
            findings: severity.into_iter().map(finding).collect(),
        }
    }

    /// Makes the report on a store, with one finding, for the tests of other modules.
    pub(crate) fn store(verdict: Verdict, severity: Severity) -> StoreReport {
        let mut finding = finding(severity);
        finding.place = Place { frame: Some(7), byte: Some(4096), ..Place::default() };
        finding.place.segment = Some(1);
        StoreReport {
            is_torn: verdict == Verdict::Torn,
            sessions: 2,
            segments: 1,
            durable_lsn: 6,
            last_lsn: 7,
            unconfirmed: 1,
            bytes: 16384,
            verdict,
            ..StoreReport::unchecked("box".as_ref(), finding)
        }
    }

    /// Makes a finding for the tests of other modules.
    pub(crate) fn finding(severity: Severity) -> Finding {
        Finding {
            rule: "envelope/seq-gap",
            severity,
            message: "seq 14 follows seq 11".to_owned(),
            help: "copy the file before anything touches it".to_owned(),
            place: Place {
                line: Some(17),
                frame: Some(3),
                byte: Some(4096),
                seq: Some(12),
                segment: None,
            },
        }
    }
}
