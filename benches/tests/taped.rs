//! Workloads told from tapes: what the fuzz target `store_ops` found once, and tapes drawn here.

#[path = "../../fuzz/regressions.rs"]
mod regressions;

use gatelog_benches::Random;
use gatelog_benches::trial::{Step, taped};
use gatelog_engine::log::Canary;

/// Tapes that look at random, the same in every run.
fn drawn(number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    (0..64).map(|_| random.below(256) as u8).collect()
}

#[test]
fn what_was_found_once_holds_now() {
    regressions::replay("store_ops", |tape| {
        let tally = taped::check(tape).unwrap_or_else(|what| panic!("{what}"));
        assert!(tally.kills > 0, "{tally:?}");
    });
}

#[test]
fn tapes_lose_nothing_that_was_promised() {
    for number in 1..=12 {
        taped::check(&drawn(number)).unwrap_or_else(|what| panic!("tape {number}: {what}"));
    }
}

#[test]
fn tapes_tell_every_step() {
    let steps: Vec<_> = (1..=60).flat_map(|number| taped::workload(&drawn(number)).steps).collect();
    let told = |is: fn(&Step) -> bool| steps.iter().any(is);
    assert!(told(|step| matches!(step, Step::Fail(_))) && told(|step| matches!(step, Step::Heal)));
    assert!(told(|step| matches!(step, Step::Kill)) && told(|step| matches!(step, Step::Restart)));
    assert!(told(|step| matches!(step, Step::Tick)) && told(|step| matches!(step, Step::Reopen)));
}

#[test]
fn a_mistake_on_purpose_is_noticed() {
    let is_noticed = (1..=30).any(|number| {
        let mut workload = taped::workload(&drawn(number));
        workload.config.canary = Some(Canary::AckBeforeDirectorySync);
        taped::check_workload(&workload, number).is_err()
    });
    assert!(is_noticed);
}
