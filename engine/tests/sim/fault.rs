//! Calls that fail as they are told to.

use std::io::ErrorKind;
use std::path::Path;

use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use gatelog_engine::storage::{Create, Storage, Volume};

use crate::{disk_with, open, seen, write};

const EIO: Failure = Failure::Error(Cause::Eio);

#[test]
fn the_nth_call_of_a_kind_fails() {
    let (sim, file) = disk_with("/f", b"");
    sim.fail(Fault::new(Call::Write, EIO).after(2));
    let written: Vec<bool> = (0..4).map(|place| file.write_at(place, b"x").is_ok()).collect();
    assert_eq!(written, [true, true, false, true]);
    assert_eq!(seen(&sim, "/f").expect("a file"), b"xx\0x");
    assert_eq!(sim.faults_left(), 0);
}

#[test]
fn each_changing_call_can_fail_and_then_does_nothing() {
    let (sim, file) = disk_with("/d/f", b"abc");
    let disk = sim.disk();
    let path = Path::new;
    let digest = sim.digest();
    let calls: [(Call, &dyn Fn() -> bool); 10] = [
        (Call::Write, &|| file.write_at(0, b"x").is_err()),
        (Call::SetLen, &|| file.set_len(1).is_err()),
        (Call::Create, &|| disk.open_write(path("/g"), Create::New).is_err()),
        (Call::CreateDir, &|| disk.create_dir(path("/e")).is_err()),
        (Call::Rename, &|| disk.rename(path("/d/f"), path("/g")).is_err()),
        (Call::Link, &|| disk.link(path("/d/f"), path("/g")).is_err()),
        (Call::Remove, &|| disk.remove(path("/d/f")).is_err()),
        (Call::RemoveDir, &|| disk.remove_dir(path("/d")).is_err()),
        (Call::Sync, &|| file.sync_data().is_err()),
        (Call::SyncDir, &|| disk.sync_dir(path("/d")).is_err()),
    ];
    for (call, fails) in calls {
        for meant in [call, Call::Change] {
            sim.fail(Fault::new(meant, EIO));
            assert!(fails(), "{call:?} was told to fail");
            assert_eq!(sim.digest(), digest, "{call:?} did something");
            let last = sim.trace().pop().expect("a call");
            assert_eq!((last.call, last.error.is_some()), (call, true));
        }
    }
    // Without a fault each of them does what it is for; the file moves away from some of them.
    let failed = calls.iter().filter(|(_, fails)| fails()).map(|(call, _)| *call);
    assert_eq!(failed.collect::<Vec<_>>(), [Call::Link, Call::Remove, Call::SyncDir]);
}

#[test]
fn reading_calls_can_fail_as_well() {
    let (sim, file) = disk_with("/f", b"abc");
    let disk = sim.disk();
    let mut buffer = [0; 4096];
    sim.fail(Fault::new(Call::Read, EIO).times(2));
    // An error of the device that goes away.
    let read: Vec<bool> = (0..3).map(|_| file.read_at(0, &mut buffer).is_ok()).collect();
    assert_eq!(read, [false, false, true]);
    sim.fail(Fault::new(Call::Read, Failure::Short(2)));
    assert_eq!(file.read_at(0, &mut buffer).expect("short"), 2);
    sim.fail(Fault::new(Call::ReadDevice, EIO));
    assert!(file.read_device_at(0, &mut buffer).is_err());
    sim.fail(Fault::new(Call::Open, Failure::Error(Cause::Denied)));
    let denied = disk.open(Path::new("/f")).err().expect("told to");
    assert_eq!(denied.kind(), ErrorKind::PermissionDenied);
    sim.fail(Fault::new(Call::List, EIO));
    assert!(disk.list(Path::new("/")).is_err());
    sim.fail(Fault::new(Call::Stat, Failure::ErrorAfter(Cause::Eio)));
    assert!(disk.stat(Path::new("/f")).is_err());
    sim.fail(Fault::new(Call::Lock, EIO).times(2));
    assert!(file.try_lock().is_err() && disk.try_lock_dir(Path::new("/")).is_err());
    assert_eq!(sim.faults_left(), 0);
}

#[test]
fn a_bad_place_fails_for_ever_and_outlives_a_power_cut() {
    let (sim, file) = disk_with("/f", &[7; 2048]);
    sim.fail(Fault::new(Call::Read, EIO).at(512..1024).forever());
    sim.fail(Fault::new(Call::Write, EIO));
    let cut = sim.power_cut(|_| false);
    for file in [file, open(&cut, "/f")] {
        let mut sector = [0; 512];
        for _ in 0..3 {
            let read = |offset, buffer: &mut [u8]| file.read_at(offset, buffer).is_ok();
            assert!(read(0, &mut sector) && read(1024, &mut sector));
            assert!(!read(512, &mut sector) && !read(1023, &mut sector[..1]));
        }
    }
    assert_eq!((sim.faults_left(), cut.faults_left()), (2, 1));
    cut.heal();
    assert_eq!(open(&cut, "/f").read_at(0, &mut [0; 2048]).expect("healed"), 2048);
}

#[test]
fn a_write_takes_a_part_and_says_so_or_fails() {
    let (sim, file) = disk_with("/f", b"");
    sim.fail(Fault::new(Call::Write, Failure::Short(2)));
    assert_eq!(file.write_at(0, b"abc").expect("short"), 2);
    assert_eq!(seen(&sim, "/f").expect("a file"), b"ab");
    sim.fail(Fault::new(Call::Write, Failure::ShortError(1, Cause::NoSpace)));
    let full = file.write_at(2, b"cd").expect_err("told to");
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    assert_eq!(seen(&sim, "/f").expect("a file"), b"abc");
    sim.fail(Fault::new(Call::Rename, Failure::ErrorAfter(Cause::Eio)));
    let renamed = sim.disk().rename(Path::new("/f"), Path::new("/g"));
    assert!(renamed.is_err() && seen(&sim, "/f").is_none() && seen(&sim, "/g").is_some());
}

#[test]
fn a_fault_meets_only_the_files_that_it_is_for() {
    let (sim, file) = disk_with("/store/1.log", b"");
    let other = open(&sim, "/store/STORE");
    sim.fail(Fault::new(Call::Change, EIO).on("*.log"));
    assert!(other.write_at(0, b"x").is_ok());
    assert!(file.write_at(0, b"x").is_err());
}

#[test]
fn a_sync_that_fails_by_another_rule_keeps_its_pages_dirty() {
    let (sim, file) = disk_with("/f", b"a");
    write(&*file, 0, b"b");
    sim.fail(Fault::new(Call::Sync, Failure::ErrorDirty(Cause::NoSpace)));
    assert!(file.sync_data().is_err());
    assert_eq!(sim.unsynced().len(), 1);
    file.sync_data().expect("it syncs");
    assert_eq!(sim.images("/f").expect("a file").device, b"b");
}

#[test]
fn a_lying_cache_says_ok_and_loses_the_bytes() {
    let (sim, file) = disk_with("/f", b"aa");
    sim.fail(Fault::new(Call::Write, Failure::Lost));
    write(&*file, 0, b"b");
    write(&*file, 1, b"b");
    sim.fail(Fault::new(Call::Sync, Failure::Lost));
    for _ in 0..2 {
        file.sync_data().expect("it lies");
    }
    assert_eq!(seen(&sim, "/f").expect("a file"), b"bb");
    assert_eq!(sim.images("/f").expect("a file").device, b"aa");
    assert_eq!(seen(&sim.power_cut(|_| true), "/f").expect("a file"), b"aa");
}

#[test]
fn a_bit_flips_on_the_device_in_a_sync_that_says_ok() {
    let (sim, file) = disk_with("/f", b"");
    write(&*file, 0, b"aaa");
    sim.fail(Fault::new(Call::Sync, Failure::Flip { offset: 1, bit: 1 }));
    file.sync_data().expect("it says ok");
    assert_eq!(seen(&sim, "/f").expect("a file"), b"aaa");
    let mut buffer = [0; 4096];
    assert_eq!(file.read_device_at(0, &mut buffer).expect("readable"), Some(3));
    assert_eq!(&buffer[..3], b"aca");
    sim.drop_caches();
    assert_eq!(seen(&sim, "/f").expect("a file"), b"aca");
}

#[test]
fn a_disk_gets_full_and_has_room_again() {
    let (sim, file) = disk_with("/f", &[1; 4096]);
    let other = open(&sim, "/g");
    sim.set_capacity(Some(8192));
    assert_eq!(other.write_at(0, &[2; 6000]).expect("short"), 4096);
    let full = other.write_at(4096, &[2]).expect_err("full");
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    // What has its room already can be written over.
    write(&*file, 10, &[3; 100]);
    assert_eq!(file.write_at(4000, &[3; 100]).expect("short"), 96);
    sim.disk().remove(Path::new("/f")).expect("removed");
    write(&*other, 4096, &[2; 100]);
    sim.set_capacity(None);
    write(&*other, 8192, &vec![2; 100_000]);
}

#[test]
fn what_the_file_system_cannot_do_it_says() {
    let (sim, file) = disk_with("/f", b"a");
    sim.set_device_reads(false);
    assert_eq!(file.read_device_at(0, &mut [0; 4096]).expect("no error"), None);
    sim.set_dir_locks(false);
    let lock = sim.disk().try_lock_dir(Path::new("/")).expect("no error");
    assert!(matches!(lock, gatelog_engine::storage::DirLocked::Unsupported));
    sim.set_lock_table(false);
    assert_eq!(sim.lock_holders(file.stat().expect("open").identity), None);
    assert_eq!(sim.network_name(Path::new("/f")), None);
    sim.set_network_name(Some("nfs4"));
    assert_eq!(sim.disk().network_name(Path::new("/f")).as_deref(), Some("nfs4"));
}

#[test]
fn no_offset_is_too_large_to_be_refused() {
    let (sim, file) = disk_with("/f", b"a");
    assert!(file.write_at(u64::MAX, b"x").is_err());
    assert!(file.write_at(i64::MAX as u64, b"x").is_err());
    assert!(file.set_len(u64::MAX).is_err());
    assert_eq!(file.read_at(u64::MAX, &mut [0; 8]).expect("the end"), 0);
    assert_eq!(file.read_device_at(u64::MAX - 4095, &mut [0; 4096]).expect("the end"), Some(0));
    assert_eq!(sim.operations(), 1, "only the file was put there");
}
