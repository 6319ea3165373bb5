//! Sessions as a front end makes them: drafts, one after the other, told from a tape of choices.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

pub mod story;

use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::Document;
use gatelog_engine::rules::{Draft, SessionHeader};

/// The header of every session here.
pub const HEADER: &str =
    r#"{"type":"session","version":0,"id":"s","createdAt":1,"cwd":"/p","delegationDepth":0}"#;

/// Returns the header as a store has it.
pub fn header() -> SessionHeader {
    SessionHeader { dialect: 0, json: HEADER.into() }
}

/// Hands a draft, stamped, to whoever looks at events.
pub fn with_event<R>(draft: &Draft, seq: u64, act: impl FnOnce(&Event<'_>) -> R) -> R {
    let parse = |text: &[u8]| Document::parse(text.to_vec()).expect("a draft is JSON");
    let data = parse(&draft.data);
    let sources = draft.sources.as_deref().map(parse);
    let surface = draft.surface.as_deref().map(parse);
    let time_ms = draft.time_ms.unwrap_or(1000 + seq) as f64;
    act(&Event {
        seq,
        members: 1,
        time_ms,
        last_time_ms: time_ms,
        kind: &draft.kind,
        data: data.root(),
        packed: false,
        ignorable: draft.ignorable,
        sources: sources.as_ref().map(Document::root),
        surface: surface.as_ref().map(Document::root),
        place: Place { seq: Some(seq), ..Place::default() },
    })
}

/// Writes a draft as the line of a session file.
pub fn line(draft: &Draft, seq: u64) -> Vec<u8> {
    let kind = &draft.kind;
    let time_ms = draft.time_ms.unwrap_or(1000 + seq);
    let envelope = format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":{time_ms},\"data\":");
    let mut line = envelope.into_bytes();
    line.extend(&draft.data);
    for (key, text) in [("sourceEventSeqs", &draft.sources), ("surfaceOp", &draft.surface)] {
        if let Some(text) = text {
            line.extend(format!(",\"{key}\":").bytes());
            line.extend(text);
        }
    }
    if draft.ignorable {
        line.extend(b",\"ignorable\":true");
    }
    line.extend(b"}\n");
    line
}

/// Writes drafts as a session file.
pub fn file(drafts: &[Draft]) -> Vec<u8> {
    let lines = (0..).zip(drafts).flat_map(|(seq, draft)| line(draft, seq));
    format!("{HEADER}\n").into_bytes().into_iter().chain(lines).collect()
}
