//! A slice of the crash enumeration: `cargo run --bin crash-states` has the whole.

use gatelog_benches::trial::{Enumeration, workloads};

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
