//! The shape of the three events that carry model messages, in format 0.
//!
//! | event | the message is | role | source |
//! |---|---|---|---|
//! | `user/message` | the payload | `user` | any kind |
//! | `assistant/message` | `message` of the payload | `assistant` | `model`, provider and model |
//! | `tool/result` | `message` of the payload | `user` | `tool`, whose call id its block repeats |
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 6.2 (B).

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

/// The event types that carry a message.
pub const KINDS: &[&str] = &["user/message", "assistant/message", "tool/result"];

/// What is wrong with a message: the rule, and the host's words after the subject.
pub type Flaw = (RuleId, &'static str);

/// The companion of message shapes; it keeps no state.
#[derive(Debug, Default)]
pub struct Messages;

impl Companion for Messages {
    fn name(&self) -> &'static str {
        "message"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(KINDS)
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        judge(event).map_err(|(rule, what)| {
            Violation::new(rule, format!("session event at seq {} {what}", event.seq))
        })
    }

    fn apply(&mut self, _event: &Event<'_>) {}

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

/// Returns the message that an event carries, or what stands in its place.
pub fn message_of<'a>(event: &Event<'a>) -> Option<Json<'a>> {
    match event.kind {
        "user/message" => Some(event.data),
        _ => event.data.get("message"),
    }
}

fn is_name(value: Option<Json<'_>>) -> bool {
    value.is_some_and(|value| value.is_nonempty_string())
}

/// Returns whether a value names a provider and a model.
pub fn has_provider_and_model(value: Json<'_>) -> bool {
    is_name(value.get("provider")) && is_name(value.get("model"))
}

/// Judges the message of an event; the first rule that it breaks.
///
/// # Errors
///
/// The rule, and the host's words for it without their subject.
pub fn judge(event: &Event<'_>) -> Result<(), Flaw> {
    if !KINDS.contains(&event.kind) {
        return Ok(());
    }
    let message = message_of(event);
    let Some(message) = message.filter(|message| is_name(message.get("id"))) else {
        return Err(("message/identity", "lacks an identified message"));
    };
    let is_assistant = event.kind == "assistant/message";
    let role = message.get("role");
    if is_assistant && !role.is_some_and(|role| role.is_str("assistant")) {
        return Err(("message/role", "message must have role \"assistant\""));
    }
    if !is_assistant && !role.is_some_and(|role| role.is_str("user")) {
        return Err(("message/role", "message must have role \"user\""));
    }
    let source = message.get("source").filter(|source| is_name(source.get("kind")));
    let source = source.ok_or(("message/source", "message has invalid source"))?;
    let content = message.get("content").filter(Json::is_array);
    let content = content.ok_or(("message/content", "message has invalid content"))?;
    let is_kind = |kind| source.get("kind").is_some_and(|value| value.is_str(kind));
    match event.kind {
        "assistant/message" if !is_kind("model") || !has_provider_and_model(source) => {
            Err(("message/model-source", "message must have model source"))
        }
        "tool/result" => tool_result(source, is_kind("tool"), content),
        _ => Ok(()),
    }
}

fn tool_result(source: Json<'_>, is_tool: bool, content: Json<'_>) -> Result<(), Flaw> {
    let call = source.get("callId").filter(Json::is_nonempty_string);
    let Some(call) = call.filter(|_| is_tool) else {
        return Err(("message/tool-source", "message must have tool source"));
    };
    let block = content.at(0).filter(|block| {
        content.len() == 1
            && block.get("type").is_some_and(|kind| kind.is_str("tool-result"))
            && block.get("content").is_some_and(|content| content.is_array())
    });
    let Some(block) = block else {
        return Err(("message/result-block", "message must contain one tool-result block"));
    };
    let answered = block.get("toolCallId").and_then(|id| id.as_text());
    if answered.is_none() || answered != call.as_text() {
        return Err(("message/call-mismatch", "message has mismatched tool call ids"));
    }
    Ok(())
}
