//! What the structural verifier finds in a store on the disk.

use gatelog_engine::backend::{Error, RecordedRules, Stored};
use gatelog_engine::check::{SessionSink, Settings, Sinks, StoreCheck, Weight, check};
use gatelog_engine::event::Place;
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::{Disk, Storage};
use std::path::Path;
use std::time::Duration;

/// Takes events and keeps nothing but what is no event.
#[derive(Debug, Default)]
pub struct Sink(Vec<String>);

impl SessionSink for Sink {
    fn event(&mut self, _: &Stored<'_>, _: Place, _: Option<&RecordedRules>) {}

    fn malformed(&mut self, what: &str, _: Place) {
        self.0.push(what.to_owned());
    }

    fn end(&mut self, _: u64, _: bool) {}

    fn state_bytes(&self) -> usize {
        0
    }
}

struct Bare;

impl Sinks for Bare {
    type Sink = Sink;

    fn session(&self, _: &str, _: &SessionHeader) -> Sink {
        Sink::default()
    }
}

/// Verifies a store.
///
/// # Errors
///
/// As [`check`].
pub fn verify(dir: &Path) -> Result<StoreCheck<Sink>, Error> {
    let wait = || std::thread::sleep(Duration::from_millis(20));
    let settings = Settings { wait, ..Settings::default() };
    check(&Disk, dir, &Bare, settings, &|_| ())
}

/// Verifies a store that nobody writes, on any disk.
///
/// # Errors
///
/// As [`check`].
pub fn verify_on(storage: &dyn Storage, dir: &Path) -> Result<StoreCheck<Sink>, Error> {
    check(storage, dir, &Bare, Settings::default(), &|_| ())
}

/// Returns everything that was found, in words: what is wrong first, and then, unless only that is
/// asked for, a torn end and what is merely said.
pub fn said(checked: &StoreCheck<Sink>, wrong_only: bool) -> Vec<String> {
    let of_sessions = checked.sessions.iter().flat_map(|session| &session.findings);
    let is_meant = |weight| !wrong_only || !matches!(weight, Weight::Torn | Weight::Note);
    let findings = checked.findings.iter().chain(of_sessions);
    let findings = findings.filter(|finding| is_meant(finding.weight));
    let findings = findings.map(|it| format!("{} {:?} {}", it.rule, it.place, it.message));
    let malformed = checked.sessions.iter().flat_map(|session| session.sink.0.clone());
    malformed.chain(findings).collect()
}
