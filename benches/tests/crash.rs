//! A slice of the crash enumeration: `cargo run --bin crash-states` has the whole.

use gatelog_benches::trial::{
    Enumeration, FixedMachine, Sloppiness, Workload, workload, workloads,
};
use gatelog_engine::backend::Backend;
use gatelog_engine::backend::Durability::Synced;
use gatelog_engine::log::{Canary, LogConfig, Tail};
use gatelog_engine::storage::Sim;
use std::sync::Arc;

fn quick() -> Enumeration {
    Enumeration { drawn: 16, stride: 101, depth: 1, recovery_stride: 211, seed: 1 }
}

#[test]
fn a_power_cut_never_refuses_the_store() {
    for workload in workloads::all() {
        let tally = quick().of(&workload).unwrap_or_else(|what| panic!("{what}"));
        println!("{}: {tally:?}", workload.name);
        assert!(tally.power_cuts > 0 && tally.kills > 0 && tally.recoveries > 0, "{tally:?}");
    }
}

/// Returns whether a workload notices a mistake.
fn is_noticed(name: &str, build_in: impl Fn(&mut Workload)) -> bool {
    let thorough = Enumeration { stride: 1, depth: 0, ..quick() };
    let mut workload = workloads::all().into_iter().find(|it| it.name == name).expect("its name");
    build_in(&mut workload);
    thorough.of(&workload).inspect_err(|what| println!("{what}")).is_err()
}

#[test]
fn mistakes_on_purpose_are_noticed() {
    // The one that only rot can show is tried with the flips; spares have a test of their own.
    let canaries = [
        (Canary::TrustsTornSector, "mixed classes"),
        (Canary::AckBeforeDirectorySync, "mixed classes"),
        (Canary::DurableOneGroupEarly, "mixed classes"),
        (Canary::GroupsUnaligned, "torn writes spoil whole sectors"),
        (Canary::RetryInFailedSegment, "a write fails behind its last byte"),
    ];
    for (canary, name) in canaries {
        println!("{canary:?}");
        let build_in = |workload: &mut Workload| workload.config.canary = Some(canary);
        assert!(is_noticed(name, build_in), "{canary:?}");
    }
    let disks = [
        (Sloppiness::NoDirectorySync, "mixed classes"),
        (Sloppiness::NoSyncAtOpen, "killed twice"),
        (Sloppiness::ReadsCache, "a sync fails, and the store is opened anew"),
    ];
    for (sloppiness, name) in disks {
        println!("{sloppiness:?}");
        let build_in = |workload: &mut Workload| workload.sloppiness = Some(sloppiness);
        assert!(is_noticed(name, build_in), "{sloppiness:?}");
    }
}

/// Appends over several segments, all of it synced; the process dies; returns how the end is found.
fn tail_after_synced_appends(canary: Option<Canary>) -> Tail {
    let config = LogConfig {
        segment_bytes: 16 * 1024,
        has_housekeeper: false,
        canary,
        ..LogConfig::default()
    };
    let (sim, machine) = (Sim::new(3), Arc::new(FixedMachine::new(3)));
    let log = workload::open(sim.disk(), machine.clone(), &config, None).expect("a fresh store");
    let first = workload::batch("a", 0, 1, 0, 1);
    log.create("a", &workload::header("a"), first, Synced).expect("room");
    for seq in 1..10 {
        log.append("a", workload::batch("a", seq, 1, 900, seq), Synced).expect("room");
    }
    sim.kill();
    drop(log);
    workload::open(sim.disk(), machine, &config, None).expect("a sound store").tail()
}

#[test]
fn nothing_lies_behind_a_log_that_was_synced_to_its_end() {
    assert_eq!(tail_after_synced_appends(None), Tail::Clean);
    assert_eq!(tail_after_synced_appends(Some(Canary::SpareNotZeroed)), Tail::Torn);
}
