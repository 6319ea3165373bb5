//! A reader never writes: a tree is the same after a run as it was before.

mod common;

use common::{Folder, check_with, frame, gap, header, open_turn, turn};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What there is to see of a file without opening it, and a hash of its bytes.
type Trace = (SystemTime, u64, bool, u64);

/// Returns a trace of everything below a folder, by path.
fn traces(folder: &Path) -> BTreeMap<PathBuf, Trace> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(path) = pending.pop() {
        let data = fs::symlink_metadata(&path).expect("it was listed");
        let mut hasher = DefaultHasher::new();
        if data.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            pending.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if data.is_symlink() {
            fs::read_link(&path).expect("a link").hash(&mut hasher);
        } else {
            fs::read(&path).expect("a file").hash(&mut hasher);
        }
        let modified = data.modified().expect("a time");
        let trace = (modified, data.len(), data.permissions().readonly(), hasher.finish());
        found.insert(path, trace);
    }
    found
}

/// A root with sessions in every state: sound, open, torn, damaged, compressed, and what is none.
fn root() -> Folder {
    let folder = Folder::new();
    folder.session("sound", &turn(1, 0));
    folder.session("open", &open_turn(1, 0));
    folder.session("torn", &(turn(1, 0) + "{\"type\":\"x"));
    folder.session("gap", &gap());
    let zstd = [frame(&header("z")), frame(&turn(1, 0)), frame(&turn(2, 3))].concat();
    folder.write("--p--/z/session.jsonl.zstd", &zstd[..zstd.len() - 5]);
    folder.write("--p--/z/session.lock", "");
    folder.write("--p--/v/session.v4.jsonl", header("v"));
    folder.write("--p--/other.txt", "no log");
    folder.write("--p--/empty/session.jsonl", "");
    folder
}

#[test]
fn a_run_changes_nothing_in_the_tree_that_it_reads() {
    let folder = root();
    let before = traces(folder.path());
    assert!(before.len() > 15, "{before:?}");
    for options in [
        &["--format", "text"][..],
        &["--format", "json", "--profile", "strict"],
        &["--threads", "1", "--fail-on", "warning"],
    ] {
        let run = check_with(options, folder.path());
        assert!(run.stdout.contains("session"), "{}{}", run.stdout, run.stderr);
        assert_eq!(traces(folder.path()), before, "{options:?}");
    }
}

#[test]
fn a_trace_tells_another_byte_another_name_and_another_time() {
    let folder = root();
    let before = traces(folder.path());
    let log = folder.path().join("--p--/sound/session.jsonl");
    let (bytes, time) = (fs::read(&log).expect("a file"), before[&log].0);
    let set_time = |time| {
        let file = fs::File::options().write(true).open(&log).expect("a file");
        file.set_modified(time).expect("a time");
    };
    let mut other = bytes.clone();
    other[9] ^= 1;
    fs::write(&log, other).expect("a file");
    set_time(time);
    assert_ne!(traces(folder.path()), before);
    fs::write(&log, bytes).expect("a file");
    set_time(time);
    assert_eq!(traces(folder.path()), before);
    set_time(SystemTime::UNIX_EPOCH);
    assert_ne!(traces(folder.path()), before);
    set_time(time);
    folder.write("--p--/sound/session.jsonl.bak", "");
    assert_ne!(traces(folder.path()), before);
}
