//! A slice of the crash enumeration: `cargo run --bin crash-states` has the whole.

use gatelog_benches::trial::{Enumeration, Sloppiness, Workload, workloads};
use gatelog_engine::log::Canary;

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
    let thorough = Enumeration { stride: 7, recovery_stride: 499, ..quick() };
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
        Canary::SpareNotZeroed,
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
