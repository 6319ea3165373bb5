//! One JSON object a line; the keys and their order are a promise.
//!
//! Strings are escaped further than JSON demands, see [`crate::printable`]: a program reads the
//! same text, and a terminal that shows the line is not driven by it.

use crate::printable::is_hostile;
use crate::sink::Sink;
use crate::tally::{Tally, VERDICTS};
use gatelog_validator::report::{DirectoryReport, Encoding, Finding, HostAct, Report};
use gatelog_validator::rule::Rule;
use gatelog_validator::store::StoreReport;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The format of the host's session files.
const FORMAT: &str = "dsh";

/// The format of a store of our own.
const NATIVE: &str = "gatelog";

/// Prints reports as JSON lines.
#[derive(Debug)]
pub(crate) struct JsonSink<W> {
    output: W,
}

impl<W: Write> JsonSink<W> {
    /// Makes a sink that writes to an output.
    pub(crate) fn new(output: W) -> Self {
        Self { output }
    }
}

impl<W: Write> Sink for JsonSink<W> {
    fn folder(&mut self, report: &DirectoryReport) -> io::Result<()> {
        let object = json!({
            "kind": "directory",
            "path": report.path.to_string_lossy(),
            "host": report.host.word(),
            "findings": findings(&report.findings),
        });
        write_line(&mut self.output, &object)
    }

    fn store(&mut self, report: &StoreReport) -> io::Result<()> {
        let object = json!({
            "kind": "store",
            "path": report.path.to_string_lossy(),
            "verdict": report.verdict.word(),
            "tail": if report.is_torn { "torn" } else { "clean" },
            "sessions": report.sessions,
            "segments": report.segments,
            "durable_lsn": report.durable_lsn,
            "last_lsn": report.last_lsn,
            "unconfirmed": report.unconfirmed,
            "bytes": report.bytes,
            "findings": of_store(&report.findings),
        });
        write_line(&mut self.output, &object)
    }

    fn file(&mut self, report: &Report) -> io::Result<()> {
        let is_native = report.encoding == Encoding::Native;
        let findings =
            if is_native { of_store(&report.findings) } else { findings(&report.findings) };
        let object = json!({
            "kind": "report",
            "path": report.path.to_string_lossy(),
            "session": report.session,
            "format": if is_native { NATIVE } else { FORMAT },
            "version": report.version,
            "encoding": report.encoding.word(),
            "bytes": report.bytes,
            "verdict": report.verdict.word(),
            "host": (report.host != HostAct::None).then(|| report.host.word()),
            "events": report.events,
            "closers": report.closers,
            "lost": { "bytes": report.lost.bytes, "lines": report.lost.lines },
            "host_error": report.host_error,
            "findings": findings,
        });
        write_line(&mut self.output, &object)
    }

    fn summary(&mut self, tally: &Tally, seconds: f64) -> io::Result<()> {
        let mut object = Map::new();
        object.insert("kind".to_owned(), "summary".into());
        object.insert("files".to_owned(), tally.files.into());
        for verdict in VERDICTS {
            object.insert(verdict.word().to_owned(), tally.count(verdict).into());
        }
        object.insert("bytes".to_owned(), tally.bytes.into());
        object.insert("events".to_owned(), tally.events.into());
        object.insert("seconds".to_owned(), json!(seconds));
        write_line(&mut self.output, &Value::Object(object))
    }
}

/// Writes a rule of the catalogue as one line.
pub(crate) fn write_rule(output: &mut impl Write, rule: &Rule) -> io::Result<()> {
    let object = json!({
        "rule": rule.id,
        "host": rule.host.map(gatelog_validator::rule::Severity::word),
        "strict": rule.strict.word(),
        "basis": rule.basis.word(),
        "summary": rule.summary,
        "help": rule.help,
    });
    write_line(output, &object)
}

fn findings(findings: &[Finding]) -> Vec<Value> {
    findings
        .iter()
        .map(|finding| {
            json!({
                "rule": finding.rule,
                "severity": finding.severity.word(),
                "message": finding.message,
                "help": finding.help,
                "seq": finding.place.seq,
                "line": finding.place.line,
                "frame": finding.place.frame,
                "byte": finding.place.byte,
            })
        })
        .collect()
}

/// As [`findings`], with the segment that each lies in, by the name of its file.
fn of_store(found: &[Finding]) -> Vec<Value> {
    let mut values = findings(found);
    for (value, finding) in values.iter_mut().zip(found) {
        let segment = finding.place.segment.map(|first_lsn| format!("{first_lsn:020}.log"));
        value["segment"] = segment.into();
    }
    values
}

fn write_line(output: &mut impl Write, object: &Value) -> io::Result<()> {
    let mut line = spelled_out(&object.to_string());
    line.push('\n');
    output.write_all(line.as_bytes())?;
    output.flush()
}

/// Spells out the hostile characters of compact JSON, which has them only inside its strings.
pub(crate) fn spelled_out(json: &str) -> String {
    let mut shown = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_hostile(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(shown, "\\u{unit:04x}").expect("a String takes all");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::JsonSink;
    use crate::sink::Sink as _;
    use crate::sink::tests::{report, store};
    use crate::tally::Tally;
    use gatelog_validator::report::{Encoding, HostAct, Verdict};
    use gatelog_validator::rule::Severity;

    fn line(print: impl FnOnce(&mut JsonSink<&mut Vec<u8>>) -> std::io::Result<()>) -> String {
        let mut output = Vec::new();
        print(&mut JsonSink::new(&mut output)).expect("a Vec takes all");
        String::from_utf8(output).expect("JSON is UTF-8")
    }

    #[test]
    fn a_report_has_the_promised_keys_in_order() {
        let report = report(Verdict::Corrupt, Some(Severity::Error));
        assert_eq!(
            line(|sink| sink.file(&report)),
            concat!(
                r#"{"kind":"report","path":"root/--p--/s1/session.jsonl","session":"s1","#,
                r#""format":"dsh","version":0,"encoding":"none","bytes":8192,"#,
                r#""verdict":"corrupt","host":"refuses","events":12,"closers":0,"#,
                r#""lost":{"bytes":0,"lines":0},"host_error":null,"#,
                r#""findings":[{"rule":"envelope/seq-gap","severity":"error","#,
                r#""message":"seq 14 follows seq 11","#,
                r#""help":"copy the file before anything touches it","#,
                r#""seq":12,"line":17,"frame":3,"byte":4096}]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_store_and_its_sessions_have_the_promised_keys_in_order() {
        let finding = concat!(
            r#"{"rule":"envelope/seq-gap","severity":"warning","#,
            r#""message":"seq 14 follows seq 11","#,
            r#""help":"copy the file before anything touches it","#,
            r#""seq":null,"line":null,"frame":7,"byte":4096,"#,
            r#""segment":"00000000000000000001.log"}"#,
        );
        let store = store(Verdict::Torn, Severity::Warning);
        assert_eq!(
            line(|sink| sink.store(&store)),
            format!(
                "{}{finding}]}}\n",
                concat!(
                    r#"{"kind":"store","path":"box","verdict":"torn","tail":"torn","#,
                    r#""sessions":2,"segments":1,"durable_lsn":6,"last_lsn":7,"#,
                    r#""unconfirmed":1,"bytes":16384,"findings":["#,
                )
            )
        );
        let mut session = report(Verdict::Sound, None);
        (session.encoding, session.host) = (Encoding::Native, HostAct::None);
        session.findings = store.findings;
        let line = line(|sink| sink.file(&session));
        assert!(line.contains(r#""format":"gatelog","version":0,"encoding":"native","#), "{line}");
        assert!(line.contains(r#""verdict":"sound","host":null,"#), "{line}");
        assert!(line.ends_with(&format!("{finding}]}}\n")), "{line}");
    }

    #[test]
    fn a_summary_has_the_promised_keys_in_order() {
        let mut tally = Tally::new(Severity::Error);
        tally.file(&report(Verdict::Corrupt, None));
        assert_eq!(
            line(|sink| sink.summary(&tally, 1.0)),
            concat!(
                r#"{"kind":"summary","files":1,"sound":0,"torn":0,"violation":0,"corrupt":1,"#,
                r#""unsupported":0,"unreadable":0,"bytes":8192,"events":12,"seconds":1.0}"#,
                "\n"
            )
        );
    }

    #[test]
    fn hostile_characters_are_spelled_out_and_read_back_the_same() {
        let mut hostile = report(Verdict::Sound, None);
        let id = "a\u{1b}[2J\u{9b}\u{7f}\n\u{202e}\u{2028}\"\\\u{e9}\u{1f600}";
        hostile.session = Some(id.to_owned());
        let line = line(|sink| sink.file(&hostile));
        assert!(!line.trim_end_matches('\n').contains(crate::printable::is_hostile), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
        assert_eq!(read["session"], id);
    }
}
