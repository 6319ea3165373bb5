//! The exit code: 0 nothing found, 1 something found, 2 something unchecked or wrong usage.

mod common;

use common::{Folder, check, check_with, gap, log_verify, open_turn, run, turn};

#[test]
fn a_sound_root_is_0() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.session("s2", &(turn(1, 0) + &turn(2, 3)));
    let run = check(folder.path());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("2 files: 2 sound (9 events,"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_gap_is_1() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.session("s2", &gap());
    let run = check(folder.path());
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("2 files: 1 sound, 1 corrupt"), "{}", run.stdout);
}

#[test]
fn a_torn_tail_is_0_unless_warnings_fail() {
    let folder = Folder::new();
    folder.session("s1", &(turn(1, 0) + "{\"type\":\"turn/sta"));
    assert_eq!(check(folder.path()).code, 0);
    assert_eq!(check_with(&["--fail-on", "error"], folder.path()).code, 0);
    assert_eq!(check_with(&["--fail-on", "warning"], folder.path()).code, 1);
}

#[test]
fn an_open_turn_is_0_unless_notes_fail() {
    let folder = Folder::new();
    folder.session("s1", &open_turn(1, 0));
    assert_eq!(check(folder.path()).code, 0);
    assert_eq!(check_with(&["--fail-on", "warning"], folder.path()).code, 0);
    assert_eq!(check_with(&["--fail-on", "note"], folder.path()).code, 1);
}

#[test]
fn a_file_that_cannot_be_opened_is_2_and_hides_no_other() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.session("s2", &gap());
    // Permission bits do not bind root, so the file is one that nobody can read.
    folder.write("--p--/broken/session.jsonl/inner", "");
    folder.session("zz", &turn(1, 0));
    let run = check(folder.path());
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("4 files: 2 sound, 1 corrupt, 1 unreadable"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_dangling_link_is_2_and_hides_no_other() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    let link = folder.write("--p--/broken/x", "").with_file_name("session.jsonl");
    std::os::unix::fs::symlink("nowhere", link).expect("a link");
    let run = check(folder.path());
    assert_eq!(run.code, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("1 sound"), "{}", run.stdout);
}

#[test]
fn a_frame_over_the_limit_is_2_and_not_called_damaged() {
    let folder = Folder::new();
    let turns: String = (0..20_000).map(|k| turn(k + 1, k * 3)).collect();
    let log = [common::frame(&common::header("s1")), common::frame(&turns)].concat();
    let path = folder.write("--p--/s1/session.jsonl.zstd", log);
    let run = check_with(&["--max-frame-bytes", "1M"], &path);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(run.stdout.starts_with("unreadable  not checked"), "{}", run.stdout);
    assert!(run.stdout.contains("[limit/frame]"), "{}", run.stdout);
    assert_eq!(check(&path).code, 0);
}

#[test]
fn wrong_usage_is_2_and_prints_nothing() {
    for arguments in [
        &[][..],
        &["--threads", "0", "x"],
        &["--format", "yaml", "x"],
        &["--fail-on", "never", "x"],
        &["--max-frame-bytes", "0", "x"],
        &["--max-frame-bytes", "1.5G", "x"],
        &["--presets", "", "x"],
        &["--presets", "a,,b", "x"],
        &["--rules", "x"],
        &["--explain", "turn/start-number", "x"],
        &["--no-such-option"],
        &["--explain"],
    ] {
        let run = run(log_verify().args(arguments));
        assert_eq!(run.code, 2, "{arguments:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert!(!run.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn wrong_usage_is_told_in_a_sentence_what_is_wrong() {
    for (arguments, words) in [
        (&["--rules", "x"][..], "'--rules' cannot be used with '[PATH]...'"),
        (&["--presets", "", "x"], "a value is required for '--presets <NAME,...>'"),
        (&["--max-frame-bytes", "1X", "x"], "with a unit: 500000, 64M, 1GiB"),
    ] {
        let run = run(log_verify().args(arguments));
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn help_and_version_are_0() {
    let help = run(log_verify().arg("--help"));
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("Exit codes:"));
    let version = run(log_verify().arg("--version"));
    assert_eq!(version.code, 0);
    assert!(version.stdout.starts_with("log-verify "));
}
