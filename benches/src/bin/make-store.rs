//! Writes a native store of lawful sessions: `make-store DIR SESSIONS TURNS [interleaved]`.
//!
//! Each session has so many turns, one a batch. Interleaved, every session has its first turn
//! before any has its second, so that all of them are open at once.

use gatelog_engine::backend::{Backend, Batch, Durability, Error, Row};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::storage::Disk;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Events of a turn.
const EVENTS: u64 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, sessions, turns, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: make-store DIR SESSIONS TURNS [interleaved]");
        return ExitCode::from(2);
    };
    let (Ok(sessions), Ok(turns)) = (sessions.parse(), turns.parse()) else {
        eprintln!("make-store: {sessions} or {turns} is no number");
        return ExitCode::from(2);
    };
    match write(Path::new(dir), sessions, turns, !rest.is_empty()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("make-store: {what}");
            ExitCode::FAILURE
        }
    }
}

fn write(dir: &Path, sessions: u64, turns: u64, is_interleaved: bool) -> Result<(), String> {
    let log = Log::open(Arc::new(Disk), dir, Arc::new(ThisMachine), LogConfig::default());
    let log = log.map_err(|error| error.to_string())?;
    if is_interleaved {
        (0..turns).try_for_each(|turn| (0..sessions).try_for_each(|id| put(&log, id, turn)))?;
    } else {
        (0..sessions).try_for_each(|id| (0..turns).try_for_each(|turn| put(&log, id, turn)))?;
    }
    log.close().map_err(|error: Error| error.to_string())
}

/// Puts a turn behind the others of a session; the first one creates it.
fn put(log: &Log, session: u64, turn: u64) -> Result<(), String> {
    let id = format!("s-{session:08}");
    let end = format!(r#"{{"turn":{},"reason":{{"kind":"completed"}}}}"#, turn + 1);
    let start = format!(r#"{{"turn":{}}}"#, turn + 1);
    let drafts = [Draft::new("turn/start", start), Draft::new("turn/end", end)];
    let rows = drafts.into_iter().map(|draft| Row { time_ms: 1_000 + turn, draft }).collect();
    let batch = Batch { first_seq: turn * EVENTS, key: None, rows };
    let put = if turn == 0 {
        let front = r#"{"type":"session","version":0,"createdAt":1,"cwd":"/p","delegationDepth":0"#;
        let json = format!(r#"{front},"id":"{id}"}}"#).into_bytes();
        log.create(&id, &SessionHeader { dialect: 0, json }, batch, Durability::Buffered)
    } else {
        log.append(&id, batch, Durability::Buffered)
    };
    put.map(drop).map_err(|error| format!("{id}, turn {turn}: {error:?}"))
}
