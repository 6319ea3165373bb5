//! A folder of session files that lasts as long as a test, and the command that is run on it.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of this")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder that is removed at the end of its test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gatelog-cli-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("a folder");
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Writes a plain log of format 0 where the host would.
    pub fn session(&self, id: &str, events: &str) -> PathBuf {
        let log = format!("{}{events}", header(id));
        self.write(&format!("--p--/{id}/session.jsonl"), log)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// The header line of a log of format 0.
pub fn header(id: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":0,\"id\":\"{id}\",\"createdAt\":1760000000000,\
         \"cwd\":\"/p\",\"delegationDepth\":0}}\n"
    )
}

/// One event line.
pub fn event(kind: &str, seq: u64, data: &str) -> String {
    let time = 1_760_000_000_000_u64 + seq;
    format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time},\"data\":{data}}}\n")
}

/// A turn that begins at `seq` and is not ended: two events.
pub fn open_turn(turn: u64, seq: u64) -> String {
    let start = format!(
        "{{\"turn\":{turn},\"trigger\":{{\"kind\":\"message\",\"source\":{{\"kind\":\"user\"}}}}}}"
    );
    let message = format!(
        "{{\"type\":\"user/message\",\"seq\":{},\"time\":1760000000000,\
         \"data\":{{\"id\":\"m{turn}\",\
         \"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"hello\"}}],\
         \"source\":{{\"kind\":\"user\"}}}},\"surfaceOp\":\"append\"}}\n",
        seq + 1
    );
    event("turn/start", seq, &start) + &message
}

/// A whole turn that begins at `seq`: three events.
pub fn turn(turn: u64, seq: u64) -> String {
    let end = format!("{{\"turn\":{turn},\"reason\":{{\"kind\":\"completed\"}}}}");
    open_turn(turn, seq) + &event("turn/end", seq + 2, &end)
}

/// A log that lacks three events in its middle, behind which a turn ends.
pub fn gap() -> String {
    turn(1, 0) + &turn(3, 6)
}

/// One Zstandard frame that holds a text.
pub fn frame(text: &str) -> Vec<u8> {
    let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    zstd_safe::compress(&mut frame, text.as_bytes(), 3).expect("it compresses");
    frame
}

/// The command, with an environment that says nothing of colours.
pub fn log_verify() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_log-verify"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    command
}

/// What a run left behind.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the command to its end.
pub fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    Run {
        code: status.code().expect("no signal ends it"),
        stdout: String::from_utf8(stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(stderr).expect("errors are UTF-8"),
    }
}

/// Runs the command on a path.
pub fn check(path: &Path) -> Run {
    run(log_verify().arg(path))
}

/// Runs the command with options on a path.
pub fn check_with(options: &[&str], path: &Path) -> Run {
    run(log_verify().args(options).arg(path))
}

/// Runs the command with `--format json` and returns the exit code and the objects.
pub fn json(options: &[&str], path: &Path) -> (i32, Vec<serde_json::Value>) {
    let run = run(log_verify().args(["--format", "json"]).args(options).arg(path));
    let parse = |line: &str| serde_json::from_str(line).expect("each line is one object");
    (run.code, run.stdout.lines().map(parse).collect())
}

/// Returns the objects of one kind.
pub fn of_kind<'a>(objects: &'a [serde_json::Value], kind: &str) -> Vec<&'a serde_json::Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// Returns the keys of an object in the order in which they were printed.
pub fn keys(object: &serde_json::Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}
