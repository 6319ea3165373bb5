//! `log-verify` and `gatelog project` on a native store.

mod common;

use common::Folder;
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::store::Store;
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::Standard;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::SystemTime;

/// Makes a store of two sessions that ended in peace.
fn store(folder: &Folder) -> PathBuf {
    store_of(folder, Profile::Strict, r#"{"policy":"ask"}"#)
}

/// Makes a store under a profile; each session begins with an approval policy.
fn store_of(folder: &Folder, profile: Profile, policy: &str) -> PathBuf {
    let dir = folder.path().join("box");
    let rules = Arc::new(Standard::new(profile));
    let store = Store::open(&dir, rules).expect("it opens");
    for id in ["a", "b"] {
        let json = common::header(id).trim_end().as_bytes().to_vec();
        let header = SessionHeader { dialect: 0, json };
        let session = store.create(id, &header, |_| Ok(())).expect("it is created");
        let drafts = vec![
            Draft::new("approval/policy", policy),
            Draft::new("turn/start", r#"{"turn":1}"#),
            Draft::new("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
        ];
        session.append(drafts, Durability::Synced).expect("it is lawful");
    }
    store.close().expect("it closes");
    dir
}

fn run(binary: &str, dir: &Path, arguments: &[&str]) -> Output {
    Command::new(binary).arg(dir).args(arguments).output().expect("the command starts")
}

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("output is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn verify(dir: &Path) -> (Option<i32>, Vec<Value>) {
    let output = run(env!("CARGO_BIN_EXE_log-verify"), dir, &["--format", "json"]);
    (output.status.code(), lines(&output))
}

/// What lies in a directory: names, bytes, times of the last change.
fn content(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(dir).expect("it is there");
    let paths = entries.map(|entry| entry.expect("it is there").path());
    let read = |path: PathBuf| {
        let changed = path.metadata().and_then(|it| it.modified()).expect("it has one");
        let bytes = std::fs::read(&path).expect("it can be read");
        (path, (bytes, changed))
    };
    paths.filter(|path| path.is_file()).map(read).collect()
}

#[test]
fn a_store_is_one_line_and_each_of_its_sessions_a_report_and_nothing_is_changed() {
    let folder = Folder::new();
    let dir = store(&folder);
    let before = content(&dir);
    let (code, lines) = verify(&dir);
    assert_eq!(content(&dir), before);
    let [store, a, b, summary] = &*lines else { panic!("{lines:?}") };
    assert_eq!(code, Some(0));
    assert_eq!((&store["kind"], &store["verdict"]), (&"store".into(), &"sound".into()));
    assert_eq!((&store["tail"], &store["sessions"]), (&"clean".into(), &2.into()));
    assert_eq!(store["findings"], serde_json::json!([]));
    for (report, id) in [(a, "a"), (b, "b")] {
        assert_eq!((&report["kind"], &report["session"]), (&"report".into(), &id.into()));
        assert_eq!((&report["format"], &report["encoding"]), (&"gatelog".into(), &"native".into()));
        assert_eq!((&report["host"], &report["events"]), (&Value::Null, &3.into()));
    }
    assert_eq!((&summary["files"], &summary["sound"]), (&2.into(), &2.into()));
}

#[test]
fn a_damaged_store_says_where_and_counts_in_the_exit_code() {
    let folder = Folder::new();
    let dir = store(&folder);
    let segment = dir.join("00000000000000000001.log");
    let mut bytes = std::fs::read(&segment).expect("it can be read");
    bytes[4096 + 113] ^= 1;
    std::fs::write(&segment, &bytes).expect("it can be written");
    let (code, lines) = verify(&dir);
    assert_eq!(code, Some(1));
    let store = &lines[0];
    assert_eq!(store["verdict"], "corrupt");
    let finding = &store["findings"][0];
    assert_eq!(finding["rule"], "frame/body");
    assert_eq!((&finding["line"], &finding["byte"]), (&Value::Null, &4096.into()));
    assert_eq!(finding["segment"], "00000000000000000001.log");
    let output = run(env!("CARGO_BIN_EXE_log-verify"), &dir, &[]);
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    assert!(text.starts_with("corrupt     store"), "{text}");
    assert!(text.contains("at segment 1, frame 1, byte 4096  [frame/body]"), "{text}");
    let projected = run(
        env!("CARGO_BIN_EXE_gatelog"),
        Path::new("project"),
        &[dir.to_str().expect("it is text")],
    );
    assert_eq!((projected.status.code(), projected.stdout.len()), (Some(1), 0));
}

#[test]
fn the_sessions_of_a_store_are_projected() {
    let folder = Folder::new();
    let dir = store(&folder);
    let before = content(&dir);
    let dir = dir.to_str().expect("it is text");
    let output = run(env!("CARGO_BIN_EXE_gatelog"), Path::new("project"), &[dir]);
    assert_eq!(content(Path::new(dir)), before);
    let lines = lines(&output);
    assert_eq!((output.status.code(), lines.len()), (Some(0), 2), "{output:?}");
    for (line, id) in lines.iter().zip(["a", "b"]) {
        assert_eq!((&line["path"], &line["session"]), (&dir.into(), &id.into()));
        assert_eq!(line["events"], 3);
    }
}

#[test]
fn the_profile_of_a_store_is_strict_unless_it_is_chosen() {
    let folder = Folder::new();
    let dir = store_of(&folder, Profile::Host, r#"{"policy":"ask","source":"robot"}"#);
    for (arguments, code) in
        [(&[][..], 1), (&["--profile", "strict"], 1), (&["--profile", "host"], 0)]
    {
        let output = run(env!("CARGO_BIN_EXE_log-verify"), &dir, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}
