//! Old shapes of format 0, given their present form in memory; the file is never changed.
//!
//! | stored | becomes |
//! |---|---|
//! | `turn/start` with `trigger` | `turn/start` without |
//! | `turn/end` with `aborted`, `disposed` or `error` of old | the same with the present reason |
//! | `steering/message` | `user/message` |
//! | `user/message`, `assistant/message`, `tool/result` before messages had ids | with an id |
//!
//! New ids are `legacy-message:<session id>:<seq>`.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 6.3 and 6.4.

use crate::event::Event;
use crate::json::{Document, Json, is_safe_integer, is_seq};

/// What became of an event.
#[derive(Debug)]
pub enum Shape {
    /// It has its present form.
    Present,
    /// It has a new payload, and perhaps a new type.
    Changed {
        /// The type.
        kind: &'static str,
        /// The payload.
        data: Document,
    },
    /// It is of an old shape and malformed; the host's inner message.
    Malformed(String),
}

/// What normalising asks of the log before the event.
pub trait Earlier {
    /// Returns the message id, as JSON text, that the event at a seq carries.
    fn message_id(&self, seq: f64) -> Option<Vec<u8>>;
}

/// The types that ever had another form; of the rest nothing is looked at.
pub const KINDS: &[&str] = &[
    "turn/start",
    "turn/end",
    "steering/message",
    "user/message",
    "assistant/message",
    "tool/result",
];

/// Gives an event its present form; `session` is the session's id inside JSON quotes.
pub fn normalise(event: &Event<'_>, session: &[u8], earlier: &dyn Earlier) -> Shape {
    if !KINDS.contains(&event.kind) {
        return Shape::Present;
    }
    let data = event.data;
    match event.kind {
        "turn/start" if data.is_object() && data.get("trigger").is_some() => {
            turn_start(event, session)
        }
        "turn/end" if data.is_object() => turn_end(event, session),
        "steering/message" => steering(event, session),
        "user/message" if data.is_object() => user_message(event, session),
        "assistant/message" if data.is_object() => assistant_message(event, session),
        "tool/result" if data.is_object() => tool_result(event, session, earlier),
        _ => Shape::Present,
    }
}

fn malformed(event: &Event<'_>, session: &[u8]) -> Shape {
    let (kind, seq) = (event.kind, event.seq);
    let id = format!("\"{}\"", String::from_utf8_lossy(session));
    let shown = Document::parse(id).map_or_else(
        |_| String::new(),
        |id| id.root().as_text().map(|text| text.to_lossy().into_owned()).unwrap_or_default(),
    );
    Shape::Malformed(format!(
        "session \"{shown}\" contains malformed pre-react-loop {kind} at seq {seq}"
    ))
}

fn changed(kind: &'static str, text: Vec<u8>) -> Shape {
    let data = Document::parse(text).expect("members of JSON make JSON");
    Shape::Changed { kind, data }
}

fn whole(value: Option<Json<'_>>) -> Option<f64> {
    value.and_then(|value| value.as_number()).filter(|n| is_safe_integer(*n))
}

fn legacy_id(session: &[u8], seq: u64) -> Vec<u8> {
    [b"\"legacy-message:", session, format!(":{seq}\"").as_bytes()].concat()
}

/// Writes an object from the members of another, some left out, and from further members.
fn object(from: Option<Json<'_>>, without: &[&str], further: &[(&str, &[u8])]) -> Vec<u8> {
    let mut text = vec![b'{'];
    let mut put = |key: &[u8], value: &[u8]| {
        if text.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(key);
        text.push(b':');
        text.extend_from_slice(value);
    };
    for (key, value) in from.iter().flat_map(Json::members) {
        let is_replaced = further.iter().any(|(other, _)| key.eq_str(other));
        if !is_replaced && !without.iter().any(|other| key.eq_str(other)) {
            put(key.quoted().as_bytes(), value.raw());
        }
    }
    for (key, value) in further {
        put(format!("\"{key}\"").as_bytes(), value);
    }
    text.push(b'}');
    text
}

fn turn_start(event: &Event<'_>, session: &[u8]) -> Shape {
    let data = event.data;
    let kind = data.get("trigger").filter(Json::is_object).and_then(|trigger| trigger.get("kind"));
    let turn = data.get("turn");
    if whole(turn).is_none_or(|turn| turn < 1.0)
        || !data.has_exactly(&["turn", "trigger"], &[])
        || !kind.is_some_and(|kind| kind.is_nonempty_string())
    {
        return malformed(event, session);
    }
    changed("turn/start", object(Some(data), &["trigger"], &[]))
}

fn turn_end(event: &Event<'_>, session: &[u8]) -> Shape {
    let data = event.data;
    let Some(reason) = data.get("reason").filter(Json::is_object) else {
        return malformed(event, session);
    };
    let Some(kind) = reason.get("kind").and_then(|kind| kind.as_text()) else {
        return malformed(event, session);
    };
    if whole(data.get("turn")).is_none_or(|turn| turn < 1.0)
        || !data.has_exactly(&["turn", "reason"], &[])
    {
        return malformed(event, session);
    }
    let only_kind = reason.has_exactly(&["kind"], &[]);
    let with = |reason: &[u8]| changed("turn/end", object(Some(data), &[], &[("reason", reason)]));
    match kind.to_wtf8().as_ref() {
        b"completed" | b"blocked" | b"max-tokens" | b"interrupted" if only_kind => Shape::Present,
        b"aborted" if reason.get("reason").is_some() => Shape::Present,
        b"aborted" if only_kind => with(br#"{"kind":"aborted","reason":{"kind":"legacy"}}"#),
        b"disposed" if only_kind => with(br#"{"kind":"aborted","reason":{"kind":"disposed"}}"#),
        b"error" if reason.get("error").is_some() => Shape::Present,
        b"error" => match old_error(reason) {
            Some(error) => with(&[br#"{"kind":"error","error":"#, error.as_slice(), b"}"].concat()),
            None => malformed(event, session),
        },
        b"completed" | b"blocked" | b"max-tokens" | b"interrupted" | b"aborted" | b"disposed" => {
            malformed(event, session)
        }
        _ => Shape::Present,
    }
}

/// Returns the present error of an old `error` reason, or nothing when it is malformed.
fn old_error(reason: Json<'_>) -> Option<Vec<u8>> {
    whole(reason.get("step")).filter(|step| *step >= 0.0)?;
    let is_string = |of: Json<'_>, key| of.get(key).is_some_and(|value| value.is_string());
    if let Some(failure) = reason.get("failure").filter(Json::is_object) {
        let is_lawful = reason.has_exactly(&["kind", "step", "failure"], &[])
            && failure.has_exactly(
                &["message", "code"],
                &["status", "providerRetryAfterMs", "requestId"],
            )
            && is_string(failure, "message")
            && is_string(failure, "code")
            && failure.get("status").is_none_or(|value| value.is_number())
            && failure.get("providerRetryAfterMs").is_none_or(|value| value.is_number())
            && failure.get("requestId").is_none_or(|value| value.is_string());
        if is_lawful {
            return Some(failure.raw().to_vec());
        }
    }
    let code = reason.get("code");
    let is_lawful = reason.has_exactly(&["kind", "step", "message"], &["code"])
        && is_string(reason, "message")
        && code.is_none_or(|code| code.is_string());
    let message = reason.get("message").filter(|_| is_lawful)?;
    let code = code.map_or(b"\"UNKNOWN\"".as_slice(), |code| code.raw());
    Some(object(None, &[], &[("message", message.raw()), ("code", code)]))
}

fn steering(event: &Event<'_>, session: &[u8]) -> Shape {
    let data = event.data;
    if !data.is_object() || whole(data.get("turn")).is_none() {
        return malformed(event, session);
    }
    if let Some(message) = data.get("message").filter(Json::is_object)
        && data.has_exactly(&["turn", "message"], &[])
    {
        // A message so old may lack an id too, and the host's steps follow each other.
        return match with_identity(message, event.seq, session) {
            Some(text) => changed("user/message", text),
            None => changed("user/message", message.raw().to_vec()),
        };
    }
    if !data.has_exactly(&["turn", "content", "source"], &[]) {
        return malformed(event, session);
    }
    let id = legacy_id(session, event.seq);
    let further: [(&str, &[u8]); 2] = [("id", &id), ("role", b"\"user\"")];
    changed("user/message", object(Some(data), &["turn"], &further))
}

fn has(data: Json<'_>, key: &str) -> bool {
    data.get(key).is_some()
}

fn user_message(event: &Event<'_>, session: &[u8]) -> Shape {
    match with_identity(event.data, event.seq, session) {
        Some(text) => changed("user/message", text),
        None => Shape::Present,
    }
}

/// Returns a user message with an id, as JSON text; nothing when it is not of the shape that
/// lacks one.
fn with_identity(data: Json<'_>, seq: u64, session: &[u8]) -> Option<Vec<u8>> {
    let is_old = !has(data, "id")
        && !has(data, "role")
        && !has(data, "message")
        && has(data, "content")
        && has(data, "source");
    let id = legacy_id(session, seq);
    let further: [(&str, &[u8]); 2] = [("id", &id), ("role", b"\"user\"")];
    is_old.then(|| object(Some(data), &[], &further))
}

fn assistant_message(event: &Event<'_>, session: &[u8]) -> Shape {
    let data = event.data;
    if has(data, "message") || !has(data, "content") || !has(data, "provenance") {
        return Shape::Present;
    }
    let provenance = data.get("provenance").filter(Json::is_object);
    let source = object(provenance, &[], &[("kind", b"\"model\"")]);
    let id = legacy_id(session, event.seq);
    let content = data.get("content").map_or(b"null".as_slice(), |content| content.raw());
    let message = object(
        None,
        &[],
        &[("id", &id), ("role", b"\"assistant\""), ("content", content), ("source", &source)],
    );
    let data = object(Some(data), &["content", "provenance"], &[("message", &message)]);
    changed("assistant/message", data)
}

fn tool_result(event: &Event<'_>, session: &[u8], earlier: &dyn Earlier) -> Shape {
    let data = event.data;
    if has(data, "message")
        || !has(data, "callId")
        || !has(data, "content")
        || !has(data, "isError")
    {
        return Shape::Present;
    }
    let raw = |key| data.get(key).map_or(b"null".as_slice(), |value| value.raw());
    let id = match replaced(event) {
        None => Some(legacy_id(session, event.seq)),
        Some(seq) => earlier.message_id(seq),
    };
    let block = object(
        None,
        &[],
        &[
            ("type", b"\"tool-result\""),
            ("toolCallId", raw("callId")),
            ("content", raw("content")),
            ("isError", raw("isError")),
        ],
    );
    let content = [b"[", block.as_slice(), b"]"].concat();
    let source = object(None, &[], &[("kind", b"\"tool\""), ("callId", raw("callId"))]);
    let mut members: Vec<(&str, &[u8])> = Vec::new();
    if let Some(id) = &id {
        members.push(("id", id));
    }
    members.extend([
        ("role", b"\"user\"".as_slice()),
        ("content", content.as_slice()),
        ("source", source.as_slice()),
    ]);
    let message = object(None, &[], &members);
    let without = ["callId", "content", "isError"];
    changed("tool/result", object(Some(data), &without, &[("message", &message)]))
}

/// Returns the first seq that a replacement names, well-formed or not.
fn replaced(event: &Event<'_>) -> Option<f64> {
    let op = event.surface.filter(Json::is_object)?;
    op.get("op").filter(|name| name.is_str("replace"))?;
    op.get("start")?.as_number()
}

/// Returns a seq as an index, when a number is one.
pub fn seq_index(seq: f64) -> Option<u64> {
    is_seq(seq).then_some(seq as u64)
}
