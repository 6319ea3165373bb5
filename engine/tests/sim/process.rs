//! Processes: their death, their locks, their syncs, and what they were seen to do.

use std::path::Path;
use std::thread;
use std::time::Duration;

use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use gatelog_engine::storage::{Create, DirLocked, Sim, SimDisk, Storage, Volume};

use crate::{disk_with, open, seen, write};

/// Longer than any test waits unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn a_killed_process_leaves_the_cache_and_nothing_else() {
    let (sim, file) = disk_with("/f", b"abc");
    let disk = sim.disk();
    assert!(file.try_lock().expect("it locks"));
    let DirLocked::Ours(lock) = disk.try_lock_dir(Path::new("/")).expect("it locks") else {
        panic!("nobody has it");
    };
    write(&*file, 0, b"ABC");
    sim.kill();
    // Nothing that the dead process had does anything.
    assert!(file.read_at(0, &mut [0]).is_err() && file.write_at(0, b"x").is_err());
    assert!(file.sync_data().is_err() && file.set_len(0).is_err() && file.stat().is_err());
    assert!(disk.list(Path::new("/")).is_err() && disk.sync_dir(Path::new("/")).is_err());
    assert!(disk.open_write(Path::new("/g"), Create::New).is_err() && lock.unlock().is_err());
    assert_eq!(seen(&sim, "/f").expect("a file"), b"ABC");
    assert_eq!(sim.images("/f").expect("a file").device, b"abc");
    // The next process has the locks for the asking, and a late drop takes none away.
    let next = open(&sim, "/f");
    assert!(next.try_lock().expect("it locks"));
    drop((file, lock));
    assert!(!open(&sim, "/f").try_lock().expect("it is taken"));
    assert!(matches!(sim.disk().try_lock_dir(Path::new("/")), Ok(DirLocked::Ours(_))));
}

#[test]
fn a_process_dies_in_a_call() {
    let (sim, file) = disk_with("/f", b"");
    sim.fail(Fault::new(Call::Change, Failure::ShortError(2, Cause::Killed)).after(1));
    write(&*file, 0, b"a");
    assert!(file.write_at(1, b"bcd").is_err());
    assert!(file.write_at(1, b"bcd").is_err());
    assert_eq!(seen(&sim, "/f").expect("a file"), b"abc");
    let file = open(&sim, "/f");
    sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Killed)));
    assert!(file.sync_data().is_err() && file.stat().is_err());
    assert_eq!(sim.images("/f").expect("a file").device, b"", "nothing was synced");
    assert!(!sim.unsynced().is_empty(), "and nothing became clean");
}

#[test]
fn a_lock_outlives_its_handle() {
    // A child that is being spawned may hold a copy: only `unlock` and death are sure.
    let (sim, file) = disk_with("/f", b"");
    assert!(file.try_lock().expect("it locks"));
    assert!(file.try_lock().expect("it is ours already"));
    drop(file);
    assert!(!open(&sim, "/f").try_lock().expect("it is taken"));
}

#[test]
fn a_held_sync_waits_and_carries_only_what_was_written_before_it() {
    let (sim, file) = disk_with("/f", b"aa");
    write(&*file, 0, b"b");
    sim.hold_syncs();
    thread::scope(|scope| {
        let syncing = scope.spawn(|| file.sync_data());
        assert!(sim.wait_for_held_syncs(1, PATIENCE));
        assert_eq!(sim.images("/f").expect("a file").device, b"aa", "it has not happened yet");
        write(&*file, 1, b"c");
        write(&*file, 4, b"d");
        sim.release_syncs();
        syncing.join().expect("no panic").expect("it syncs");
    });
    assert_eq!(sim.images("/f").expect("a file").device, b"ba");
    assert_eq!(sim.unsynced().len(), 3, "both later contents and the size are unsynced");
    file.sync_data().expect("it syncs");
    assert_eq!(sim.images("/f").expect("a file").device, b"bc\0\0d");
}

#[test]
fn a_held_sync_of_a_directory_carries_only_the_names_before_it() {
    let (sim, _file) = disk_with("/f", b"");
    let disk = sim.disk();
    drop(open(&sim, "/before"));
    sim.hold_syncs();
    thread::scope(|scope| {
        let syncing = scope.spawn(|| disk.sync_dir(Path::new("/")));
        assert!(sim.wait_for_held_syncs(1, PATIENCE));
        drop(open(&sim, "/after"));
        sim.release_syncs();
        syncing.join().expect("no panic").expect("it syncs");
    });
    let cut = sim.power_cut(|_| false);
    assert_eq!(cut.files(), [Path::new("/before"), Path::new("/f")]);
}

#[test]
fn held_syncs_are_let_go_one_by_one_or_by_death() {
    let (sim, file) = disk_with("/f", b"");
    let disk = sim.disk();
    sim.hold_syncs();
    assert!(!sim.wait_for_held_syncs(1, Duration::ZERO));
    thread::scope(|scope| {
        let first = scope.spawn(|| file.sync_data());
        assert!(sim.wait_for_held_syncs(1, PATIENCE));
        sim.release_one_sync();
        first.join().expect("no panic").expect("it syncs");
        let second = scope.spawn(|| disk.sync_dir(Path::new("/")));
        assert!(sim.wait_for_held_syncs(1, PATIENCE));
        sim.kill();
        assert!(second.join().expect("no panic").is_err());
        // The test's own handle is of no process.
        sim.release_syncs();
        sim.sync_dir(Path::new("/")).expect("it syncs");
    });
}

#[test]
fn what_is_done_is_counted_by_name() {
    let (sim, file) = disk_with("/store/1.log", &[1; 5000]);
    sim.reset_counts();
    write(&*file, 0, &[2; 100]);
    write(&*file, 100, &[2; 50]);
    file.read_at(4990, &mut [0; 100]).expect("readable");
    file.read_device_at(0, &mut [0; 4096]).expect("readable");
    file.sync_data().expect("it syncs");
    sim.disk().rename(Path::new("/store/1.log"), Path::new("/store/2.log")).expect("renamed");
    file.sync_data().expect("it syncs");
    sim.disk().sync_dir(Path::new("/store")).expect("it syncs");
    let log = sim.counts("*.log");
    assert_eq!((log.writes, log.bytes_written, log.syncs, log.dir_syncs), (2, 150, 2, 0));
    assert_eq!((log.reads, log.bytes_read), (1, 10));
    assert_eq!((log.device_reads, log.device_bytes_read), (1, 4096));
    assert_eq!((sim.counts("1.log").syncs, sim.counts("/store/2.log").syncs), (1, 1));
    assert_eq!((sim.counts("store").dir_syncs, sim.counts("*").dir_syncs), (1, 1));
}

#[test]
fn the_trace_says_what_was_done_in_order() {
    let (sim, file) = disk_with("/f", b"");
    write(&*file, 7, b"abc");
    file.sync_data().expect("it syncs");
    sim.disk().rename(Path::new("/f"), Path::new("/g")).expect("renamed");
    sim.fail(Fault::new(Call::SetLen, Failure::Error(Cause::NoSpace)));
    file.set_len(1).expect_err("told to");
    let trace: Vec<String> = sim.trace().iter().map(ToString::to_string).collect();
    assert_eq!(trace[..3], ["2 Write /f at 7 bytes 3", "3 Sync /f", "4 Rename /f to /g"]);
    assert!(trace[3].starts_with("4 SetLen /g at 0 bytes 1: "), "{}", trace[3]);
    assert_eq!(trace.len(), 4);
}

#[test]
fn the_moments_of_a_run_are_states_before_in_and_after_each_operation() {
    let (sim, file) = disk_with("/f", b"a");
    sim.record_moments();
    write(&*file, 0, b"b");
    file.sync_data().expect("it syncs");
    sim.disk().rename(Path::new("/f"), Path::new("/g")).expect("renamed");
    let moments = sim.take_moments();
    let operations: Vec<u64> = moments.iter().map(|sim| sim.operations()).collect();
    assert_eq!(operations, [1, 2, 3, 4]);
    let left = |sim: &Sim| -> Vec<Vec<u8>> {
        sim.files().iter().map(|path| sim.image(path).expect("a file")).collect()
    };
    let states: Vec<usize> = moments.iter().map(|sim| sim.crash_states(0, 1).count()).collect();
    assert_eq!(states, [1, 2, 1, 2]);
    assert_eq!(left(&moments[1].power_cut(|_| false)), [b"a"]);
    assert_eq!(left(&moments[2].power_cut(|_| false)), [b"b"]);
    // They are disks of their own, and the recording is over.
    write(&*open(&moments[0], "/f"), 0, b"z");
    assert_eq!(left(&sim), [b"b"]);
    assert!(sim.take_moments().is_empty());
}

#[test]
fn a_clone_is_a_disk_of_its_own() {
    let (sim, file) = disk_with("/f", &[1; 10_000]);
    assert!(file.try_lock().expect("it locks"));
    let copy = sim.clone();
    assert_eq!(copy.digest(), sim.digest());
    write(&*file, 0, &[2]);
    assert_eq!(seen(&copy, "/f").expect("a file"), [1; 10_000]);
    assert!(open(&copy, "/f").try_lock().expect("nobody has it open there"));
    assert_ne!(copy.digest(), sim.digest());
}

#[test]
fn threads_share_a_disk() {
    fn shared<T: Send + Sync>(_: &T) {}
    let sim = Sim::new(1);
    shared(&sim);
    let disk: SimDisk = sim.disk();
    thread::scope(|scope| {
        for thread in 0..4 {
            let disk = disk.clone();
            scope.spawn(move || {
                let path = format!("/{thread}");
                let file = disk.open_write(Path::new(&path), Create::New).expect("a file");
                for round in 0..200 {
                    write(&*file, round, &[thread]);
                    file.sync_data().expect("it syncs");
                }
                disk.sync_dir(Path::new("/")).expect("it syncs");
            });
        }
    });
    assert_eq!(disk.list(Path::new("/")).expect("a directory").len(), 4);
    let cut = sim.power_cut(|_| false);
    for thread in 0..4 {
        assert_eq!(seen(&cut, &format!("/{thread}")), Some(vec![thread; 200]));
    }
}
