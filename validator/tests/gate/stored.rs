//! The same session in a native store: through a gate, and with what it refuses forced in behind
//! its back, before the cold path that reads the store.

use super::{is_refused, rules};
use crate::gate::header;
use gatelog_engine::backend::{AppendError, Backend as _, Batch, Durability, Refusal, Row};
use gatelog_engine::companion::Violation;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::{Machine as _, ThisMachine};
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
use gatelog_engine::store::{Store, StoreConfig};
use gatelog_validator::rule::Profile;
use gatelog_validator::store::{StoreOptions, verify_store};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/s";

/// Appends what was admitted through a gate, which then refuses the draft; the store is sound.
/// With the draft in its log, what the gate said is found.
pub(super) fn check(log: &[Draft], draft: &Draft, violation: &Violation, profile: Profile) {
    let sim = Sim::new(3);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let machine = Arc::new(ThisMachine);
    let opened = Log::open(Arc::new(sim.disk()), Path::new(DIR), machine.clone(), config);
    let raw = Arc::new(opened.expect("a fresh disk"));
    let rules = Arc::new(rules(profile));
    let store = Store::new(raw.clone(), rules, machine.clone(), StoreConfig::default());
    let session = store.create("s", &header(), |_| Ok(())).expect("it is created");
    if !log.is_empty() {
        let admitted = session.append(log.to_vec(), Durability::Buffered);
        if matches!(admitted, Err(AppendError::Refused(Refusal::Malformed { .. }))) {
            // A store asks more of a payload than the rules do, and asks it before them.
            return;
        }
        assert!(admitted.is_ok(), "{log:#?} was admitted before: {admitted:?}");
    }
    match session.append([draft.clone()], Durability::Synced) {
        Err(AppendError::Refused(Refusal::Violation(it))) => assert_eq!(it.rule, violation.rule),
        // What is asked of a draft before any rule.
        Err(AppendError::Refused(Refusal::Unregistered { .. } | Refusal::Malformed { .. })) => {}
        other => panic!("{draft:?} breaks {}, and its append ended as {other:?}", violation.rule),
    }
    session.raise(Durability::Synced).expect("nothing fails");
    assert_eq!(found(&sim, profile), Vec::<&str>::new(), "{log:#?}");
    if violation.rule.starts_with("acme/") {
        // Whoever verifies a store does not have the companions that a front end brings along.
        return;
    }
    let rows = vec![Row { time_ms: machine.now_ms(), draft: draft.clone() }];
    let batch = Batch { first_seq: log.len() as u64, key: None, rows };
    raw.append("s", batch, Durability::Synced).expect("no rule is asked");
    // Not by its place among others: a report has them by the event that each points to.
    let found = found(&sim, profile);
    assert!(found.contains(&violation.rule), "{draft:?} breaks {}: {found:?}", violation.rule);
}

/// What the cold path finds in the one session of a store that a live gate would have refused.
fn found(sim: &Sim, profile: Profile) -> Vec<&'static str> {
    let options = StoreOptions { profile, ..StoreOptions::default() };
    let (store, sessions) = verify_store(&sim.disk(), Path::new(DIR), &options, &|_| {});
    let [session] = &*sessions else { panic!("one session: {store:?}") };
    let rules = session.findings.iter().map(|finding| finding.rule);
    rules.filter(|rule| is_refused(&Violation::new(rule, ""), profile)).collect()
}
