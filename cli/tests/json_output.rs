//! `--format json`: the keys, their order, and what stands in them.

mod common;

use common::{
    Folder, event, frame, gap, header, json, keys, log_verify, of_kind, open_turn, run, turn,
};

const REPORT_KEYS: [&str; 14] = [
    "kind",
    "path",
    "session",
    "format",
    "version",
    "encoding",
    "bytes",
    "verdict",
    "host",
    "events",
    "closers",
    "lost",
    "host_error",
    "findings",
];
const FINDING_KEYS: [&str; 8] =
    ["rule", "severity", "message", "help", "seq", "line", "frame", "byte"];
const SUMMARY_KEYS: [&str; 11] = [
    "kind",
    "files",
    "sound",
    "torn",
    "violation",
    "corrupt",
    "unsupported",
    "unreadable",
    "bytes",
    "events",
    "seconds",
];

#[test]
fn keys_stand_in_the_promised_order() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.session("s2", &gap());
    let (code, objects) = json(&[], folder.path());
    assert_eq!(code, 1);
    let reports = of_kind(&objects, "report");
    assert_eq!(reports.len(), 2);
    for report in &reports {
        assert_eq!(keys(report), REPORT_KEYS);
        assert_eq!(keys(&report["lost"]), ["bytes", "lines"]);
        for finding in report["findings"].as_array().expect("a list") {
            assert_eq!(keys(finding), FINDING_KEYS);
        }
    }
    let summary = objects.last().expect("a summary");
    assert_eq!(keys(summary), SUMMARY_KEYS);
    assert!(summary["seconds"].is_f64());
}

#[test]
fn a_sound_file_is_told_whole() {
    let folder = Folder::new();
    let path = folder.session("s1", &turn(1, 0));
    let (code, objects) = json(&[], folder.path());
    assert_eq!(code, 0);
    let report = &objects[0];
    assert_eq!(report["path"], path.to_string_lossy().as_ref());
    assert_eq!(report["session"], "s1");
    assert_eq!(report["format"], "dsh");
    assert_eq!(report["version"], 0);
    assert_eq!(report["encoding"], "none");
    assert_eq!(report["bytes"], std::fs::metadata(&path).expect("it is there").len());
    assert_eq!(report["verdict"], "sound");
    assert_eq!(report["host"], "loads");
    assert_eq!(report["events"], 3);
    assert_eq!(report["closers"], 0);
    assert!(report["host_error"].is_null());
    assert_eq!(report["findings"], serde_json::json!([]));
}

#[test]
fn a_gap_is_corrupt_with_the_words_of_the_host() {
    let folder = Folder::new();
    let path = folder.session("s1", &gap());
    let (code, objects) = json(&[], &path);
    assert_eq!(code, 1);
    let report = &objects[0];
    assert_eq!((&report["verdict"], &report["host"]), (&"corrupt".into(), &"refuses".into()));
    assert_eq!(report["events"], 3);
    assert_eq!(report["lost"], serde_json::json!({ "bytes": 0, "lines": 0 }));
    let said = report["host_error"].as_str().expect("the host says why");
    assert!(said.contains("seq gap in committed region at line 4 (expected 3, got 6)"), "{said}");
    let first = &report["findings"][0];
    assert_eq!((&first["severity"], &first["line"]), (&"error".into(), &5.into()));
}

#[test]
fn a_torn_tail_counts_what_is_cut() {
    let folder = Folder::new();
    let whole = turn(1, 0);
    let path = folder.session("s1", &(whole + "{\"type\":\"turn/sta"));
    let (code, objects) = json(&[], &path);
    assert_eq!(code, 0);
    let report = &objects[0];
    assert_eq!((&report["verdict"], &report["host"]), (&"torn".into(), &"repairs".into()));
    assert_eq!(report["lost"], serde_json::json!({ "bytes": 17, "lines": 1 }));
    assert_eq!(report["events"], 3);
}

#[test]
fn an_open_turn_counts_its_closers() {
    let folder = Folder::new();
    let path = folder.session("s1", &open_turn(1, 0));
    let (_, objects) = json(&[], &path);
    let report = &objects[0];
    assert_eq!((&report["verdict"], &report["host"]), (&"sound".into(), &"repairs".into()));
    assert_eq!((&report["events"], &report["closers"]), (&2.into(), &1.into()));
    assert_eq!(report["findings"][0]["rule"], "turn/open-at-end");
}

#[test]
fn a_newer_version_is_unsupported() {
    let folder = Folder::new();
    let header = "{\"type\":\"session\",\"version\":9,\"id\":\"s1\"}\n";
    let path = folder.write("--p--/s1/session.v9.jsonl", header);
    let (code, objects) = json(&[], &path);
    assert_eq!(code, 1);
    assert_eq!(objects[0]["verdict"], "unsupported");
    assert_eq!(objects[0]["version"], 9);
}

#[test]
fn zstd_is_told_as_such() {
    let folder = Folder::new();
    let frames = [common::header("s1"), turn(1, 0)].map(|text| common::frame(&text));
    let path = folder.write("--p--/s1/session.jsonl.zstd", frames.concat());
    let (code, objects) = json(&[], &path);
    assert_eq!(code, 0, "{objects:?}");
    assert_eq!(objects[0]["encoding"], "zstd");
    assert_eq!(objects[0]["events"], 3);
}

#[test]
fn the_order_is_that_of_the_paths_whatever_the_threads() {
    let folder = Folder::new();
    for id in 0..60 {
        let long = (0..id % 7 * 100).map(|k| turn(k + 1, k * 3)).collect::<String>();
        folder.session(&format!("s{id:02}"), &long);
    }
    let paths = |threads: &str| {
        let (code, objects) = json(&["--threads", threads], folder.path());
        assert_eq!(code, 0);
        let reports = of_kind(&objects, "report");
        reports.iter().map(|report| report["path"].to_string()).collect::<Vec<_>>()
    };
    let alone = paths("1");
    assert!(alone.is_sorted());
    assert_eq!(alone.len(), 60);
    assert_eq!(paths("8"), alone);
}

#[test]
fn the_summary_adds_up() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.session("s2", &gap());
    folder.session("s3", &(turn(1, 0) + "{"));
    let (_, objects) = json(&[], folder.path());
    let summary = objects.last().expect("a summary");
    assert_eq!(summary["files"], 3);
    let verdicts = ["sound", "torn", "corrupt", "violation", "unsupported", "unreadable"];
    let counts = verdicts.map(|verdict| summary[verdict].as_u64().expect("a count"));
    assert_eq!(counts, [1, 1, 1, 0, 0, 0]);
    let reports = of_kind(&objects, "report");
    for key in ["bytes", "events"] {
        let sum: u64 = reports.iter().map(|report| report[key].as_u64().expect("a count")).sum();
        assert_eq!(summary[key], sum, "{key}");
    }
}

#[test]
fn what_concerns_a_folder_is_an_object_of_its_own() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.write("--p--/backup.jsonl", "");
    let (code, objects) = json(&[], folder.path());
    assert_eq!(code, 1, "{objects:?}");
    let directories = of_kind(&objects, "directory");
    let refused: Vec<_> = directories.iter().filter(|it| it["host"] == "refuses").collect();
    assert_eq!(refused.len(), 1, "{objects:?}");
    assert_eq!(keys(refused[0]), ["kind", "path", "host", "findings"]);
    assert_eq!(keys(&refused[0]["findings"][0]), FINDING_KEYS);
    let report = of_kind(&objects, "report")[0];
    assert_eq!(report["host"], "loads", "a file is judged as if it were alone");
}

#[test]
fn nothing_to_check_is_still_a_summary() {
    let folder = Folder::new();
    let (code, objects) = json(&[], folder.path());
    assert_eq!(code, 2, "{objects:?}");
    let summary = objects.last().expect("a summary");
    assert_eq!((&summary["kind"], &summary["files"]), (&"summary".into(), &0.into()));
}

#[test]
fn presets_are_a_table_of_names() {
    let folder = Folder::new();
    let preset = event("permission/preset", 0, "{\"preset\":\"home-made\"}");
    folder.session("s1", &preset);
    let run = run(log_verify().args(["--presets", "default,full-auto"]).arg(folder.path()));
    assert_ne!(run.code, 2, "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_merged_first_frame_names_the_gap_in_its_text() {
    let folder = Folder::new();
    let log = frame(&(header("s") + &turn(1, 0) + &turn(2, 5)));
    let (code, objects) = json(&[], &folder.write("session.jsonl.zstd", log));
    assert_eq!(code, 1);
    let finding = &objects[0]["findings"][0];
    assert_eq!(finding["rule"], "container/first-frame-merged");
    let message = finding["message"].to_string();
    let gap = "its content is lawful for 3 event(s), and then at line 5: a gap: events 3 to 4 are \
        missing (2 of them); the log goes on at seq 5";
    assert!(message.contains(gap), "{message}");
}
