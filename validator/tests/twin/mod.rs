//! The naive twin of reader and loader for format 0: the host's algorithms over whole trees, as
//! slow and as obvious as they can be made. It shares nothing with what it judges.
//!
//! It answers what recovery depends on: what the host does, how many events it keeps and adds, and
//! what it cuts. Which of several refusals speaks first is not its business.
//!
//! The tests and the fuzz target include this file by its path; it must need nothing but std.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 2 (stored frames only), 3.2, 3.3, 5.2, 6, 7.1, 8.1, 10 and
//! 12.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

pub mod choices;
pub mod container;
pub mod kinds;
pub mod legacy;
pub mod loader;
pub mod story;
pub mod surface;
pub mod value;
#[path = "../../../engine/tests/json_naive/mod.rs"]
pub mod naive;

use naive::Value;
use value::{get, is_safe, is_text, number};

/// What the host does with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Loads,
    Repairs,
    Refuses,
}

/// What is held against a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub host: Act,
    pub events: u64,
    pub closers: u64,
    pub lost_bytes: u64,
    pub lost_lines: u64,
}

impl Answer {
    pub fn refused(events: usize) -> Self {
        let (host, events) = (Act::Refuses, events as u64);
        Self { host, events, closers: 0, lost_bytes: 0, lost_lines: 0 }
    }
}

/// Judges a plain log.
pub fn judge(log: &[u8]) -> Answer {
    let Some(header) = log.iter().position(|byte| *byte == b'\n') else {
        return Answer::refused(0);
    };
    let mut scan = Scan::default();
    scan.text(&log[header + 1..]);
    let lost_bytes = log.len() - (header + 1) - scan.kept_bytes;
    scan.answer(&log[..header], lost_bytes)
}

/// What follows the header line.
#[derive(Default)]
pub struct Scan {
    /// The events kept, each as the object that its line or packed row stands for.
    pub events: Vec<Value>,
    /// The host's reader threw.
    pub thrown: bool,
    pub has_issue: bool,
    /// Where in all the text so far the kept lines end.
    pub kept_bytes: usize,
    pub lines: usize,
    pub kept_lines: usize,
    pub bytes: usize,
    /// What no line feed ended.
    pub rest: Vec<u8>,
}

impl Scan {
    /// Takes more text.
    pub fn text(&mut self, text: &[u8]) {
        let text = [self.rest.as_slice(), text].concat();
        let mut pieces: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        self.rest = pieces.pop().unwrap_or_default().to_vec();
        for line in pieces {
            self.lines += 1;
            self.bytes += line.len() + 1;
            if !self.thrown {
                self.line(line);
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let row = naive::parse(line);
        if row == Some(Value::Null) {
            self.thrown = true;
            return;
        }
        let Some(events) = row.and_then(expand) else {
            self.has_issue = true;
            return;
        };
        let is_turn_end =
            |event: &Value| get(event, "type").is_some_and(|it| is_text(it, "turn/end"));
        let ends_turn = events.iter().any(is_turn_end);
        if self.has_issue {
            self.thrown |= ends_turn;
            return;
        }
        let before = self.events.len();
        for event in events {
            let seq = get(&event, "seq");
            if number(seq) != Some(self.events.len() as f64) {
                self.events.truncate(before);
                self.has_issue = true;
                self.thrown |= ends_turn || seq.is_some_and(throws_as_text);
                return;
            }
            self.events.push(event);
        }
        self.kept_bytes = self.bytes;
        self.kept_lines = self.lines;
    }

    /// Ends the log, whose header line is given, and of which so many bytes would be cut.
    pub fn answer(&self, header: &[u8], lost_bytes: usize) -> Answer {
        let refused = Answer::refused(self.events.len());
        if self.thrown {
            return refused;
        }
        let Some(header) = naive::parse(header) else { return refused };
        let Some(closers) = loader::load(&header, &self.events) else { return refused };
        let partial = usize::from(!self.rest.is_empty());
        let lost_lines = if lost_bytes == 0 { 0 } else { self.lines - self.kept_lines + partial };
        let is_whole = lost_bytes == 0 && closers == 0;
        Answer {
            host: if is_whole { Act::Loads } else { Act::Repairs },
            events: self.events.len() as u64,
            closers: closers as u64,
            lost_bytes: lost_bytes as u64,
            lost_lines: lost_lines as u64,
        }
    }
}

/// Whether JavaScript throws when it makes a string of a value that JSON can hold.
fn throws_as_text(value: &Value) -> bool {
    match value {
        Value::Object(_) => get(value, "toString").is_some(),
        Value::Array(elements) => elements.iter().any(throws_as_text),
        _ => false,
    }
}

/// Makes events of a row: one, or those that a packed row stands for.
fn expand(row: Value) -> Option<Vec<Value>> {
    let tag = match get(&row, "type") {
        Some(Value::String(units)) => String::from_utf16_lossy(units),
        _ => return Some(vec![row]),
    };
    let texts = match tag.as_str() {
        "text-chunks" | "reasoning-chunks" => "texts",
        "tool-call-chunks" => "args",
        _ => return Some(vec![row]),
    };
    let data = get(&row, "data")?;
    let is_call = texts == "args";
    let needed: &[&str] = if is_call {
        &["turn", "step", "index", "id", "dt", "args"]
    } else {
        &["turn", "step", "index", "dt", "texts"]
    };
    let is_lawful = value::has_exactly(&row, &["type", "seq0", "time0", "data"], &[])
        && value::has_exactly(data, needed, if is_call { &["name"] } else { &[] })
        && ["turn", "step", "index"].iter().all(|key| number(get(data, key)).is_some())
        && ["id", "name"].iter().all(|key| matches!(get(data, key), None | Some(Value::String(_))));
    let (Some(Value::Array(texts)), Some(Value::Array(gaps))) = (get(data, texts), get(data, "dt"))
    else {
        return None;
    };
    let is_string = |value: &Value| matches!(value, Value::String(_));
    if !is_lawful
        || texts.is_empty()
        || !texts.iter().all(is_string)
        || gaps.len() + 1 != texts.len()
    {
        return None;
    }
    let seq0 = number(get(&row, "seq0")).filter(|seq| is_safe(*seq) && *seq >= 0.0)?;
    let mut time = number(get(&row, "time0")).filter(|time| is_safe(*time))?;
    let mut events = Vec::new();
    for at in 0..texts.len() {
        if at > 0 {
            let gap = number(Some(&gaps[at - 1])).filter(|gap| is_safe(*gap))?;
            time += gap;
        }
        let seq = seq0 + at as f64;
        if !is_safe(time) || !is_safe(seq) {
            return None;
        }
        let member = |key: &str, value| (key.encode_utf16().collect(), value);
        events.push(Value::Object(vec![
            member("type", Value::String("assistant/chunk".encode_utf16().collect())),
            member("seq", Value::Number(seq)),
            member("time", Value::Number(time)),
            member("data", Value::Object(Vec::new())),
        ]));
    }
    Some(events)
}
