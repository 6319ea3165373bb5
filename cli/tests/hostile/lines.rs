//! Lines of hundreds of megabytes.

use crate::common::{Folder, header, turn};
use crate::texts::{MIB, log_of, long_line};
use crate::watch::{BASE_MIB, watch, watch_log};
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// A line of 300 MB whose payload no rule reads.
const OPAQUE: &str = "{\"type\":\"x/y\",\"seq\":0,\"time\":1,\"ignorable\":true,\"data\":\"";

/// The beginning and the end of a message that rules read.
const MESSAGE: [&str; 2] = [
    "{\"type\":\"user/message\",\"seq\":0,\"time\":1,\"surfaceOp\":\"append\",\
     \"data\":{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[\"",
    "\"]}}\n",
];

/// The beginning of a message that says so only behind its payload.
const RETYPED: &str = "{\"type\":\"x/y\",\"seq\":0,\"time\":1,\"ignorable\":true,\
    \"data\":{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[\"";

const GIANT: u64 = 300_000_000;

#[test]
fn a_giant_line_that_no_rule_reads_costs_no_memory() {
    let many: Vec<String> = (0..100).map(|at| format!("\"k{at}\":0,")).collect();
    let many = OPAQUE.replacen('{', &format!("{{{}", many.concat()), 1);
    let read = "{\"type\":\"user/message\",\"type\":\"x/y\",\"seq\":0,\"time\":1,\
        \"ignorable\":true,\"data\":\"";
    for (name, before, after, verdict, code, rule) in [
        ("giant, no rule reads it", OPAQUE, "\"}\n", "sound", 0, ""),
        ("giant, its last type is not read", read, "\"}\n", "sound", 0, ""),
        ("giant, malformed at its end", OPAQUE, "\"x}\n", "corrupt", 1, "json/malformed"),
        ("giant, malformed at once", "{\"type\":", "\"}\n", "corrupt", 1, "json/malformed"),
        ("giant, with many members of its own", &many, "\"}\n", "corrupt", 1, "envelope/invalid"),
        ("giant, not ended", OPAQUE, "", "corrupt", 1, "container/split-record"),
        ("giant, retyped and still not read", OPAQUE, "\",\"type\":\"z\"}\n", "sound", 0, ""),
    ] {
        let run = watch_log(name, &log_of(&long_line(before, GIANT, after)), 1024);
        run.is(verdict, code, rule).within(BASE_MIB).in_seconds(10.0);
    }
    let mut torn = log_of(&long_line(OPAQUE, GIANT, ""));
    torn.truncate(torn.len() - 2);
    let run = watch_log("giant, not ended in a torn frame", &torn, 1024);
    run.is("torn", 0, "tail/torn-frame").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn a_giant_line_that_a_rule_reads_costs_at_most_twice_its_length() {
    let late =
        "{\"data\":{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[\"";
    let [before, after] = MESSAGE;
    for (name, before, after, verdict, code, rule) in [
        ("giant, a message", before, after, "sound", 0, ""),
        (
            "giant, a message, malformed at its end",
            before,
            "\"]}x\n",
            "corrupt",
            1,
            "json/malformed",
        ),
        (
            "giant, its type behind its payload",
            late,
            "\"]},\"surfaceOp\":\"append\",\"type\":\"user/message\",\"seq\":0,\"time\":1}\n",
            "sound",
            0,
            "",
        ),
        (
            "giant, retyped behind its payload",
            RETYPED,
            "\"]},\"surfaceOp\":\"append\",\"type\":\"user/message\"}\n",
            "sound",
            0,
            "",
        ),
        (
            "giant, retyped behind its payload, no message",
            OPAQUE,
            "\",\"type\":\"user/message\"}\n",
            "violation",
            1,
            "message/identity",
        ),
    ] {
        let run = watch_log(name, &log_of(&long_line(before, GIANT, after)), 2048);
        run.is(verdict, code, rule).within(2 * GIANT / MIB + BASE_MIB).in_seconds(10.0);
    }
}

/// Writes a plain log of one long line.
fn plain_giant(path: &Path, before: &str, bytes: u64, after: &str) {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    file.write_all((header("s") + before).as_bytes()).expect("room on the disk");
    let block = vec![b'a'; 1 << 20];
    for start in (0..bytes).step_by(1 << 20) {
        let end = (bytes - start).min(1 << 20) as usize;
        file.write_all(&block[..end]).expect("room on the disk");
    }
    file.write_all(after.as_bytes()).expect("room on the disk");
    file.flush().expect("room on the disk");
}

#[test]
fn a_giant_line_of_a_plain_log_costs_what_one_in_frames_does() {
    let folder = Folder::new();
    let path = folder.path().join("session.jsonl");
    plain_giant(&path, OPAQUE, GIANT, "\"}\n");
    let run = watch("giant, plain, no rule reads it", &path, 1024, &[]);
    run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
    let file = File::options().write(true).open(&path).expect("it was just written");
    file.set_len(GIANT).expect("a shorter file");
    let run = watch("giant, plain, not ended", &path, 1024, &[]);
    let run = run.is("torn", 0, "tail/partial-line").within(BASE_MIB).in_seconds(10.0);
    assert_eq!(run.report["lost"]["lines"], 1);
    plain_giant(&path, MESSAGE[0], GIANT, MESSAGE[1]);
    let run = watch("giant, plain, a message", &path, 2048, &[]);
    run.is("sound", 0, "").within(2 * GIANT / MIB + BASE_MIB).in_seconds(10.0);
}

#[test]
fn a_line_past_512_mib_is_not_judged_and_the_limit_is_named() {
    for (name, before, after, mib) in [
        ("520 MiB, no rule reads it", OPAQUE, "\"}\n", BASE_MIB),
        ("520 MiB, a message", MESSAGE[0], MESSAGE[1], 2 * 512 + BASE_MIB),
    ] {
        let run = watch_log(name, &log_of(&long_line(before, 520 * MIB, after)), 2048);
        let run = run.is("unreadable", 2, "limit/line").within(mib).in_seconds(15.0);
        let message = run.finding("limit/line").expect("just seen")["message"].to_string();
        assert!(message.contains("512 MiB"), "{message}");
    }
}

#[test]
fn runs_of_nuls_are_told_and_cost_nothing() {
    let folder = Folder::new();
    let path = folder.write("session.jsonl", header("s") + &turn(1, 0));
    let whole = fs::metadata(&path).expect("it was just written").len();
    let file = File::options().append(true).open(&path).expect("it was just written");
    // A hole: it takes no room on the disk.
    file.set_len(whole + 700 * MIB).expect("a longer file");
    let run = watch("700 MiB of NULs at the end, a hole", &path, 1024, &[]);
    let run = run.is("torn", 0, "tail/nul-run").within(BASE_MIB).in_seconds(15.0);
    assert_eq!(run.report["lost"]["bytes"], 700 * MIB);
    file.set_len(whole + 64 * MIB).expect("a shorter file");
    (&file).write_all(("\n".to_owned() + &turn(2, 3)).as_bytes()).expect("room on the disk");
    let run = watch("64 MiB of NULs within, a hole", &path, 1024, &[]);
    run.is("corrupt", 1, "line/nul-run").within(BASE_MIB).in_seconds(10.0);
}
