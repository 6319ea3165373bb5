//! Text for a tired person: one line a file, and under a bad one what, where, what now.

use crate::legend::Legend;
use crate::printable::{clip, path};
use crate::shown::{below, by_severity, named, role};
use crate::sink::Sink;
use crate::style::{Role, Style};
use crate::tally::{Tally, VERDICTS};
use crate::words::{counted, grouped, host, place, sized, stake, store_stake, wrapped};
use gatelog_validator::report::{DirectoryReport, Finding, HostAct, Report, Verdict};
use gatelog_validator::rule::Severity;
use gatelog_validator::store::StoreReport;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Findings of one file that are shown; the rest is a count.
const FINDINGS_MAX: usize = 5;
/// Characters of a message or a help that are shown.
const CHARACTERS_MAX: usize = 600;
/// Columns before the sentences under a file.
const INDENT: usize = 13;
/// Columns of those sentences on a terminal; a pipe gets each in one line.
const WRAP_COLUMNS: usize = 86;
/// Bad files that are named again under the summary; the rest is a count.
const NAMED_AGAIN_MAX: usize = 10;
/// With no more files than this, the bad ones are still on the screen and not named again.
const SCREEN_FILES: u64 = 20;

/// Prints reports as text.
#[derive(Debug)]
pub(crate) struct TextSink<W> {
    output: W,
    style: Style,
    /// Sentences are broken into lines.
    wraps: bool,
    /// Findings from this severity on are shown under their file.
    shown_from: Severity,
    /// The lesser ones.
    legend: Legend,
    /// The first bad files, to be named again.
    bad: Vec<(Verdict, String)>,
    /// How many bad files there were.
    bad_count: u64,
}

impl<W: Write> TextSink<W> {
    /// Makes a sink that writes to an output and shows what makes the exit code 1, and warnings.
    ///
    /// Long sentences are broken into lines if `wraps`, as for a terminal.
    pub(crate) fn new(output: W, style: Style, wraps: bool, fail_on: Severity) -> Self {
        Self {
            output,
            style,
            wraps,
            shown_from: fail_on.min(Severity::Warning),
            legend: Legend::default(),
            bad: Vec::new(),
            bad_count: 0,
        }
    }

    /// Prints the line of a file, or of a session of a store.
    fn row(&mut self, report: &Report) -> io::Result<()> {
        let act = match report.host {
            _ if report.verdict == Verdict::Unreadable => "not checked",
            HostAct::None => "session",
            host => host.word(),
        };
        let count = (report.events, "event");
        self.line(report.verdict, act, count, &named(report), &report.findings)
    }

    /// Prints a line: verdict, act, how much, of what, and the rules that it only bears notes of.
    fn line(
        &mut self,
        verdict: Verdict,
        act: &str,
        (count, noun): (u64, &str),
        what: &str,
        findings: &[Finding],
    ) -> io::Result<()> {
        let much = match verdict {
            Verdict::Unreadable => String::new(),
            // "1 event" and "2 events" end in the same column.
            _ => format!("{}{}", counted(count, noun), if count == 1 { " " } else { "" }),
        };
        let verdict = self.style.paint(role(verdict), &format!("{:<11}", verdict.word()));
        let quiet = self.legend.file(below(findings, self.shown_from));
        let quiet = if quiet.is_empty() {
            String::new()
        } else {
            let rules = quiet.into_iter().collect::<Vec<_>>().join(", ");
            format!("  {}", self.style.paint(Role::Quiet, &format!("({rules})")))
        };
        writeln!(self.output, "{verdict} {act:<11} {much:>16}  {what}{quiet}")
    }

    /// Prints the gravest findings, and how many there are besides.
    fn findings(&mut self, findings: &[&Finding]) -> io::Result<()> {
        for finding in findings.iter().take(FINDINGS_MAX) {
            let severity = match finding.severity {
                Severity::Error => self.style.paint(Role::Bad, "error  "),
                Severity::Warning => self.style.paint(Role::Doubtful, "warning"),
                Severity::Note => self.style.paint(Role::Quiet, "note   "),
            };
            writeln!(self.output, "    {severity}  {}", self.sentence(&finding.message))?;
            let rule = self.style.paint(Role::Quiet, &format!("[{}]", finding.rule));
            match place(&finding.place) {
                Some(place) => writeln!(self.output, "             at {place}  {rule}")?,
                None => writeln!(self.output, "             {rule}")?,
            }
        }
        let more = findings.len().saturating_sub(FINDINGS_MAX);
        if more > 0 {
            let more = format!("and {} more (--format json lists all)", grouped(more as u64));
            writeln!(self.output, "             {}", self.style.paint(Role::Quiet, &more))?;
        }
        Ok(())
    }

    /// Prints a labelled sentence under a file.
    fn labelled(&mut self, label: &str, sentence: &str) -> io::Result<()> {
        let label = self.style.paint(Role::Label, &format!("{label:<7}"));
        writeln!(self.output, "    {label}  {}", self.sentence(sentence))
    }

    /// Returns a text from a file or a rule as it may be shown under a file.
    fn sentence(&self, text: &str) -> String {
        let shown = clip(text, CHARACTERS_MAX);
        if self.wraps { wrapped(&shown, WRAP_COLUMNS, INDENT) } else { shown.into_owned() }
    }

    /// Prints each help of the shown findings once.
    fn next_steps(&mut self, findings: &[&Finding]) -> io::Result<()> {
        let mut said = BTreeSet::new();
        for finding in findings.iter().take(FINDINGS_MAX) {
            if !finding.help.is_empty() && said.insert(&finding.help) {
                self.labelled("next", &finding.help)?;
            }
        }
        Ok(())
    }

    fn remember_bad(&mut self, verdict: Verdict, name: String) {
        self.bad_count += 1;
        if self.bad.len() < NAMED_AGAIN_MAX {
            self.bad.push((verdict, name));
        }
    }

    fn name_the_bad_again(&mut self) -> io::Result<()> {
        for (verdict, path) in &self.bad {
            let verdict = self.style.paint(role(*verdict), &format!("{:<11}", verdict.word()));
            writeln!(self.output, "  {verdict} {path}")?;
        }
        let more = self.bad_count.saturating_sub(self.bad.len() as u64);
        if more > 0 {
            writeln!(self.output, "  and {} more above", grouped(more))?;
        }
        Ok(())
    }

    fn explain_the_quiet(&mut self) -> io::Result<()> {
        for line in self.legend.lines() {
            writeln!(self.output, "{}", self.style.paint(Role::Quiet, &line))?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for TextSink<W> {
    fn folder(&mut self, report: &DirectoryReport) -> io::Result<()> {
        for finding in below(&report.findings, self.shown_from) {
            self.legend.folder(report, finding);
        }
        let findings = by_severity(&report.findings, self.shown_from);
        if findings.is_empty() {
            return Ok(());
        }
        let (role, act) = match report.host {
            HostAct::Refuses => (Role::Bad, report.host.word()),
            HostAct::Loads | HostAct::Repairs | HostAct::None => (Role::Doubtful, ""),
        };
        let word = self.style.paint(role, &format!("{:<11}", "folder"));
        writeln!(self.output, "{word} {act:<11} {:16}  {}", "", path(&report.path))?;
        self.findings(&findings)?;
        self.next_steps(&findings)?;
        self.output.flush()
    }

    fn store(&mut self, report: &StoreReport) -> io::Result<()> {
        let act = if report.verdict == Verdict::Unreadable { "not checked" } else { "store" };
        let (count, name) = ((report.sessions, "session"), path(&report.path));
        self.line(report.verdict, act, count, &name, &report.findings)?;
        if report.verdict != Verdict::Sound {
            self.remember_bad(report.verdict, name);
        }
        let findings = by_severity(&report.findings, self.shown_from);
        self.findings(&findings)?;
        if let Some(stake) = store_stake(report) {
            self.labelled("at risk", &stake)?;
        }
        self.next_steps(&findings)?;
        self.output.flush()
    }

    fn file(&mut self, report: &Report) -> io::Result<()> {
        self.row(report)?;
        if report.verdict != Verdict::Sound {
            self.remember_bad(report.verdict, named(report));
        }
        let findings = by_severity(&report.findings, self.shown_from);
        if report.verdict != Verdict::Sound || !findings.is_empty() {
            self.findings(&findings)?;
            if report.verdict != Verdict::Unreadable && report.host != HostAct::None {
                self.labelled("host", &host(report))?;
            }
            if let Some(stake) = stake(report) {
                self.labelled("at risk", &stake)?;
            }
            self.next_steps(&findings)?;
        }
        self.output.flush()
    }

    fn summary(&mut self, tally: &Tally, seconds: f64) -> io::Result<()> {
        let verdicts = VERDICTS.map(|verdict| (verdict, tally.count(verdict)));
        let counts = verdicts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(verdict, count)| {
                self.style.paint(role(verdict), &format!("{} {}", grouped(count), verdict.word()))
            })
            .collect::<Vec<_>>();
        let counts =
            if counts.is_empty() { "nothing checked".to_owned() } else { counts.join(", ") };
        let folders = if tally.refused_folders > 0 {
            format!("; the host refuses {}", counted(tally.refused_folders, "folder"))
        } else {
            String::new()
        };
        writeln!(
            self.output,
            "{}{}: {counts}{folders} ({}, {}, {seconds:.2} s)",
            if tally.files > 1 { "\n" } else { "" },
            counted(tally.files, "file"),
            counted(tally.events, "event"),
            sized(tally.bytes),
        )?;
        if tally.files > SCREEN_FILES {
            self.name_the_bad_again()?;
        }
        self.explain_the_quiet()?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::TextSink;
    use crate::sink::Sink as _;
    use crate::sink::tests::{finding, report, store};
    use crate::style::Style;
    use crate::tally::Tally;
    use gatelog_validator::report::{DirectoryReport, HostAct, Report, Verdict};
    use gatelog_validator::rule::Severity;

    fn text(fail_on: Severity, reports: &[Report]) -> String {
        let mut output = Vec::new();
        let mut sink = TextSink::new(&mut output, Style::decide(|_| None, false), false, fail_on);
        let mut tally = Tally::new(fail_on);
        for report in reports {
            tally.file(report);
            sink.file(report).expect("a Vec takes all");
        }
        sink.summary(&tally, 0.25).expect("a Vec takes all");
        String::from_utf8(output).expect("text is UTF-8")
    }

    #[test]
    fn a_sound_file_is_a_line_and_a_bad_one_a_block() {
        let sound = report(Verdict::Sound, None);
        let mut corrupt = report(Verdict::Corrupt, Some(Severity::Error));
        corrupt.host_error = Some("corrupt session log: x".to_owned());
        corrupt.events = 1;
        assert_eq!(
            text(Severity::Error, &[sound, corrupt]),
            "\
sound       loads              12 events  root/--p--/s1/session.jsonl
corrupt     refuses             1 event   root/--p--/s1/session.jsonl
    error    seq 14 follows seq 11
             at frame 3, line 17, byte 4096, seq 12  [envelope/seq-gap]
    host     refuses it: corrupt session log: x
    at risk  nothing as long as the file is left alone; \
a cut at byte 4096 would keep 1 event and drop 4.1 kB
    next     copy the file before anything touches it

2 files: 1 sound, 1 corrupt (13 events, 16.4 kB, 0.25 s)
"
        );
    }

    #[test]
    fn a_store_is_a_block_and_each_of_its_sessions_a_line() {
        let mut output = Vec::new();
        let style = Style::decide(|_| None, false);
        let mut sink = TextSink::new(&mut output, style, false, Severity::Error);
        sink.store(&store(Verdict::Torn, Severity::Warning)).expect("a Vec takes all");
        let mut session = report(Verdict::Sound, None);
        (session.path, session.host) = ("box".into(), HostAct::None);
        sink.file(&session).expect("a Vec takes all");
        assert_eq!(
            String::from_utf8(output).expect("text is UTF-8"),
            "\
torn        store             2 sessions  box
    warning  seq 14 follows seq 11
             at segment 1, frame 7, byte 4096  [envelope/seq-gap]
    at risk  nothing that was known to be durable; 7 frames stay
    next     copy the file before anything touches it
sound       session            12 events  box: s1
"
        );
    }

    #[test]
    fn a_note_is_quiet_until_notes_fail() {
        let noted = [report(Verdict::Sound, Some(Severity::Note))];
        let quiet = text(Severity::Error, &noted);
        assert!(quiet.contains("session.jsonl  (envelope/seq-gap)\n"), "{quiet}");
        assert!(
            quiet.ends_with(
                "  envelope/seq-gap (1 file): copy the file before anything touches it\n"
            )
        );
        let loud = text(Severity::Note, &noted);
        assert!(loud.contains("    note     seq 14 follows seq 11\n"), "{loud}");
        assert!(!loud.contains("(envelope/seq-gap)"), "{loud}");
    }

    #[test]
    fn the_gravest_findings_come_first_and_the_rest_is_a_count() {
        let mut corrupt = report(Verdict::Corrupt, None);
        corrupt.findings = vec![finding(Severity::Warning); 7];
        corrupt.findings.push(finding(Severity::Error));
        let text = text(Severity::Error, &[corrupt]);
        assert_eq!(text.matches("    warning  ").count(), 4, "{text}");
        assert!(text.find("    error  ") < text.find("    warning  "), "{text}");
        assert!(text.contains("and 3 more (--format json lists all)"), "{text}");
        assert_eq!(text.matches("    next  ").count(), 1, "one help is said once: {text}");
    }

    #[test]
    fn an_unreadable_file_counts_no_events_and_names_no_host() {
        let text = text(Severity::Error, &[report(Verdict::Unreadable, Some(Severity::Error))]);
        assert!(text.starts_with("unreadable  not checked                   root/"), "{text}");
        assert!(!text.contains("    host "), "{text}");
    }

    #[test]
    fn a_folder_is_told_with_its_findings() {
        let folder = DirectoryReport {
            path: "ro\not".into(),
            host: HostAct::Refuses,
            findings: vec![finding(Severity::Error)],
        };
        let mut output = Vec::new();
        let mut sink =
            TextSink::new(&mut output, Style::decide(|_| None, false), false, Severity::Error);
        sink.folder(&folder).expect("a Vec takes all");
        let text = String::from_utf8(output).expect("text is UTF-8");
        assert!(text.starts_with("folder      refuses                       ro\\not\n"), "{text}");
        assert!(text.contains("    next     copy the file"), "{text}");
    }

    #[test]
    fn nothing_hostile_is_printed() {
        let mut hostile = report(Verdict::Corrupt, Some(Severity::Error));
        hostile.path = "a\u{1b}[2J\nb".into();
        hostile.host_error = Some("id \"\u{9b}31m\u{202e}\"".to_owned());
        hostile.findings[0].message = "\u{7}\r\n".repeat(1000);
        hostile.findings[0].help = "\u{1b}]0;x\u{7}".to_owned();
        let text = text(Severity::Error, &[hostile]);
        assert!(!text.contains(|c| c != '\n' && crate::printable::is_hostile(c)), "{text:?}");
        assert_eq!(text.lines().count(), 7, "{text}");
        assert!(text.contains("more characters)"), "{text}");
    }
}
