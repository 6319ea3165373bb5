//! The file system in memory does what a disk does, and fails as it is told to.

use std::io::ErrorKind;
use std::path::Path;

use gatelog_engine::storage::{Change, Kind, Memory, Operation, Storage};

fn read(storage: &dyn Storage, path: &str, offset: u64, bytes: usize) -> Vec<u8> {
    let file = storage.open(Path::new(path)).expect("a file that opens");
    let mut buffer = vec![0; bytes];
    let count = file.read_at(offset, &mut buffer).expect("readable");
    buffer.truncate(count);
    buffer
}

#[test]
fn names_are_listed_by_their_bytes_with_their_kinds() {
    let storage = Memory::new()
        .file("/d/b", "")
        .file("/d/B", "")
        .directory("/d/a")
        .symlink("/d/l", "a")
        .other("/d/fifo");
    let entries = storage.list(Path::new("/d")).expect("a directory");
    let seen: Vec<_> =
        entries.iter().map(|entry| (entry.name.to_string_lossy(), entry.kind)).collect();
    let names = [
        ("B", Kind::Regular),
        ("a", Kind::Directory),
        ("b", Kind::Regular),
        ("fifo", Kind::Other),
        ("l", Kind::Symlink),
    ];
    assert_eq!(seen, names.map(|(name, kind)| (name.into(), kind)));
    let refused = storage.list(Path::new("/d/b")).expect_err("no directory");
    assert_eq!(refused.kind(), ErrorKind::NotADirectory);
    assert_eq!(storage.list(Path::new("/e")).expect_err("nothing").kind(), ErrorKind::NotFound);
}

#[test]
fn links_are_followed_but_not_in_circles() {
    let storage = Memory::new()
        .file("/a/f", "abc")
        .symlink("/b/up", "../a")
        .symlink("/b/root", "/a/./f")
        .symlink("/loop", "/loop");
    assert_eq!(read(&storage, "/b/up/f", 1, 9), b"bc");
    assert_eq!(read(&storage, "/b/root", 0, 2), b"ab");
    let real = storage.canonical(Path::new("/b/../b/up/f")).expect("it is there");
    assert_eq!(real, Path::new("/a/f"));
    assert!(storage.stat(Path::new("/loop")).is_err());
    let below = storage.stat(Path::new("/a/f/x")).expect_err("a file has nothing below");
    assert_eq!(below.kind(), ErrorKind::NotADirectory);
}

#[test]
fn what_is_no_file_does_not_open() {
    let storage = Memory::new().directory("/d").other("/fifo");
    let refused = |path: &str| storage.open(Path::new(path)).err().expect("refused");
    assert_eq!(refused("/d").kind(), ErrorKind::IsADirectory);
    assert_eq!(refused("/fifo").to_string(), "not a regular file");
    assert_eq!(refused("/none").kind(), ErrorKind::NotFound);
}

#[test]
fn operations_fail_where_they_are_told_to() {
    let storage = Memory::new()
        .file("/d/f", "abcdef")
        .fail("/d", Operation::List, ErrorKind::PermissionDenied)
        .fail("/d/g", Operation::Open, ErrorKind::TimedOut)
        .fail_read("/d/f", 4, ErrorKind::Other);
    assert!(storage.list(Path::new("/d")).is_err());
    let refused = storage.open(Path::new("/d/g")).err().expect("told to");
    assert_eq!(refused.kind(), ErrorKind::TimedOut);
    // A read that begins before the bad place ends there; the next one fails.
    assert_eq!(read(&storage, "/d/f", 2, 4), b"cd");
    let file = storage.open(Path::new("/d/f")).expect("it opens");
    assert_eq!(file.read_at(4, &mut [0; 1]).expect_err("told to").kind(), ErrorKind::Other);
    assert_eq!(file.read_at(6, &mut [0; 1]).expect("the end is the end"), 0);
}

#[test]
fn a_file_changes_between_two_reads_of_one_handle() {
    let storage = Memory::new()
        .file("/f", "abcdef")
        .change("/f", 1, Change::Append(b"gh".to_vec()))
        .change("/f", 2, Change::Truncate(2))
        .change("/f", 3, Change::Replace(b"xyz".to_vec()));
    let file = storage.open(Path::new("/f")).expect("it opens");
    let before = file.stat().expect("open");
    let mut buffer = [0; 8];
    let counts: Vec<usize> =
        (0..4).map(|_| file.read_at(0, &mut buffer).expect("readable")).collect();
    assert_eq!(counts, [6, 8, 2, 3]);
    let after = file.stat().expect("open");
    assert_eq!((before.bytes, after.bytes), (6, 3));
    assert_eq!(before.identity, after.identity);
    assert!(after.modified_ns > before.modified_ns);
}

#[test]
fn a_lock_is_seen_unless_nobody_can_say() {
    let storage = Memory::new().file("/a", "").file("/b", "").lock("/a");
    let identity = |path: &str| storage.stat(Path::new(path)).expect("there").identity;
    assert_eq!(storage.lock_holders(identity("/a")), Some(true));
    assert_eq!(storage.lock_holders(identity("/b")), Some(false));
    assert_eq!(storage.clone().without_lock_table().lock_holders(identity("/a")), None);
}
