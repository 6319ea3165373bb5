//! One file in, one report out.

use crate::catalogue;
use crate::companion::{Settings, companions};
use crate::load::{Load, Refusal};
use crate::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
use crate::rule::{Profile, Severity};
use gatelog_engine::companion::{Companion, End, Listens, Violation};
use gatelog_engine::dsh::discover::{Placement, Target};
use gatelog_engine::dsh::fault::{Fault, FaultKind};
use gatelog_engine::dsh::header::Header;
use gatelog_engine::dsh::identity::{self, Claim, Cwd};
use gatelog_engine::dsh::name;
use gatelog_engine::dsh::read::{self, HeaderSink, Reading};
use gatelog_engine::dsh::scan::{Record, RecordSink};
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::Document;
use gatelog_engine::storage::{File, Stat, Storage};
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

/// The default of [`Options::max_frame_bytes`]: 1 GiB.
pub const MAX_FRAME_BYTES: u64 = 1 << 30;

/// How many findings of one file are listed.
const FINDINGS_MAX: usize = 1000;

/// How long the end of a file is watched before it counts as at rest.
const SECOND_LOOK: Duration = Duration::from_millis(250);

/// How a file is verified.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which rules run.
    pub profile: Profile,
    /// The preset names that the host has configured, when they are known.
    pub presets: Option<Vec<String>>,
    /// A frame whose text is longer than this, in bytes, is not judged. Default 1 GiB.
    pub max_frame_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { profile: Profile::Host, presets: None, max_frame_bytes: MAX_FRAME_BYTES }
    }
}

/// Verifies one file; bad content is a report, never an error.
///
/// `progress` is told of bytes as they are read. Lines are scanned on the threads of the rayon pool
/// in force.
pub fn verify(
    storage: &dyn Storage,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> Report {
    let file = match storage.open(&target.path) {
        Ok(file) => file,
        Err(error) => return unreadable(target, 0, &error),
    };
    let stat = match file.stat() {
        Ok(stat) => stat,
        Err(error) => return unreadable(target, 0, &error),
    };
    // A file that becomes shorter while it is read is looked at again as it then is.
    let mut attempt = look(&*file, stat, target, options, progress);
    for _ in 0..2 {
        match &attempt {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let Ok(stat) = file.stat() else { break };
                attempt = look(&*file, stat, target, options, progress);
            }
            _ => break,
        }
    }
    match attempt {
        Ok(seen) => Judge { storage, target, options, file: &*file }.report(seen),
        Err(error) => unreadable(target, stat.bytes, &error),
    }
}

/// Returns the report on a file that could not be read.
fn unreadable(target: &Target, bytes: u64, error: &io::Error) -> Report {
    let message = format!("cannot be read: {error}");
    let mut report = empty(target, bytes);
    report.verdict = Verdict::Unreadable;
    report.host = HostAct::Refuses;
    report.findings.push(finding("limit/unreadable", Severity::Error, message, Place::default()));
    report
}

fn empty(target: &Target, bytes: u64) -> Report {
    Report {
        path: target.path.clone(),
        session: None,
        version: None,
        encoding: match target.encoding {
            Some(name::Encoding::Zstd) => Encoding::Zstd,
            _ => Encoding::Plain,
        },
        bytes,
        verdict: Verdict::Sound,
        host: HostAct::Loads,
        events: 0,
        closers: 0,
        lost: Lost::default(),
        host_error: None,
        findings: Vec::new(),
    }
}

fn finding(rule: &'static str, severity: Severity, message: String, place: Place) -> Finding {
    let help = catalogue::find(rule).map(|rule| rule.help.to_owned()).unwrap_or_default();
    Finding { rule, severity, message, help, place }
}

/// A file that tells how much of it was read.
struct Counted<'a> {
    file: &'a dyn File,
    progress: &'a (dyn Fn(u64) + Sync),
    /// A compressed file is read twice: for its structure, then for its content.
    passes: u64,
}

impl File for Counted<'_> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.file.read_at(offset, buffer)?;
        (self.progress)(got as u64 / self.passes);
        Ok(got)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

/// What one look at a file saw.
struct Seen {
    stat: Stat,
    encoding: Encoding,
    reading: Reading,
    fold: Fold,
}

fn look(
    file: &dyn File,
    stat: Stat,
    target: &Target,
    options: &Options,
    progress: &(dyn Fn(u64) + Sync),
) -> io::Result<Seen> {
    let zstd = match target.encoding {
        Some(encoding) => encoding == name::Encoding::Zstd,
        None => {
            let mut magic = [0; 4];
            let got = file.read_at(0, &mut magic)?;
            got == 4 && magic == gatelog_engine::dsh::frame::MAGIC.to_le_bytes()
        }
    };
    let generation = target.generation.map(|generation| generation.number);
    let frame_bytes_max = options.max_frame_bytes;
    let reading_options = read::Options { zstd, generation, frame_bytes_max, reads };
    let mut fold = Fold::new(options);
    let counted = Counted { file, progress, passes: if zstd { 2 } else { 1 } };
    let reading = read::read(&counted, stat.bytes, &reading_options, &mut fold)?;
    let encoding = if zstd { Encoding::Zstd } else { Encoding::Plain };
    Ok(Seen { stat, encoding, reading, fold })
}

/// Returns whether any rule reads the payload of a type, given the raw JSON text of the type.
fn reads(raw: &[u8]) -> bool {
    static READ: OnceLock<HashSet<&'static [u8]>> = OnceLock::new();
    let read = READ.get_or_init(|| {
        let settings = Settings { profile: Profile::Strict, ..Settings::default() };
        let of_companions =
            companions(&settings).into_iter().flat_map(|companion| match companion.listens() {
                Listens::All => &[],
                Listens::Kinds(kinds) => kinds,
            });
        let of_load = ["turn/start", "turn/end", "step/start", "tool/call", "request/header"];
        let of_load =
            of_load.iter().chain(&["steering/message", "text-chunks", "reasoning-chunks"]);
        let of_load = of_load.chain(&["tool-call-chunks"]).chain(crate::load::message::KINDS);
        of_companions.chain(of_load).map(|kind| kind.as_bytes()).collect()
    });
    match raw.strip_prefix(b"\"").and_then(|raw| raw.strip_suffix(b"\"")) {
        Some(plain) if !plain.contains(&b'\\') => read.contains(plain),
        _ => true,
    }
}

/// The loader and the companions, fed with the records of one log.
struct Fold {
    settings: Settings,
    load: Option<Load>,
    companions: Vec<Box<dyn Companion + Send>>,
    by_kind: HashMap<&'static str, Vec<usize>>,
    to_all: Vec<usize>,
    violations: Vec<(Violation, Place)>,
    dropped: u64,
}

impl Fold {
    fn new(options: &Options) -> Self {
        let settings = Settings {
            profile: options.profile,
            presets: options.presets.clone(),
            ..Settings::default()
        };
        Self {
            settings,
            load: None,
            companions: Vec::new(),
            by_kind: HashMap::new(),
            to_all: Vec::new(),
            violations: Vec::new(),
            dropped: 0,
        }
    }

    /// Asks every companion that listens, then lets it adopt the event.
    fn companions(&mut self, event: &Event<'_>) {
        let listening = self.by_kind.get(event.kind).unwrap_or(&self.to_all);
        for at in listening {
            let companion = &mut self.companions[*at];
            if let Err(violation) = companion.plan(event) {
                if self.violations.len() < FINDINGS_MAX {
                    self.violations.push((violation, event.place));
                } else {
                    self.dropped += 1;
                }
            }
            companion.apply(event);
        }
    }

    /// Folds what recovery would add, and judges the end.
    fn finish(&mut self, reading: &Reading, at_rest: bool) {
        let Some(mut load) = self.load.take() else { return };
        load.finish();
        let events = reading.events;
        let end = End { events, turn_open: load.closers().is_open() };
        for (seq, line) in (events..).zip(load.closers().lines()) {
            // A closer of a turn that has no number is no event; it is not on disk either.
            let Ok(document) = Document::parse(line) else { continue };
            self.closer(&document, seq);
        }
        if at_rest {
            for companion in &self.companions {
                companion.finish(&end, &mut |violation| {
                    let place = Place { seq: violation.seq, ..Place::default() };
                    self.violations.push((violation, place));
                });
            }
        }
        self.load = Some(load);
    }

    fn closer(&mut self, document: &Document, seq: u64) {
        let root = document.root();
        let Some(kind) = root.get("type").and_then(|kind| kind.as_text()) else { return };
        let Some(data) = root.get("data") else { return };
        let time_ms = root.get("time").and_then(|time| time.as_number()).unwrap_or(0.0);
        self.companions(&Event {
            seq,
            members: 1,
            time_ms,
            last_time_ms: time_ms,
            kind: &kind.to_lossy(),
            data,
            packed: false,
            ignorable: false,
            sources: root.get("sourceEventSeqs"),
            surface: root.get("surfaceOp"),
            place: Place { seq: Some(seq), ..Place::default() },
        });
    }
}

impl HeaderSink for Fold {
    fn header(&mut self, header: &Header) {
        self.settings.seed_length = header.seed_length();
        self.settings.session.clone_from(&header.id);
        self.load = Some(Load::new(header));
        if header.version != 0 {
            return;
        }
        self.companions = companions(&self.settings);
        for (at, companion) in self.companions.iter().enumerate() {
            match companion.listens() {
                Listens::All => {
                    self.by_kind.values_mut().for_each(|all| all.push(at));
                    self.to_all.push(at);
                }
                Listens::Kinds(kinds) => {
                    for kind in kinds {
                        let all = self.by_kind.entry(kind).or_insert_with(|| self.to_all.clone());
                        all.push(at);
                    }
                }
            }
        }
    }
}

impl RecordSink for Fold {
    fn record(&mut self, record: &Record<'_>) {
        let Some(mut load) = self.load.take() else { return };
        load.take(record, &mut |event| self.companions(event));
        self.load = Some(load);
    }
}

/// Turns what was seen into a report.
struct Judge<'a> {
    storage: &'a dyn Storage,
    target: &'a Target,
    options: &'a Options,
    file: &'a dyn File,
}

impl Judge<'_> {
    fn report(&self, mut seen: Seen) -> Report {
        let mut report = empty(self.target, seen.stat.bytes);
        report.encoding = seen.encoding;
        report.version = seen.reading.version;
        report.session.clone_from(&seen.reading.shown_id);
        report.events = seen.reading.events;
        let is_live = seen.reading.torn.is_some() && self.is_written_now(&seen.stat);
        seen.fold.finish(&seen.reading, !is_live);
        self.refusals(&mut report, &seen);
        let refuses = report.host == HostAct::Refuses;
        if !refuses {
            self.end(&mut report, &seen, is_live);
        }
        self.violations(&mut report, &seen);
        self.notes(&mut report, &seen);
        report
    }

    /// Notes every reason for which the host refuses; the first in its order gives the verdict.
    fn refusals(&self, report: &mut Report, seen: &Seen) {
        let version = seen.reading.header.as_ref().map_or(0, |header| header.version);
        let session = report.session.clone().unwrap_or_default();
        let path = self.target.path.display().to_string();
        let mut first: Option<(FaultKind, Option<String>)> = None;
        if let Some(fault) = &seen.reading.fault {
            let fault = self.as_no_session(fault, seen);
            let host = fault.host.as_ref().map(|host| match fault.kind {
                FaultKind::Unsupported => format!("{host} (raw log: {path})"),
                _ if version >= 3 => format!(
                    "session \"{session}\": stored log is corrupt: Error: {host} (raw log: {path})"
                ),
                _ => host.clone(),
            });
            first = Some((fault.kind, host));
            self.add(report, fault.rule, fault.message.clone(), fault.place);
        }
        if let Some(refusal) = self.misplaced(seen) {
            let host = Some(refusal.1.clone());
            first.get_or_insert((FaultKind::Corrupt, host));
            self.add(report, refusal.0, refusal.1, Place { line: Some(1), ..Place::default() });
        }
        if let Some(load) = &seen.fold.load {
            if let Some(refusal) = load.refusal() {
                let host = host_words(refusal, &session, &path);
                first.get_or_insert((refusal.kind, Some(host)));
            }
            for flaw in &load.flaws {
                let message = flaw.inner.strip_prefix("Error: ").unwrap_or(&flaw.inner);
                self.add(report, flaw.rule, message.to_owned(), flaw.place);
            }
        }
        if let Some((kind, host)) = first {
            report.host = HostAct::Refuses;
            report.host_error = host;
            report.verdict = match kind {
                FaultKind::Corrupt => Verdict::Corrupt,
                FaultKind::Violation => Verdict::Violation,
                FaultKind::Unsupported => Verdict::Unsupported,
                FaultKind::Limit | FaultKind::Unreadable => Verdict::Unreadable,
            };
        }
    }

    /// A stray file that does not even start like a log is called that, and not a damaged one.
    fn as_no_session(&self, fault: &Fault, seen: &Seen) -> Fault {
        let is_stray = self.target.encoding.is_none()
            && self.target.generation.is_none()
            && seen.reading.header.is_none()
            && fault.kind == FaultKind::Corrupt;
        if !is_stray {
            return fault.clone();
        }
        let message = match seen.stat.bytes {
            0 => "the file is empty, and not a session log".to_owned(),
            _ => format!("not a session log at all ({})", fault.message),
        };
        let (kind, rule) = (FaultKind::Unreadable, "container/not-a-session-file");
        Fault { kind, rule, message, host: None, place: Place::default() }
    }

    /// Judges whether the header names the place where the file lies.
    fn misplaced(&self, seen: &Seen) -> Option<(&'static str, String)> {
        let Placement::Placed(placed) = &self.target.placement else { return None };
        let header = seen.reading.header.as_ref()?;
        if header.version == 0
            && let Err(refusal) = identity::check_lookup(placed)
        {
            return Some(("identity/lookup", refusal.message));
        }
        let encoding = match seen.encoding {
            Encoding::Zstd => name::Encoding::Zstd,
            Encoding::Plain => name::Encoding::Plain,
        };
        let cwd = Cwd::of(header.json().get("cwd"));
        let claim = Claim { id: &header.id, cwd, version: header.version, encoding };
        let refusal = identity::check(self.storage, placed, &claim).err()?;
        Some(("identity/mismatch", refusal.message))
    }

    /// Judges the end of a log that the host opens.
    fn end(&self, report: &mut Report, seen: &Seen, is_live: bool) {
        let closers = seen.fold.load.as_ref().map_or(0, |load| load.closers().count());
        if let Some(torn) = &seen.reading.torn {
            report.host = HostAct::Repairs;
            report.lost = Lost { bytes: seen.stat.bytes - torn.cut, lines: torn.lines };
            if is_live {
                let message = format!("somebody writes the file at this moment: {}", torn.message);
                self.add(report, "tail/live-writer", message, torn.place);
            } else {
                report.verdict = Verdict::Torn;
                self.add(report, torn.rule, torn.message.clone(), torn.place);
            }
        }
        if closers > 0 {
            report.host = HostAct::Repairs;
            report.closers = closers;
            let message =
                format!("the log ends inside a turn; the host adds {closers} event(s) to close it");
            let place = Place { seq: seen.reading.events.checked_sub(1), ..Place::default() };
            self.add(report, "turn/open-at-end", message, place);
        }
    }

    fn is_written_now(&self, stat: &Stat) -> bool {
        if self.storage.lock_holders(stat.identity) == Some(true) {
            return true;
        }
        std::thread::sleep(SECOND_LOOK);
        self.file.stat().is_ok_and(|now| now.bytes != stat.bytes)
    }

    fn violations(&self, report: &mut Report, seen: &Seen) {
        let start = report.findings.len();
        for (violation, place) in &seen.fold.violations {
            let Some(rule) = catalogue::find(violation.rule) else { continue };
            let Some(severity) = seen.fold.settings.severity(rule) else { continue };
            let place = match violation.seq {
                Some(seq) if place.seq != Some(seq) => Place { seq: Some(seq), ..Place::default() },
                _ => *place,
            };
            let help = rule.help.to_owned();
            let message = violation.message.clone();
            report.findings.push(Finding { rule: rule.id, severity, message, help, place });
            if severity == Severity::Error
                && matches!(report.verdict, Verdict::Sound | Verdict::Torn)
            {
                report.verdict = Verdict::Violation;
            }
        }
        report.findings[start..].sort_by_key(|finding| finding.place.seq);
        if seen.fold.dropped > 0 {
            let message = format!("{} further finding(s) are not listed", seen.fold.dropped);
            self.add(report, "limit/findings", message, Place::default());
        }
    }

    fn notes(&self, report: &mut Report, seen: &Seen) {
        if let Some(header) = &seen.reading.header {
            if header.version != 0 {
                let message =
                    format!("the meaning of events of format {} was not judged", header.version);
                self.add(report, "envelope/meaning-not-checked", message, Place::default());
            }
            let seed = header.seed_length();
            if let Some(seed) = seed.filter(|seed| header.version == 0 && *seed > report.events) {
                let events = report.events;
                let message = format!("the header says {seed} events were inherited, of {events}");
                self.add(report, "seed/longer-than-log", message, Place::default());
            }
        }
        if let Placement::Alone(alone) = &self.target.placement {
            let message = format!(
                "id, place and encoding were not checked against a sessions root: {}",
                alone.reason()
            );
            self.add(report, "identity/not-checked", message, Place::default());
        }
    }

    fn add(&self, report: &mut Report, rule: &'static str, message: String, place: Place) {
        let severity = catalogue::find(rule).and_then(|rule| rule.severity(self.options.profile));
        let severity = severity.unwrap_or(Severity::Error);
        report.findings.push(finding(rule, severity, message, place));
    }
}

/// Returns the host's message for a refusal of its loader.
fn host_words(refusal: &Refusal, session: &str, path: &str) -> String {
    match (refusal.kind, refusal.inner.split_once(": ")) {
        (FaultKind::Unsupported, None | Some(_)) if !refusal.inner.starts_with("Error: ") => {
            format!("{} (raw log: {path})", refusal.inner)
        }
        _ => format!("stored session \"{session}\" failed validation: {}", refusal.inner),
    }
}
