//! A slice of the crash enumeration: `cargo run --bin crash-states` has the whole.

use gatelog_benches::trial::{Enumeration, Step, Tally, Workload};
use gatelog_engine::backend::Durability::{Buffered, Synced, Written};

fn quick() -> Enumeration {
    Enumeration { drawn: 16, stride: 17, depth: 1, recovery_stride: 31, seed: 1 }
}

fn tried(workload: &Workload) -> Tally {
    let tally = quick().of(workload).unwrap_or_else(|what| panic!("{what}"));
    println!("{}: {tally:?}", workload.name);
    assert!(tally.power_cuts > 0 && tally.kills > 0 && tally.recoveries > 0, "{tally:?}");
    tally
}

#[test]
fn a_power_cut_never_refuses_the_store() {
    tried(&Workload::new("mixed classes", vec![
        Step::Create("a", Synced),
        Step::Append("a", 1, 0, Written),
        Step::Append("a", 1, 0, Buffered),
        Step::Append("a", 2, 600, Synced),
        Step::Append("a", 1, 0, Written),
        Step::Tick,
        Step::Tick,
    ]));
}
