//! Tool calls, beyond the host's rules: what a model provider refuses in the next request.

use super::script::{self, Value, is_nonempty_string, is_str, quoted};
use crate::key::KeySet;
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const EMPTY_CALL_ID: RuleId = "tool/empty-call-id";
const DUPLICATE_CALL_ID: RuleId = "tool/duplicate-call-id";
const REPEATED_RESULT: RuleId = "tool/repeated-result";

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule::strict(
        EMPTY_CALL_ID,
        "a tool call has an id",
        "The session opens, and the next request fails with HTTP 400, because providers refuse a \
         call without an id. No right id can be made up afterwards: fork the session from before \
         this event.",
    ),
    Rule::strict(
        DUPLICATE_CALL_ID,
        "an id is called once in a step",
        "Two calls of one step share an id, so their results cannot be told apart, and providers \
         may refuse the next request. If it fails, fork the session from before this event.",
    ),
    Rule::strict(
        REPEATED_RESULT,
        "a tool call has one result",
        "The call had its result already. Providers refuse a second one; and if the call needed \
         an approval, it was allowed once, not twice. Two processes that ran the same turn leave \
         such records. If the next request fails, fork the session from before this event.",
    ),
];

/// The calls of the step that is open.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictTool {
    pending: KeySet,
    answered: KeySet,
}

impl StrictTool {
    fn plan_call(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = event.field("callId");
        if !is_nonempty_string(id) {
            let text = format!("tool/call has the id {}", quoted(id));
            return Err(Violation::new(EMPTY_CALL_ID, text));
        }
        if self.pending.contains(id) || self.answered.contains(id) {
            let text = format!("tool/call repeats the id {} within one step", quoted(id));
            return Err(Violation::new(DUPLICATE_CALL_ID, text));
        }
        Ok(())
    }

    fn plan_result(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = call_id(event);
        if event.is_append() && self.answered.contains(id) {
            let text = format!("tool/result repeats the result of call {}", quoted(id));
            return Err(Violation::new(REPEATED_RESULT, text));
        }
        Ok(())
    }
}

/// Requires that the calls which a message asks for have ids.
fn plan_message(event: &Event<'_>) -> Result<(), Violation> {
    let content = event.field("message").and_then(|message| message.get("content"));
    let blocks = content.into_iter().flat_map(|content| content.elements());
    for (index, block) in blocks.enumerate() {
        if is_str(block.get("type"), "tool-call") && !is_nonempty_string(block.get("id")) {
            let id = quoted(block.get("id"));
            let text =
                format!("assistant/message asks in block {index} for a call with the id {id}");
            return Err(Violation::new(EMPTY_CALL_ID, text));
        }
    }
    Ok(())
}

/// Returns the id of the call that a result is for.
pub(super) fn call_id<'a>(event: &Event<'a>) -> Value<'a> {
    event.field("message").and_then(|message| message.get("source")?.get("callId"))
}

/// Returns whether a result says that its call failed, as any format spells it.
pub(super) fn is_failure(event: &Event<'_>) -> bool {
    let Some(message) = event.field("message") else { return false };
    let block = message.get("content").and_then(|content| content.at(0));
    script::is_true(message.get("isError"))
        || script::is_true(block.and_then(|block| block.get("isError")))
}

impl Companion for StrictTool {
    fn name(&self) -> &'static str {
        "tool"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "tool/call",
            "tool/result",
            "assistant/message",
            "step/end",
            "turn/start",
            "turn/end",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "tool/call" => self.plan_call(event),
            "tool/result" => self.plan_result(event),
            "assistant/message" => plan_message(event),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "tool/call" => self.pending.insert(event.field("callId")),
            "tool/result" if event.is_append() && self.pending.remove(call_id(event)) => {
                self.answered.insert(call_id(event));
            }
            "step/end" | "turn/start" | "turn/end" => {
                self.pending.clear();
                self.answered.clear();
            }
            _ => {}
        }
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    const CALL: &str = r#"tool/call {"callId":"c"}"#;
    const RESULT: &str = r#"tool/result+ {"message":{"source":{"callId":"c"}}}"#;

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut StrictTool::default(), lines)
    }

    #[test]
    fn a_call_and_its_result_are_lawful_in_every_step() {
        let rewrite = r#"tool/result~ {"message":{"source":{"callId":"c"}}}"#;
        assert_eq!(run(&[CALL, RESULT, rewrite, "step/end {}", CALL, RESULT]), []);
        let blocks = r#"[{"type":"text"},{"type":"tool-call","id":"c"}]"#;
        let message = &format!(r#"assistant/message+ {{"message":{{"content":{blocks}}}}}"#);
        assert_eq!(run(&[message]), []);
        assert_eq!(run(&["assistant/message+ null", "tool/result+ null"]), []);
    }

    #[test]
    fn a_call_without_an_id_is_found_where_it_is_asked_for_and_made() {
        assert_eq!(run(&[r#"tool/call {"callId":""}"#]), [(EMPTY_CALL_ID, 0)]);
        assert_eq!(run(&["tool/call null"]), [(EMPTY_CALL_ID, 0)]);
        let message =
            r#"assistant/message+ {"message":{"content":[{"type":"tool-call","id":""}]}}"#;
        assert_eq!(run(&[message]), [(EMPTY_CALL_ID, 0)]);
    }

    #[test]
    fn an_id_is_called_once_and_answered_once_in_a_step() {
        assert_eq!(run(&[CALL, CALL, RESULT]), [(DUPLICATE_CALL_ID, 1)]);
        assert_eq!(run(&[CALL, RESULT, CALL]), [(DUPLICATE_CALL_ID, 2)]);
        assert_eq!(run(&[CALL, RESULT, RESULT]), [(REPEATED_RESULT, 2)]);
        assert_eq!(run(&[RESULT, RESULT]), [], "the host's rule speaks of those");
    }
}
