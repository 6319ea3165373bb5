//! Hooks: an invocation and its result lie in the turn that they name, and belong together.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.12.

use std::collections::HashMap;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

use super::script::{self, Held};
use super::shape::{Fingerprints, string_of};
use crate::rule::Rule;

const OUTSIDE_TURN: RuleId = "hook/outside-turn";
const WRONG_TURN: RuleId = "hook/wrong-turn";
const EMPTY_NAME: RuleId = "hook/empty-name";
const UNKNOWN_DIALECT: RuleId = "hook/unknown-dialect";
const RESULT_WITHOUT_INVOCATION: RuleId = "hook/result-without-invocation";
const INVALID_DURATION: RuleId = "hook/invalid-duration";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    // A warning, although the host's companion has the rule: logs that the host recorded break
    // it, with the answer of a hook that ran before the first turn.
    Rule::warning(
        OUTSIDE_TURN,
        "a hook is invoked and answers while a turn is open",
        optional!("The start of the turn is missing, or the record came after its end."),
    ),
    Rule::error(
        WRONG_TURN,
        "a hook record names the open turn",
        optional!(
            "The record belongs to another turn: records are missing between the two, or two \
             programs wrote to one session."
        ),
    ),
    Rule::error(
        EMPTY_NAME,
        "an invocation names its hook point and its handler",
        optional!("Which hook ran cannot be told from this record."),
    ),
    Rule::error(
        UNKNOWN_DIALECT,
        "an invocation is in the dialect `claude-code` or `codex`",
        optional!(
            "A program other than release 0.1.1-rc.2 of the host wrote the record; the first \
             releases wrote `claude`, which is harmless."
        ),
    ),
    Rule::error(
        RESULT_WITHOUT_INVOCATION,
        "a result answers an invocation of the same turn, point and handler",
        optional!("The record of the invocation is missing, or the result was written twice."),
    ),
    Rule::error(
        INVALID_DURATION,
        "the duration of a result is a number that is not negative",
        optional!("How long the hook ran cannot be told; nothing else depends on it."),
    ),
];

/// The hooks of one session.
#[derive(Clone)]
pub(super) struct Hook {
    /// The turn of the last `turn/start`; `null` when it ended, and before the first one.
    open_turn: Held,
    prints: Fingerprints,
    /// How many invocations wait for a result, under turn, point and handler.
    waiting: HashMap<u128, u64>,
}

impl Default for Hook {
    fn default() -> Self {
        Self { open_turn: Held::Null, prints: Fingerprints::default(), waiting: HashMap::new() }
    }
}

impl Hook {
    /// The host joins the three texts with NUL bytes, whatever they hold.
    fn key(&self, event: &Event<'_>) -> u128 {
        let texts = ["turn", "point", "handlerId"].map(|key| string_of(event.field(key)));
        self.prints.of_texts(&[&texts.join(&0)])
    }
}

impl Companion for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["turn/start", "turn/end", "hook/invoked", "hook/result"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let kind = event.kind;
        if !matches!(kind, "hook/invoked" | "hook/result") {
            return Ok(());
        }
        if matches!(self.open_turn, Held::Null) {
            return refuse(OUTSIDE_TURN, format!("{kind} appended outside any open turn"));
        }
        let turn = script::field(event, "turn", WRONG_TURN)?;
        if !self.open_turn.is(turn) {
            let (turn, open) = (script::shown(turn), self.open_turn.shown());
            return refuse(WRONG_TURN, format!("{kind} names turn {turn} but open turn is {open}"));
        }
        if kind == "hook/invoked" { judge_invoked(event) } else { self.judge_result(event) }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => self.open_turn = Held::of(event.field("turn")),
            "turn/end" => self.open_turn = Held::Null,
            "hook/invoked" => *self.waiting.entry(self.key(event)).or_default() += 1,
            "hook/result" => {
                let key = self.key(event);
                if let Some(count) = self.waiting.get_mut(&key) {
                    *count -= 1;
                    if *count == 0 {
                        self.waiting.remove(&key);
                    }
                }
            }
            _ => {}
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

impl Hook {
    fn judge_result(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !self.waiting.contains_key(&self.key(event)) {
            let handler = script::quoted(event.field("handlerId"));
            let text = format!("hook/result has no matching hook/invoked for {handler}");
            return refuse(RESULT_WITHOUT_INVOCATION, text);
        }
        let duration_ms = script::number(event.field("durationMs"));
        if duration_ms.is_none_or(|duration_ms| !duration_ms.is_finite() || duration_ms < 0.0) {
            let text = "hook/result durationMs must be a non-negative finite number";
            return refuse(INVALID_DURATION, text);
        }
        Ok(())
    }
}

fn judge_invoked(event: &Event<'_>) -> Result<(), Violation> {
    for key in ["point", "handlerId"] {
        if script::length(event.field(key), EMPTY_NAME)? == Some(0.0) {
            return refuse(EMPTY_NAME, "hook/invoked point and handlerId must be non-empty");
        }
    }
    let dialect = event.field("dialect");
    if !script::is_one_of(dialect, &["claude-code", "codex"]) {
        let dialect = script::quoted(dialect);
        return refuse(UNKNOWN_DIALECT, format!("hook/invoked carries unknown dialect {dialect}"));
    }
    Ok(())
}

fn refuse<T>(rule: RuleId, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(rule, message))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, messages};
    use super::*;

    const INVOKED: &str =
        r#"hook/invoked {"turn":1,"point":"Stop","handlerId":"h","dialect":"codex"}"#;
    const RESULT: &str = r#"hook/result {"turn":1,"point":"Stop","handlerId":"h","decision":"allow",
            "durationMs":0}"#;

    fn broken(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut Hook::default(), lines)
    }

    #[test]
    fn several_invocations_of_one_handler_may_wait_at_once() {
        let start = r#"turn/start {"turn":1}"#;
        let lines = [start, INVOKED, INVOKED, RESULT, RESULT, r#"turn/end {"turn":1}"#];
        assert_eq!(broken(&lines), []);
        assert_eq!(broken(&[start, INVOKED, RESULT, RESULT]), [(RESULT_WITHOUT_INVOCATION, 3)]);
    }

    #[test]
    fn a_hook_record_lies_in_the_turn_that_it_names() {
        assert_eq!(broken(&[INVOKED]), [(OUTSIDE_TURN, 0)]);
        let ended = [r#"turn/start {"turn":1}"#, INVOKED, r#"turn/end {"turn":1}"#, RESULT];
        assert_eq!(broken(&ended), [(OUTSIDE_TURN, 3)]);
        assert_eq!(broken(&[r#"turn/start {"turn":2}"#, INVOKED]), [(WRONG_TURN, 1)]);
        assert_eq!(broken(&[r#"turn/start {"turn":"1"}"#, INVOKED]), [(WRONG_TURN, 1)]);
        let texts = messages(
            &mut Hook::default(),
            &[r#"turn/start {"turn":2}"#, INVOKED, "hook/result null"],
        );
        assert_eq!(texts[0], "hook/invoked names turn 1 but open turn is 2");
        assert_eq!(texts[1], "TypeError: Cannot read properties of null (reading 'turn')");
    }

    #[test]
    fn an_invocation_names_a_point_a_handler_and_a_known_dialect() {
        let case =
            |data: &str| broken(&[r#"turn/start {"turn":1}"#, &format!("hook/invoked {data}")]);
        let lawful = r#"{"turn":1,"point":"p","handlerId":"h","dialect":"claude-code"}"#;
        assert_eq!(case(lawful), []);
        let cases = [
            (r#"{"turn":1,"point":"","handlerId":"h","dialect":"codex"}"#, EMPTY_NAME),
            (r#"{"turn":1,"point":"p","handlerId":[],"dialect":"codex"}"#, EMPTY_NAME),
            (r#"{"turn":1,"point":"p","dialect":"codex"}"#, EMPTY_NAME),
            (r#"{"turn":1,"point":"p","handlerId":"h","dialect":"claude"}"#, UNKNOWN_DIALECT),
            (r#"{"turn":1,"point":"p","handlerId":"h"}"#, UNKNOWN_DIALECT),
        ];
        for (data, rule) in cases {
            assert_eq!(case(data), [(rule, 1)], "{data}");
        }
        // A number has no length, so the host lets it through.
        assert_eq!(case(r#"{"turn":1,"point":5,"handlerId":"h","dialect":"codex"}"#), []);
    }

    #[test]
    fn a_duration_is_a_finite_number() {
        for (duration, expected) in
            [("12.5", None), ("-0", None), ("-1", Some(2)), ("1e999", Some(2)), ("\"1\"", Some(2))]
        {
            let result = format!(
                r#"hook/result {{"turn":1,"point":"Stop","handlerId":"h","durationMs":{duration}}}"#
            );
            let found = broken(&[r#"turn/start {"turn":1}"#, INVOKED, &result]);
            let expected: Vec<_> =
                expected.map(|seq| (INVALID_DURATION, seq)).into_iter().collect();
            assert_eq!(found, expected, "{duration}");
        }
    }
}
