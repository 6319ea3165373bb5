//! Recovery that crashes: between any two of its steps, and again in the recovery after that.

use super::build::{Built, SEGMENT_BYTES, Written, lsns, recover};
use crate::log::frame::Kind;
use crate::log::opened::Opened;
use crate::log::segment_file::write_all;
use crate::log::segment_header::Begin;
use crate::storage::Sim;
use crate::storage::sim::{Call, Cause, Failure, Fault};

/// Stores that recovery has something to do with.
fn stores() -> Vec<(&'static str, Built)> {
    let log = Written::first().groups(2);
    let mut torn = log.clone();
    let start = torn.group(2, 2);
    torn.bytes[start as usize + 200] ^= 1;
    let closed = log.clone().table(Kind::Close);
    let rotated = log.clone().table(Kind::Rotate);
    let next = rotated.next(Begin::Rotated);
    let mut shell = next.clone();
    shell.bytes[100] ^= 1;
    let named = rotated.slot(2);
    vec![
        ("nothing", Built::new()),
        ("unclean", Built::of(&[&log])),
        ("torn", Built::of(&[&torn])),
        ("closed", Built::of(&[&closed]).store(&closed.clean_slot())),
        ("rotated", Built::of(&[&rotated])),
        ("lost rename", Built::of(&[&rotated]).with("spare-1", &next.bytes)),
        ("shell", Built::of(&[&rotated, &shell]).store(&named)),
        ("no superblock", Built::new().with(&log.name(), &log.bytes)),
        ("spare", Built::of(&[&torn]).with("spare-9", &vec![0; SEGMENT_BYTES as usize])),
    ]
}

fn kept(sim: &Sim) -> Vec<u64> {
    let built = Built(sim.clone());
    built.read().map_or_else(|_| Vec::new(), |reader| lsns(&reader))
}

/// Asserts that a store opens and keeps what it should, and that everything is durable then.
fn opens(sim: &Sim, expected: &[u64], what: &str) -> Opened {
    let opened = recover(sim).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(kept(sim), expected, "{what}");
    opened
}

/// Writes one frame into the active segment as a writer would, and syncs it.
fn append(sim: &Sim, opened: &Opened) -> u64 {
    let mut log = Written::of(opened.active.header.clone(), 0, 0);
    log.end = opened.end_offset;
    log.next_lsn = opened.next_lsn;
    log.last_lsn = opened.durable_lsn;
    log.digest = opened.digest;
    let start = log.group(1, opened.durable_lsn);
    let group = &log.bytes[start as usize..log.end.next_multiple_of(4096) as usize];
    write_all(&*opened.active.file, start, group).expect("written");
    opened.active.file.sync_data().expect("synced");
    // A shell whose quarantine failed half-way held nothing.
    let mut unsynced = sim.unsynced();
    unsynced.retain(|unit| !unit.path.ends_with("quarantine"));
    assert!(unsynced.is_empty(), "{unsynced:?}");
    log.last_lsn
}

/// Crash states of each moment of a recovery, so many at most of one moment.
fn crashes(sim: &Sim, seed: u64, each: usize) -> Vec<Sim> {
    let run = sim.clone();
    run.record_moments();
    recover(&run).expect("opened");
    let moments = run.take_moments();
    let states = moments.iter().flat_map(|moment| moment.crash_states(16, seed).take(each));
    let mut digests = std::collections::HashSet::new();
    states.map(|(_, sim)| sim).filter(|sim| digests.insert(sim.digest())).collect()
}

#[test]
fn a_recovery_that_crashes_at_any_step_is_made_up_for_twice_nested() {
    for spoils in [0, 4096] {
        for (name, store) in stores() {
            store.0.torn_write_spoils_physical_sector(spoils);
            let expected = kept(&store.0);
            let once = crashes(&store.0, 1, 48);
            assert!(once.len() > 2, "{name}: {}", once.len());
            for (first, crashed) in once.iter().enumerate() {
                let what = format!("{name}, crash {first}");
                let opened = opens(&crashed.clone(), &expected, &what);
                assert!(opened.closed.len() <= 2, "{what}");
                for (second, again) in crashes(crashed, 2, 6).iter().enumerate() {
                    let what = format!("{what}, then {second}");
                    let opened = opens(again, &expected, &what);
                    let files = again.files();
                    let logs =
                        files.iter().filter(|path| path.extension().is_some_and(|it| it == "log"));
                    assert!(logs.count() <= 3, "{what}: {files:?}");
                    // What is appended after that is kept over one more crash.
                    let lsn = append(again, &opened);
                    drop(opened);
                    let cut = again.power_cut(|_| false);
                    let mut more = expected.clone();
                    more.push(lsn);
                    opens(&cut, &more, &what);
                }
            }
        }
    }
}

#[test]
fn a_recovery_in_which_any_call_fails_is_made_up_for() {
    // An error, a sync that leaves clean pages, a call that is done and fails, the death of the
    // process; then a second open without and with a power cut between.
    let failures = [
        Failure::Error(Cause::Eio),
        Failure::ErrorDirty(Cause::Eio),
        Failure::ErrorAfter(Cause::Eio),
        Failure::Error(Cause::NoSpace),
        Failure::Error(Cause::Killed),
    ];
    for (name, store) in stores() {
        let expected = kept(&store.0);
        for failure in failures {
            for nth in 0.. {
                let run = store.0.clone();
                run.fail(Fault::new(Call::Change, failure).after(nth));
                let failed = recover(&run);
                if run.faults_left() > 0 {
                    break;
                }
                let what = format!("{name}, {failure:?} at {nth}");
                // What was opened in spite of it, such as when a leftover stayed, is open.
                let cut = run.power_cut(|_| false);
                run.kill();
                run.heal();
                let is_open = failed.is_ok();
                drop(failed);
                assert!(is_open || !kept(&cut).is_empty() || expected.is_empty(), "{what}");
                opens(&cut, &expected, &what);
                let opened = opens(&run, &expected, &what);
                let lsn = append(&run, &opened);
                let mut more = expected.clone();
                more.push(lsn);
                opens(&run.power_cut(|_| false), &more, &format!("{what}, then a power cut"));
            }
        }
    }
}

#[test]
fn a_fresh_segment_whose_first_group_tears_ten_times_costs_one_segment_each_time_it_tears() {
    let log = Written::first().groups(2);
    let store = Built::of(&[&log]);
    let mut sim = store.0.clone();
    for tear in 0..10 {
        let opened = opens(&sim, &[1, 2], &format!("tear {tear}"));
        // Opened again before anything was written, the same segment is used.
        let again = opens(&sim.clone(), &[1, 2], "again");
        assert_eq!(again.active.header, opened.active.header, "tear {tear}");
        assert_eq!(opened.next_lsn, 3 + tear);
        assert_eq!(opened.active.header.prev_last_lsn, 2);
        for crashed in crashes(&sim, tear, 48) {
            opens(&crashed, &[1, 2], &format!("tear {tear}, crashed"));
        }
        let mut next = Written::of(opened.active.header.clone(), 0, 0);
        let start = next.group(2, 2);
        let group = &next.bytes[start as usize..][..4096];
        write_all(&*opened.active.file, start, group).expect("written");
        // The last sector of the group does not arrive.
        let kinds = |unit: &crate::storage::sim::Unit| {
            unit.kind != crate::storage::sim::UnitKind::Sector(8)
        };
        sim = sim.power_cut(kinds);
        let files = sim.files().len() as u64;
        assert!(files <= 1 + 1 + (tear + 1), "{:?}", sim.files());
    }
}

#[test]
fn the_old_file_never_changes_and_the_cut_is_stated() {
    let log = Written::first().groups(2);
    let mut torn = log.clone();
    let start = torn.group(2, 2);
    torn.bytes[start as usize + 200] ^= 1;
    let store = Built::of(&[&torn]);
    for crashed in crashes(&store.0, 5, 128) {
        let opened = opens(&crashed, &[1, 2], "crashed");
        let path = format!("/store/{}", torn.name());
        assert_eq!(crashed.images(&path).expect("a file").device, torn.bytes);
        let header = &opened.active.header;
        let (from, count) = (header.prev_end_offset as usize, header.cut_bytes as usize);
        assert_eq!(header.begin, Begin::TornCut);
        assert_eq!(crc32fast::hash(&torn.bytes[from..from + count]), header.cut_crc);
        assert!(torn.bytes[from + count..].iter().all(|byte| *byte == 0));
    }
}

/// What happened to the last group before the process died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The kernel has it, dirty.
    Dirty,
    /// Its sync failed: the kernel shows it, clean, and the device lacks it.
    Failed,
    /// The same, of a segment without a frame before it.
    FailedFirst,
}

#[test]
fn what_only_the_cache_shows_is_never_vouched_for() {
    for device_reads in [true, false] {
        for fate in [Fate::Dirty, Fate::Failed, Fate::FailedFirst] {
            let what = format!("{fate:?}, device reads {device_reads}");
            let store = Built::of(&[&Written::first().groups(2)]);
            store.0.set_device_reads(device_reads);
            let sim = store.0.clone();
            let opened = recover(&sim).expect("opened");
            let mut log = Written::of(opened.active.header.clone(), 0, 0);
            (log.end, log.next_lsn) = (opened.end_offset, opened.next_lsn);
            if fate != Fate::FailedFirst {
                append(&sim, &opened);
                log.group(1, 2);
            }
            let synced = log.last_lsn;
            let start = log.group(1, synced);
            let group = &log.bytes[start as usize..][..4096];
            write_all(&*opened.active.file, start, group).expect("written");
            if fate != Fate::Dirty {
                sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Eio)).on("*.log"));
                assert!(opened.active.file.sync_data().is_err());
            }
            sim.kill();
            drop(opened);
            // The second life: everything that it keeps is durable, at every moment of it.
            let run = sim.clone();
            run.record_moments();
            let again = recover(&run).unwrap_or_else(|error| panic!("{what}: {error}"));
            let kept = kept(&run);
            // The death of a process costs nothing that the kernel had; a failed sync may, and
            // costs it where only the device counts.
            let has_group = kept.contains(&log.last_lsn);
            assert_eq!(has_group, fate == Fate::Dirty || !device_reads, "{what}");
            assert_eq!(again.durable_lsn, *kept.last().expect("frames"), "{what}");
            let lsn = append(&run, &again);
            let mut all = kept.clone();
            all.push(lsn);
            assert_eq!(self::kept(&run.power_cut(|_| false)), all, "{what}");
            for moment in run.take_moments() {
                for (choice, crashed) in moment.crash_states(64, 9).take(256) {
                    let what = format!("{what}, operation {}, {choice}", moment.operations());
                    let third = recover(&crashed).unwrap_or_else(|error| panic!("{what}: {error}"));
                    let lsns = self::kept(&crashed);
                    assert!(third.durable_lsn >= synced, "{what}: {lsns:?}");
                }
            }
        }
    }
}

#[test]
fn each_step_is_durable_before_the_next() {
    let log = Written::first().groups(2);
    let store = Built::of(&[&log]);
    recover(&store.0).expect("opened");
    let steps: Vec<String> = store.0.trace().iter().map(step).collect();
    let mut steps = steps.iter().map(String::as_str).collect::<Vec<_>>();
    steps.dedup();
    let expected = [
        "Sync 00000000000000000001.log",
        "Create spare-1",
        "Write spare-1",
        "Sync spare-1",
        "SyncDir store",
        "Write spare-1",
        "Sync spare-1",
        "Rename spare-1",
        "SyncDir store",
        "Write STORE",
        "Sync STORE",
        "SyncDir store",
    ];
    assert_eq!(steps, expected);
    // Once before the device is read, once after.
    assert_eq!(store.0.counts(&log.name()).syncs, 2);
}

fn step(traced: &crate::storage::sim::Traced) -> String {
    let name = traced.path.file_name().unwrap_or_default().to_string_lossy();
    format!("{:?} {name}", traced.call)
}
