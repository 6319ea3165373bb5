//! Runs the command within bounds, and sees what it costs.

use crate::common::{Folder, of_kind};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What every run may use: code, stacks, decoders, two batches of text and their tapes.
pub(crate) const BASE_MIB: u64 = 120;

/// What a run left behind, and what it cost.
pub(crate) struct Watched {
    pub(crate) code: i32,
    pub(crate) report: Value,
    pub(crate) reports: usize,
    pub(crate) peak_mib: u64,
    /// Processor time of all its threads, as it was last seen.
    pub(crate) seconds: f64,
}

impl Watched {
    /// Returns whether there is a finding of this rule.
    pub(crate) fn has(&self, rule: &str) -> bool {
        self.finding(rule).is_some()
    }

    pub(crate) fn finding(&self, rule: &str) -> Option<&Value> {
        let findings = self.report["findings"].as_array().expect("a list");
        findings.iter().find(|finding| finding["rule"] == rule)
    }

    /// Checks verdict, exit code and one rule.
    pub(crate) fn is(self, verdict: &str, code: i32, rule: &str) -> Self {
        let (got, exit) = (self.report["verdict"].as_str(), self.code);
        assert_eq!((got, exit), (Some(verdict), code), "{}", brief(&self.report));
        assert!(rule.is_empty() || self.has(rule), "{rule}: {}", brief(&self.report));
        self
    }

    /// Checks the peak of resident memory.
    pub(crate) fn within(self, mib: u64) -> Self {
        assert!(self.peak_mib <= mib, "{} MiB, more than {mib}", self.peak_mib);
        self
    }

    /// Checks the processor time: a machine that stands still for a while fails nobody.
    pub(crate) fn in_seconds(self, seconds: f64) -> Self {
        assert!(self.seconds <= seconds, "{} s, more than {seconds}", self.seconds);
        self
    }
}

/// Returns the processor time of a process, of `/proc/PID/stat`.
fn seconds(stat: &str) -> Option<f64> {
    // The name in parentheses may have spaces; user and system time are the 14th and 15th word.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut ticks = rest.split(' ').skip(11).map(str::parse::<f64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    // A tick is a hundredth of a second wherever the system shows one to a program.
    Some((user + system) / 100.0)
}

pub(crate) fn brief(report: &Value) -> String {
    report.to_string().chars().take(2000).collect()
}

/// Runs the command on a path with two threads, in at most `mib` MiB of address space and a minute
/// of processor time, at which one that does not end is killed.
pub(crate) fn watch(name: &str, path: &Path, mib: u64, options: &[&str]) -> Watched {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v \"$0\"; ulimit -t 60; exec \"$@\"", &(mib * 1024).to_string()])
        .arg(env!("CARGO_BIN_EXE_log-verify"))
        .args(["--threads", "2", "--format", "json"])
        .args(options)
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().expect("a shell");
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let running = std::thread::spawn(move || child.wait_with_output());
    let (mut most, mut took) = (0, 0.0);
    while !running.is_finished() {
        let text = fs::read_to_string(process.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(now.unwrap_or(0));
        let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
        took = seconds(&stat).unwrap_or(took);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = running.join().expect("it only waits").expect("a shell that was started");
    let peak_mib: u64 = most / 1024;
    println!("{name:44} {peak_mib:6} MiB {took:7.2} s");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "", "{name}");
    let code = output.status.code().unwrap_or_else(|| panic!("{name}: {}", output.status));
    let parse = |line: &[u8]| serde_json::from_slice(line).expect("each line is an object");
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let objects: Vec<Value> = lines.map(parse).collect();
    let reports = of_kind(&objects, "report");
    let report = (*reports.first().unwrap_or_else(|| panic!("{name}: no report"))).clone();
    Watched { code, report, reports: reports.len(), peak_mib, seconds: took }
}

/// Writes a compressed log and runs the command on it.
pub(crate) fn watch_log(name: &str, log: &[u8], mib: u64) -> Watched {
    let folder = Folder::new();
    watch(name, &folder.write("session.jsonl.zstd", log), mib, &[])
}

/// The same with a plain one.
pub(crate) fn watch_plain(name: &str, log: impl AsRef<[u8]>, mib: u64) -> Watched {
    let folder = Folder::new();
    watch(name, &folder.write("session.jsonl", log), mib, &[])
}
