//! What the host's loader makes of the events of a log: nothing, or so many closers.

use super::naive::Value;
use std::collections::BTreeSet;

/// Returns a member of an object.
pub fn get<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let Value::Object(members) = value else { return None };
    let is_it = |(own, _): &&(Vec<u16>, Value)| own.iter().copied().eq(key.encode_utf16());
    members.iter().find(is_it).map(|(_, value)| value)
}

pub fn number(value: Option<&Value>) -> Option<f64> {
    match value {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Whether a double is a safe integer.
pub fn is_safe(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

pub fn is_text(value: &Value, text: &str) -> bool {
    matches!(value, Value::String(units) if units.iter().copied().eq(text.encode_utf16()))
}

pub fn has_exactly(value: &Value, needed: &[&str], allowed: &[&str]) -> bool {
    let Value::Object(members) = value else { return false };
    let is_one =
        |key: &[u16], of: &[&str]| of.iter().any(|it| key.iter().copied().eq(it.encode_utf16()));
    needed.iter().all(|key| get(value, key).is_some())
        && members.iter().all(|(key, _)| is_one(key, needed) || is_one(key, allowed))
}

fn is_object(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Object(_)))
}

fn is_string(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::String(_)))
}

fn is_name(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::String(units)) if !units.is_empty())
}

fn is_seq(value: Option<&Value>) -> bool {
    number(value).is_some_and(|number| is_safe(number) && number >= 0.0)
}

/// A whole number from 0 on that is not minus zero.
fn is_count(value: Option<&Value>) -> bool {
    is_seq(value) && number(value).is_some_and(|number| !number.is_sign_negative())
}

fn text(text: &str) -> Value {
    Value::String(text.encode_utf16().collect())
}

fn object(members: &[(&str, Value)]) -> Value {
    let member = |(key, value): &(&str, Value)| (key.encode_utf16().collect(), value.clone());
    Value::Object(members.iter().map(member).collect())
}

/// An object without some members and with others set.
fn changed(value: &Value, without: &[&str], with: &[(&str, Value)]) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let is = |key: &[u16], name: &str| key.iter().copied().eq(name.encode_utf16());
    let gone = |key: &[u16]| {
        without.iter().any(|it| is(key, it)) || with.iter().any(|(it, _)| is(key, it))
    };
    let mut kept: Vec<_> = members.iter().filter(|(key, _)| !gone(key)).cloned().collect();
    kept.extend(with.iter().map(|(key, value)| (key.encode_utf16().collect(), value.clone())));
    Value::Object(kept)
}

/// The 48 types of format 0.
const TYPES: &str = "agent-preset/selected agent/inbox/spliced approval/asked approval/decided \
    approval/policy assistant/chunk assistant/message command/done command/run compaction/end \
    compaction/prune compaction/start compaction/summary feedback/record goal/change hook/invoked \
    hook/result llm/retry llm/retry-started permission/preset plan/mode request/context \
    request/header sandbox/mode schedule/change session/end-seed session/title \
    session/title-llm-request step/end step/start subagent/descriptor team/member \
    team/message/delivered team/message/queued team/task todo/write tool-workflow/agent-end \
    tool-workflow/agent-start tool-workflow/run-end tool-workflow/run-start tool/call \
    tool/code-dispatch tool/code-dispatch-start tool/result turn/end turn/start user/message \
    web/deepseek-search-llm-request";

/// An event in its present form.
struct Event {
    /// Empty when it is no string.
    kind: String,
    data: Option<Value>,
    envelope: Value,
}

impl Event {
    fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self.data.as_ref()?, |value, key| get(value, key))
    }

    fn has(&self, key: &str) -> bool {
        self.at(&[key]).is_some()
    }

    fn message(&self) -> Option<&Value> {
        if self.kind == "user/message" { self.data.as_ref() } else { self.at(&["message"]) }
    }
}

/// Returns how many closers the loader adds; nothing when it refuses.
pub fn load(header: &Value, events: &[Value]) -> Option<usize> {
    if !is_header(header) || !has_late_fields(header) {
        return None;
    }
    let mut present: Vec<Event> = Vec::new();
    for (seq, event) in events.iter().enumerate() {
        let kind = match get(event, "type") {
            Some(Value::String(units)) => String::from_utf16_lossy(units),
            _ => String::new(),
        };
        let data = get(event, "data").cloned();
        if is_retired(&kind, data.as_ref()) {
            return None;
        }
        let event = Event { kind, data, envelope: event.clone() };
        present.push(normalised(event, seq, &present)?);
    }
    let is_lawful = |event: &Event| {
        has_shape(event) && is_known(event) && has_envelope(&event.envelope) && has_request(event)
    };
    if !present.iter().all(is_lawful) || !fold_surface(&present) {
        return None;
    }
    closers(&present)
}

/// Whether the reader takes line 1 as a header, before it looks at the rest.
pub fn is_header(header: &Value) -> bool {
    get(header, "type").is_some_and(|it| is_text(it, "session"))
        && number(get(header, "version")) == Some(0.0)
        && is_string(get(header, "id"))
        && is_count(get(header, "createdAt"))
        && is_count(get(header, "delegationDepth"))
        && get(header, "origin").is_none_or(|it| is_text(it, "subagent"))
        && get(header, "agentPreset").is_none_or(|it| is_string(Some(it)))
        && get(header, "sandboxMode").is_none()
        && get(header, "approvalPolicy").is_none()
}

/// Whether the fields are in order that are looked at after the events.
fn has_late_fields(header: &Value) -> bool {
    let optional = |key: &str, test: &dyn Fn(&Value) -> bool| get(header, key).is_none_or(test);
    optional("cwd", &|it| matches!(it, Value::String(path) if path.first() == Some(&0x2F)))
        && optional("parentSession", &|it| is_string(Some(it)))
        && optional("seedLength", &|it| is_seq(Some(it)))
}

fn is_retired(kind: &str, data: Option<&Value>) -> bool {
    match (kind, data) {
        ("request/header-delta" | "mode/set", _) => true,
        ("request/header", None | Some(Value::Null)) => true,
        ("request/header", Some(data)) => {
            get(data, "reason").is_some_and(|reason| is_text(reason, "fallback"))
        }
        _ => false,
    }
}

/// Gives an event its present form; nothing when it is malformed.
fn normalised(event: Event, seq: usize, earlier: &[Event]) -> Option<Event> {
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

fn has_shape(event: &Event) -> bool {
    if !["user/message", "assistant/message", "tool/result"].contains(&event.kind.as_str()) {
        return true;
    }
    let Some(message) = event.message() else { return false };
    let role = if event.kind == "assistant/message" { "assistant" } else { "user" };
    let Some(source) = get(message, "source") else { return false };
    let Some(Value::Array(content)) = get(message, "content") else { return false };
    let is_common = is_name(get(message, "id"))
        && get(message, "role").is_some_and(|it| is_text(it, role))
        && is_name(get(source, "kind"));
    let is_kind = |kind| get(source, "kind").is_some_and(|it| is_text(it, kind));
    let is_special = match event.kind.as_str() {
        "assistant/message" => {
            is_kind("model") && is_name(get(source, "provider")) && is_name(get(source, "model"))
        }
        "tool/result" => {
            is_kind("tool")
                && is_name(get(source, "callId"))
                && content.len() == 1
                && get(&content[0], "type").is_some_and(|it| is_text(it, "tool-result"))
                && matches!(get(&content[0], "content"), Some(Value::Array(_)))
                && get(&content[0], "toolCallId") == get(source, "callId")
        }
        _ => true,
    };
    is_common && is_special
}

fn is_known(event: &Event) -> bool {
    TYPES.split(' ').any(|known| known == event.kind)
        || get(&event.envelope, "ignorable") == Some(&Value::Bool(true))
}

fn has_envelope(event: &Value) -> bool {
    let optional = ["ignorable", "sourceEventSeqs", "surfaceOp"];
    has_exactly(event, &["type", "seq", "time", "data"], &optional)
        && is_string(get(event, "type"))
        && number(get(event, "time")).is_some_and(is_safe)
        && get(event, "ignorable").is_none_or(|it| *it == Value::Bool(true))
}

fn has_request(event: &Event) -> bool {
    if event.kind != "request/header" {
        return true;
    }
    let Some(config) = event.at(&["header", "config"]) else { return false };
    let is_lawful = is_name(get(config, "provider"))
        && is_name(get(config, "model"))
        && get(config, "reasoningEffort").is_none_or(|it| is_name(Some(it)));
    let defaults = match event.at(&["header", "adapterDefaults"]) {
        None => true,
        Some(Value::Object(markers)) => markers.iter().all(|(key, marker)| {
            let key = String::from_utf16_lossy(key);
            *marker == Value::Bool(true)
                && ["reasoningEffort", "maxTokens"].contains(&key.as_str())
                && get(config, &key).is_some()
        }),
        Some(_) => false,
    };
    is_lawful && defaults
}

/// Rules S1 to S8.
fn fold_surface(events: &[Event]) -> bool {
    let mut nodes: Vec<usize> = Vec::new();
    for (seq, event) in events.iter().enumerate() {
        let op = get(&event.envelope, "surfaceOp");
        let sources = get(&event.envelope, "sourceEventSeqs");
        if !["user/message", "assistant/message", "tool/result"].contains(&event.kind.as_str()) {
            if op.is_some() || sources.is_some() {
                return false;
            }
            continue;
        }
        let Some(op) = op else { return false };
        let Some(sources) = sources_of(event, sources, seq) else { return false };
        if is_text(op, "append") {
            nodes.push(seq);
            continue;
        }
        let is_replace = has_exactly(op, &["op", "start", "end"], &[])
            && get(op, "op").is_some_and(|it| is_text(it, "replace"))
            && is_seq(get(op, "start"))
            && is_seq(get(op, "end"));
        let find = |key| {
            let seq = number(get(op, key));
            nodes.iter().position(|node| Some(*node as f64) == seq)
        };
        let (Some(start), Some(end)) = (find("start"), find("end")) else { return false };
        if !is_replace || start > end {
            return false;
        }
        let removed = &nodes[start..=end];
        if !removed.iter().all(|node| sources.contains(&(*node as u64))) {
            return false;
        }
        if event.kind == "tool/result" {
            let original = &events[removed[0]];
            if removed.len() != 1
                || original.kind != "tool/result"
                || !blanked(original).same(&blanked(event))
            {
                return false;
            }
        }
        nodes.splice(start..=end, [seq]);
    }
    true
}

fn sources_of(event: &Event, sources: Option<&Value>, seq: usize) -> Option<BTreeSet<u64>> {
    let Some(sources) = sources else { return Some(BTreeSet::new()) };
    let Value::Array(list) = sources else { return None };
    if list.is_empty() && event.kind != "assistant/message"
        || !list.iter().all(|it| is_seq(Some(it)))
    {
        return None;
    }
    let set: BTreeSet<u64> =
        list.iter().filter_map(|it| number(Some(it))).map(|it| it as u64).collect();
    (set.len() == list.len() && set.iter().all(|source| *source < seq as u64)).then_some(set)
}

/// The payload of a `tool/result` without the content of its one block.
fn blanked(event: &Event) -> Value {
    let data = event.data.clone().unwrap_or(Value::Null);
    let Some(message) = get(&data, "message") else { return data };
    let Some(Value::Array(content)) = get(message, "content") else { return data };
    let block = changed(&content[0], &[], &[("content", Value::Null)]);
    let message = changed(message, &[], &[("content", Value::Array(vec![block]))]);
    changed(&data, &[], &[("message", message)])
}

/// A key of a JavaScript map; objects and arrays are never found again.
fn same_key(a: Option<&Value>, b: Option<&Value>) -> bool {
    let is_reference = |it: Option<&Value>| matches!(it, Some(Value::Object(_) | Value::Array(_)));
    a == b && !is_reference(a)
}

/// Counts the closers; nothing when the scan throws or a closer cannot be made.
fn closers(events: &[Event]) -> Option<usize> {
    let (mut turn, mut step) = (false, false);
    let mut pending: Vec<Option<Value>> = Vec::new();
    for event in events {
        if matches!(event.kind.as_str(), "turn/start" | "step/start" | "tool/call")
            && matches!(event.data, None | Some(Value::Null))
        {
            return None;
        }
        match event.kind.as_str() {
            "turn/start" | "turn/end" => {
                turn = event.kind == "turn/start" && event.at(&["turn"]) != Some(&Value::Null);
                step = false;
                pending.clear();
            }
            "step/start" => step = event.at(&["step"]) != Some(&Value::Null),
            "step/end" => {
                step = false;
                pending.clear();
            }
            "assistant/message" => {
                let Some(Value::Array(content)) = event.at(&["message", "content"]) else {
                    continue;
                };
                if content.contains(&Value::Null) {
                    return None;
                }
                for block in content {
                    let id = get(block, "id");
                    if get(block, "type").is_some_and(|it| is_text(it, "tool-call"))
                        && !pending.iter().any(|known| same_key(known.as_ref(), id))
                    {
                        pending.push(id.cloned());
                    }
                }
            }
            "tool/result" => {
                let id = event.at(&["message", "source", "callId"]);
                pending.retain(|known| !same_key(known.as_ref(), id));
            }
            _ => {}
        }
    }
    if !turn {
        return Some(0);
    }
    let closable = pending.iter().all(|id| is_name(id.as_ref()));
    closable.then(|| pending.len() + usize::from(step) + 1)
}
