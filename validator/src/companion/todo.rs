//! Todo lists: a list of distinct, trimmed entries with a known status.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.5; `@deepseek-ai/dsh-tool-todo/invariant`. That a list is
//! written inside a turn is a rule of the session family.

use super::script::{field, is_one_of, quoted};
use crate::key::KeySet;
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

const NOT_ARRAY: RuleId = "todo/not-array";
const ENTRY_NOT_OBJECT: RuleId = "todo/entry-not-object";
const CONTENT_NOT_TRIMMED: RuleId = "todo/content-not-trimmed";
const REPEATED_CONTENT: RuleId = "todo/repeated-content";
const UNKNOWN_STATUS: RuleId = "todo/unknown-status";

/// What the status of an entry can be.
const STATUSES: [&str; 3] = ["pending", "in_progress", "completed"];

/// The rules of this family, in the host's order.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        NOT_ARRAY,
        "a todo list is an array",
        optional!(
            "The record holds no list, and a front end that shows it may fail. The next list that \
             the model writes replaces it."
        ),
    ),
    Rule::error(
        ENTRY_NOT_OBJECT,
        "every entry of a todo list is an object",
        optional!(
            "An entry of the list is no entry, and a front end that shows it may fail. The next \
             list that the model writes replaces it."
        ),
    ),
    Rule::error(
        CONTENT_NOT_TRIMMED,
        "the content of a todo entry is text without blanks around it",
        optional!(
            "An entry is empty, no text, or has blanks around it; the host's tool never writes \
             that. The next list that the model writes replaces it."
        ),
    ),
    Rule::error(
        REPEATED_CONTENT,
        "no two entries of a todo list have the same content",
        optional!(
            "Two entries cannot be told apart. The next list that the model writes replaces this \
             one."
        ),
    ),
    Rule::error(
        UNKNOWN_STATUS,
        "a todo entry is pending, in_progress or completed",
        optional!(
            "An entry has a status that the host does not have, and a front end may not show it. \
             The next list that the model writes replaces it."
        ),
    ),
];

/// The shape of `todo/write`; it has no state, because each list is whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Todo;

impl Companion for Todo {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["todo/write"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let todos = field(event, "todos", NOT_ARRAY)?;
        let Some(todos) = todos.filter(Json::is_array) else {
            return Err(Violation::new(NOT_ARRAY, "todo/write todos must be an array"));
        };
        let mut seen = KeySet::default();
        for entry in todos.elements() {
            plan_entry(entry, &mut seen)?;
        }
        Ok(())
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

fn plan_entry(entry: Json<'_>, seen: &mut KeySet) -> Result<(), Violation> {
    // An array is an object to the host; it has no content, and fails one rule later.
    if !entry.is_object() && !entry.is_array() {
        return Err(Violation::new(ENTRY_NOT_OBJECT, "todo/write entries must be objects"));
    }
    let content = entry.get("content");
    let text = content.and_then(|content| content.as_text());
    if !text.is_some_and(|text| !text.is_empty() && text.is_trimmed()) {
        let text = "todo/write content must be non-empty and already trimmed";
        return Err(Violation::new(CONTENT_NOT_TRIMMED, text));
    }
    if seen.contains(content) {
        let text = format!("todo/write repeats content {}", quoted(content));
        return Err(Violation::new(REPEATED_CONTENT, text));
    }
    seen.insert(content);
    let status = entry.get("status");
    if is_one_of(status, &STATUSES) {
        return Ok(());
    }
    let text = format!("todo/write carries unknown status {}", quoted(status));
    Err(Violation::new(UNKNOWN_STATUS, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::{faults, messages};

    fn run(todos: &str) -> Vec<(RuleId, u64)> {
        faults(&mut Todo, &[&format!(r#"todo/write {{"todos":{todos}}}"#)])
    }

    #[test]
    fn a_list_of_distinct_entries_is_lawful() {
        assert_eq!(run("[]"), []);
        let two =
            r#"[{"content":"a b","status":"pending"},{"content":"b","status":"in_progress"}]"#;
        assert_eq!(run(two), []);
        let both =
            r#"[{"content":"a","status":"in_progress"},{"content":"A","status":"in_progress"}]"#;
        assert_eq!(run(both), [], "any number may be in progress");
    }

    #[test]
    fn each_fault_has_its_rule() {
        assert_eq!(run("null"), [(NOT_ARRAY, 0)]);
        assert_eq!(run("{}"), [(NOT_ARRAY, 0)]);
        assert_eq!(faults(&mut Todo, &["todo/write null"]), [(NOT_ARRAY, 0)]);
        for scalar in ["[null]", "[1]", r#"["a"]"#, "[true]"] {
            assert_eq!(run(scalar), [(ENTRY_NOT_OBJECT, 0)], "{scalar}");
        }
        for content in ["null", r#""""#, r#"" a""#, r#""a\u00a0""#, r#""\ufeffa""#, "[]", "1"] {
            let list = format!(r#"[{{"content":{content},"status":"pending"}}]"#);
            assert_eq!(run(&list), [(CONTENT_NOT_TRIMMED, 0)], "{content}");
        }
        assert_eq!(run("[[]]"), [(CONTENT_NOT_TRIMMED, 0)], "an array is an object");
        let twice = r#"[{"content":"a","status":"pending"},{"content":"\u0061","status":"?"}]"#;
        assert_eq!(run(twice), [(REPEATED_CONTENT, 0)]);
        for status in ["null", r#""done""#, r#"["pending"]"#] {
            let list = format!(r#"[{{"content":"a","status":{status}}}]"#);
            assert_eq!(run(&list), [(UNKNOWN_STATUS, 0)], "{status}");
        }
    }

    #[test]
    fn the_words_are_the_hosts() {
        let list = r#"todo/write {"todos":[{"content":"a"}]}"#;
        assert_eq!(messages(&mut Todo, &[list]), ["todo/write carries unknown status undefined"]);
    }
}
