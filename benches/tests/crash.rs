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

/// Returns whether any workload notices a mistake.
fn is_noticed(build_in: impl Fn(&mut Workload)) -> bool {
    let thorough = Enumeration { stride: 23, recovery_stride: 4_999, ..quick() };
    workloads::all().into_iter().any(|mut workload| {
        build_in(&mut workload);
        thorough.of(&workload).inspect_err(|what| println!("{what}")).is_err()
    })
}

#[test]
fn mistakes_on_purpose_are_noticed() {
    // The two that only rot can show are tried with the flips.
    let canaries = [
        Canary::TrustsTornSector,
        Canary::AckBeforeDirectorySync,
        Canary::DurableOneGroupEarly,
        Canary::GroupsUnaligned,
        Canary::RetryInFailedSegment,
    ];
    for canary in canaries {
        println!("{canary:?}");
        assert!(is_noticed(|workload| workload.config.canary = Some(canary)), "{canary:?}");
    }
    let disks = [Sloppiness::NoDirectorySync, Sloppiness::NoSyncAtOpen, Sloppiness::ReadsCache];
    for sloppiness in disks {
        println!("{sloppiness:?}");
        assert!(is_noticed(|workload| workload.sloppiness = Some(sloppiness)), "{sloppiness:?}");
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
