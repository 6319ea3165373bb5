//! Folds short logs through one companion and tells which rules they break, for tests.
//!
//! A line is a whole JSON record (`{"type":…}`), or in short `KIND DATA`, as in
//! `turn/start {"turn":1}`. `KIND+ DATA` appends to the surface and `KIND~ DATA` replaces on it. A
//! line without `seq` is at the place that follows the one before.

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::{Document, Json};

/// The rows that stand for several events.
const PACKED: [&str; 3] = ["text-chunks", "reasoning-chunks", "tool-call-chunks"];

/// Returns the rules that the lines break, each with its seq, those of the end last.
pub(crate) fn faults(companion: &mut dyn Companion, lines: &[&str]) -> Vec<(RuleId, u64)> {
    violations(companion, lines).into_iter().map(|(fault, seq)| (fault.rule, seq)).collect()
}

/// Returns the sentences of the violations, in order.
pub(crate) fn messages(companion: &mut dyn Companion, lines: &[&str]) -> Vec<String> {
    violations(companion, lines).into_iter().map(|(fault, _)| fault.message).collect()
}

/// Folds the lines, and then judges the end as that of a log at rest.
pub(crate) fn violations(companion: &mut dyn Companion, lines: &[&str]) -> Vec<(Violation, u64)> {
    let mut found = Vec::new();
    let mut end = End { events: 0, turn_open: false };
    for line in lines {
        let document = Document::parse(full(line)).expect("the case is JSON");
        let event_type = kind(document.root());
        let event = event(document.root(), &event_type, end.events);
        end.events = event.seq + event.members;
        match event.kind {
            "turn/start" => end.turn_open = true,
            "turn/end" => end.turn_open = false,
            _ => {}
        }
        if let Listens::Kinds(kinds) = companion.listens()
            && !kinds.contains(&event.kind)
        {
            continue;
        }
        if let Err(violation) = companion.plan(&event) {
            let again = companion.plan(&event);
            assert_eq!(again.as_ref(), Err(&violation), "a plan changes nothing");
            found.push((violation.clone(), violation.seq.unwrap_or(event.seq)));
        }
        companion.apply(&event);
    }
    companion.finish(&end, &mut |violation| {
        let seq = violation.seq.unwrap_or(end.events);
        found.push((violation, seq));
    });
    found
}

/// Spells a short line out.
fn full(line: &str) -> String {
    if line.starts_with('{') {
        return line.to_owned();
    }
    let (kind, data) = line.split_once(' ').expect("a short line is a type and its data");
    let (kind, surface) = match kind.as_bytes().last() {
        Some(b'+') => (&kind[..kind.len() - 1], r#","surfaceOp":"append""#),
        Some(b'~') => {
            (&kind[..kind.len() - 1], r#","surfaceOp":{"op":"replace","start":0,"end":0}"#)
        }
        _ => (kind, ""),
    };
    format!(r#"{{"type":"{kind}","data":{data}{surface}}}"#)
}

/// Returns the type of the event that a record is.
fn kind(record: Json<'_>) -> String {
    let kind = record.get("type").and_then(|kind| kind.as_text()).expect("a record has a type");
    let kind = kind.to_lossy().into_owned();
    if PACKED.contains(&kind.as_str()) { "assistant/chunk".to_owned() } else { kind }
}

/// Borrows an event from a record.
fn event<'a>(record: Json<'a>, kind: &'a str, next_seq: u64) -> Event<'a> {
    let number = |key: &str| record.get(key).and_then(|value| value.as_number());
    let data = record.get("data").expect("a record has data");
    let packed = record.get("seq0").is_some();
    let members = data.get("texts").or_else(|| data.get("args")).map_or(0, |all| all.len() as u64);
    let seq = number("seq").or(number("seq0")).map_or(next_seq, |seq| seq as u64);
    Event {
        seq,
        members: if packed { members } else { 1 },
        time_ms: number("time").or(number("time0")).unwrap_or(0.0),
        last_time_ms: number("time").or(number("time0")).unwrap_or(0.0),
        kind,
        data,
        packed,
        ignorable: record.get("ignorable").and_then(|value| value.as_bool()) == Some(true),
        sources: record.get("sourceEventSeqs"),
        surface: record.get("surfaceOp"),
        place: Place { seq: Some(seq), ..Place::default() },
    }
}
