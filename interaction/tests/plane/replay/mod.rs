//! Replay, repair, and whole interleavings.

mod continued;
mod drawn;
mod repaired;
mod stored;

use crate::support::{Kind, World, open};
use gatelog_engine::storage::Sim;
use gatelog_engine::store::Store;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::ops::ControlFlow;

/// Opens a store with rules on a copy of a disk, as after the death of the process.
pub(super) fn reopened(kind: Kind, sim: &Sim, rules: Rules) -> (Sim, Store) {
    let sim = sim.clone();
    let store = open(kind, &sim, Standard::new(rules), &crate::support::Faults::default());
    (sim, store)
}

/// The types of a session's events.
pub(super) fn kinds(store: &Store, id: &str) -> Vec<String> {
    let mut kinds = Vec::new();
    let read = store.read(id, 0, &mut |event| {
        kinds.push(event.kind.to_owned());
        ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    kinds
}

pub(super) fn sound(world: &World) {
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}
