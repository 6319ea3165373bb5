//! The events that crash recovery adds to a log of format 0 whose last turn is open.
//!
//! The scan follows turns, steps and tool calls without judging them; the closers are, in this
//! order, an error result for each call that has none, the end of an open step, the end of the
//! turn. All take the time of the last event.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 12.

use crate::event::{Event, Place};
use crate::json::{Document, Json, display};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The types that open or close anything; of the rest nothing is looked at.
pub const KINDS: &[&str] = &[
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "assistant/message",
    "tool/call",
    "tool/result",
];

const STARTED: &str = "The tool call was interrupted after it was recorded, but no result was \
    durably recorded. Its outcome is unknown. Decide whether to retry from the tool semantics: \
    retry only if the operation is read-only or idempotent; if it may have side effects, first \
    verify external state or ask the user. Do not retry blindly.";
const NOT_STARTED: &str = "The tool call was interrupted before the Harness recorded it as \
    started. Retry it if it is still needed.";

/// A call that has no result yet.
#[derive(Clone, Debug)]
struct Pending {
    /// The call's id.
    id: Written,
    /// The id is a non-empty string: only such a call can be closed.
    closable: bool,
    /// The step of the message that advertised it.
    step: Written,
    /// Seq of the recorded `tool/call`.
    call_seq: Option<u64>,
    /// Where it was advertised.
    place: Place,
}

/// Follows a log to know what recovery would add at its end.
#[derive(Clone, Debug, Default)]
pub struct Closers {
    turn: Option<Written>,
    step: Option<Written>,
    /// In the order in which the calls were first advertised.
    pending: Vec<Option<Pending>>,
    by_id: HashMap<Vec<u8>, usize>,
    open_calls: usize,
    last: Option<(u64, f64)>,
}

/// Why the scan itself fails: the host reads a member of `null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullPayload {
    /// The host's message.
    pub host: String,
}

fn null_payload(property: &str, of: Option<Json<'_>>) -> NullPayload {
    let what = if of.is_some() { "null" } else { "undefined" };
    NullPayload { host: format!("Cannot read properties of {what} (reading '{property}')") }
}

/// Returns a member of what the host treats as an object, failing where it would.
fn member<'a>(data: Json<'a>, has_data: bool, key: &str) -> Result<Option<Json<'a>>, NullPayload> {
    if !has_data || data.is_null() {
        return Err(null_payload(key, has_data.then_some(data)));
    }
    Ok(data.get(key))
}

/// A value that closers repeat, kept cheaply: it is printed only when closers are, a long text in
/// brief.
#[derive(Clone, Debug)]
enum Written {
    Absent,
    Number(f64),
    /// JSON text.
    Raw(Box<[u8]>),
}

impl Written {
    fn of(value: Option<Json<'_>>) -> Self {
        match value {
            None => Self::Absent,
            Some(value) => {
                value.as_number().map_or_else(|| Self::Raw(value.remembered().into()), Self::Number)
            }
        }
    }

    /// Returns the value as the host writes it, JSON; nothing for an absent one.
    fn text(&self) -> Option<String> {
        match self {
            Self::Absent => None,
            Self::Number(n) if n.is_finite() => Some(display(*n)),
            Self::Number(_) => Some("null".into()),
            Self::Raw(raw) => {
                Document::parse(raw.to_vec()).ok().map(|value| value.root().to_json())
            }
        }
    }

    /// Returns the value as a member of an object; nothing for an absent one.
    fn member(&self, key: &str) -> String {
        self.text().map(|text| format!("\"{key}\":{text}")).unwrap_or_default()
    }
}

/// A key under which a JavaScript map finds an id again: strings, numbers and literals by value.
fn map_key(id: Option<Json<'_>>) -> Option<Vec<u8>> {
    let Some(id) = id else { return Some(b"u".to_vec()) };
    if let Some(text) = id.as_text() {
        if let Some(brief) = text.brief() {
            return Some([b"l", brief.to_bytes().as_slice()].concat());
        }
        return Some([b"s", text.to_wtf8().as_ref()].concat());
    }
    if let Some(number) = id.as_number() {
        let number = if number == 0.0 { 0.0 } else { number };
        return Some([b"n".as_slice(), &number.to_bits().to_le_bytes()].concat());
    }
    // Objects and arrays are found by identity, which no other record shares.
    (!id.is_object() && !id.is_array()).then(|| id.raw().to_vec())
}

impl Closers {
    /// Takes an event that neither opens nor closes anything.
    pub fn pass(&mut self, event: &Event<'_>) {
        self.last = Some((event.seq + event.members - 1, event.last_time_ms));
    }

    /// Takes one event, after legacy shapes were given their present form.
    ///
    /// # Errors
    ///
    /// [`NullPayload`] where the host's own scan breaks off on a payload that is `null` or absent.
    pub fn take(&mut self, event: &Event<'_>, has_data: bool) -> Result<(), NullPayload> {
        self.pass(event);
        if !KINDS.contains(&event.kind) {
            return Ok(());
        }
        let data = event.data;
        match event.kind {
            "turn/start" => {
                let turn = member(data, has_data, "turn")?;
                // A `null` turn is none; an absent one is open, and has no number.
                self.turn = (!turn.is_some_and(|turn| turn.is_null())).then(|| Written::of(turn));
                self.step = None;
                self.clear();
            }
            "turn/end" => {
                self.turn = None;
                self.step = None;
                self.clear();
            }
            "step/start" => {
                let step = member(data, has_data, "step")?;
                // An absent step is still an open one; a `null` step is none.
                self.step = (!step.is_some_and(|step| step.is_null())).then(|| Written::of(step));
            }
            "step/end" => {
                self.clear();
                self.step = None;
            }
            "assistant/message" => self.advertise(event)?,
            "tool/call" => {
                let id = map_key(member(data, has_data, "callId")?);
                if let Some(entry) = id.and_then(|id| self.entry(&id)) {
                    entry.call_seq = Some(event.seq);
                }
            }
            "tool/result" => {
                let source = data.get("message").and_then(|message| message.get("source"));
                let id = source.and_then(|source| source.get("callId"));
                if let Some(at) = map_key(id).and_then(|id| self.by_id.remove(&id)) {
                    self.pending[at] = None;
                    self.open_calls -= 1;
                    if self.open_calls == 0 {
                        self.pending.clear();
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.pending.clear();
        self.by_id.clear();
        self.open_calls = 0;
    }

    fn entry(&mut self, id: &[u8]) -> Option<&mut Pending> {
        let at = *self.by_id.get(id)?;
        self.pending[at].as_mut()
    }

    fn advertise(&mut self, event: &Event<'_>) -> Result<(), NullPayload> {
        let data = event.data;
        let Some(content) = data.get("message").and_then(|message| message.get("content")) else {
            return Ok(());
        };
        for block in content.elements() {
            if block.is_null() {
                return Err(null_payload("type", Some(block)));
            }
            if !block.get("type").is_some_and(|kind| kind.is_str("tool-call")) {
                continue;
            }
            let id = block.get("id");
            let entry = Pending {
                id: Written::of(id),
                closable: id.is_some_and(|id| id.is_nonempty_string()),
                step: Written::of(data.get("step")),
                call_seq: None,
                place: event.place,
            };
            let key = map_key(id);
            if let Some(at) = key.as_ref().and_then(|key| self.by_id.get(key)) {
                // The call keeps its place, and is as if it had not been started.
                self.pending[*at] = Some(entry);
                continue;
            }
            if let Some(key) = key {
                self.by_id.insert(key, self.pending.len());
            }
            self.pending.push(Some(entry));
            self.open_calls += 1;
        }
        Ok(())
    }

    /// Returns the time of the last event, in milliseconds.
    pub fn last_time_ms(&self) -> Option<f64> {
        self.last.map(|(_, time_ms)| time_ms)
    }

    /// Returns whether a turn is open.
    pub fn is_open(&self) -> bool {
        self.turn.is_some()
    }

    /// Returns how many events recovery would add.
    pub fn count(&self) -> u64 {
        if self.turn.is_none() {
            return 0;
        }
        self.open_calls as u64 + u64::from(self.step.is_some()) + 1
    }

    /// Returns where a call was advertised that recovery cannot close, and the seq that its result
    /// would have: the host refuses such a log.
    pub fn unclosable(&self) -> Option<(Place, u64)> {
        self.turn.as_ref()?;
        let (at, call) = self.pending.iter().flatten().enumerate().find(|(_, it)| !it.closable)?;
        Some((call.place, self.last?.0 + 1 + at as u64))
    }

    /// Writes the events that recovery would add, as lines of JSON in the host's key order.
    pub fn lines(&self) -> Vec<String> {
        self.lines_after(0)
    }

    /// Writes them as they are behind `others` events that come first.
    pub fn lines_after(&self, others: u64) -> Vec<String> {
        let (Some(turn), Some((last, time))) = (&self.turn, self.last) else { return Vec::new() };
        let time = display(time);
        let turn = turn.member("turn");
        let comma = if turn.is_empty() { "" } else { "," };
        let mut seq = last + 1 + others;
        let mut lines = Vec::new();
        for call in self.pending.iter().flatten() {
            lines.push(result_line(call, seq, &time, &format!("{turn}{comma}")));
            seq += 1;
        }
        if let Some(step) = &self.step {
            let step = step.member("step");
            let both = [turn.as_str(), step.as_str()].into_iter().filter(|part| !part.is_empty());
            let data = both.collect::<Vec<_>>().join(",");
            lines.push(format!(
                "{{\"type\":\"step/end\",\"seq\":{seq},\"time\":{time},\"data\":{{{data}}}}}"
            ));
            seq += 1;
        }
        lines.push(format!(
            "{{\"type\":\"turn/end\",\"seq\":{seq},\"time\":{time},\
             \"data\":{{{turn}{comma}\"reason\":{{\"kind\":\"interrupted\"}}}}}}"
        ));
        lines
    }
}

fn result_line(call: &Pending, seq: u64, time: &str, turn: &str) -> String {
    let started = call.call_seq.is_some();
    let (text, name, code) = if started {
        (STARTED, "ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN")
    } else {
        (NOT_STARTED, "ToolNotStartedError", "TOOL_NOT_STARTED")
    };
    let id = call.id.text().unwrap_or_default();
    // The id is JSON text with its quotes; inside the message id it stands without them.
    let bare = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(&id);
    let step = call.step.text().map(|step| format!("\"step\":{step},")).unwrap_or_default();
    let mut line = format!(
        "{{\"type\":\"tool/result\",\"seq\":{seq},\"time\":{time},\
         \"data\":{{{turn}{step}\"message\":{{\"id\":\"interrupted-tool-result-{bare}-{seq}\",\
         \"role\":\"user\",\"source\":{{\"kind\":\"tool\",\"callId\":{id}}},\
         \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":{id},\"isError\":true,\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}]}},\
         \"error\":{{\"name\":\"{name}\",\"code\":\"{code}\"}}}},\"surfaceOp\":\"append\""
    );
    if let Some(call_seq) = call.call_seq {
        let _ = write!(line, ",\"sourceEventSeqs\":[{call_seq}]");
    }
    line.push('}');
    line
}
