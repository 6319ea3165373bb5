//! Calls that code makes on behalf of a tool call: each keeps the root that it was started under.
//!
//! Starts and results are not paired: the host does not pair them in format 0.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.13.

use std::collections::HashMap;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

use super::script;
use super::shape::{Fingerprints, string_of};
use crate::rule::Rule;

const MISSING_ID: RuleId = "dispatch/missing-id";
const CHANGED_ROOT: RuleId = "dispatch/changed-root";
const FOREIGN_PARENT: RuleId = "dispatch/foreign-parent";
const OUTSIDE_TURN: RuleId = "dispatch/outside-turn";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        MISSING_ID,
        "a code dispatch names its root call, its parent call and itself",
        optional!("Which call this belongs to cannot be told from the record."),
    ),
    Rule::error(
        CHANGED_ROOT,
        "a sub-call stays under the root call that it was started under",
        optional!("Two calls share an id, or records were copied from another call."),
    ),
    Rule::error(
        FOREIGN_PARENT,
        "the parent of a sub-call is its root call, or another sub-call of that root",
        optional!("The record that started the parent is missing."),
    ),
    Rule::error(
        OUTSIDE_TURN,
        "code dispatches happen while a turn is open",
        optional!("The start of the turn is missing, or the record came after its end."),
    ),
];

/// The code dispatches of one session.
#[derive(Clone, Default)]
pub(super) struct Dispatch {
    turn_open: bool,
    prints: Fingerprints,
    /// The root of each sub-call.
    roots: HashMap<u128, u128>,
}

impl Dispatch {
    /// Returns the fingerprint of an id as the host reads it: `String(id)`.
    fn id(&self, event: &Event<'_>, key: &str) -> u128 {
        self.prints.of_texts(&[&string_of(event.field(key))])
    }
}

impl Companion for Dispatch {
    fn name(&self) -> &'static str {
        "dispatch"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "tool/code-dispatch-start",
            "tool/code-dispatch",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let kind = event.kind;
        if !matches!(kind, "tool/code-dispatch-start" | "tool/code-dispatch") {
            return Ok(());
        }
        script::field(event, "rootCallId", MISSING_ID)?;
        let ids = ["rootCallId", "parentCallId", "subCallId"];
        if ids.iter().any(|key| string_of(event.field(key)).is_empty()) {
            let text =
                format!("{kind} must carry non-empty rootCallId, parentCallId, and subCallId");
            return refuse(MISSING_ID, text);
        }
        let [root, parent, child] = ids.map(|key| self.id(event, key));
        if self.roots.get(&child).is_some_and(|known| *known != root) {
            let child = script::shown(event.field("subCallId"));
            return refuse(
                CHANGED_ROOT,
                format!("{kind} changed rootCallId for subCallId {child}"),
            );
        }
        if parent != root && self.roots.get(&parent) != Some(&root) {
            let parent = script::shown(event.field("parentCallId"));
            let root = script::shown(event.field("rootCallId"));
            let text = format!("{kind} parentCallId {parent} does not belong to rootCallId {root}");
            return refuse(FOREIGN_PARENT, text);
        }
        if !self.turn_open {
            return refuse(OUTSIDE_TURN, format!("{kind} appended outside any open turn"));
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            // The host takes a turn that is named `null` for none.
            "turn/start" => self.turn_open = !script::is_null(event.field("turn")),
            "turn/end" => self.turn_open = false,
            "tool/code-dispatch-start" | "tool/code-dispatch" if event.data.is_object() => {
                let root = self.id(event, "rootCallId");
                let parent = self.id(event, "parentCallId");
                if parent != root {
                    // A parent that nobody started is taken to belong where this record puts it.
                    self.roots.entry(parent).or_insert(root);
                }
                self.roots.insert(self.id(event, "subCallId"), root);
            }
            _ => {}
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

fn refuse<T>(rule: RuleId, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(rule, message))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, messages};
    use super::*;

    const START: &str = r#"turn/start {"turn":1}"#;

    fn call(root: &str, parent: &str, child: &str) -> String {
        format!(
            r#"tool/code-dispatch-start {{"rootCallId":{root},"parentCallId":{parent},
                "subCallId":{child}}}"#
        )
    }

    fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
        let lines: Vec<&str> =
            std::iter::once(START).chain(lines.iter().map(String::as_str)).collect();
        faults(&mut Dispatch::default(), &lines)
    }

    #[test]
    fn a_tree_of_calls_under_one_root_is_lawful() {
        let lines = [
            call(r#""r""#, r#""r""#, r#""a""#),
            call(r#""r""#, r#""a""#, r#""b""#),
            call(r#""r""#, r#""b""#, r#""a""#).replace("dispatch-start", "dispatch"),
        ];
        assert_eq!(broken(&lines), []);
    }

    #[test]
    fn three_ids_are_not_empty() {
        for ids in
            [["\"\"", "\"r\"", "\"a\""], ["\"r\"", "[]", "\"a\""], ["\"r\"", "\"r\"", "\"\""]]
        {
            assert_eq!(broken(&[call(ids[0], ids[1], ids[2])]), [(MISSING_ID, 1)], "{ids:?}");
        }
        assert_eq!(broken(&["tool/code-dispatch null".to_owned()]), [(MISSING_ID, 1)]);
        // Without ids all three read "undefined", which is not empty.
        assert_eq!(broken(&["tool/code-dispatch {}".to_owned()]), []);
    }

    #[test]
    fn a_sub_call_keeps_its_root() {
        let lines = [
            call(r#""r""#, r#""r""#, r#""a""#),
            call(r#""s""#, r#""s""#, r#""a""#),
            call(r#""s""#, r#""a""#, r#""c""#),
        ];
        assert_eq!(broken(&lines), [(CHANGED_ROOT, 2)]);
    }

    #[test]
    fn a_parent_belongs_to_the_root() {
        let lines = [
            call(r#""r""#, r#""lost""#, r#""a""#),
            call(r#""r""#, r#""lost""#, r#""b""#),
            call(r#""r""#, r#""a""#, r#""c""#),
        ];
        assert_eq!(broken(&lines), [(FOREIGN_PARENT, 1)]);
    }

    #[test]
    fn a_dispatch_lies_in_a_turn() {
        let line = call("1", "\"1\"", "2");
        assert_eq!(faults(&mut Dispatch::default(), &[&line]), [(OUTSIDE_TURN, 0)]);
        assert_eq!(
            messages(&mut Dispatch::default(), &[&line]),
            ["tool/code-dispatch-start appended outside any open turn"]
        );
    }
}
