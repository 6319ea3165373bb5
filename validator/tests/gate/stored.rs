//! The same session in a native store: through a gate, and with what it refuses forced in behind
//! its back, before the cold path that reads the store: its first finding is what the gate said.

use super::rules;
use crate::gate::header;
use gatelog_engine::backend::{AppendError, Backend as _, Batch, Durability, Refusal, Row};
use gatelog_engine::companion::Violation;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::{Machine as _, ThisMachine};
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
use gatelog_engine::store::{Store, StoreConfig};
use gatelog_validator::rule::{Basis, Profile, Severity};
use gatelog_validator::store::{StoreOptions, verify_store};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/s";

/// Appends what was admitted through a gate, which then refuses the draft; the store is sound.
/// With the draft in its log, what the gate said is what verification finds first.
pub(super) fn check(log: &[Draft], draft: &Draft, violation: &Violation, profile: Profile) {
    let sim = Sim::new(3);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let machine = Arc::new(ThisMachine);
    let opened = Log::open(Arc::new(sim.disk()), Path::new(DIR), machine.clone(), config);
    let raw = Arc::new(opened.expect("a fresh disk"));
    let rules = Arc::new(rules(profile));
    let gated = || Store::new(raw.clone(), rules.clone(), machine.clone(), StoreConfig::default());
    let forced = |first_seq, drafts: &[Draft]| {
        let row = |draft: &Draft| Row { time_ms: machine.now_ms(), draft: draft.clone() };
        let rows = drafts.iter().map(row).collect();
        let batch = Batch { first_seq, key: None, rows };
        raw.append("s", batch, Durability::Synced).expect("no rule is asked");
    };
    let mut session = gated().create("s", &header(), |_| Ok(())).expect("it is created");
    if !log.is_empty() {
        let admitted = session.append(log.to_vec(), Durability::Buffered);
        if matches!(admitted, Err(AppendError::Refused(Refusal::Malformed { .. }))) {
            // A store asks more of a payload than the rules do, and asks it before them. What it
            // did not let in is no less sound for that, and a fresh gate stands where it ends.
            forced(0, log);
            session = gated().session("s").expect("it is there");
        } else {
            assert!(admitted.is_ok(), "{log:#?} was admitted before: {admitted:?}");
        }
    }
    match session.append([draft.clone()], Durability::Synced) {
        Err(AppendError::Refused(Refusal::Violation(it))) => assert_eq!(it.rule, violation.rule),
        // What is asked of a draft before any rule.
        Err(AppendError::Refused(Refusal::Unregistered { .. } | Refusal::Malformed { .. })) => {}
        other => panic!("{draft:?} breaks {}, and its append ended as {other:?}", violation.rule),
    }
    session.raise(Durability::Synced).expect("nothing fails");
    assert_eq!(first_of_no_end(&sim, profile), None, "{log:#?}");
    if violation.rule.starts_with("acme/") {
        // Whoever verifies a store does not have the companions that a front end brings along.
        return;
    }
    forced(log.len() as u64, std::slice::from_ref(draft));
    let (rule, message, is_first) = first_of_no_end(&sim, profile).expect("something is found");
    assert_eq!((rule, &message), (violation.rule, &violation.message), "{draft:?}");
    assert!(is_first, "{rule} is broken by {draft:?}, and another error is told before");
}

/// The first error of the report on the one session of a store that is no matter of its end, and
/// whether it is the first of all errors.
fn first_of_no_end(sim: &Sim, profile: Profile) -> Option<(&'static str, String, bool)> {
    let options = StoreOptions { profile, ..StoreOptions::default() };
    let (store, sessions) = verify_store(&sim.disk(), Path::new(DIR), &options, &|_| {});
    let [session] = &*sessions else { panic!("one session: {store:?}") };
    let is_of_end = |rule| gatelog_validator::rule(rule).is_some_and(|it| it.basis == Basis::End);
    let mut errors = session.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let at = errors.clone().position(|finding| !is_of_end(finding.rule))?;
    errors.nth(at).map(|finding| (finding.rule, finding.message.clone(), at == 0))
}
