//! A native store in, its report and one of each of its sessions out.
//!
//! Bytes, frames and the end of the log are [`gatelog_engine::check`]'s; what events mean is judged
//! by the very judge that a live gate drives ([`Standard`]). Nothing but a gate writes to a store,
//! so the strict profile is the default here and its extras are errors.

use crate::catalogue;
use crate::companion::Settings;
use crate::hearing::{Hearing, Hearings, When};
use crate::judge::finding;
use crate::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
use crate::rule::{Profile, Severity};
use crate::standard::Standard;
use crate::verify::wait;
use gatelog_engine::backend::Error;
use gatelog_engine::check::{self, SessionCheck, StoreCheck, Weight};
use gatelog_engine::event::Place;
use gatelog_engine::storage::Storage;
use std::path::{Path, PathBuf};

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
        Self {
            profile: Profile::Strict,
            presets: None,
            check: check::Settings { wait, ..check::Settings::default() },
        }
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
    let sessions = check.sessions.into_iter();
    let sessions = sessions.map(|session| report(path, session, settings));
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
fn report(path: &Path, session: SessionCheck<Hearing>, settings: &Settings) -> Report {
    let hearing = session.sink;
    // Of one frame the engine speaks first: that it does not follow explains what comes of it.
    let of_engine = session.findings.into_iter().filter_map(|found| {
        Some((When::of(found.rule, &found.place), of_engine(found, settings)?))
    });
    let mut findings: Vec<_> = of_engine.chain(hearing.findings).collect();
    findings.sort_by_key(|(when, _)| *when);
    let mut findings: Vec<_> = findings.into_iter().map(|(_, finding)| finding).collect();
    let first = findings.iter().find(|finding| finding.severity == Severity::Error);
    let verdict = first.map_or(Verdict::Sound, |finding| verdict(finding.rule));
    findings.extend(more(session.dropped + hearing.dropped));
    Report {
        path: path.to_owned(),
        session: Some(session.id),
        version: Some(u64::from(session.dialect)),
        encoding: Encoding::Native,
        bytes: session.bytes,
        verdict,
        host: HostAct::None,
        events: session.events,
        closers: hearing.closers,
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
