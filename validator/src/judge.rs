//! Turns what was seen of a file into a report.

use crate::catalogue;
use crate::fold::Fold;
use crate::load::Refusal;
use crate::load::places::Places;
use crate::report::{Encoding, Finding, HostAct, Lost, Report, Verdict};
use crate::rule::{Basis, Profile, Severity};
use gatelog_engine::dsh::discover::{Placement, Target};
use gatelog_engine::dsh::fault::{Fault, FaultKind};
use gatelog_engine::dsh::identity::{self, Claim, Cwd, RefusalKind};
use gatelog_engine::dsh::name;
use gatelog_engine::dsh::read::Reading;
use gatelog_engine::event::Place;
use gatelog_engine::storage::{Stat, Storage};

/// The rule that names a file of some other kind.
const NO_SESSION_FILE: &str = "container/not-a-session-file";

/// What one look at a file saw.
pub(crate) struct Seen {
    /// What the system said of it at first.
    pub(crate) stat: Stat,
    /// How its bytes are encoded.
    pub(crate) encoding: Encoding,
    /// What reading it found.
    pub(crate) reading: Reading,
    /// What its records mean.
    pub(crate) fold: Fold,
}

/// Makes a finding, with the help of its rule.
pub(crate) fn finding(
    rule: &'static str,
    severity: Severity,
    message: String,
    place: Place,
) -> Finding {
    let help = catalogue::find(rule).map(|rule| rule.help.to_owned()).unwrap_or_default();
    Finding { rule, severity, message, help, place }
}

/// Turns what was seen into a report.
pub(crate) struct Judge<'a> {
    /// Where paths are compared.
    pub(crate) storage: &'a dyn Storage,
    /// The file.
    pub(crate) target: &'a Target,
    /// Which rules run.
    pub(crate) profile: Profile,
}

impl Judge<'_> {
    /// Writes the report; `is_live` says that somebody writes the file at this moment.
    pub(crate) fn report(&self, mut seen: Seen, is_live: bool) -> Report {
        let mut report = Report::empty(self.target, seen.stat.bytes);
        report.encoding = seen.encoding;
        report.version = seen.reading.version;
        report.session.clone_from(&seen.reading.shown_id);
        report.events = seen.reading.events;
        seen.fold.finish(seen.reading.events, !is_live);
        self.refusals(&mut report, &seen);
        if report.findings.iter().any(|finding| finding.rule == NO_SESSION_FILE) {
            // What it holds is called neither a format nor an event.
            (report.version, report.session, report.events) = (None, None, 0);
            return report;
        }
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
        let session = self.requested_id(report);
        let wraps = self.reader(seen) >= 3;
        let path = match &self.target.placement {
            Placement::Placed(placed) => placed.path(),
            Placement::Alone(_) => self.target.path.clone(),
        };
        let path = path.display().to_string();
        let mut first: Option<(FaultKind, Option<String>)> = None;
        if let Some(fault) = &seen.reading.fault {
            let fault = self.as_no_session(fault, seen);
            let host = fault.host.as_ref().map(|host| match fault.kind {
                FaultKind::Unsupported => format!("{host} (raw log: {path})"),
                _ if wraps => format!(
                    "session \"{session}\": stored log is corrupt: Error: {host} (raw log: {path})"
                ),
                _ => host.clone(),
            });
            first = Some((fault.kind, host));
            let mut message = fault.message.clone();
            if fault.rule.starts_with("container/first-frame") {
                message.push_str(&content_of(seen));
            }
            self.add(report, fault.rule, message, fault.place);
        }
        let misplaced = self.misplaced(seen);
        let is_misplaced = misplaced.is_some();
        if let Some(refusal) = misplaced {
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
                if is_misplaced && flaw.rule == "header/cwd" {
                    // It is this very cwd that names no place.
                    continue;
                }
                let message = flaw.inner.strip_prefix("Error: ").unwrap_or(&flaw.inner);
                let mut message = message.to_owned();
                if flaw.rule == "header/cwd" && is_windows_cwd(seen) {
                    message.push_str("; it is a path of Windows");
                }
                self.add(report, flaw.rule, message, flaw.place);
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

    /// Returns the format of the reader that the host would choose: the name's, else the header's.
    fn reader(&self, seen: &Seen) -> u64 {
        let named = self.target.generation.map(|generation| generation.number);
        let stated = || seen.reading.header.as_ref().map(|header| header.version);
        named.or_else(stated).or(seen.reading.version).unwrap_or(0)
    }

    /// Returns the id that a host would have asked for when it came upon this file.
    fn requested_id(&self, report: &Report) -> String {
        let of_folder = match &self.target.placement {
            Placement::Placed(placed) => placed.session_id(),
            Placement::Alone(_) => None,
        };
        let of_folder = of_folder.map(|id| identity::shown(&id));
        of_folder.or_else(|| report.session.clone()).unwrap_or_default()
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
        let message = if seen.stat.bytes == 0 {
            "the file is empty, and not a session log".to_owned()
        } else {
            let inner = fault.message.strip_prefix("corrupt session log: ");
            format!("not a session log at all: {}", inner.unwrap_or(&fault.message))
        };
        let (kind, rule) = (FaultKind::Unreadable, NO_SESSION_FILE);
        Fault { kind, rule, message, host: None, place: Place::default() }
    }

    /// Judges whether the header names the place where the file lies.
    fn misplaced(&self, seen: &Seen) -> Option<(&'static str, String)> {
        let Placement::Placed(placed) = &self.target.placement else { return None };
        let header = seen.reading.header.as_ref()?;
        if header.version == 0
            && let Err(refusal) = identity::check_lookup(placed)
        {
            return Some(("identity/too-long", refusal.message));
        }
        let encoding = match seen.encoding {
            Encoding::Zstd => name::Encoding::Zstd,
            // Nothing here is native: that is no file of the host's.
            Encoding::Plain | Encoding::Native => name::Encoding::Plain,
        };
        let cwd = Cwd::of(header.json().get("cwd"));
        let claim = Claim { id: &header.id, cwd, version: header.version, encoding };
        let refusal = identity::check(self.storage, placed, &claim).err()?;
        let rule = match refusal.kind {
            RefusalKind::OtherId => "identity/other-id",
            RefusalKind::CannotName => "identity/cannot-name",
            RefusalKind::Elsewhere => "identity/elsewhere",
            RefusalKind::TooLong => "identity/too-long",
            RefusalKind::Unresolved => "identity/unresolved",
        };
        Some((rule, refusal.message))
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
            let places = seen.fold.load.as_ref().map(|load| &load.places);
            let place = places.map(Places::last).unwrap_or_default();
            let place = Place { seq: seen.reading.events.checked_sub(1), ..place };
            self.add(report, "turn/open-at-end", message, place);
        }
    }

    fn violations(&self, report: &mut Report, seen: &Seen) {
        let start = report.findings.len();
        for (violation, place) in &seen.fold.violations {
            let Some(rule) = catalogue::find(violation.rule) else { continue };
            let Some(severity) = seen.fold.settings.severity(rule) else { continue };
            let place = match violation.seq {
                Some(seq) if place.seq != Some(seq) || place.line.is_none() => {
                    let known = seen.fold.load.as_ref().and_then(|load| load.places.of(seq));
                    known.unwrap_or(Place { seq: Some(seq), ..Place::default() })
                }
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
        // They are in the order in which they were found, whatever they point to; what only an end
        // decides comes last.
        report.findings[start..].sort_by_key(|finding| {
            catalogue::find(finding.rule).is_some_and(|rule| rule.basis == Basis::End)
        });
        let of_load = seen.fold.load.as_ref().map_or(0, |load| load.dropped);
        let dropped = seen.fold.dropped + of_load;
        if dropped > 0 {
            let message = format!("{dropped} further finding(s) are not listed");
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
            let inherited = header.seed_length().filter(|_| header.version == 0);
            if let Some(seed) = inherited.filter(|count| *count > report.events) {
                let events = report.events;
                let message = format!("the header says {seed} events were inherited, of {events}");
                self.add(report, "seed/longer-than-log", message, Place::default());
            }
        }
        if let Placement::Alone(alone) = &self.target.placement
            && report.verdict != Verdict::Unreadable
        {
            let message = format!(
                "id, place and encoding were not checked against a sessions root: {}",
                alone.reason()
            );
            self.add(report, "identity/not-checked", message, Place::default());
        }
    }

    fn add(&self, report: &mut Report, rule: &'static str, message: String, place: Place) {
        let severity = catalogue::find(rule).and_then(|rule| rule.severity(self.profile));
        let severity = severity.unwrap_or(Severity::Error);
        report.findings.push(finding(rule, severity, message, place));
    }
}

/// Says of a log whose frames are broken what its text is like all the same.
fn content_of(seen: &Seen) -> String {
    let events = seen.reading.events;
    match &seen.reading.issue {
        None => format!("; its content is complete: {events} event(s)"),
        Some((issue, line)) => {
            let line = line.map(|line| format!(" at line {line}")).unwrap_or_default();
            format!("; its content is lawful for {events} event(s), and then{line}: {issue}")
        }
    }
}

/// Returns whether the header's `cwd` is a path by the rules of Windows.
fn is_windows_cwd(seen: &Seen) -> bool {
    let header = seen.reading.header.as_ref();
    let cwd = header.and_then(|header| header.json().get("cwd")?.as_text());
    cwd.is_some_and(|cwd| identity::is_windows_path(&cwd.to_wtf8()))
}

/// Returns the host's message for a refusal of its loader.
fn host_words(refusal: &Refusal, session: &str, path: &str) -> String {
    if refusal.kind == FaultKind::Unsupported && !refusal.inner.starts_with("Error: ") {
        return format!("{} (raw log: {path})", refusal.inner);
    }
    format!("stored session \"{session}\" failed validation: {}", refusal.inner)
}
