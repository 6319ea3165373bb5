//! A store of session files, driven by lines on standard input: the differential suite lets it and
//! the host write the same sessions (`fuzz/differential/store.mjs`).
//!
//! ```text
//! open <root> <zstd|none>
//! create {"header":{…},"events":[…]}
//! append {"id":"…","class":"synced|written|buffered","events":[…],"next":N}
//! read "…"
//! close
//! ```
//!
//! Each line is answered with one: the seq of the next event, the events, or what went wrong.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::json::{Document, Json};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::session_files::{Encoding, FilesConfig, SessionFiles};
use gatelog_engine::storage::Disk;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut store = None;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = match (word, &store) {
            ("open", _) => open(rest).map(|opened| {
                store = Some(opened);
                "open".to_owned()
            }),
            ("create", Some(store)) => create(store, rest),
            ("append", Some(store)) => append(store, rest),
            ("read", Some(store)) => read(store, rest),
            ("close", Some(opened)) => {
                let closed = opened.close();
                store = None;
                closed.map(|()| "closed".to_owned()).map_err(Into::into)
            }
            _ => Err(format!("no such line: {word}").into()),
        };
        writeln!(out, "{}", answer.unwrap_or_else(|error| format!("error: {error}")))?;
    }
    Ok(())
}

fn open(rest: &str) -> Outcome<SessionFiles> {
    let (root, encoding) = rest.rsplit_once(' ').ok_or("a root and an encoding")?;
    let encoding = if encoding == "zstd" { Encoding::Zstd } else { Encoding::Plain };
    let config = FilesConfig { encoding, allow_unlocked: true, ..FilesConfig::new(0) };
    Ok(SessionFiles::open(Arc::new(Disk), root, Arc::new(ThisMachine), config)?)
}

fn text(value: Option<Json<'_>>) -> Outcome<String> {
    let text = value.and_then(|value| value.as_text()).ok_or("a text is missing")?;
    Ok(String::from_utf8(text.to_wtf8().into_owned())?)
}

fn create(store: &SessionFiles, rest: &str) -> Outcome<String> {
    let given = Document::parse(rest)?;
    let header = given.root().get("header").ok_or("a header is missing")?;
    let id = text(header.get("id"))?;
    let header = SessionHeader { dialect: 0, json: header.raw().to_vec() };
    let batch = batch(given.root().get("events"), 0)?;
    let commit = store.create(&id, &header, batch, Durability::Synced);
    let commit = commit.map_err(|error| format!("{error:?}"))?;
    Ok(commit.events.to_string())
}

fn append(store: &SessionFiles, rest: &str) -> Outcome<String> {
    let given = Document::parse(rest)?;
    let id = text(given.root().get("id"))?;
    let class = match text(given.root().get("class"))?.as_str() {
        "buffered" => Durability::Buffered,
        "written" => Durability::Written,
        _ => Durability::Synced,
    };
    // Who says where the session should be does not look again.
    let next_seq = match given.root().get("next").and_then(|next| next.as_number()) {
        Some(next) => next as u64,
        None => store.find(&id)?.ok_or("there is no such session")?.next_seq,
    };
    let batch = batch(given.root().get("events"), next_seq)?;
    let commit = store.append(&id, batch, class).map_err(|error| format!("{error:?}"))?;
    Ok((commit.first_seq + commit.events).to_string())
}

fn batch(events: Option<Json<'_>>, first_seq: u64) -> Outcome<Batch> {
    let events = events.ok_or("the events are missing")?;
    let rows = events.elements().map(row).collect::<Outcome<Vec<Row>>>()?;
    Ok(Batch { first_seq, key: None, rows })
}

fn row(event: Json<'_>) -> Outcome<Row> {
    let part = |key| event.get(key).map(|value: Json<'_>| value.raw().to_vec());
    let time_ms = event.get("time").and_then(|time| time.as_number()).ok_or("a time is missing")?;
    let draft = Draft {
        sources: part("sourceEventSeqs"),
        surface: part("surfaceOp"),
        ignorable: event.get("ignorable").is_some(),
        ..Draft::new(text(event.get("type"))?, part("data").ok_or("a payload is missing")?)
    };
    Ok(Row { time_ms: time_ms as u64, draft })
}

/// Writes the events of a session as one array of rows.
fn read(store: &SessionFiles, rest: &str) -> Outcome<String> {
    let id = text(Some(Document::parse(rest)?.root()))?;
    let mut rows = Vec::new();
    store.read(&id, 0, &mut |event| {
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        // Types of the differential suite need no escapes.
        let (kind, seq, time_ms, data) = (event.kind, event.seq, event.time_ms, shown(event.data));
        let mut row =
            format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time_ms},\"data\":{data}");
        for (key, value) in [("sourceEventSeqs", event.sources), ("surfaceOp", event.surface)] {
            if let Some(value) = value {
                row = format!("{row},\"{key}\":{}", shown(value));
            }
        }
        row.push_str(if event.ignorable { ",\"ignorable\":true}" } else { "}" });
        rows.push(row);
        ControlFlow::Continue(())
    })?;
    Ok(format!("[{}]", rows.join(",")))
}
