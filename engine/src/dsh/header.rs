//! Line 1: the session header, per format.
//!
//! A header of format 0 is valid if and only if it is an object with `type` `"session"`, a
//! `version` equal to 0, a string `id`, counts `createdAt` and `delegationDepth`, `origin` absent
//! or `"subagent"`, `agentPreset` absent or a string, and without `sandboxMode` and
//! `approvalPolicy`; unknown keys are ignored, and `cwd`, `parentSession` and `seedLength` are
//! judged later (see [`Header::late`]). From format 1 on the keys are exact.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 5.1 to 5.4.

#![expect(clippy::result_large_err, reason = "a header is judged once a file")]

use crate::dsh::fault::{Fault, FaultKind, clip};
use crate::dsh::vocabulary;
use crate::event::Place;
use crate::json::{Defect, Document, Json, display, is_count, is_seq};
use std::collections::BTreeMap;

/// The newest format that is known here.
pub const NEWEST: u64 = 4;

/// A header up to this many bytes is kept whole, and so is each of its members that counts.
const WHOLE_BYTES_MAX: usize = 1 << 16;

/// The keys that any reader looks at.
const KEYS: [&str; 13] = [
    "type",
    "version",
    "id",
    "createdAt",
    "delegationDepth",
    "isSeeded",
    "cwd",
    "parentSession",
    "seedLength",
    "origin",
    "agentPreset",
    "sandboxMode",
    "approvalPolicy",
];

/// A header that its format's reader accepts at first sight.
#[derive(Debug)]
pub struct Header {
    /// The format.
    pub version: u64,
    /// The session's id, as WTF-8.
    pub id: Vec<u8>,
    document: Document,
}

/// What a header gave: the header, or why its reader refuses it, and what could be read all the
/// same.
#[derive(Debug)]
pub struct Judged {
    /// The header, when the reader accepts it.
    pub header: Result<Header, Fault>,
    /// The version it states, when that is a whole number from 0 on.
    pub version: Option<u64>,
    /// The id it states, when that is a string, as WTF-8.
    pub id: Option<Vec<u8>>,
    /// The same id for a message.
    pub shown_id: Option<String>,
}

fn place() -> Place {
    Place { line: Some(1), byte: Some(0), ..Place::default() }
}

fn fault(rule: &'static str, host: &str) -> Fault {
    Fault::corrupt(rule, host, place())
}

const NOT_JSON: &str = "corrupt session log: header line is not valid JSON";
const NOT_HEADER: &str = "corrupt session log: first line is not a session header";
const NOT_OBJECT: &str = "corrupt session log: first line is not a JSON object";
const RETIRED: &str = "session header uses retired policy baseline fields";

/// Judges line 1, given without its line feed and as what scanning it gave, as the reader of a
/// format does.
///
/// `generation` is the format that the file's name states; without one the header's own version
/// decides, and so names the reader.
pub fn judge(line: &[u8], root: Result<Json<'_>, Defect>, generation: Option<u64>) -> Judged {
    // What marks a row is not kept of a long line.
    let is_foreign = generation.is_none() && root.is_ok_and(is_foreign);
    let document = match root {
        Ok(root) => kept(root),
        Err(defect) if defect.is_limit() => {
            let message = "the header is not checked: larger than 512 MiB, or of too many values";
            let fault = Fault::new(FaultKind::Limit, "limit/line", message, None, place());
            return Judged { header: Err(fault), version: None, id: None, shown_id: None };
        }
        Err(_) => {
            let rule =
                if line.starts_with(b"\xEF\xBB\xBF") { "line/bom" } else { "header/not-json" };
            let mut fault = fault(rule, NOT_JSON);
            if rule == "line/bom" {
                fault.message = "the file starts with a byte order mark".into();
            }
            return Judged { header: Err(fault), version: None, id: None, shown_id: None };
        }
    };
    let root = document.root();
    let number = root.get("version").and_then(|version| version.as_number());
    let version = number.filter(|n| is_seq(*n)).map(|n| n as u64);
    let id = root.get("id").and_then(|id| id.as_text()).map(|id| id.to_wtf8().into_owned());
    let shown_id = root.get("id").and_then(|id| id.as_text()).map(|id| id.to_lossy().into_owned());
    // Without a name, a number that no version can have and that is beyond all is a newer one.
    let beyond = || number.filter(|n| *n > NEWEST as f64).map(|_| NEWEST + 1);
    let reader = generation.or(version).or_else(beyond).unwrap_or(0);
    let verdict = match reader {
        _ if is_foreign => Err(foreign()),
        0 => format_0(root),
        1..=NEWEST => later_format(root, reader, number),
        _ => Err(newer(root, number.unwrap_or(reader as f64), NEWEST)),
    };
    let header = match (verdict, &id) {
        (Err(fault), _) => Err(fault),
        (Ok(()), None) => Err(fault("header/shape", NOT_HEADER)),
        (Ok(()), Some(id)) => Ok(Header { version: reader, id: id.clone(), document }),
    };
    Judged { header, version, id, shown_id }
}

/// Returns whether line 1 shows that the file is some other program's, and no log that lost its
/// header: JSON that has neither what marks a header (`type` `"session"`, `delegationDepth`, or
/// `version`, `id` and `createdAt` together) nor what marks a row.
///
/// This is asked only where the file's name claims nothing; under a log's name the host judges it.
fn is_foreign(root: Json<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| root.get(key).is_some());
    let kind = root.get("type").and_then(|kind| kind.as_text());
    let is_known = kind.is_some_and(|kind| {
        let kind = kind.to_wtf8();
        *kind == *b"session" || vocabulary::find(&kind).is_some()
    });
    let is_header = has(&["delegationDepth"]) || has(&["version", "id", "createdAt"]);
    let is_row = has(&["type", "seq", "time", "data"]) || has(&["seq0", "time0"]);
    !(is_known || is_header || is_row)
}

fn foreign() -> Fault {
    let message = "not a session log at all: its first line is JSON, and neither a session header \
                   nor an event";
    let rule = "container/not-a-session-file";
    Fault::new(FaultKind::Unreadable, rule, message, None, Place::default())
}

/// Keeps what readers look at of a header, in memory that does not grow with it: no session that
/// the host can have stored has an id or a path anywhere near as long as what is cut here.
fn kept(root: Json<'_>) -> Document {
    let text = if root.raw().len() <= WHOLE_BYTES_MAX || !root.is_object() {
        root.cut(WHOLE_BYTES_MAX)
    } else {
        let mut members: BTreeMap<&str, Json<'_>> = BTreeMap::new();
        for (key, value) in root.members() {
            // Which of the keys that nobody knows it is does not matter.
            let known = KEYS.into_iter().find(|known| key.eq_str(known)).unwrap_or("unknown");
            members.insert(known, value);
        }
        let mut text = vec![b'{'];
        for (key, value) in members {
            let comma = if text.len() > 1 { "," } else { "" };
            text.extend_from_slice(format!("{comma}\"{key}\":").as_bytes());
            text.extend_from_slice(&value.cut(WHOLE_BYTES_MAX));
        }
        text.push(b'}');
        text
    };
    Document::parse(text).expect("members of JSON make JSON")
}

fn is_member_count(root: Json<'_>, key: &str) -> bool {
    root.get(key).and_then(|value| value.as_number()).is_some_and(is_count)
}

fn is_absent_or(root: Json<'_>, key: &str, test: impl Fn(Json<'_>) -> bool) -> bool {
    root.get(key).is_none_or(test)
}

fn format_0(root: Json<'_>) -> Result<(), Fault> {
    if let Some(version) = root.get("version").and_then(|version| version.as_number())
        && version != 0.0
    {
        return Err(newer(root, version, 0));
    }
    let shape = root.get("type").is_some_and(|kind| kind.is_str("session"))
        && root.get("version").is_some_and(|version| version.is_number())
        && root.get("id").is_some_and(|id| id.is_string())
        && is_member_count(root, "createdAt")
        && is_member_count(root, "delegationDepth")
        && is_absent_or(root, "origin", |origin| origin.is_str("subagent"))
        && is_absent_or(root, "agentPreset", |preset| preset.is_string());
    if !shape {
        return Err(fault("header/shape", NOT_HEADER));
    }
    retired(root)
}

fn retired(root: Json<'_>) -> Result<(), Fault> {
    if root.get("sandboxMode").is_some() || root.get("approvalPolicy").is_some() {
        return Err(fault("header/retired-fields", RETIRED));
    }
    Ok(())
}

/// Returns the refusal of a version that a reader of `supported` does not read.
///
/// Where the file's name stands for one known format and the header for another, they disagree.
fn newer(root: Json<'_>, version: f64, supported: u64) -> Fault {
    let id = root.get("id").map_or_else(|| "undefined".into(), |id| clip(id.to_js_string()));
    let number = display(version);
    let host = if version > supported as f64 {
        format!(
            "session \"{id}\" uses log format v{number}, but this harness reads only v{supported}: \
             the log was written by a newer harness — upgrade the harness to open it"
        )
    } else {
        format!(
            "session \"{id}\" uses log format v{number}, older than the supported v{supported}, \
             and this build ships no upgrade path for it"
        )
    };
    let is_known = version >= 0.0 && version <= NEWEST as f64 && version.fract() == 0.0;
    let (rule, message) = if supported > 0 && is_known {
        let message = format!(
            "the file's name stands for format {supported}, and its header states format {number}; \
             the file is not damaged by that"
        );
        ("header/name-version", message)
    } else {
        let message = format!(
            "the header states format {number}, which a reader of format {supported} does not \
             know; the file is not damaged by that"
        );
        ("header/version", message)
    };
    Fault::new(FaultKind::Unsupported, rule, message, Some(host), place())
}

/// The keys that every header has, the last one from format 2 on.
const REQUIRED: [&str; 6] = ["type", "version", "id", "createdAt", "delegationDepth", "isSeeded"];

fn later_format(root: Json<'_>, reader: u64, version: Option<f64>) -> Result<(), Fault> {
    if !root.is_object() {
        return Err(fault("header/shape", NOT_OBJECT));
    }
    if let Some(version) = version
        && version != reader as f64
    {
        return Err(newer(root, version, reader));
    }
    if reader >= 3 {
        retired(root)?;
    }
    let (required, optional): (_, &[&str]) = if reader == 1 {
        (&REQUIRED[..5], &["cwd", "parentSession", "seedLength", "origin", "agentPreset"])
    } else {
        (&REQUIRED[..], &["cwd", "parentSession", "origin", "agentPreset"])
    };
    let shape = root.has_exactly(required, optional)
        && root.get("type").is_some_and(|kind| kind.is_str("session"))
        && version.is_some()
        && root.get("id").is_some_and(|id| id.is_string())
        && is_member_count(root, "createdAt")
        && is_member_count(root, "delegationDepth")
        && is_absent_or(root, "cwd", is_absolute)
        && is_absent_or(root, "parentSession", |parent| parent.is_string())
        && is_absent_or(root, "seedLength", |seed| seed.as_number().is_some_and(is_count))
        && is_absent_or(root, "isSeeded", |seeded| seeded.is_bool())
        && is_absent_or(root, "origin", |origin| origin.is_str("subagent"))
        && is_absent_or(root, "agentPreset", |preset| preset.is_string());
    if shape { Ok(()) } else { Err(fault("header/shape", NOT_HEADER)) }
}

/// Returns whether a value is an absolute path by POSIX rules.
fn is_absolute(path: Json<'_>) -> bool {
    path.as_text().is_some_and(|text| text.to_wtf8().starts_with(b"/"))
}

impl Header {
    /// Returns the header's value.
    pub fn json(&self) -> Json<'_> {
        self.document.root()
    }

    /// Returns `seedLength` when it is a whole number from 0 on.
    pub fn seed_length(&self) -> Option<u64> {
        let seed = self.json().get("seedLength")?.as_number()?;
        is_seq(seed).then_some(seed as u64)
    }

    /// Returns the refusal of a seed that is longer than the log, which only the codec of format 1
    /// asks about, and at the log's end.
    pub fn judge_seed(&self, events: u64) -> Option<Fault> {
        let seed = self.seed_length().filter(|seed| self.version == 1 && *seed > events)?;
        let message = format!("the header says {seed} events were inherited, of {events}");
        let host = Some("Session inheritedEventCount exceeds its event count".to_owned());
        Some(Fault::new(FaultKind::Corrupt, "header/seed-length", message, host, place()))
    }

    /// Judges what the reader of format 0 looks at only after the events: the optional fields.
    ///
    /// Gives the rule and the host's inner message of the first that is wrong.
    pub fn late(&self) -> Option<(&'static str, String)> {
        if self.version != 0 {
            return None;
        }
        let root = self.json();
        if let Some(cwd) = root.get("cwd") {
            let Some(text) = cwd.as_text() else {
                return Some(("header/cwd", "session header cwd must be a string".into()));
            };
            if !is_absolute(cwd) {
                let message = format!(
                    "session header cwd must be an absolute path, got \"{}\"",
                    text.to_lossy()
                );
                return Some(("header/cwd", message));
            }
        }
        if !is_absent_or(root, "parentSession", |parent| parent.is_string()) {
            let message = "session header parentSession must be a string";
            return Some(("header/parent-session", message.into()));
        }
        let is_seed = |seed: Json<'_>| seed.as_number().is_some_and(is_seq);
        if !is_absent_or(root, "seedLength", is_seed) {
            let message = "session header seedLength must be a non-negative safe integer";
            return Some(("header/seed-length", message.into()));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_first_line_is_foreign_only_without_what_marks_a_row() {
        let long = "x".repeat(2 * WHOLE_BYTES_MAX);
        for (keys, rule) in [
            (r#""type":"x/y","seq":0,"time":1,"data""#, "header/shape"),
            (r#""type":"x-chunks","seq0":0,"time0":1,"data""#, "header/shape"),
            (r#""type":"x/y","seq":0,"time":1,"date""#, "container/not-a-session-file"),
        ] {
            let text = format!("{{{keys}:\"{long}\"}}");
            let line = Document::parse(text.clone()).expect("the case is JSON");
            let judged = judge(text.as_bytes(), Ok(line.root()), None);
            assert_eq!(judged.header.err().map(|fault| fault.rule), Some(rule), "{keys}");
        }
    }
}
