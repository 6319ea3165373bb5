//! What a newcomer gets to read who points the command at the wrong thing, and the rules.

mod common;

use common::{Folder, Run, check, log_verify, run, turn};

/// The first bytes of a PNG, and some of its first chunk.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

fn said(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

#[test]
fn without_a_path_the_usual_place_is_named() {
    let run = run(&mut log_verify());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("log-verify ~/.dsh/sessions"), "{}", run.stderr);
}

#[test]
fn a_missing_path_names_what_was_looked_for_and_what_exists_of_it() {
    let folder = Folder::new();
    folder.write("here/x", "");
    let run = check(&folder.path().join("here/not/there"));
    assert_eq!(run.code, 2, "{}", said(&run));
    let said = said(&run);
    assert!(said.contains("here/not/there"), "{said}");
    assert!(said.contains(folder.path().join("here").to_str().expect("UTF-8")), "{said}");
    assert!(said.contains("~/.dsh/sessions"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_called_one() {
    let folder = Folder::new();
    let link = folder.path().join("sessions");
    std::os::unix::fs::symlink("nowhere", &link).expect("a link");
    let run = check(&link);
    assert_eq!(run.code, 2, "{}", said(&run));
    assert!(run.stdout.contains("what it leads to does not exist"), "{}", said(&run));
}

#[test]
fn a_missing_path_hides_no_other() {
    let folder = Folder::new();
    let good = folder.session("s1", &turn(1, 0));
    let missing = folder.path().join("missing");
    let run = run(log_verify().args([&missing, &good]));
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("sound"), "{}", said(&run));
}

#[test]
fn a_folder_without_sessions_says_so() {
    let folder = Folder::new();
    folder.write("notes.txt", "hello");
    let run = check(folder.path());
    assert_eq!(run.code, 2, "{}", said(&run));
    assert!(said(&run).contains("neither a sessions root nor"), "{}", said(&run));
    assert!(said(&run).contains("~/.dsh/sessions"), "{}", said(&run));
}

#[test]
fn an_empty_file_is_said_to_be_empty() {
    let folder = Folder::new();
    for name in ["empty", "--p--/s1/session.jsonl"] {
        let run = check(&folder.write(name, ""));
        assert_ne!(run.code, 0, "{}", said(&run));
        assert!(said(&run).contains("empty"), "{}", said(&run));
    }
}

#[test]
fn a_picture_is_no_session_file() {
    let folder = Folder::new();
    let run = check(&folder.write("picture.png", PNG));
    assert_eq!(run.code, 2, "{}", said(&run));
    assert!(run.stdout.starts_with("unreadable"), "{}", run.stdout);
    assert!(run.stdout.contains("session"), "{}", run.stdout);
}

/// Another program's lines, the first of which is neither a header nor an event.
const FOREIGN: &str = "{\"level\":\"info\",\"version\":2}\n{\"seq\":0,\"type\":\"x\"}\n";

#[test]
fn the_lines_of_another_program_are_no_session_file_whatever_their_name_ends_in() {
    let folder = Folder::new();
    let plain = FOREIGN.as_bytes().to_vec();
    for (name, bytes) in [
        ("app.jsonl", &plain),
        ("app.log", &plain),
        ("Session.jsonl", &plain),
        ("app.jsonl.zstd", &common::frame(FOREIGN)),
    ] {
        let (code, objects) = common::json(&[], &folder.write(name, bytes));
        assert_eq!(code, 2, "{name}");
        let report = &objects[0];
        assert_eq!(report["verdict"], "unreadable", "{report}");
        assert_eq!(report["version"], serde_json::Value::Null, "{report}");
        let findings = report["findings"].as_array().expect("a list");
        assert_eq!(findings.len(), 1, "{report}");
        assert_eq!(findings[0]["rule"], "container/not-a-session-file", "{report}");
    }
}

#[test]
fn what_may_be_a_log_that_lost_its_header_is_damaged_and_not_foreign() {
    let folder = Folder::new();
    let headless = common::event("turn/start", 0, "{\"turn\":1}");
    let typeless = common::header("s1").replace("\"type\":\"session\",", "");
    let other_type = common::header("s1").replace("\"session\"", "\"Session\"");
    let broken = "{\"type\":\"session\"}\n".to_owned();
    for log in [headless, typeless, other_type, broken] {
        let (code, objects) = common::json(&[], &folder.write("copy.jsonl", &log));
        assert_eq!((code, &objects[0]["verdict"]), (1, &"corrupt".into()), "{log}");
    }
    // Under a log's own name the host judges, whatever is in it: the number 2 for a version.
    let (code, objects) = common::json(&[], &folder.write("session.jsonl", FOREIGN));
    assert_eq!((code, &objects[0]["verdict"]), (1, &"unsupported".into()));
}

#[test]
fn every_rule_is_listed_and_explained() {
    let listed = run(log_verify().args(["--rules", "--format", "json"]));
    assert_eq!(listed.code, 0);
    let rules: Vec<serde_json::Value> = listed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is one object"))
        .collect();
    assert!(rules.len() > 1);
    for rule in &rules {
        assert_eq!(common::keys(rule), ["rule", "host", "strict", "basis", "summary", "help"]);
    }
    let id = rules[0]["rule"].as_str().expect("a name");
    let explained = run(log_verify().args(["--explain", id]));
    assert_eq!(explained.code, 0);
    let summary = rules[0]["summary"].as_str().expect("a sentence");
    assert!(explained.stdout.contains(summary), "{}", explained.stdout);
    let text = run(log_verify().arg("--rules"));
    assert_eq!(text.stdout.lines().count(), rules.len() + 1);
}

#[test]
fn rule_ids_are_unique_and_in_two_kebab_parts() {
    let listed = run(log_verify().args(["--rules", "--format", "json"]));
    let mut ids = std::collections::BTreeSet::new();
    for line in listed.stdout.lines() {
        let rule: serde_json::Value = serde_json::from_str(line).expect("one object");
        let id = rule["rule"].as_str().expect("a name").to_owned();
        let kebab = |part: &str| {
            !part.is_empty()
                && part.split('-').all(|word| {
                    !word.is_empty()
                        && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                })
        };
        let parts: Vec<_> = id.split('/').collect();
        assert!(parts.len() == 2 && parts.iter().all(|part| kebab(part)), "{id}");
        assert!(ids.insert(id.clone()), "{id} is listed twice");
    }
}

#[test]
fn an_unknown_rule_suggests_near_ones() {
    let run = run(log_verify().args(["--explain", "turn/open-at-ent"]));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("did you mean turn/open-at-end"), "{}", run.stderr);
}
