//! A slice of the crash enumeration: `cargo run --release --bin crash-states` has the whole.

use gatelog_benches::trial::reference::{self, Depth};
use gatelog_benches::trial::{
    Enumeration, FixedMachine, Sloppiness, Workload, workload, workloads,
};
use gatelog_engine::backend::Durability::Synced;
use gatelog_engine::backend::{Backend, ErrorKind};
use gatelog_engine::log::{Canary, Log, LogConfig, Tail};
use gatelog_engine::storage::Sim;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

fn quick() -> Enumeration {
    Enumeration { drawn: 16, stride: 101, depth: 1, recovery_stride: 211, seed: 1 }
}

#[test]
fn a_power_cut_never_refuses_the_store() {
    for workload in workloads::all() {
        let tally =
            quick().of(&workload, &AtomicU64::new(0)).unwrap_or_else(|what| panic!("{what}"));
        println!("{}: {tally:?}", workload.name);
        assert!(tally.power_cuts > 0 && tally.kills > 0 && tally.recoveries > 0, "{tally:?}");
    }
}

/// Returns whether a workload notices a mistake.
fn is_noticed(name: &str, build_in: impl Fn(&mut Workload)) -> bool {
    let thorough = Enumeration { stride: 1, depth: 0, ..quick() };
    let mut workload = workloads::all().into_iter().find(|it| it.name == name).expect("its name");
    build_in(&mut workload);
    thorough.of(&workload, &AtomicU64::new(0)).inspect_err(|what| println!("{what}")).is_err()
}

#[test]
fn mistakes_on_purpose_are_noticed() {
    // What only rot can show, and spares, have tests of their own.
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

/// Creates a session and appends to it, event by event, each of so many bytes and synced.
fn append_synced(log: &Log, events: u64, bytes: usize) {
    let first = workload::batch("a", 0, 1, 0, 1);
    log.create("a", &workload::header("a"), first, Synced).expect("room");
    for seq in 1..events {
        log.append("a", workload::batch("a", seq, 1, bytes, seq), Synced).expect("room");
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
    append_synced(&log, 10, 900);
    sim.kill();
    drop(log);
    workload::open(sim.disk(), machine, &config, None).expect("a sound store").tail()
}

#[test]
fn nothing_lies_behind_a_log_that_was_synced_to_its_end() {
    assert_eq!(tail_after_synced_appends(None), Tail::Clean);
    assert_eq!(tail_after_synced_appends(Some(Canary::SpareNotZeroed)), Tail::Torn);
}

/// What became of a store of which one bit had rotted: the rule that refused it, or its last lsn.
type Found = Result<u64, Option<&'static str>>;

/// Appends three groups, each acknowledged as synced; cuts the power; turns one bit of the last but
/// one over, at every ninth place; returns its lsn and what each opening found.
///
/// `DURABLE` is never synced, so that the cut may take it: what is left to say that the group was
/// durable is the frame behind it.
fn rot_in_the_last_but_one_group(canary: Option<Canary>, keeps_durable: bool) -> (u64, Vec<Found>) {
    let config = LogConfig { has_housekeeper: false, canary, ..LogConfig::default() };
    let (sim, machine) = (Sim::new(5), Arc::new(FixedMachine::new(5)));
    let log = workload::open(sim.disk(), machine.clone(), &config, None).expect("a fresh store");
    append_synced(&log, 3, 0);
    let cut = sim.power_cut(|unit| keeps_durable && unit.path.ends_with("DURABLE"));
    drop(log);
    let files = reference::load(&cut.disk(), Path::new(workload::DIR)).expect("it can be read");
    let frames = reference::read(&files, Depth::Whole).frames;
    let [.., acknowledged, _] = &frames[..] else { panic!("{frames:?}") };
    let path = Path::new(workload::DIR).join(format!("{:020}.log", acknowledged.segment));
    let bits = (0..acknowledged.bytes * 8).step_by(9);
    let found = bits.map(|bit| {
        let rotten = cut.clone();
        rotten.flip(&path, acknowledged.offset + bit / 8, (bit % 8) as u8).expect("it is there");
        match workload::open(rotten.disk(), machine.clone(), &config, None) {
            Ok(log) => Ok(log.progress().1),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Corrupt, "bit {bit}: {error}");
                Err(error.rule)
            }
        }
    });
    (acknowledged.lsn, found.collect())
}

#[test]
fn rot_in_the_last_but_one_group_is_refused() {
    for keeps_durable in [false, true] {
        let (_, found) = rot_in_the_last_but_one_group(None, keeps_durable);
        assert!(found.len() > 100, "{}", found.len());
        for found in found {
            assert!(matches!(found, Err(Some("frame/header" | "frame/body"))), "{found:?}");
        }
    }
    // A frame that is a group late vouches for nothing that was just acknowledged: it is cut, and
    // nobody is told.
    let late = Some(Canary::DurableOneGroupLate);
    let (lsn, found) = rot_in_the_last_but_one_group(late, false);
    assert!(found.iter().all(|found| *found == Ok(lsn - 1)), "{lsn}: {found:?}");
}
