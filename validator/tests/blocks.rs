//! What a log means does not depend on how it came in: the lengths of reads, the frames it lies in,
//! the number of threads.

#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use gatelog_engine::storage::{Entry, File, FileId, Memory, Stat, Storage};
use gatelog_validator::report::{HostAct, Report, Verdict};
use gatelog_validator::verify::Options;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{check_consistent, report, report_on};
use twin::container;

/// Environment by which a child process is told that it is one.
const CHILD: &str = "GATELOG_BLOCKS_CHILD";

/// What a report says of the log as against its container.
fn meaning(report: &Report) -> String {
    let Report { verdict, host, events, closers, .. } = report;
    let mut text = format!("{verdict:?} {host:?} {events} {closers} {}", report.lost.lines);
    for finding in &report.findings {
        let _ = write!(text, "; {} {:?} {:?}", finding.rule, finding.place.seq, finding.place.line);
    }
    text
}

/// A deterministic source of numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\
     \"cwd\":\"/p\",\"delegationDepth\":0}\n";

/// A line of `turn` that begins at `seq`, with a message of `text_bytes` bytes.
fn turn(turn: usize, seq: usize, text_bytes: usize) -> String {
    let text = "\u{e9}x".repeat(text_bytes / 3 + 1);
    format!(
        "{{\"type\":\"turn/start\",\"seq\":{seq},\"time\":1,\
         \"data\":{{\"turn\":{turn}}}}}\n{{\"type\":\"user/message\",\"seq\":{},\"time\":1,\
         \"data\":{{\"id\":\"m\",\"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}},\
         \"surfaceOp\":\"append\"}}\n{{\"type\":\"x/y\",\"seq\":{},\"time\":1,\"ignorable\":true,\
         \"data\":[{{}},\"{text}\",[[]]]}}\n{{\"type\":\"turn/end\",\"seq\":{},\"time\":1,\
         \"data\":{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}}}\n",
        seq + 1,
        seq + 2,
        seq + 3
    )
}

/// A line past this is no longer simply kept.
const GIANT_BYTES: usize = 9 << 20;

/// A lawful log of some megabytes: short lines and long ones, two of them of `giant_bytes`.
fn lawful(giant_bytes: usize) -> String {
    let mut dice = Dice(7);
    let mut log = HEADER.to_owned();
    for number in 0..700 {
        let text_bytes = match number {
            350 => giant_bytes,
            100 => 1 << 20,
            _ => [10, 100, 1000, 5000][dice.below(4)] + dice.below(50),
        };
        log += &turn(number + 1, number * 4, text_bytes);
    }
    log
}

/// Logs of the same length that are not lawful, each with a name.
fn broken(lawful: &str) -> Vec<(&'static str, String)> {
    let line = |seq: usize| {
        let start = lawful.find(&format!("\"seq\":{seq},")).expect("it is in the log");
        let start = lawful[..start].rfind('\n').map_or(0, |at| at + 1);
        start..start + lawful[start..].find('\n').expect("lines end") + 1
    };
    let with = |seq: usize, text: &str| {
        let mut log = lawful.to_owned();
        log.replace_range(line(seq), text);
        log
    };
    vec![
        ("a gap, then a turn/end", with(1600, "")),
        ("a malformed giant", {
            let giant = line(1401);
            let text = lawful[giant.start..giant.end - 2].to_owned() + "\n";
            with(1401, &text)
        }),
        ("a null row", with(900, "null\n")),
        ("a message without an id", {
            let text = lawful[line(2001)].replacen("\"id\":\"m\",", "", 1);
            with(2001, &text)
        }),
        ("an unknown type", {
            let text = lawful[line(2002)].replacen("\"ignorable\":true,", "", 1);
            with(2002, &text)
        }),
        ("a cut line", lawful[..line(2799).end - 5].to_owned()),
        ("an open turn", lawful[..line(2799).start].to_owned()),
        ("a second start", lawful.to_owned() + &turn(1, 0, 10)),
    ]
}

/// A file system whose files give a few bytes at a time.
struct Short(Memory, usize);

struct ShortFile(Box<dyn File>, usize);

impl Storage for Short {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        Ok(Box::new(ShortFile(self.0.open(path)?, self.1)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.0.list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        self.0.stat(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        self.0.lock_holders(file)
    }
}

impl File for ShortFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = (offset as usize % self.1 + 1).min(buffer.len());
        self.0.read_at(offset, &mut buffer[..wanted])
    }

    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }
}

fn short(log: &[u8], zstd: bool, bytes: usize) -> Report {
    let storage = Short(Memory::new().file("/log", log), bytes);
    report_on(&storage, Some(0), zstd, &Options::default())
}

/// The header in its own frame, then frames whose lengths the dice give, cut anywhere or at lines.
fn framed(log: &str, dice: &mut Dice, bytes_max: usize, at_lines: bool) -> Vec<u8> {
    let mut rest = log.as_bytes();
    let (header, events) = rest.split_at(HEADER.len());
    let mut framed = container::frame(header, 1 << 17, true);
    rest = events;
    while !rest.is_empty() {
        let mut end = (1 + dice.below(bytes_max)).min(rest.len());
        if at_lines {
            end += rest[end..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        }
        framed.extend(container::frame(&rest[..end], 1 + dice.below(1 << 17), dice.below(2) == 0));
        rest = &rest[end..];
    }
    framed
}

/// The reports on all logs in all framings.
fn all_reports(giant_bytes: usize) -> Vec<(String, Report)> {
    let lawful = lawful(giant_bytes);
    let mut dice = Dice(1);
    let mut reports = Vec::new();
    let mut logs = broken(&lawful);
    logs.insert(0, ("lawful", lawful));
    for (name, log) in logs {
        reports.push((format!("plain, {name}"), report(log.as_bytes(), false)));
        // Large frames are streamed, small ones decoded in jobs.
        for (bytes_max, at_lines) in [(1 << 16, true), (1 << 19, false), (64 << 20, true)] {
            let framed = framed(&log, &mut dice, bytes_max, at_lines);
            reports.push((format!("frames of {bytes_max}, {name}"), report(&framed, true)));
        }
    }
    reports
}

#[test]
fn frames_of_any_length_mean_what_the_plain_log_means() {
    let reports = all_reports(GIANT_BYTES);
    let mut plain: Option<&Report> = None;
    for (name, report) in &reports {
        check_consistent(report);
        if name.starts_with("plain") {
            plain = Some(report);
            continue;
        }
        let plain = plain.expect("the plain one comes first");
        // Section 2.3: what recovery would cut from plain text is fatal in a complete frame.
        if plain.verdict == Verdict::Torn {
            assert_eq!(report.host, HostAct::Refuses, "{name}");
            assert_eq!(report.events, plain.events, "{name}");
        } else {
            assert_eq!(meaning(report), meaning(plain), "{name}");
        }
    }
    let of = |act| reports.iter().filter(|(_, report)| report.host == act).count();
    let counts = [HostAct::Loads, HostAct::Repairs, HostAct::Refuses].map(of);
    assert!(counts.iter().all(|count| *count >= 4), "{counts:?}");
    assert_eq!(reports[0].1.verdict, Verdict::Sound, "{:?}", reports[0].1);
    assert_eq!(reports[0].1.events, 2800);
}

#[test]
fn reads_of_any_length_give_the_same_report() {
    let lawful = lawful(GIANT_BYTES);
    for (name, log) in broken(&lawful) {
        let expected = report(log.as_bytes(), false);
        let got = short(log.as_bytes(), false, 70_001);
        assert_eq!(format!("{got:?}"), format!("{expected:?}"), "{name}");
    }
    let small: String = lawful[..lawful.len() / 1000].into();
    let framed = framed(&small, &mut Dice(3), 3000, false);
    for bytes in [1, 2, 3, 7, 4099] {
        for (log, zstd) in [(small.as_bytes(), false), (&framed, true)] {
            let expected = report(log, zstd);
            let got = short(log, zstd, bytes);
            assert_eq!(format!("{got:?}"), format!("{expected:?}"), "{bytes}, zstd: {zstd}");
        }
    }
}

/// Prints every report, when it runs in a child process.
#[test]
fn all_reports_of_one_process() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for (name, report) in all_reports(1000) {
        println!("report: {name}: {report:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_reports() {
    // The pool of a process is made once, so that each number of threads needs a process.
    let of = |threads: usize| {
        let program = std::env::current_exe().expect("a test knows where it is");
        let output = Command::new(program)
            .args(["--exact", "all_reports_of_one_process", "--nocapture"])
            .env(CHILD, "1")
            .env("RAYON_NUM_THREADS", threads.to_string())
            .output()
            .expect("the test starts again");
        assert!(output.status.success(), "{threads} threads: {output:?}");
        let text = String::from_utf8(output.stdout).expect("reports are text");
        let reports = text.lines().filter(|line| line.starts_with("report: "));
        reports.map(str::to_owned).collect::<Vec<_>>()
    };
    let one = of(1);
    assert_eq!(one.len(), 36, "{one:?}");
    for threads in 2..=8 {
        let got = of(threads);
        for (got, expected) in got.iter().zip(&one) {
            assert_eq!(got, expected, "{threads} threads");
        }
        assert_eq!(got.len(), one.len());
    }
}
