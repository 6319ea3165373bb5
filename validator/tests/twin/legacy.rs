//! Old shapes given their present form, section 6.3 and 6.4.

use super::loader::Event;
use super::naive::Value;
use super::value::{changed, get, has_exactly, is_name, is_object, is_safe, is_seq, is_string};
use super::value::{is_text, number, object, text};

/// Gives an event its present form; nothing when it is malformed.
pub(super) fn normalised(event: Event, seq: usize, earlier: &[Event]) -> Option<Event> {
    let turn = number(event.at(&["turn"])).filter(|turn| is_safe(*turn));
    let Some(data) = event.data.clone().filter(|data| is_object(Some(data))) else {
        return (event.kind != "steering/message").then_some(event);
    };
    let id = text(&format!("legacy-message:{seq}"));
    let with = |data: Value| Some(Event { data: Some(data), ..event_of(&event) });
    match event.kind.as_str() {
        "turn/start" if event.has("trigger") => {
            let is_lawful = turn.is_some_and(|turn| turn >= 1.0)
                && has_exactly(&data, &["turn", "trigger"], &[])
                && is_name(event.at(&["trigger", "kind"]));
            if is_lawful { with(changed(&data, &["trigger"], &[])) } else { None }
        }
        "turn/end" => {
            let reason = get(&data, "reason")?;
            let is_lawful = turn.is_some_and(|turn| turn >= 1.0)
                && has_exactly(&data, &["turn", "reason"], &[])
                && takes_reason(reason);
            is_lawful.then_some(event)
        }
        "steering/message" => {
            turn?;
            let message = get(&data, "message").filter(|message| is_object(Some(message)));
            let data = match message {
                Some(message) if has_exactly(&data, &["turn", "message"], &[]) => message.clone(),
                _ if has_exactly(&data, &["turn", "content", "source"], &[]) => {
                    changed(&data, &["turn"], &[("id", id), ("role", text("user"))])
                }
                _ => return None,
            };
            Some(Event { kind: "user/message".into(), data: Some(data), ..event })
        }
        "user/message"
            if !["id", "role", "message"].iter().any(|key| event.has(key))
                && event.has("content")
                && event.has("source") =>
        {
            with(changed(&data, &[], &[("id", id), ("role", text("user"))]))
        }
        "assistant/message"
            if !event.has("message") && event.has("content") && event.has("provenance") =>
        {
            let provenance = get(&data, "provenance").filter(|it| is_object(Some(it)));
            let source = provenance.cloned().unwrap_or(Value::Object(Vec::new()));
            let message = object(&[
                ("id", id),
                ("role", text("assistant")),
                ("content", get(&data, "content")?.clone()),
                ("source", changed(&source, &[], &[("kind", text("model"))])),
            ]);
            with(changed(&data, &["content", "provenance"], &[("message", message)]))
        }
        "tool/result"
            if !event.has("message")
                && ["callId", "content", "isError"].iter().all(|key| event.has(key)) =>
        {
            with(old_result(&event, &data, id, earlier)?)
        }
        _ => Some(event),
    }
}

fn event_of(event: &Event) -> Event {
    Event { kind: event.kind.clone(), data: None, envelope: event.envelope.clone() }
}

fn old_result(event: &Event, data: &Value, id: Value, earlier: &[Event]) -> Option<Value> {
    let op = get(&event.envelope, "surfaceOp");
    let is_replace = op.and_then(|op| get(op, "op")).is_some_and(|op| is_text(op, "replace"));
    let start = number(op.and_then(|op| get(op, "start"))).filter(|_| is_replace);
    let id = match start {
        None => Some(id),
        Some(start) => {
            let node = earlier.iter().enumerate().find(|(seq, _)| *seq as f64 == start);
            let is_message = |event: &&Event| {
                ["user/message", "assistant/message", "tool/result"].contains(&event.kind.as_str())
            };
            let message = node.map(|(_, event)| event).filter(is_message).and_then(Event::message);
            message.and_then(|message| get(message, "id")).cloned()
        }
    };
    let block = object(&[
        ("type", text("tool-result")),
        ("toolCallId", get(data, "callId")?.clone()),
        ("content", get(data, "content")?.clone()),
        ("isError", get(data, "isError")?.clone()),
    ]);
    let source = object(&[("kind", text("tool")), ("callId", get(data, "callId")?.clone())]);
    let mut message =
        vec![("role", text("user")), ("content", Value::Array(vec![block])), ("source", source)];
    message.extend(id.map(|id| ("id", id)));
    let without = ["callId", "content", "isError"];
    Some(changed(data, &without, &[("message", object(&message))]))
}

fn takes_reason(reason: &Value) -> bool {
    let Some(Value::String(kind)) = get(reason, "kind") else { return false };
    let only_kind = has_exactly(reason, &["kind"], &[]);
    match String::from_utf16_lossy(kind).as_str() {
        "completed" | "blocked" | "max-tokens" | "interrupted" | "disposed" => only_kind,
        "aborted" => only_kind || get(reason, "reason").is_some(),
        "error" if get(reason, "error").is_some() => true,
        "error" => {
            let is_new = get(reason, "failure").is_some_and(|failure| {
                let optional = ["status", "providerRetryAfterMs", "requestId"];
                let is_number = |key| get(failure, key).is_none_or(|it| number(Some(it)).is_some());
                has_exactly(reason, &["kind", "step", "failure"], &[])
                    && has_exactly(failure, &["message", "code"], &optional)
                    && is_string(get(failure, "message"))
                    && is_string(get(failure, "code"))
                    && is_number("status")
                    && is_number("providerRetryAfterMs")
                    && get(failure, "requestId").is_none_or(|it| is_string(Some(it)))
            });
            let is_old = has_exactly(reason, &["kind", "step", "message"], &["code"])
                && is_string(get(reason, "message"))
                && get(reason, "code").is_none_or(|it| is_string(Some(it)));
            is_seq(get(reason, "step")) && (is_new || is_old)
        }
        _ => true,
    }
}
