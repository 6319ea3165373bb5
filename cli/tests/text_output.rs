//! The text output: what a tired person reads, in which colours, and what never reaches a terminal.

mod common;

use common::{Folder, check, check_with, gap, log_verify, open_turn, run, turn};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

#[test]
fn a_sound_file_is_one_line() {
    let folder = Folder::new();
    let path = folder.session("s1", &turn(1, 0));
    let run = check(&path);
    let first = run.stdout.lines().next().expect("a line");
    assert_eq!(
        first.split_whitespace().collect::<Vec<_>>(),
        ["sound", "loads", "3", "events", path.to_str().expect("it is UTF-8")]
    );
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
}

#[test]
fn a_bad_file_says_what_where_what_the_host_does_what_is_at_risk_and_what_next() {
    let folder = Folder::new();
    let run = check(&folder.session("s1", &gap()));
    for expected in [
        "corrupt     refuses",
        "    error    ",
        "at line 5, byte ",
        "    host     refuses it: corrupt session log: seq gap in committed region at line 4",
        "    at risk  ",
        "    next     ",
    ] {
        assert!(run.stdout.contains(expected), "{expected:?} in\n{}", run.stdout);
    }
}

#[test]
fn a_folder_that_the_host_refuses_is_told_before_its_files() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    folder.write("--p--/backup.jsonl", "");
    let run = check(folder.path());
    assert!(run.stdout.starts_with("folder      refuses"), "{}", run.stdout);
    assert!(run.stdout.contains("[directory/flat-file]"), "{}", run.stdout);
    assert!(run.stdout.contains("; the host refuses 1 folder"), "{}", run.stdout);
}

#[test]
fn a_note_is_named_on_its_line_and_explained_once() {
    let folder = Folder::new();
    folder.session("s1", &open_turn(1, 0));
    folder.session("s2", &open_turn(1, 0));
    let run = check(folder.path());
    let named = run.stdout.lines().filter(|line| line.ends_with("(turn/open-at-end)")).count();
    assert_eq!(named, 2, "{}", run.stdout);
    assert_eq!(run.stdout.matches("turn/open-at-end (2 files): ").count(), 1, "{}", run.stdout);
}

#[test]
fn notes_are_shown_whole_where_they_fail() {
    let folder = Folder::new();
    folder.session("s1", &open_turn(1, 0));
    let run = check_with(&["--fail-on", "note"], folder.path());
    assert!(run.stdout.contains("[turn/open-at-end]"), "{}", run.stdout);
}

#[test]
fn many_findings_are_shown_in_part_and_counted() {
    let folder = Folder::new();
    let ghost = |seq: u64| {
        let data = format!("{{\"id\":\"ghost{seq}\",\"outcome\":\"rejected\"}}");
        common::event("approval/decided", seq, &data)
    };
    let run = check(&folder.session("s1", &(0..12).map(ghost).collect::<String>()));
    assert_eq!(run.code, 1);
    assert!(run.stdout.matches("    error    ").count() <= 5, "{}", run.stdout);
    assert!(run.stdout.contains("more (--format json lists all)"), "{}", run.stdout);
}

#[test]
fn among_many_files_the_bad_ones_are_named_again_at_the_end() {
    let folder = Folder::new();
    folder.session("bad", &gap());
    for id in 0..25 {
        folder.session(&format!("s{id:02}"), &turn(1, 0));
    }
    let run = check(folder.path());
    assert_eq!(run.stdout.matches("--p--/bad/").count(), 2, "{}", run.stdout);
}

#[test]
fn colours_follow_the_environment() {
    let folder = Folder::new();
    folder.session("s1", &gap());
    let coloured = |variables: &[(&str, &str)]| {
        let run = run(log_verify().envs(variables.iter().copied()).arg(folder.path()));
        run.stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[]), "a pipe is no terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(coloured(&[("FORCE_COLOR", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "0")]));
}

#[test]
fn json_is_never_coloured() {
    let folder = Folder::new();
    folder.session("s1", &gap());
    let command = &mut log_verify();
    let run = run(command.env("CLICOLOR_FORCE", "1").args(["--format", "json"]).arg(folder.path()));
    assert!(!run.stdout.contains('\u{1b}'));
}

#[cfg(unix)]
#[test]
fn hostile_names_and_ids_do_not_drive_the_terminal() {
    let folder = Folder::new();
    let log = common::header("a\\u001b]0;owned\\u0007\\n\\u009b2J\\u202e") + &gap();
    folder.write("--p--/\u{1b}[2J\u{7}\nsound/session.jsonl", log);
    folder.write("--p--/s2/session.jsonl", common::header("\\u001b[31m") + &turn(1, 0));
    for options in [&[][..], &["--format", "json"]] {
        let run = run(log_verify().args(options).arg(folder.path()));
        for text in [&run.stdout, &run.stderr] {
            let hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(hostile), "{text:?}");
        }
        assert!(!run.stdout.contains("\nsound/"), "a name breaks no line: {}", run.stdout);
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new();
    for id in 0..600 {
        folder.session(&format!("s{id:03}"), &turn(1, 0));
    }
    for format in ["text", "json"] {
        let mut command = log_verify();
        command.args(["--format", format]).arg(folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command starts");
        let mut first = String::new();
        let mut stdout = BufReader::with_capacity(64, child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut first).expect("a line");
        drop(stdout);
        let mut stderr = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut stderr).expect("errors are UTF-8");
        let status = child.wait().expect("it ends");
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{format}");
        assert!(!first.is_empty());
    }
}
