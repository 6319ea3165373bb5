//! What the host's loader makes of the events of a log: nothing, or so many closers.

use super::legacy::normalised;
use super::naive::Value;
use super::surface::fold_surface;
use super::value::{
    get, has_exactly, is_count, is_name, is_safe, is_seq, is_string, is_text, number,
};

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
pub(super) struct Event {
    /// Empty when it is no string.
    pub(super) kind: String,
    pub(super) data: Option<Value>,
    pub(super) envelope: Value,
}

impl Event {
    pub(super) fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self.data.as_ref()?, |value, key| get(value, key))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.at(&[key]).is_some()
    }

    pub(super) fn message(&self) -> Option<&Value> {
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
        ("request/header-delta" | "mode/set", _) | ("request/header", None | Some(Value::Null)) => {
            true
        }
        ("request/header", Some(data)) => {
            get(data, "reason").is_some_and(|reason| is_text(reason, "fallback"))
        }
        _ => false,
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
