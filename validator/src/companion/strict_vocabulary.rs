//! Closed vocabularies that the host does not check: words that only its own writer should use.

use super::script::{Value, is_one_of, is_str, quoted};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const END_REASON: RuleId = "turn/unknown-end-reason";
const HEADER_REASON: RuleId = "request/unknown-reason";
const POLICY_SOURCE: RuleId = "policy/unknown-source";
const MODE_SOURCE: RuleId = "sandbox/unknown-source";

/// Why a turn can end, in all formats; `disposed` is read from old logs.
const END_REASONS: [&str; 8] =
    ["completed", "blocked", "max-tokens", "interrupted", "aborted", "error", "forked", "disposed"];

/// Why a request header can be recorded, in all formats.
const HEADER_REASONS: [&str; 4] = ["initial", "resume", "change", "series"];

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule::strict(
        END_REASON,
        "a turn ends for a reason that the host has",
        "The host reads the log and takes the turn for ended. A viewer or a meter may not know \
         the word. Something other than the host wrote the event, or a newer host did.",
    ),
    Rule::strict(
        HEADER_REASON,
        "a request header is recorded for a reason that the host has",
        "The header itself counts. Something other than the host wrote the event, or a newer host \
         did.",
    ),
    Rule::strict(
        POLICY_SOURCE,
        "an approval policy is set by the user or by delegation",
        "The policy itself counts, but it cannot be told who set it. Look at what wrote the event \
         before you trust it as a person's choice.",
    ),
    Rule::strict(
        MODE_SOURCE,
        "a sandbox mode is set by the user or by delegation",
        "The mode itself counts, but it cannot be told who set it. Look at what wrote the event \
         before you trust it as a person's choice.",
    ),
];

/// The words themselves; it has no state.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictVocabulary;

/// Requires that a source is absent, which means the user, or the one word that there is.
fn plan_source(event: &Event<'_>, rule: RuleId) -> Result<(), Violation> {
    let source = event.field("source");
    if source.is_none() || is_str(source, "delegation") {
        return Ok(());
    }
    let text = format!("{} has the unknown source {}", event.kind, quoted(source));
    Err(Violation::new(rule, text))
}

/// Requires that a reason is one of some words.
fn plan_reason(
    event: &Event<'_>,
    reason: Value<'_>,
    known: &[&str],
    rule: RuleId,
) -> Result<(), Violation> {
    if is_one_of(reason, known) {
        return Ok(());
    }
    let text = format!("{} has the unknown reason {}", event.kind, quoted(reason));
    Err(Violation::new(rule, text))
}

impl Companion for StrictVocabulary {
    fn name(&self) -> &'static str {
        "vocabulary"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["turn/end", "request/header", "approval/policy", "sandbox/mode"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "turn/end" => {
                let kind = event.field("reason").and_then(|reason| reason.get("kind"));
                plan_reason(event, kind, &END_REASONS, END_REASON)
            }
            "request/header" => {
                plan_reason(event, event.field("reason"), &HEADER_REASONS, HEADER_REASON)
            }
            "approval/policy" => plan_source(event, POLICY_SOURCE),
            _ => plan_source(event, MODE_SOURCE),
        }
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut StrictVocabulary, lines)
    }

    #[test]
    fn the_hosts_words_are_lawful() {
        let lawful = [
            r#"turn/end {"turn":1,"reason":{"kind":"completed"}}"#,
            r#"request/header {"reason":"initial"}"#,
            r#"approval/policy {"policy":"never","source":"delegation"}"#,
            r#"approval/policy {"policy":"ask"}"#,
            r#"sandbox/mode {"mode":"read-only","source":"delegation"}"#,
        ];
        assert_eq!(run(&lawful), []);
    }

    #[test]
    fn other_words_are_found() {
        assert_eq!(run(&[r#"turn/end {"reason":{"kind":"done"}}"#]), [(END_REASON, 0)]);
        assert_eq!(run(&["turn/end null"]), [(END_REASON, 0)]);
        assert_eq!(run(&[r#"request/header {"reason":"retry"}"#]), [(HEADER_REASON, 0)]);
        assert_eq!(run(&[r#"approval/policy {"source":"user"}"#]), [(POLICY_SOURCE, 0)]);
        assert_eq!(run(&[r#"sandbox/mode {"source":null}"#]), [(MODE_SOURCE, 0)]);
    }
}
