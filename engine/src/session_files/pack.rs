//! Runs of chunks as packed rows: what the host's writer does with each durable batch.
//!
//! An event can stand in a row if it is an `assistant/chunk` of exactly the keys `turn`, `step`
//! and `chunk`, the chunk a delta of exactly its kind's keys. A run goes on while kind, turn, step
//! and index stay the same, for calls id and name too, and the time between two is a safe integer.
//! Three or more are a row; fewer stay events.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 7.1, "Encoding".

use std::fmt::Write as _;

use super::layout::Layout;
use super::spell::Spelt;
use crate::json::{Json, is_safe_integer};

/// The fewest events that make a row.
const RUN_MIN: usize = 3;

/// A kind of delta: its name, its row's tag, the key of its text, and that of the row's texts.
type Kind = (&'static str, &'static str, &'static str, &'static str);

const KINDS: [Kind; 3] = [
    ("text-delta", "text-chunks", "text", "texts"),
    ("reasoning-delta", "reasoning-chunks", "text", "texts"),
    ("tool-call-delta", "tool-call-chunks", "argumentsDelta", "args"),
];

/// A delta, each member as JSON text. Equal texts are equal values, as the host compares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    block: Block,
    text: String,
}

/// What all deltas of a run have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    kind: Kind,
    turn: String,
    step: String,
    index: String,
    id: Option<String>,
    name: Option<String>,
}

impl Chunk {
    /// Returns what an event is to the packer, given its payload; nothing if it stays as it is.
    pub(super) fn of(layout: &Layout, event: &Spelt, data: Json<'_>) -> Option<Self> {
        let is_bare = event.sources.is_none() && event.surface.is_none() && !event.ignorable;
        if !layout.packs || !is_bare || event.kind != "assistant/chunk" {
            return None;
        }
        let chunk = data.get("chunk").filter(|_| data.has_exactly(&["turn", "step", "chunk"], &[]));
        let chunk = chunk?;
        let kind = KINDS.into_iter().find(|kind| is_member(chunk, "type", kind.0))?;
        let (required, optional): (&[&str], &[&str]) = match kind.0 {
            "tool-call-delta" => (&["type", "index", "id", "argumentsDelta"], &["name"]),
            _ => (&["type", "index", "text"], &[]),
        };
        if !chunk.has_exactly(required, optional) {
            return None;
        }
        let number = |of: Json<'_>, key| {
            let value = of.get(key).filter(Json::is_number);
            value.map(|value| value.to_json())
        };
        let string = |key| {
            let value: Option<Json<'_>> = chunk.get(key);
            value.map(|value| value.is_string().then(|| value.to_json()))
        };
        // Present and no string: the whole event stays as it is.
        let (id, name) = (string("id"), string("name"));
        if id == Some(None) || name == Some(None) {
            return None;
        }
        let block = Block {
            kind,
            turn: number(data, "turn")?,
            step: number(data, "step")?,
            index: number(chunk, "index")?,
            id: id.flatten(),
            name: name.flatten(),
        };
        Some(Self { block, text: string(kind.2)?? })
    }
}

fn is_member(of: Json<'_>, key: &str, text: &str) -> bool {
    of.get(key).is_some_and(|value| value.is_str(text))
}

/// Writes the lines of one durable batch, whose first event has the seq `first_seq`.
pub(super) fn write(events: &[Spelt], first_seq: u64, to: &mut String) {
    let mut at = 0;
    while at < events.len() {
        let run = run(&events[at..]);
        let seq = first_seq + at as u64;
        if run >= RUN_MIN {
            row(&events[at..at + run], seq, to);
        } else {
            for (event, seq) in events[at..at + run].iter().zip(seq..) {
                event.write(seq, to);
            }
        }
        at += run;
    }
}

/// Returns how many events from the first on are of one run; 1 if it is of none.
fn run(events: &[Spelt]) -> usize {
    let goes_on = |pair: &[Spelt]| {
        let (Some(a), Some(b)) = (&pair[0].chunk, &pair[1].chunk) else { return false };
        a.block == b.block && is_safe_integer((pair[1].time_ms - pair[0].time_ms) as f64)
    };
    1 + events.windows(2).take_while(|pair| goes_on(pair)).count()
}

fn row(run: &[Spelt], seq: u64, to: &mut String) {
    let Some(Chunk { block, .. }) = &run[0].chunk else { return };
    let Block { kind: (_, tag, _, texts), turn, step, index, id, name } = block;
    let time_ms = run[0].time_ms;
    // Writing to a string cannot fail.
    let _ = write!(
        to,
        "{{\"type\":\"{tag}\",\"seq0\":{seq},\"time0\":{time_ms},\"data\":{{\"turn\":{turn},\
         \"step\":{step},\"index\":{index},\"dt\":["
    );
    for (place, pair) in run.windows(2).enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(to, "{comma}{}", pair[1].time_ms - pair[0].time_ms);
    }
    to.push(']');
    for (key, value) in [("id", id), ("name", name)] {
        if let Some(value) = value {
            let _ = write!(to, ",\"{key}\":{value}");
        }
    }
    let _ = write!(to, ",\"{texts}\":[");
    for (place, chunk) in run.iter().filter_map(|event| event.chunk.as_ref()).enumerate() {
        if place > 0 {
            to.push(',');
        }
        to.push_str(&chunk.text);
    }
    to.push_str("]}}\n");
}
