//! A native store in, its report and one of each of its sessions out.
//!
//! Bytes, frames and the end of the log are [`gatelog_engine::check`]'s; what events mean is judged
//! by the very judge that a live gate drives ([`Standard`]). Nothing but a gate writes to a store,
//! so the strict profile is the default here and its extras are errors.

use crate::catalogue;
use crate::companion::Settings;
use crate::fold::FINDINGS_MAX;
use crate::judge::finding;
use crate::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
use crate::rule::{Profile, Severity};
use crate::standard::Standard;
use crate::verify::wait;
use gatelog_engine::backend::{Error, RecordedRules, Stored};
use gatelog_engine::check::{self, SessionCheck, SessionSink, Sinks, StoreCheck, Weight};
use gatelog_engine::companion::{End, Violation};
use gatelog_engine::dsh::vocabulary::is_known;
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::{Json, Scanner, Tape};
use gatelog_engine::rules::{Judge, RuleSet as _, SessionHeader};
use gatelog_engine::storage::Storage;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The host format whose rules events are judged by.
const DIALECT: u64 = 0;

/// How a store is verified.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Which rules run. Default strict, its extras being errors.
    pub profile: Profile,
    /// The preset names that the host has configured, when they are known.
    pub presets: Option<Vec<String>>,
    /// How the engine looks at the store.
    pub check: check::Settings,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { profile: Profile::Strict, presets: None, check: check::Settings { wait } }
    }
}

/// The report on a store: what concerns log, segments, frames and witnesses.
#[derive(Clone, Debug)]
pub struct StoreReport {
    /// The directory.
    pub path: PathBuf,
    /// The verdict; what its sessions mean is in theirs.
    pub verdict: Verdict,
    /// Something lies behind the end of the log that no witness vouches for.
    pub is_torn: bool,
    /// How many sessions there are, those that were deleted apart.
    pub sessions: u64,
    /// How many segments there are.
    pub segments: u64,
    /// The last lsn that a witness says was synced.
    pub durable_lsn: u64,
    /// The last lsn of the log.
    pub last_lsn: u64,
    /// Frames that no witness vouches for.
    pub unconfirmed: u64,
    /// Bytes of the segments and the witnesses.
    pub bytes: u64,
    /// The findings.
    pub findings: Vec<Finding>,
}

impl StoreReport {
    /// Makes the report on a store of which nothing is known but that it could not be checked.
    pub fn unchecked(path: &Path, finding: Finding) -> Self {
        Self {
            path: path.to_owned(),
            verdict: Verdict::Unreadable,
            is_torn: false,
            sessions: 0,
            segments: 0,
            durable_lsn: 0,
            last_lsn: 0,
            unconfirmed: 0,
            bytes: 0,
            findings: vec![finding],
        }
    }
}

/// Verifies the store in a directory: its report, and those of its sessions in the order of their
/// ids. Bad content is a report, never an error.
///
/// `progress` is told of bytes as they are read. Frames are decoded, and sessions judged, on the
/// threads of the rayon pool in force.
pub fn verify_store(
    storage: &dyn Storage,
    path: &Path,
    options: &StoreOptions,
    progress: &(dyn Fn(u64) + Sync),
) -> (StoreReport, Vec<Report>) {
    let extras_are_errors = options.profile == Profile::Strict;
    let settings = Settings {
        profile: options.profile,
        presets: options.presets.clone(),
        extras_are_errors,
        ..Settings::default()
    };
    let mut rules = Standard::new(options.profile);
    if let Some(presets) = &options.presets {
        rules = rules.with_presets(presets.clone());
    }
    let hearings = Hearings { rules, settings };
    match check::check(storage, path, &hearings, options.check, progress) {
        Ok(check) => reports(path, check, &hearings.settings),
        Err(error) => (unchecked(path, &error), Vec::new()),
    }
}

fn unchecked(path: &Path, error: &Error) -> StoreReport {
    let message = format!("not checked: {error}");
    let finding = finding("limit/unreadable", Severity::Error, message, Place::default());
    StoreReport::unchecked(path, finding)
}

fn reports(
    path: &Path,
    check: StoreCheck<Hearing>,
    settings: &Settings,
) -> (StoreReport, Vec<Report>) {
    let has = |weight| check.findings.iter().any(|finding| finding.weight == weight);
    let verdict = if has(Weight::Corrupt) {
        Verdict::Corrupt
    } else if has(Weight::Unsupported) {
        Verdict::Unsupported
    } else if has(Weight::Violation) {
        Verdict::Violation
    } else if check.is_torn {
        Verdict::Torn
    } else {
        Verdict::Sound
    };
    let mut findings: Vec<_> =
        check.findings.into_iter().filter_map(|found| of_engine(found, settings)).collect();
    findings.extend(more(check.dropped));
    let store = StoreReport {
        path: path.to_owned(),
        verdict,
        is_torn: check.is_torn,
        sessions: check.sessions.len() as u64,
        segments: check.segments,
        durable_lsn: check.durable_lsn,
        last_lsn: check.last_lsn,
        unconfirmed: check.unconfirmed,
        bytes: check.bytes,
        findings,
    };
    // Beside a writer, and before damage, the last event that is known is not the end.
    let is_at_rest = check.is_whole && !check.is_live;
    let sessions = check.sessions.into_iter();
    let sessions = sessions.map(|session| report(path, session, settings, is_at_rest));
    (store, sessions.collect())
}

/// Gives a finding of the engine its severity and its help.
fn of_engine(found: check::Finding, settings: &Settings) -> Option<Finding> {
    let rule = catalogue::find(found.rule);
    let severity = rule.map_or(Some(Severity::Error), |rule| settings.severity(rule))?;
    Some(finding(found.rule, severity, found.message, found.place))
}

fn more(dropped: u64) -> Option<Finding> {
    let message = format!("{dropped} further finding(s) are not listed");
    let severity = Severity::Note;
    (dropped > 0).then(|| finding("limit/findings", severity, message, Place::default()))
}

/// Writes the report on one session.
fn report(
    path: &Path,
    session: SessionCheck<Hearing>,
    settings: &Settings,
    is_at_rest: bool,
) -> Report {
    let mut hearing = session.sink;
    let closers = hearing.finish(session.events, is_at_rest);
    let mut findings: Vec<_> =
        session.findings.into_iter().filter_map(|found| of_engine(found, settings)).collect();
    findings.append(&mut hearing.findings);
    findings.sort_by_key(|finding| finding.place.seq.unwrap_or(u64::MAX));
    let first = findings.iter().find(|finding| finding.severity == Severity::Error);
    let verdict = first.map_or(Verdict::Sound, |finding| verdict(finding.rule));
    findings.extend(more(hearing.dropped));
    Report {
        path: path.to_owned(),
        session: Some(session.id),
        version: Some(u64::from(session.dialect)),
        encoding: Encoding::Native,
        bytes: session.bytes,
        verdict,
        host: HostAct::None,
        events: session.events,
        closers,
        lost: Lost::default(),
        host_error: None,
        findings,
    }
}

/// Returns what the breach of a rule makes of a session.
fn verdict(rule: &str) -> Verdict {
    match rule {
        "envelope/unknown-type" | "envelope/retired-type" | "header/version" => {
            Verdict::Unsupported
        }
        _ => match rule.split_once('/').map(|(family, _)| family) {
            Some("envelope" | "json" | "header" | "identity" | "line") => Verdict::Corrupt,
            _ => Verdict::Violation,
        },
    }
}

/// Makes a hearing for each session.
struct Hearings {
    rules: Standard,
    settings: Settings,
}

impl Sinks for Hearings {
    type Sink = Hearing;

    fn session(&self, id: &str, header: &SessionHeader) -> Hearing {
        let mut hearing = Hearing {
            judge: None,
            settings: self.settings.clone(),
            findings: Vec::new(),
            dropped: 0,
            foreign: BTreeSet::new(),
            scanner: Scanner::new(),
            tapes: Default::default(),
        };
        match self.rules.judge(id, header) {
            Ok(judge) => hearing.judge = Some(judge),
            Err(violation) => hearing.take(violation, Place::default()),
        }
        hearing
    }
}

/// One session before its judge.
struct Hearing {
    /// None where the header is refused: then nothing is said of the events.
    judge: Option<Box<dyn Judge>>,
    settings: Settings,
    findings: Vec<Finding>,
    dropped: u64,
    /// Types of others that were noted.
    foreign: BTreeSet<String>,
    scanner: Scanner,
    /// Of payload, sources and surface.
    tapes: [Tape; 3],
}

impl Hearing {
    fn take(&mut self, violation: Violation, place: Place) {
        let place = match violation.seq {
            Some(seq) if place.seq != Some(seq) => Place { seq: Some(seq), ..Place::default() },
            _ => place,
        };
        let rule = catalogue::find(violation.rule);
        // A rule that nobody here knows is one of a companion that was brought along.
        let severity = rule.map_or(Some(Severity::Error), |rule| self.settings.severity(rule));
        if let Some(severity) = severity {
            self.put(finding(violation.rule, severity, violation.message, place));
        }
    }

    fn put(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Notes a type that the log says somebody registered. Returns whether it is one.
    fn is_foreign(&mut self, kind: &str, place: Place, rules: Option<&RecordedRules>) -> bool {
        if is_known(DIALECT, kind) {
            return false;
        }
        let types = rules.into_iter().flat_map(|rules| &rules.types);
        let Some((_, owner, _)) = types.into_iter().find(|(name, _, _)| name == kind) else {
            return false;
        };
        if self.foreign.insert(kind.to_owned()) {
            let message =
                format!("events of type \"{kind}\" belong to \"{owner}\" and were not judged");
            let severity = Severity::Note;
            self.put(finding("envelope/foreign-type", severity, message, place));
        }
        true
    }

    /// Judges the end, and returns how many events recovery would add.
    fn finish(&mut self, events: u64, is_at_rest: bool) -> u64 {
        let Some(judge) = self.judge.take() else { return 0 };
        let closers = judge.closers().len() as u64;
        if !is_at_rest {
            return closers;
        }
        let place = Place { seq: events.checked_sub(1), ..Place::default() };
        if closers > 0 {
            let message =
                format!("the session ends inside a turn; {closers} event(s) will close it");
            self.take(Violation::new("turn/open-at-end", message), place);
        }
        let mut violations = Vec::new();
        let end = End { events, turn_open: closers > 0 };
        judge.finish(&end, &mut |violation| violations.push(violation));
        for violation in violations {
            self.take(violation, Place::default());
        }
        closers
    }
}

impl SessionSink for Hearing {
    fn event(&mut self, stored: &Stored<'_>, place: Place, rules: Option<&RecordedRules>) {
        let Some(mut judge) = self.judge.take() else { return };
        let is_foreign = self.is_foreign(stored.kind, place, rules);
        let mut violations = Vec::new();
        if let Ok((data, sources, surface)) = read(&mut self.scanner, &mut self.tapes, stored) {
            let time_ms = stored.time_ms as f64;
            let event = Event {
                seq: stored.seq,
                members: 1,
                time_ms,
                last_time_ms: time_ms,
                kind: stored.kind,
                data,
                packed: false,
                // What the log says is somebody's is no unknown type: nobody here looks into it.
                ignorable: stored.ignorable || is_foreign,
                sources,
                surface,
                place,
            };
            judge.adopt(&event, &mut |violation| violations.push(violation));
        } else {
            let message = "the payload of the event is no JSON";
            violations.push(Violation::new("json/malformed", message));
        }
        self.judge = Some(judge);
        for violation in violations {
            self.take(violation, place);
        }
    }

    fn malformed(&mut self, what: &str, place: Place) {
        self.take(Violation::new("envelope/not-an-event", what), place);
    }
}

/// A text is no JSON.
struct NotJson;

/// Payload, sources and surface of an event.
type Texts<'a> = (Json<'a>, Option<Json<'a>>, Option<Json<'a>>);

fn read<'a>(
    scanner: &mut Scanner,
    [data, sources, surface]: &'a mut [Tape; 3],
    stored: &Stored<'a>,
) -> Result<Texts<'a>, NotJson> {
    let data = scan(scanner, data, Some(stored.data))?.ok_or(NotJson)?;
    let sources = scan(scanner, sources, stored.sources)?;
    Ok((data, sources, scan(scanner, surface, stored.surface)?))
}

/// Scans a text, if there is one.
fn scan<'a>(
    scanner: &mut Scanner,
    tape: &'a mut Tape,
    text: Option<&'a [u8]>,
) -> Result<Option<Json<'a>>, NotJson> {
    let Some(text) = text else { return Ok(None) };
    tape.clear();
    let root = scanner.scan(text, tape).map_err(|_| NotJson)?;
    Ok(Some(tape.json(text, root)))
}
