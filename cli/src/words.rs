//! The sentences of the text output: what the host does, what is at stake, where, how much.

use gatelog_engine::event::Place;
use gatelog_validator::report::{Encoding, Finding, HostAct, Report, Verdict};
use gatelog_validator::rule::Severity;
use gatelog_validator::store::StoreReport;
use std::fmt::Write as _;

/// Returns a count with its thousands set apart.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns a count with its noun, which takes an `s` where there is not exactly one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Returns a number of bytes in the unit that people read.
pub(crate) fn sized(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return counted(bytes, "byte");
    }
    let mut size = bytes as f64 / 1000.0;
    let mut unit = 0;
    while size >= 999.95 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// Returns a text broken at its spaces into lines of a width, those after the first indented.
///
/// The width is that of all but the indent. A word that is longer stays whole: it may be a path.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::with_capacity(text.len() + 16);
    let mut column = 0;
    for word in text.split(' ') {
        let characters = word.chars().count();
        if column > 0 && column + 1 + characters > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += characters;
    }
    lines
}

/// Returns where a finding lies, from the coarse to the fine, or nothing where it has no place.
pub(crate) fn place(place: &Place) -> Option<String> {
    let parts = [
        ("segment", place.segment),
        ("frame", place.frame),
        ("line", place.line),
        ("byte", place.byte),
        ("seq", place.seq),
    ];
    let mut text = String::new();
    for (name, value) in parts {
        if let Some(value) = value {
            let comma = if text.is_empty() { "" } else { ", " };
            write!(text, "{comma}{name} {value}").expect("a String takes all");
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Returns what the host does with the file, as the rest of a sentence; its own message unescaped.
pub(crate) fn host(report: &Report) -> String {
    match report.host {
        HostAct::Loads => "reads it as it is".to_owned(),
        HostAct::Repairs => {
            let cut = (report.lost.bytes > 0)
                .then(|| format!("cutting {} from its end", counted(report.lost.bytes, "byte")));
            let added = (report.closers > 0)
                .then(|| format!("adding {}", counted(report.closers, "closing event")));
            let acts = match (cut, added) {
                (Some(cut), Some(added)) => format!("{cut} and {added}"),
                (Some(act), None) | (None, Some(act)) => act,
                (None, None) => return "opens it after a repair".to_owned(),
            };
            format!("opens it after {acts}")
        }
        HostAct::Refuses => match &report.host_error {
            // Where we have no better words than the host's, they were just read.
            Some(message)
                if first_error(report).is_some_and(|it| message.contains(&it.message)) =>
            {
                "refuses it, in these words".to_owned()
            }
            Some(message) => format!("refuses it: {message}"),
            None => "refuses it".to_owned(),
        },
        HostAct::None => "does not read it".to_owned(),
    }
}

/// Returns what would be lost if the host, or a repair, cut the file; nothing where nothing would.
pub(crate) fn stake(report: &Report) -> Option<String> {
    let kept = counted(report.events, "event");
    match (report.host, report.verdict) {
        (_, Verdict::Unreadable) | (HostAct::Loads | HostAct::None, _) => None,
        (_, Verdict::Unsupported) => {
            Some("nothing: the file is undamaged, do not cut it".to_owned())
        }
        (HostAct::Repairs, _) if report.lost.lines > 0 => {
            Some(format!("{} gone for good; {kept} stay", counted(report.lost.lines, "record")))
        }
        (HostAct::Repairs, _) if report.lost.bytes > 0 => Some(format!(
            "what cannot be read of the last {}; {kept} stay",
            counted(report.lost.bytes, "byte")
        )),
        (HostAct::Repairs, _) => Some("nothing".to_owned()),
        (HostAct::Refuses, verdict) => cut(report, verdict),
    }
}

/// Returns what a cut before the first error would keep and lose, of a file that the host refuses.
fn cut(report: &Report, verdict: Verdict) -> Option<String> {
    let first = first_error(report)?;
    if report.bytes == 0 {
        return Some("nothing: the file is empty".to_owned());
    }
    let untouched = "nothing as long as the file is left alone";
    let events = counted(report.events, "event");
    let cut = match (verdict, first.place) {
        // An event that reads and is refused when it is replayed: a cut is counted in events.
        (verdict, Place { seq: Some(seq), .. })
            if verdict == Verdict::Violation || is_of_replay(first.rule) =>
        {
            let kept = grouped(seq.min(report.events));
            format!("a cut before seq {seq} would keep {kept} of {events}")
        }
        // A fault in the header says nothing about what lies behind it.
        (Verdict::Corrupt, Place { line: Some(line), byte: Some(byte), .. })
            if line > 1 && byte < report.bytes =>
        {
            let rest = sized(report.bytes - byte);
            match report.encoding {
                Encoding::Plain | Encoding::Native => {
                    format!("a cut at byte {byte} would keep {events} and drop {rest}")
                }
                // The frame that starts there may hold good records before the bad one.
                Encoding::Zstd => format!(
                    "a repair that ends the log before line {line} would keep {events} and \
                     drop what follows, at most {rest} of the file"
                ),
            }
        }
        _ => return Some(untouched.to_owned()),
    };
    Some(format!("{untouched}; {cut}"))
}

/// Returns whether the host finds a breach of a rule only when it replays events that it has read.
fn is_of_replay(rule: &str) -> bool {
    matches!(rule, "envelope/invalid" | "envelope/null-payload")
}

/// Returns what is at stake in a store that is not sound; nothing where it could not be checked.
pub(crate) fn store_stake(report: &StoreReport) -> Option<String> {
    let kept = counted(report.last_lsn, "frame");
    match report.verdict {
        Verdict::Sound | Verdict::Unreadable => None,
        Verdict::Torn => Some(format!("nothing that was known to be durable; {kept} stay")),
        Verdict::Violation => Some("nothing: all that was written is there".to_owned()),
        Verdict::Unsupported => Some("nothing: the store is undamaged, do not touch it".to_owned()),
        Verdict::Corrupt => Some(format!(
            "what was said to be durable; the first {kept} read, and nothing more is lost as long \
             as the store is left alone"
        )),
    }
}

fn first_error(report: &Report) -> Option<&Finding> {
    report.findings.iter().find(|finding| finding.severity == Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped, host, place, sized, stake, wrapped};
    use crate::sink::tests::report;
    use gatelog_engine::event::Place;
    use gatelog_validator::report::{Encoding, HostAct, Lost, Verdict};
    use gatelog_validator::rule::Severity;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(2, "event"), "2 events");
        assert_eq!(sized(999), "999 bytes");
        assert_eq!(sized(4_210_000), "4.2 MB");
        assert_eq!(sized(999_960), "1.0 MB");
    }

    #[test]
    fn a_sentence_breaks_at_its_spaces() {
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("one two three", 100, 2), "one two three");
        assert_eq!(wrapped("a/very/long/path b", 4, 1), "a/very/long/path\n b");
        assert_eq!(wrapped("", 4, 1), "");
    }

    #[test]
    fn a_place_names_what_it_knows() {
        let mut whole =
            Place { line: Some(17), frame: Some(3), byte: Some(4096), ..Place::default() };
        whole.seq = Some(12);
        assert_eq!(place(&whole).as_deref(), Some("frame 3, line 17, byte 4096, seq 12"));
        let native = Place { segment: Some(7), byte: Some(4096), ..Place::default() };
        assert_eq!(place(&native).as_deref(), Some("segment 7, byte 4096"));
        let plain = Place { line: Some(17), byte: Some(0), ..Place::default() };
        assert_eq!(place(&plain).as_deref(), Some("line 17, byte 0"));
        assert_eq!(place(&Place::default()), None);
    }

    #[test]
    fn a_torn_file_says_what_is_cut_and_what_is_added() {
        let mut torn = report(Verdict::Torn, Some(Severity::Warning));
        torn.lost = Lost { bytes: 312, lines: 1 };
        torn.closers = 3;
        assert_eq!(
            host(&torn),
            "opens it after cutting 312 bytes from its end and adding 3 closing events"
        );
        assert_eq!(stake(&torn).as_deref(), Some("1 record gone for good; 12 events stay"));
        torn.lost.lines = 0;
        assert_eq!(
            stake(&torn).as_deref(),
            Some("what cannot be read of the last 312 bytes; 12 events stay")
        );
    }

    #[test]
    fn the_words_of_the_host_are_not_said_twice() {
        let mut corrupt = report(Verdict::Corrupt, Some(Severity::Error));
        assert_eq!(host(&corrupt), "refuses it");
        corrupt.host_error = Some("corrupt session log: x".to_owned());
        assert_eq!(host(&corrupt), "refuses it: corrupt session log: x");
        corrupt.host_error = Some(format!("{} (raw log: x)", corrupt.findings[0].message));
        assert_eq!(host(&corrupt), "refuses it, in these words");
    }

    #[test]
    fn an_open_turn_loses_nothing() {
        let mut open = report(Verdict::Sound, None);
        open.host = HostAct::Repairs;
        open.closers = 1;
        assert_eq!(host(&open), "opens it after adding 1 closing event");
        assert_eq!(stake(&open).as_deref(), Some("nothing"));
    }

    #[test]
    fn a_compressed_file_is_not_said_to_keep_what_a_cut_at_its_frame_would_drop() {
        let mut corrupt = report(Verdict::Corrupt, Some(Severity::Error));
        corrupt.encoding = Encoding::Zstd;
        let stake = stake(&corrupt).expect("says so");
        assert!(stake.contains("ends the log before line 17 would keep 12 events"), "{stake}");
        assert!(stake.ends_with("at most 4.1 kB of the file"), "{stake}");
    }

    #[test]
    fn a_fault_in_the_header_promises_nothing() {
        let mut corrupt = report(Verdict::Corrupt, Some(Severity::Error));
        corrupt.findings[0].place.line = Some(1);
        let untouched = "nothing as long as the file is left alone";
        assert_eq!(stake(&corrupt).as_deref(), Some(untouched));
        corrupt.bytes = 0;
        assert_eq!(stake(&corrupt).as_deref(), Some("nothing: the file is empty"));
    }

    #[test]
    fn a_refused_file_says_what_a_cut_would_cost() {
        let corrupt = report(Verdict::Corrupt, Some(Severity::Error));
        assert_eq!(
            stake(&corrupt).as_deref(),
            Some(
                "nothing as long as the file is left alone; \
                 a cut at byte 4096 would keep 12 events and drop 4.1 kB"
            )
        );
        let mut violation = report(Verdict::Violation, Some(Severity::Error));
        violation.events = 40;
        assert_eq!(
            stake(&violation).as_deref(),
            Some(
                "nothing as long as the file is left alone; \
                 a cut before seq 12 would keep 12 of 40 events"
            )
        );
        let unsupported = report(Verdict::Unsupported, Some(Severity::Error));
        assert!(stake(&unsupported).expect("says so").contains("undamaged"));
    }
}
