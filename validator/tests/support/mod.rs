//! One log in a file system in memory, and the report on it.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

use crate::twin::{Act, Answer};
use gatelog_engine::dsh::discover::{Alone, Placement, Target};
use gatelog_engine::dsh::name::{Encoding, Generation};
use gatelog_engine::storage::{Kind, Memory, Storage};
use gatelog_validator::report::{HostAct, Report, Verdict};
use gatelog_validator::rule::Severity;
use gatelog_validator::verify::{Options, look};

/// Returns the report on a log of format 0, without waiting for a second look.
pub fn report(log: &[u8], zstd: bool) -> Report {
    report_on(&Memory::new().file("/log", log), Some(0), zstd, &Options::default())
}

/// Returns the report on `/log` of a storage, whose name would state a format.
pub fn report_on(
    storage: &dyn Storage,
    number: Option<u64>,
    zstd: bool,
    options: &Options,
) -> Report {
    let encoding = if zstd { Encoding::Zstd } else { Encoding::Plain };
    let target = Target {
        path: "/log".into(),
        generation: number.map(|number| Generation { number, encoding }),
        encoding: Some(encoding),
        placement: Placement::Alone(Alone::Name),
        kind: Kind::Regular,
        hidden_by: None,
    };
    look(storage, &target, options, &|_| {}).report(storage)
}

/// Returns of a report what the twin has a word on.
pub fn answer(report: &Report) -> Answer {
    Answer {
        host: match report.host {
            HostAct::Loads => Act::Loads,
            HostAct::Repairs => Act::Repairs,
            HostAct::Refuses => Act::Refuses,
            HostAct::None => panic!("a session file has a host: {report:?}"),
        },
        events: report.events,
        closers: report.closers,
        lost_bytes: report.lost.bytes,
        lost_lines: report.lost.lines,
    }
}

/// Checks what must hold between the members of any report.
pub fn check_consistent(report: &Report) {
    let has_error = report.findings.iter().any(|finding| finding.severity == Severity::Error);
    let is_refused = report.host == HostAct::Refuses;
    let is_bad = !matches!(report.verdict, Verdict::Sound | Verdict::Torn);
    assert_eq!(has_error, is_bad, "errors and verdict: {report:?}");
    assert!(is_bad || !is_refused, "refused, and no error: {report:?}");
    let is_unread = report.verdict == Verdict::Unreadable;
    assert_eq!(report.host_error.is_some(), is_refused && !is_unread, "its words: {report:?}");
    let cut = report.lost.bytes > 0;
    assert!(cut || report.lost.lines == 0, "lines lost without bytes: {report:?}");
    assert!(report.lost.bytes <= report.bytes, "more lost than there is: {report:?}");
    let is_repaired = report.host == HostAct::Repairs;
    assert_eq!(is_repaired, cut || report.closers > 0, "repairs: {report:?}");
    assert!(report.verdict != Verdict::Torn || cut, "torn, and nothing lost: {report:?}");
    for finding in &report.findings {
        let place = finding.place;
        assert!(place.byte.is_none_or(|byte| byte <= report.bytes), "beyond the file: {report:?}");
        assert!(
            !finding.message.is_empty() && !finding.help.is_empty(),
            "without words: {finding:?}"
        );
    }
}
