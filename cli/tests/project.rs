//! The promises of `gatelog project`: keys, order, exit codes.

mod common;

use common::{Folder, event, gap, header, keys, run, turn};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Runs the tool with options on a path; returns code, objects and errors.
fn project(options: &[&str], path: &Path) -> (i32, Vec<Value>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatelog"));
    let run = run(command.arg("project").args(options).arg(path));
    let parse = |line: &str| serde_json::from_str(line).expect("each line is one object");
    (run.code, run.stdout.lines().map(parse).collect(), run.stderr)
}

fn policies() -> String {
    event("approval/policy", 0, r#"{"policy":"never"}"#)
        + &event("session/title", 1, "{\"title\":\"a\u{9b}b\"}")
        + &event("approval/policy", 2, r#"{"policy":"ask"}"#)
}

#[test]
fn a_session_has_the_promised_keys_in_order() {
    let folder = Folder::new();
    let path = folder.session("s1", &policies());
    let (code, objects, errors) = project(&[], &path);
    assert_eq!((code, objects.len(), errors.as_str()), (0, 1, ""));
    assert_eq!(keys(&objects[0]), ["path", "session", "version", "events", "projections"]);
    assert_eq!(objects[0]["session"], "s1");
    assert_eq!(objects[0]["events"], 3);
    let names: Vec<_> = keys(&objects[0]["projections"]);
    assert_eq!(names, gatelog_validator::projection::NAMES);
    let permissions = &objects[0]["projections"]["permissions"];
    assert_eq!(permissions["currentValue"], "workspace-write");
}

#[test]
fn at_a_seq_one_projection_is_what_it_was() {
    let folder = Folder::new();
    let path = folder.session("s1", &policies());
    let (code, objects, _) = project(&["--at", "1", "--projection", "policy"], &path);
    assert_eq!(code, 0);
    let set = json!({"value": "never", "source": null, "seq": 0});
    let policy = json!({"policy": {"effective": "never", "set": set}});
    assert_eq!(objects[0]["projections"], policy);
    assert_eq!(objects[0]["events"], 2);
}

#[test]
fn sessions_come_in_order_and_a_damaged_one_hides_no_other() {
    let folder = Folder::new();
    folder.session("a", &turn(1, 0));
    folder.session("b", &gap());
    folder.session("c", &turn(1, 0));
    let (code, objects, errors) = project(&["--projection", "turns"], folder.path());
    assert_eq!(code, 1);
    let sessions: Vec<_> = objects.iter().map(|object| object["session"].as_str()).collect();
    assert_eq!(sessions, [Some("a"), None, Some("c")]);
    assert_eq!(keys(&objects[1]), ["path", "error", "rule"]);
    assert_eq!(objects[1]["rule"], "envelope/seq-gap");
    assert!(errors.starts_with("gatelog: ") && errors.contains("/b/"), "{errors}");
    let reason = &objects[0]["projections"]["turns"][0]["reason"];
    assert_eq!(*reason, json!({"kind": "completed"}));
}

#[test]
fn wrong_usage_and_nothing_to_show_is_two() {
    let folder = Folder::new();
    let path = folder.session("s1", &policies());
    assert_eq!(project(&["--projection", "mood"], &path).0, 2);
    assert_eq!(project(&["--at", "soon"], &path).0, 2);
    assert_eq!(project(&[], &folder.path().join("nowhere")).0, 2);
    let bare = run(&mut Command::new(env!("CARGO_BIN_EXE_gatelog")));
    assert_eq!(bare.code, 2);
    let help = run(Command::new(env!("CARGO_BIN_EXE_gatelog")).args(["project", "--help"]));
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("Exit codes"), "{}", help.stdout);
}

#[test]
fn no_title_drives_a_terminal() {
    let folder = Folder::new();
    let path = folder.write("--p--/s1/session.jsonl", header("s1") + &policies());
    let run = run(Command::new(env!("CARGO_BIN_EXE_gatelog")).arg("project").arg(path));
    assert!(run.stdout.contains("a\\u009bb"), "{}", run.stdout);
}
