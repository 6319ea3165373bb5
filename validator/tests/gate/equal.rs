//! The property of the gate: what it admits is sound, and what it refuses is found first.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

#[path = "stored.rs"]
mod stored;

use crate::gate::story::Story;
use crate::gate::{file, header, with_event};
use crate::support;
use gatelog_engine::companion::{Companion, End, Listens, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::rules::{Draft, Judge, Placement, RuleSet, TypeEntry};
use gatelog_engine::storage::Memory;
use gatelog_validator::facts::Facts;
use gatelog_validator::report::HostAct;
use gatelog_validator::rule::{Basis, Profile, Severity};
use gatelog_validator::standard::Standard;
use gatelog_validator::verify::Options;

/// A front end's companion: of two notes in a row the second is too many.
#[derive(Clone, Default)]
pub struct Notes {
    last_seq: Option<u64>,
}

impl Companion for Notes {
    fn name(&self) -> &'static str {
        "acme"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["acme/note"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match self.last_seq {
            Some(last) if last + 1 == event.seq => {
                Err(Violation::new("acme/two-notes", "two notes in a row"))
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.last_seq = Some(event.seq);
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

/// Returns how the type of [`Notes`] is registered.
pub fn note() -> TypeEntry {
    TypeEntry { owner: "acme".to_owned(), placement: Placement::LogOnly, check: None }
}

/// Returns the standard rules with [`Notes`].
pub fn rules(profile: Profile) -> Standard {
    let standard = Standard::new(profile).with_companion(|_| Box::new(Notes::default()));
    standard.with_type("acme/note", note()).expect("nobody owns it")
}

/// Returns a judge of a fresh session.
pub fn judge(profile: Profile) -> Box<dyn Judge> {
    rules(profile).judge("s", &header()).expect("the header is lawful")
}

/// Returns whether a live gate refuses what breaks a rule, told from the catalogue alone.
fn is_refused(violation: &Violation, profile: Profile) -> bool {
    let Some(rule) = gatelog_validator::rule(violation.rule) else { return true };
    let is_error = rule.host == Some(Severity::Error);
    let is_extra = rule.host.is_none() && rule.strict == Severity::Warning;
    rule.basis == Basis::Prefix && (is_error || profile == Profile::Strict && is_extra)
}

/// Takes events in as they are stored, and returns what is refused, with its seq.
pub fn cold(
    judge: &mut dyn Judge,
    drafts: &[Draft],
    from: u64,
    profile: Profile,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for (seq, draft) in (from..).zip(drafts) {
        with_event(draft, seq, |event| judge.adopt(event, &mut |violation| found.push(violation)));
    }
    found.retain(|violation| is_refused(violation, profile));
    found
}

/// What the end of a log at rest breaks, and is no matter of the end.
pub fn at_rest(
    judge: &dyn Judge,
    events: u64,
    turn_open: bool,
    profile: Profile,
) -> Vec<Violation> {
    let mut found = Vec::new();
    judge.finish(&End { events, turn_open }, &mut |violation| found.push(violation));
    found.retain(|violation| is_refused(violation, profile));
    found
}

/// Returns where a judge stands.
pub fn facts(judge: &dyn Judge) -> &Facts {
    judge.facts().downcast_ref().expect("the standard rules show facts")
}

/// Tells a session to a live gate and checks each step of it against the cold path.
pub fn check(tape: &[u8], profile: Profile) -> Vec<Draft> {
    let mut story = Story::new(tape, 10);
    let mut live = judge(profile);
    let mut log: Vec<Draft> = Vec::new();
    let mut refused = 0;
    while let Some(draft) = story.propose() {
        let seq = log.len() as u64;
        let mut ahead = live.fork();
        match with_event(&draft, seq, |event| ahead.admit(event)) {
            Ok(()) => {
                let again = cold(&mut *live, std::slice::from_ref(&draft), seq, profile);
                assert_eq!(again, [], "{draft:?} was admitted");
                log.push(draft);
                story.accept();
                check_closers(&*live, seq + 1, profile);
            }
            Err(violation) => {
                refused += 1;
                let mut forced = live.fork();
                let found = cold(&mut *forced, std::slice::from_ref(&draft), seq, profile);
                assert_eq!(found.first(), Some(&violation), "{draft:?} was refused");
                if refused % 8 == 0 {
                    check_file(&log, &draft, &found, profile);
                }
                if refused == 4 {
                    // Once: a store costs as much as the rest of the tape.
                    stored::check(&log, &draft, &violation, profile);
                }
            }
        }
    }
    let mut anew = judge(profile);
    assert_eq!(cold(&mut *anew, &log, 0, profile), []);
    assert_eq!(facts(&*live).next_seq, log.len() as u64);
    log
}

/// What closes the session as it stands is lawful, and leaves nothing open.
fn check_closers(live: &dyn Judge, seq: u64, profile: Profile) {
    let closers = live.closers();
    let turn = facts(live).turn;
    assert_eq!(turn.is_some(), !closers.is_empty(), "something is open, or nothing is");
    if profile == Profile::Host {
        return;
    }
    assert_eq!(at_rest(live, seq, turn.is_some(), profile), []);
    let mut ahead = live.fork();
    for (seq, closer) in (seq..).zip(&closers) {
        let admitted = with_event(closer, seq, |event| ahead.admit(event));
        assert_eq!(admitted, Ok(()), "{closer:?} closes a session");
    }
    assert!(facts(&*ahead).turn.is_none() && ahead.closers().is_empty());
    if turn.is_some() {
        assert!(!facts(&*ahead).asks().iter().any(|ask| ask.is_of_open_turn));
    }
}

/// The same session as a file of the host: it says of the event what the judge says, and loads
/// without it.
fn check_file(log: &[Draft], draft: &Draft, found: &[Violation], profile: Profile) {
    let is_foreign = |draft: &Draft| draft.kind == "acme/note";
    if log.iter().any(is_foreign) || is_foreign(draft) {
        // A file says nothing of the types that a front end registered.
        return;
    }
    let forced: Vec<Draft> = log.iter().chain([draft]).cloned().collect();
    let options = Options { profile, ..Options::default() };
    let storage = Memory::new().file("/log", file(&forced));
    let report = support::report_on(&storage, Some(0), false, &options);
    let told: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
    let mut refused = told.iter().filter(|rule| is_refused(&Violation::new(rule, ""), profile));
    assert_eq!(refused.next(), found.first().map(|violation| &violation.rule), "{report:?}");
    for violation in found {
        assert!(told.contains(&violation.rule), "{violation:?}, and the report has {told:?}");
    }
    let storage = Memory::new().file("/log", file(log));
    let report = support::report_on(&storage, Some(0), false, &options);
    assert_ne!(report.host, HostAct::Refuses, "{report:?}");
    if profile == Profile::Host {
        // What recovery makes of the end is no matter of the log itself.
        return;
    }
    let told = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let told = told.filter(|finding| finding.place.seq < Some(log.len() as u64));
    assert_eq!(told.count(), 0, "{report:?}");
}

/// The first byte of a tape chooses the profile, the others tell the session.
pub fn check_tape(tape: &[u8]) {
    let Some((first, tape)) = tape.split_first() else { return };
    let profile = if first % 2 == 0 { Profile::Strict } else { Profile::Host };
    check(&tape[..tape.len().min(4_096)], profile);
}
