//! A slice of the crash enumeration: `cargo run --release --bin crash-states` has the whole.

use gatelog_benches::trial::reference::{self, Depth};
use gatelog_benches::trial::{
    Enumeration, FixedMachine, Sloppiness, Step, Tally, Workload, workload, workloads,
};
use gatelog_engine::backend::Durability::{Synced, Written};
use gatelog_engine::backend::{Backend, ErrorKind};
use gatelog_engine::log::{Canary, Log, LogConfig, Tail};
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Unit, UnitKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

fn quick() -> Enumeration {
    Enumeration { drawn: 16, stride: 101, depth: 1, recovery_stride: 211, repeats: false, seed: 1 }
}

#[test]
fn a_power_cut_never_refuses_the_store() {
    for workload in workloads::all() {
        let tally =
            quick().of(&workload, &AtomicU64::new(0)).unwrap_or_else(|what| panic!("{what}"));
        println!("{}: {tally:?}", workload.name);
        let [power_cuts, recoveries, _] = tally.opened;
        assert!(power_cuts > 0 && tally.kills > 0 && recoveries > 0, "{tally:?}");
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

/// A store of one segment, whose end a cut may tear.
fn short() -> Workload {
    let steps = vec![Step::Create("a", Synced), Step::Append("a", 1, 0, Written)];
    let mut short = Workload::new("short", steps);
    short.config.segment_bytes = 32 * 1024;
    short
}

/// Walks all that a power cut leaves of the short workload at one moment in so many, and of its
/// recoveries so deep.
fn walk(
    one_in: usize,
    sloppiness: Option<Sloppiness>,
    depth: usize,
    repeats: bool,
) -> Result<Tally, String> {
    let workload = Workload { sloppiness, ..short() };
    let whole = Enumeration { stride: 1, depth, recovery_stride: 1, repeats, ..quick() };
    whole.of_some(&workload, one_in, &AtomicU64::new(0))
}

/// What is wrong only while a recovery is cut off, or only while the recovery of a crashed one is,
/// is found so deep and no earlier.
#[test]
fn mistakes_that_only_a_crashed_recovery_shows_are_noticed() {
    for depth in 1..=2 {
        let sloppiness = Some(Sloppiness::StoreBeforeSegment(depth));
        let before = walk(7, sloppiness, depth - 1, false);
        assert!(before.is_ok(), "{depth}: {before:?}");
        let what = walk(7, sloppiness, depth, false).expect_err("it was noticed");
        assert_eq!(what.matches("recovery crashed").count(), depth, "{what}");
        assert!(what.contains("segment/"), "{what}");
    }
}

#[test]
fn a_walk_without_repeats_reaches_what_the_whole_one_reaches() {
    let (some, all) = (walk(26, None, 1, false), walk(26, None, 1, true));
    let (some, all) = (some.expect("it is sound"), all.expect("it is sound"));
    println!("{some:?}\n{all:?}");
    assert_eq!((some.images, some.reached), (all.images, all.reached));
    assert_eq!(all.opened, all.made);
    assert!(some.opened[1] * 4 < all.opened[1], "{some:?}\n{all:?}");
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

/// What a power cut left of `DURABLE`, which is never synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    Lost,
    /// As it was before the last sync.
    Older,
    Kept,
}

const RECORDS: [Record; 3] = [Record::Lost, Record::Older, Record::Kept];

/// Cuts the power behind the last sync of a disk.
fn cut_power(sim: &Sim, record: Record) -> Sim {
    let is_name = |unit: &Unit| matches!(&unit.kind, UnitKind::Name(name) if name == "DURABLE");
    let is_bytes = |unit: &Unit| unit.path.ends_with("DURABLE");
    let last = sim.unsynced().into_iter().filter(is_bytes).map(|unit| unit.operation).max();
    sim.power_cut(|unit| match record {
        Record::Lost => false,
        Record::Older => is_name(unit) || is_bytes(unit) && Some(unit.operation) < last,
        Record::Kept => is_name(unit) || is_bytes(unit),
    })
}

/// Appends three groups, each acknowledged as synced; cuts the power; turns one bit of the group
/// over that has so many behind it, at every ninth place; returns the lsn of that group and what
/// each opening found.
fn rot(canary: Option<Canary>, record: Record, behind: usize) -> (u64, Vec<Found>) {
    let config = LogConfig { has_housekeeper: false, canary, ..LogConfig::default() };
    let (sim, machine) = (Sim::new(5), Arc::new(FixedMachine::new(5)));
    let log = workload::open(sim.disk(), machine.clone(), &config, None).expect("a fresh store");
    append_synced(&log, 3, 0);
    let cut = cut_power(&sim, record);
    drop(log);
    let files = reference::load(&cut.disk(), Path::new(workload::DIR)).expect("it can be read");
    let frames = reference::read(&files, Depth::Whole).frames;
    assert_eq!(frames.len(), 3, "{frames:?}");
    let rotten = &frames[frames.len() - 1 - behind];
    let path = Path::new(workload::DIR).join(format!("{:020}.log", rotten.segment));
    let bits = (0..rotten.bytes * 8).step_by(9);
    let found = bits.map(|bit| {
        let disk = cut.clone();
        disk.flip(&path, rotten.offset + bit / 8, (bit % 8) as u8).expect("it is there");
        match workload::open(disk.disk(), machine.clone(), &config, None) {
            Ok(log) => Ok(log.progress().1),
            Err(error) => {
                assert_eq!(error.kind, ErrorKind::Corrupt, "bit {bit}: {error}");
                Err(error.rule)
            }
        }
    });
    (rotten.lsn, found.collect())
}

/// Rot in a group is refused, or all of it is cut as what no witness ever covered.
fn assert_rot(canary: Option<Canary>, record: Record, behind: usize, is_refused: bool) {
    let (lsn, found) = rot(canary, record, behind);
    assert!(found.len() > 100, "{}", found.len());
    for found in found {
        let is_right = match found {
            Err(rule) => is_refused && matches!(rule, Some("frame/header" | "frame/body")),
            Ok(last) => !is_refused && last == lsn - 1,
        };
        assert!(is_right, "{canary:?}, DURABLE {record:?}, lsn {lsn}: {found:?}");
    }
}

#[test]
fn rot_in_the_last_but_one_group_is_refused() {
    // The frame behind it states that it was durable, whatever became of `DURABLE`.
    for record in RECORDS {
        assert_rot(None, record, 1, true);
    }
}

#[test]
fn rot_in_the_last_group_is_refused_while_durable_states_it() {
    for record in RECORDS {
        assert_rot(None, record, 0, record == Record::Kept);
    }
}

/// A store whose frames and `DURABLE` are a group late vouches for nothing that was just
/// acknowledged: rot in it is cut, and nobody is told.
#[test]
fn witnesses_that_are_a_group_late_are_noticed() {
    let late = Some(Canary::DurableOneGroupLate);
    for record in RECORDS {
        assert_rot(late, record, 0, false);
        // What `DURABLE` was told behind the last sync is the last but one group, if it is late:
        // with that record rot there is refused by either store, and only the last group tells.
        assert_rot(late, record, 1, record == Record::Kept);
    }
}
