//! What every file system that a log is written to must do, on each that there is.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use gatelog_engine::storage::{Create, DirLocked, Disk, Kind, Memory, Sim, Volume};

/// Runs a case on every volume, each time in an empty directory of its own.
fn on_each(case: impl Fn(&dyn Volume, &Path)) {
    static CASES: AtomicU64 = AtomicU64::new(0);
    let number = CASES.fetch_add(1, Ordering::Relaxed);
    let name = format!("gatelog-volume-{}-{number}", std::process::id());
    let real = std::env::temp_dir().join(name);
    Disk.create_dir(&real).expect("a temporary directory");
    case(&Disk, &real);
    std::fs::remove_dir_all(&real).expect("our own directory");
    let (sim, dir) = (Sim::new(1), PathBuf::from("/d"));
    sim.disk().create_dir(&dir).expect("a directory");
    case(&sim.disk(), &dir);
    case(&Memory::new().directory(&dir), &dir);
}

fn refused<T>(outcome: std::io::Result<T>) -> ErrorKind {
    outcome.err().expect("refused").kind()
}

fn put(volume: &dyn Volume, path: &Path, bytes: &[u8]) {
    let file = volume.open_write(path, Create::New).expect("a new file");
    assert_eq!(file.write_at(0, bytes).expect("writable"), bytes.len());
    file.sync_data().expect("it syncs");
}

fn get(volume: &dyn Volume, path: &Path) -> Vec<u8> {
    let file = volume.open(path).expect("a file");
    let mut bytes = vec![0; file.stat().expect("open").bytes as usize + 1];
    let count = file.read_at(0, &mut bytes).expect("readable");
    bytes.truncate(count);
    bytes
}

fn names(volume: &dyn Volume, dir: &Path) -> Vec<(String, Kind)> {
    let entries = volume.list(dir).expect("a directory").into_iter();
    entries.map(|entry| (entry.name.to_string_lossy().into_owned(), entry.kind)).collect()
}

#[test]
fn a_file_is_made_opened_or_either() {
    on_each(|volume, dir| {
        let path = dir.join("f");
        assert_eq!(refused(volume.open_write(&path, Create::Existing)), ErrorKind::NotFound);
        put(volume, &path, b"abc");
        assert_eq!(refused(volume.open_write(&path, Create::New)), ErrorKind::AlreadyExists);
        for create in [Create::Existing, Create::Either] {
            let file = volume.open_write(&path, create).expect("it is there");
            assert_eq!(file.stat().expect("open").bytes, 3, "opening cuts nothing");
        }
        volume.open_write(&dir.join("g"), Create::Either).expect("it is made");
        assert_eq!(names(volume, dir), [("f".into(), Kind::Regular), ("g".into(), Kind::Regular)]);
        let below = dir.join("f").join("x");
        assert_eq!(refused(volume.open_write(&below, Create::New)), ErrorKind::NotADirectory);
        let nowhere = dir.join("none").join("x");
        assert_eq!(refused(volume.open_write(&nowhere, Create::New)), ErrorKind::NotFound);
        assert_eq!(refused(volume.open_write(dir, Create::Either)), ErrorKind::IsADirectory);
    });
}

#[test]
fn bytes_are_written_anywhere_and_holes_are_zero() {
    on_each(|volume, dir| {
        let file = volume.open_write(&dir.join("f"), Create::New).expect("a new file");
        assert_eq!(file.write_at(10, b"xyz").expect("writable"), 3);
        assert_eq!(file.write_at(1, b"ab").expect("writable"), 2);
        assert_eq!(file.write_at(5000, b"").expect("nothing to do"), 0);
        assert_eq!(get(volume, &dir.join("f")), b"\0ab\0\0\0\0\0\0\0xyz");
        file.set_len(11).expect("it is cut");
        file.set_len(13).expect("it grows");
        assert_eq!(get(volume, &dir.join("f")), b"\0ab\0\0\0\0\0\0\0x\0\0");
        file.sync_data().expect("it syncs");
        let mut buffer = [0; 4];
        assert_eq!(file.read_at(13, &mut buffer).expect("the end"), 0);
        assert_eq!(file.read_at(9, &mut buffer).expect("readable"), 4);
        assert_eq!(&buffer, b"\0x\0\0");
    });
}

#[test]
fn the_device_has_what_was_synced() {
    on_each(|volume, dir| {
        let file = volume.open_write(&dir.join("f"), Create::New).expect("a new file");
        let bytes: Vec<u8> = (0..9000_u32).map(|place| (place % 251) as u8).collect();
        file.write_at(0, &bytes).expect("writable");
        file.sync_data().expect("it syncs");
        let mut buffer = vec![0; 8192];
        if let Some(count) = file.read_device_at(4096, &mut buffer).expect("readable") {
            assert_eq!(buffer[..count], bytes[4096..]);
        }
    });
}

#[test]
fn a_rename_replaces_and_a_link_does_not() {
    on_each(|volume, dir| {
        let path = |name: &str| dir.join(name);
        put(volume, &path("a"), b"a");
        put(volume, &path("b"), b"b");
        assert_eq!(refused(volume.link(&path("a"), &path("b"))), ErrorKind::AlreadyExists);
        volume.link(&path("a"), &path("c")).expect("a second name");
        let identity = |name: &str| volume.stat(&path(name)).expect("there").identity;
        assert_eq!(identity("a"), identity("c"));
        assert_eq!(volume.link_count(&path("a")).expect("there"), 2);
        // A rename to another name of the same file does nothing.
        volume.rename(&path("a"), &path("c")).expect("no error");
        assert_eq!(volume.link_count(&path("a")).expect("there"), 2);
        let open = volume.open(&path("b")).expect("a file");
        volume.rename(&path("a"), &path("b")).expect("replaced");
        assert_eq!(get(volume, &path("b")), b"a");
        // Whoever has the old one open still has it.
        let mut byte = [0];
        assert_eq!((open.read_at(0, &mut byte).expect("open"), byte), (1, *b"b"));
        assert_eq!(refused(volume.rename(&path("a"), &path("x"))), ErrorKind::NotFound);
        volume.remove(&path("c")).expect("one name less");
        assert_eq!(refused(volume.remove(&path("c"))), ErrorKind::NotFound);
        assert_eq!(volume.link_count(&path("b")).expect("there"), 1);
        volume.sync_dir(dir).expect("it syncs");
        assert_eq!(names(volume, dir), [("b".into(), Kind::Regular)]);
    });
}

#[test]
fn directories_are_made_and_removed_when_they_are_empty() {
    on_each(|volume, dir| {
        let below = dir.join("below");
        volume.create_dir(&below).expect("a directory");
        assert_eq!(refused(volume.create_dir(&below)), ErrorKind::AlreadyExists);
        assert_eq!(refused(volume.create_dir(&dir.join("x/y"))), ErrorKind::NotFound);
        assert_eq!(refused(volume.rename(&below, &below.join("x"))), ErrorKind::InvalidInput);
        put(volume, &below.join("f"), b"abc");
        volume.rename(&below.join("f"), &dir.join("f")).expect("into another directory");
        put(volume, &below.join("g"), b"abc");
        assert_eq!(refused(volume.remove_dir(&below)), ErrorKind::DirectoryNotEmpty);
        volume.remove(&below.join("g")).expect("a file");
        volume.sync_dir(&below).expect("it syncs");
        volume.remove_dir(&below).expect("empty");
        assert_eq!(refused(volume.sync_dir(&below)), ErrorKind::NotFound);
        assert_eq!(names(volume, dir), [("f".into(), Kind::Regular)]);
    });
}

#[test]
fn one_opening_has_the_lock_until_it_gives_it_back() {
    on_each(|volume, dir| {
        let path = dir.join("LOCK");
        let open = || volume.open_write(&path, Create::Either).expect("a file");
        let (first, second) = (open(), open());
        assert!(first.try_lock().expect("it locks"));
        assert!(!second.try_lock().expect("it is another's"));
        let identity = first.stat().expect("open").identity;
        assert_ne!(volume.lock_holders(identity), Some(false));
        first.unlock().expect("it unlocks");
        assert!(second.try_lock().expect("it locks"));
        second.unlock().expect("it unlocks");
        assert_ne!(volume.lock_holders(identity), Some(true));
    });
}

#[test]
fn a_directory_has_one_lock_as_well() {
    on_each(|volume, dir| {
        let lock = || volume.try_lock_dir(dir).expect("a directory");
        if cfg!(windows) {
            return assert!(matches!(lock(), DirLocked::Unsupported));
        }
        let DirLocked::Ours(first) = lock() else { panic!("nobody has it") };
        assert!(matches!(lock(), DirLocked::Taken));
        first.unlock().expect("it unlocks");
        let DirLocked::Ours(second) = lock() else { panic!("nobody has it") };
        second.unlock().expect("it unlocks");
        assert_eq!(refused(volume.try_lock_dir(&dir.join("none"))), ErrorKind::NotFound);
    });
}
