//! Hostile input costs bounded memory and time, and every case of it ends in a report.
//!
//! The command runs under `ulimit -v` as a hard bound, and its peak resident memory is read from
//! `/proc` while it runs; `cargo test -p gatelog-cli --test hostile -- --nocapture` prints the
//! figures. The bounds are some multiple of what was measured, so that they hold on other machines
//! and still tell a leak of a line or a frame. One case runs at a time.
//!
//! Big text is run-length blocks of hand-made frames, some kilobytes on disk; the few plain logs of
//! hundreds of megabytes are written for their test and removed with it.

#![cfg(target_os = "linux")]

mod common;

use common::{Folder, event, frame, header, of_kind, turn};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// What every run may use: code, stacks, decoders, two batches of text and their tapes.
const BASE_MIB: u64 = 120;

/// A stretch of text.
#[derive(Clone)]
enum Part {
    Text(Vec<u8>),
    /// So many times this byte.
    Fill(u8, u64),
}

use Part::Fill;

fn text(text: impl AsRef<[u8]>) -> Part {
    Part::Text(text.as_ref().to_vec())
}

/// Makes a frame of raw and run-length blocks.
fn hand_made(parts: &[Part]) -> Vec<u8> {
    const BLOCK_BYTES: u64 = 1 << 17;
    let mut blocks: Vec<(u32, u64, Vec<u8>)> = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => blocks.extend(
                text.chunks(BLOCK_BYTES as usize).map(|it| (0, it.len() as u64, it.to_vec())),
            ),
            Fill(byte, bytes) => {
                let starts = (0..*bytes).step_by(BLOCK_BYTES as usize);
                blocks.extend(starts.map(|at| (1, BLOCK_BYTES.min(bytes - at), vec![*byte])));
            }
        }
    }
    if blocks.is_empty() {
        blocks.push((0, 0, Vec::new()));
    }
    // Magic, no flags, a window of 128 KiB.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 0x38];
    let count = blocks.len();
    for (at, (kind, bytes, payload)) in blocks.into_iter().enumerate() {
        let header = u32::from(at + 1 == count) | kind << 1 | (bytes as u32) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(payload);
    }
    frame
}

/// A header frame, then one frame of these parts.
fn log_of(parts: &[Part]) -> Vec<u8> {
    [hand_made(&[text(header("s"))]), hand_made(parts)].concat()
}

/// The parts of one line: an event of a type whose payload is a string of `bytes` bytes.
fn long_line(before: &str, bytes: u64, after: &str) -> Vec<Part> {
    vec![text(before), Fill(b'a', bytes), text(after)]
}

/// What a run left behind, and what it cost.
struct Watched {
    code: i32,
    report: Value,
    reports: usize,
    peak_mib: u64,
    seconds: f64,
}

impl Watched {
    /// Returns whether there is a finding of this rule.
    fn has(&self, rule: &str) -> bool {
        self.finding(rule).is_some()
    }

    fn finding(&self, rule: &str) -> Option<&Value> {
        let findings = self.report["findings"].as_array().expect("a list");
        findings.iter().find(|finding| finding["rule"] == rule)
    }

    /// Checks verdict, exit code and one rule.
    fn is(self, verdict: &str, code: i32, rule: &str) -> Self {
        let (got, exit) = (self.report["verdict"].as_str(), self.code);
        assert_eq!((got, exit), (Some(verdict), code), "{}", brief(&self.report));
        assert!(rule.is_empty() || self.has(rule), "{rule}: {}", brief(&self.report));
        self
    }

    /// Checks the peak of resident memory.
    fn within(self, mib: u64) -> Self {
        assert!(self.peak_mib <= mib, "{} MiB, more than {mib}", self.peak_mib);
        self
    }

    fn in_seconds(self, seconds: f64) -> Self {
        assert!(self.seconds <= seconds, "{} s, more than {seconds}", self.seconds);
        self
    }
}

fn brief(report: &Value) -> String {
    report.to_string().chars().take(2000).collect()
}

/// Runs the command on a path with two threads, in at most `mib` MiB of address space.
fn watch(name: &str, path: &Path, mib: u64, options: &[&str]) -> Watched {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v \"$0\"; exec \"$@\"", &(mib * 1024).to_string()])
        .arg(env!("CARGO_BIN_EXE_log-verify"))
        .args(["--threads", "2", "--format", "json"])
        .args(options)
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = Instant::now();
    let child = command.spawn().expect("a shell");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let running = std::thread::spawn(move || child.wait_with_output());
    let mut peak_kib = 0;
    while !running.is_finished() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak_kib = peak_kib.max(now.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = running.join().expect("it only waits").expect("a shell that was started");
    let seconds = started.elapsed().as_secs_f64();
    let peak_mib = peak_kib / 1024;
    println!("{name:44} {peak_mib:6} MiB {seconds:7.2} s");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "", "{name}");
    let code = output.status.code().unwrap_or_else(|| panic!("{name}: {}", output.status));
    let parse = |line: &[u8]| serde_json::from_slice(line).expect("each line is an object");
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let objects: Vec<Value> = lines.map(parse).collect();
    let reports = of_kind(&objects, "report");
    let report = (*reports.first().unwrap_or_else(|| panic!("{name}: no report"))).clone();
    Watched { code, report, reports: reports.len(), peak_mib, seconds }
}

/// Writes a compressed log and runs the command on it.
fn watch_log(name: &str, log: &[u8], mib: u64) -> Watched {
    let folder = Folder::new();
    watch(name, &folder.write("session.jsonl.zstd", log), mib, &[])
}

/// The same with a plain one.
fn watch_plain(name: &str, log: impl AsRef<[u8]>, mib: u64) -> Watched {
    let folder = Folder::new();
    watch(name, &folder.write("session.jsonl", log), mib, &[])
}

#[test]
fn a_frame_of_256_mib_is_judged_in_the_memory_of_any_other() {
    let (letters, nuls) = (Fill(b'a', 256 * MIB), Fill(0, 256 * MIB));
    let first = hand_made(&[letters.clone()]);
    assert!((8100..8300).contains(&first.len()), "{}", first.len());
    let run = watch_log("256 MiB of letters, first frame", &first, 1024);
    run.is("corrupt", 1, "container/first-frame-open").within(BASE_MIB).in_seconds(10.0);
    let run = watch_log("256 MiB of letters, later frame", &log_of(&[letters.clone()]), 1024);
    run.is("corrupt", 1, "container/split-record").within(BASE_MIB).in_seconds(10.0);
    let run = watch_log("256 MiB of NULs, later frame", &log_of(&[nuls.clone()]), 1024);
    run.is("corrupt", 1, "container/split-record").within(BASE_MIB).in_seconds(10.0);
    let run = watch_log("256 MiB of NULs on a line", &log_of(&[nuls, text("\n")]), 1024);
    run.is("corrupt", 1, "line/nul-run").within(BASE_MIB).in_seconds(10.0);
    let mut torn = log_of(&[letters]);
    torn.truncate(torn.len() - 2);
    let run = watch_log("256 MiB of letters, torn frame", &torn, 1024);
    run.is("torn", 0, "tail/torn-frame").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn a_frame_of_4_gib_is_stopped_at_the_limit_and_the_limit_is_named() {
    let bomb = [Fill(b'a', 4096 * MIB)];
    let mut torn = log_of(&bomb);
    torn.truncate(torn.len() - 2);
    for (name, log) in [
        ("4 GiB of letters, first frame", hand_made(&bomb)),
        ("4 GiB of letters, later frame", log_of(&bomb)),
        ("4 GiB of letters, torn frame", torn),
    ] {
        let run = watch_log(name, &log, 1024);
        let run = run.is("unreadable", 2, "limit/frame").within(BASE_MIB).in_seconds(15.0);
        let message = run.finding("limit/frame").expect("just seen")["message"].to_string();
        let is_named = message.contains("1073741824") && message.contains("--max-frame-bytes");
        assert!(is_named, "{message}");
    }
}

fn feeds(bytes: u64) -> Vec<u8> {
    log_of(&[Fill(b'\n', bytes)])
}

#[test]
fn a_frame_of_line_feeds_is_judged_in_seconds() {
    let run = watch_log("32 MiB of line feeds, one frame", &feeds(32 * MIB), 1024);
    run.is("corrupt", 1, "line/blank").within(BASE_MIB).in_seconds(10.0);
}

#[test]
#[ignore = "a minute without optimisation: a billion lines are judged one by one"]
fn a_large_frame_of_line_feeds_is_judged_or_stopped() {
    let run = watch_log("256 MiB of line feeds, one frame", &feeds(256 * MIB), 1024);
    run.is("corrupt", 1, "line/blank").within(BASE_MIB).in_seconds(30.0);
    let run = watch_log("4 GiB of line feeds, one frame", &feeds(4096 * MIB), 1024);
    run.is("unreadable", 2, "limit/frame").within(BASE_MIB).in_seconds(120.0);
}

#[test]
fn frames_of_short_lines_cost_no_more_than_their_text() {
    for (name, unit, rule) in [
        ("12 frames of 4 MiB of line feeds", "\n", "line/blank"),
        ("48 frames of 1 MiB of `0` lines", "0\n", "envelope/not-an-event"),
        ("48 frames of 1 MiB of `{}` lines", "{}\n", "envelope/not-an-event"),
        ("48 frames of 1 MiB of `[[],[]]` lines", "[[],[],[],[],[],[]]\n", "envelope/not-an-event"),
    ] {
        let frames = match unit {
            "\n" => hand_made(&[Fill(b'\n', 4 * MIB)]).repeat(12),
            _ => frame(&unit.repeat(MIB as usize / unit.len())).repeat(48),
        };
        let log = [hand_made(&[text(header("s"))]), frames].concat();
        let run = watch_log(name, &log, 4096);
        run.is("corrupt", 1, rule).within(400).in_seconds(30.0);
    }
}

#[test]
fn a_lawful_log_of_200_mib_from_a_few_kilobytes_is_sound_in_flat_memory() {
    let start = event("turn/start", 0, "{\"turn\":1}");
    let end = |seq| event("turn/end", seq, "{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}");
    let message = |seq, bytes| {
        let before = format!(
            "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
             \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[{{\"type\":\"text\",\
             \"text\":\""
        );
        long_line(&before, bytes, "\"}]},\"surfaceOp\":\"append\"}\n")
    };
    let mut parts = vec![text(&start)];
    parts.extend((0..100).flat_map(|at| message(1 + at, 2 * MIB)));
    parts.push(text(end(101)));
    let log = log_of(&parts);
    assert!(log.len() < 35_000, "{}", log.len());
    let run = watch_log("200 MiB of messages, one frame", &log, 1024);
    let run = run.is("sound", 0, "").within(BASE_MIB).in_seconds(15.0);
    assert_eq!(run.report["events"], 102);
    let mut log = [hand_made(&[text(header("s"))]), hand_made(&[text(&start)])].concat();
    (0..50).for_each(|at| log.extend(hand_made(&message(1 + at, 4 * MIB - 4096))));
    log.extend(hand_made(&[text(end(51))]));
    assert!(log.len() < 23_000, "{}", log.len());
    let run = watch_log("200 MiB of messages, 50 frames", &log, 2048);
    let run = run.is("sound", 0, "").within(300).in_seconds(15.0);
    assert_eq!(run.report["events"], 52);
}

#[test]
fn many_small_frames_are_cheap() {
    let mut log = frame(&header("s"));
    for at in 0..10_000 {
        log.extend(frame(&event("turn/start", 2 * at, &format!("{{\"turn\":{}}}", at + 1))));
        let data = format!("{{\"turn\":{},\"reason\":{{\"kind\":\"completed\"}}}}", at + 1);
        log.extend(frame(&event("turn/end", 2 * at + 1, &data)));
    }
    let run = watch_log("20,000 frames of one event", &log, 1024);
    let run = run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
    assert_eq!(run.report["events"], 20_000);
    let log = [hand_made(&[text(header("s"))]), hand_made(&[text("")]).repeat(1_000_000)].concat();
    let run = watch_log("1,000,000 empty frames", &log, 1024);
    run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn nesting_of_any_depth_is_judged_without_a_stack() {
    for depth in [100_000, 2_000_000] {
        let array = "[".repeat(depth) + &"]".repeat(depth);
        let object = "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        let opaque = |seq, data: &str| {
            format!(
                "{{\"type\":\"x/y\",\"seq\":{seq},\"time\":1,\"ignorable\":true,\"data\":{data}}}\n"
            )
        };
        let message = |seq, content: &str| {
            format!(
                "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
                 \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[{content}]}},\
                 \"surfaceOp\":\"append\"}}\n"
            )
        };
        let odd = |key: &str, value: &str| format!("{{\"type\":\"x\",\"{key}\":{value}}}\n");
        let start = |turn: &str| event("turn/start", 0, &format!("{{\"turn\":{turn}}}"));
        let cases = [
            ("payloads that nobody reads", opaque(0, &array) + &opaque(1, &object), "sound", 0),
            ("messages", start("1") + &message(1, &array) + &message(2, &object), "sound", 0),
            ("a seq", odd("seq", &array), "torn", 0),
            ("a seq of objects", odd("seq", &object), "torn", 0),
            ("a type", odd("type", &array), "torn", 0),
            ("a turn, printed in the closer", start(&array), "violation", 1),
        ];
        for (what, rows, verdict, code) in cases {
            let run = watch_plain(&format!("depth {depth}: {what}"), header("s") + &rows, 1024);
            run.is(verdict, code, "")
                .within(BASE_MIB + 25 * depth as u64 * 8 / MIB)
                .in_seconds(10.0);
        }
        let deep = header("s").replacen('{', &format!("{{\"x\":{object},"), 1);
        let run = watch_plain(&format!("depth {depth}: the header"), deep + &start("1"), 1024);
        run.is("sound", 0, "turn/open-at-end").in_seconds(10.0);
    }
}

/// A line of 300 MB whose payload no rule reads.
const OPAQUE: &str = "{\"type\":\"x/y\",\"seq\":0,\"time\":1,\"ignorable\":true,\"data\":\"";

/// The beginning and the end of a message that rules read.
const MESSAGE: [&str; 2] = [
    "{\"type\":\"user/message\",\"seq\":0,\"time\":1,\"surfaceOp\":\"append\",\
     \"data\":{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[\"",
    "\"]}}\n",
];

const GIANT: u64 = 300_000_000;

#[test]
fn a_giant_line_that_no_rule_reads_costs_no_memory() {
    let read = "{\"type\":\"user/message\",\"type\":\"x/y\",\"seq\":0,\"time\":1,\
        \"ignorable\":true,\"data\":\"";
    for (name, before, after, verdict, code, rule) in [
        ("giant, no rule reads it", OPAQUE, "\"}\n", "sound", 0, ""),
        ("giant, its last type is not read", read, "\"}\n", "sound", 0, ""),
        ("giant, malformed at its end", OPAQUE, "\"x}\n", "corrupt", 1, "json/malformed"),
        ("giant, malformed at once", "{\"type\":", "\"}\n", "corrupt", 1, "json/malformed"),
        ("giant, not ended", OPAQUE, "", "corrupt", 1, "container/split-record"),
        (
            "giant, retyped behind its payload",
            OPAQUE,
            "\",\"type\":\"user/message\"}\n",
            "unreadable",
            2,
            "limit/line",
        ),
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

#[test]
fn wide_and_dense_values_are_judged_in_little_more_than_their_own_memory() {
    let members: Vec<String> = (0..1_000_000).map(|at| format!("\"k{at}\":1")).collect();
    let wide = members.join(",");
    let same = vec!["\"k\":1"; 1_000_000].join(",");
    let dense = format!("[{}{{}}]", "{},".repeat(1_000_000));
    let opaque = |data: &str| {
        format!("{{\"type\":\"x/y\",\"seq\":0,\"time\":1,\"ignorable\":true,\"data\":{data}}}\n")
    };
    let old = format!("{{{wide},\"content\":[],\"source\":{{\"kind\":\"user\"}}}}");
    let old = event("user/message", 0, &old).replacen('{', "{\"surfaceOp\":\"append\",", 1);
    let result = |seq, op: &str| {
        event(
            "tool/result",
            seq,
            &format!(
                "{{\"meta\":{{{wide}}},\"message\":{{\"id\":\"r\",\"role\":\"user\",\
                 \"source\":{{\"kind\":\"tool\",\"callId\":\"c\"}},\
                 \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":[]}}]}}}}"
            ),
        )
        .replacen('{', &format!("{{{op},"), 1)
    };
    let rewritten = result(0, "\"surfaceOp\":\"append\"")
        + &result(
            1,
            "\"sourceEventSeqs\":[0],\"surfaceOp\":{\"op\":\"replace\",\"start\":0,\"end\":0}",
        );
    let end = |data: String| event("turn/end", 0, &data);
    for (name, rows, verdict, code) in [
        ("1,000,000 members, no rule reads them", opaque(&format!("{{{wide}}}")), "sound", 0),
        ("1,000,000 members of one key", opaque(&format!("{{{same}}}")), "sound", 0),
        ("1,000,000 members of an old message", old, "sound", 0),
        ("1,000,000 members of a turn/end", end(format!("{{{wide}}}")), "violation", 1),
        ("1,000,000 members, compared", rewritten, "violation", 1),
        ("1,000,000 members of an envelope", format!("{{{wide}}}\n"), "torn", 0),
        ("1,000,000 empty objects in a list", opaque(&dense), "sound", 0),
    ] {
        let run = watch_plain(name, header("s") + &rows, 2048);
        run.is(verdict, code, "").within(400).in_seconds(10.0);
    }
    let many = header("s") + &format!("{dense}\n").repeat(10);
    let run = watch_plain("10 lines of 1,000,000 empty objects", many, 2048);
    run.is("torn", 0, "").within(500).in_seconds(10.0);
}

#[test]
fn packed_rows_and_sources_by_the_million_are_judged_in_seconds() {
    let row = |seq: usize, members: usize| {
        let (gaps, texts) = (vec!["0"; members - 1].join(","), vec!["\"a\""; members].join(","));
        format!(
            "{{\"type\":\"text-chunks\",\"seq0\":{seq},\"time0\":1,\"data\":{{\"turn\":1,\
             \"step\":1,\"index\":0,\"dt\":[{gaps}],\"texts\":[{texts}]}}}}\n"
        )
    };
    let rows: String = (0..100_000).map(|at| row(3 * at, 3)).collect();
    let run = watch_plain("100,000 packed rows", header("s") + &rows, 1024);
    let run = run.is("violation", 1, "step/event-outside").within(BASE_MIB).in_seconds(10.0);
    assert_eq!(run.report["events"], 300_000);
    // The host loads them both: the reader has nothing against chunks outside a step.
    assert_eq!(run.report["host"], "loads");
    let mut sources: Vec<String> = (0..1_000_000).map(|seq| seq.to_string()).collect();
    let message = |seq: u64, sources: &[String]| {
        let data = "{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[]}";
        let more =
            format!("{{\"surfaceOp\":\"append\",\"sourceEventSeqs\":[{}],", sources.join(","));
        event("user/message", seq, data).replacen('{', &more, 1)
    };
    let sorted = message(1_000_000, &sources);
    sources.reverse();
    let log = header("s") + &row(0, 1_000_000) + &sorted + &message(1_000_001, &sources);
    let run = watch_plain("1,000,000 sources, twice", log, 1024);
    let run = run.is("violation", 1, "step/event-outside").within(300).in_seconds(10.0);
    assert_eq!((&run.report["host"], &run.report["events"]), (&"loads".into(), &1_000_002.into()));
}

#[test]
fn replacements_by_the_hundred_thousand_are_judged_in_seconds() {
    let message = |seq: usize, op: &str| {
        format!(
            "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
             \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[]}},{op}}}\n"
        )
    };
    let count = 100_000;
    let mut log = header("s");
    (0..count).for_each(|seq| log += &message(seq, "\"surfaceOp\":\"append\""));
    for seq in count..2 * count {
        let node = seq - 1;
        let op = format!(
            "\"sourceEventSeqs\":[{node}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{node},\
             \"end\":{node}}}"
        );
        log += &message(seq, &op);
    }
    let run = watch_plain("100,000 replacements of the last message", log, 1024);
    run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn words_of_a_mebibyte_are_not_repeated_in_every_message() {
    let unknown =
        |seq: usize| format!("{{\"type\":\"zz\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n");
    let rows: String = (0..2000).map(unknown).collect();
    let log = header(&"a".repeat(1 << 20)) + &rows;
    let run = watch_plain("an id of 1 MiB, 2,000 refusals", log, 2048);
    run.is("unsupported", 1, "envelope/unknown-type").within(BASE_MIB).in_seconds(10.0);
    let line = |seq: usize| {
        let after = format!("\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n");
        long_line("{\"type\":\"", MIB, &after)
    };
    let log = log_of(&(0..900).flat_map(line).collect::<Vec<_>>());
    let run = watch_log("types of 1 MiB, 900 refusals", &log, 2048);
    run.is("unsupported", 1, "envelope/unknown-type").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn an_id_that_climbs_folders_leads_nowhere() {
    let folder = Folder::new();
    let id = "../../../../etc/passwd";
    let log = header(id) + &turn(1, 0);
    let path = folder.write("--p--/s1/session.jsonl", &log);
    let run = watch("an id with `../` in another folder", &path, 1024, &[]);
    let run = run.is("corrupt", 1, "identity/other-id");
    assert_eq!(run.report["session"], id);
    let own = "..~002F..~002F..~002F..~002Fetc~002Fpasswd";
    let path = folder.write(&format!("--p--/{own}/session.jsonl"), &log);
    watch("an id with `../` in its own folder", &path, 1024, &[]).is("sound", 0, "");
    let log = header("s2").replacen("\"/p\"", "\"/p/../../x\"", 1) + &turn(1, 0);
    let path = folder.write("--p--/s2/session.jsonl", log);
    watch("a cwd with `..`", &path, 1024, &[]).is("corrupt", 1, "identity/elsewhere");
}

/// Changes the length of a file again and again until it is told to stop.
fn shake(path: &Path, whole: &[u8], stop: &AtomicBool) {
    let file = File::options().write(true).open(path).expect("it was just written");
    let mut dice = 1usize;
    while !stop.load(Ordering::Relaxed) {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (dice >> 20) % whole.len();
        file.set_len(at as u64).expect("a shorter file");
        std::os::unix::fs::FileExt::write_all_at(&file, &whole[at..], at as u64).expect("room");
    }
}

#[test]
fn a_file_that_is_cut_and_written_while_it_is_read_is_reported_on() {
    let turns: String = (0..60_000).map(|at| turn(at + 1, 3 * at)).collect();
    let frames: Vec<u8> = (0..600)
        .flat_map(|at| {
            let turns: String = (at * 100..at * 100 + 100).map(|at| turn(at + 1, 3 * at)).collect();
            frame(&turns)
        })
        .collect();
    let plain = (header("s") + &turns).into_bytes();
    let zstd = [frame(&header("s")), frames].concat();
    for (name, log) in [("session.jsonl", plain), ("session.jsonl.zstd", zstd)] {
        let folder = Folder::new();
        let path = folder.write(name, &log);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| shake(&path, &log, &stop));
            for round in 0..10 {
                let run = watch(&format!("{name} while it is cut, {round}"), &path, 1024, &[]);
                // Between a cut and the writing that follows the disk may give zeros, and a file
                // that is shorter on each of three looks is not checked.
                assert!((0..=2).contains(&run.code), "{}", run.code);
                let bytes = run.report["bytes"].as_u64().expect("a length");
                assert!(bytes <= log.len() as u64, "{}", brief(&run.report));
                let events = run.report["events"].as_u64().expect("a count");
                assert!(events <= 180_000, "{}", brief(&run.report));
                assert!(run.peak_mib <= BASE_MIB, "{}", run.peak_mib);
            }
            stop.store(true, Ordering::Relaxed);
        });
        watch(&format!("{name} at rest again"), &path, 1024, &[]).is("sound", 0, "");
    }
}

#[test]
fn many_torn_files_share_the_second_look() {
    let folder = Folder::new();
    for at in 0..300 {
        folder.session(&format!("s{at}"), &(turn(1, 0) + "{\"type\":\"tur"));
    }
    let run = watch("300 torn files", folder.path(), 1024, &[]);
    let run = run.is("torn", 0, "tail/partial-line").within(BASE_MIB).in_seconds(5.0);
    assert_eq!(run.reports, 300);
}

#[test]
fn a_fifo_is_refused_and_not_waited_for() {
    let folder = Folder::new();
    folder.session("s1", &turn(1, 0));
    let path = folder.write("--p--/s2/x", "").with_file_name("session.jsonl");
    let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo is everywhere");
    assert!(made.success());
    let run = watch("a FIFO in a root", folder.path(), 1024, &[]).in_seconds(5.0);
    assert_eq!((run.code, run.reports), (2, 2));
    let run = watch("a FIFO by its path", &path, 1024, &[]).in_seconds(5.0);
    run.is("unreadable", 2, "limit/unreadable");
}
