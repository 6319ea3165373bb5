//! Approvals: every decision answers an open question, both inside a turn; policies are known ones.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.2; `@deepseek-ai/dsh-user-approval/invariant`.

use super::script::{field, is_null, is_one_of, length, quoted};
use crate::key::KeySet;
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const ASKED_OUTSIDE: RuleId = "approval/asked-outside-turn";
const ASKED_WITHOUT_TOOL: RuleId = "approval/asked-without-tool-name";
const ASKED_REPEATS: RuleId = "approval/asked-repeats-open-id";
const DECIDED_OUTSIDE: RuleId = "approval/decided-outside-turn";
const DECIDED_WITHOUT_ASK: RuleId = "approval/decided-without-ask";
const UNKNOWN_OUTCOME: RuleId = "approval/decided-unknown-outcome";
const UNKNOWN_POLICY: RuleId = "policy/unknown-policy";

/// What an approval can end in.
const OUTCOMES: [&str; 4] = ["allowed-once", "rejected", "cancelled", "unavailable"];

/// What an approval policy can be.
const POLICIES: [&str; 2] = ["ask", "never"];

/// The rules of this family, in the host's order.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        ASKED_OUTSIDE,
        "an approval is asked for inside a turn",
        optional!(
            "Something asked for permission between two turns, where crash recovery may cut the \
             question away. Look at which plugin wrote it; the session itself can go on."
        ),
    ),
    Rule::error(
        ASKED_WITHOUT_TOOL,
        "an approval names the tool that it is for",
        optional!(
            "The record does not tell what was to be approved, so the decision proves nothing. \
             Report it to whoever made the plugin that asked."
        ),
    ),
    Rule::error(
        ASKED_REPEATS,
        "the id of an open question is not used for another one",
        optional!(
            "Two questions with one id are open at once, so a decision cannot be told to belong \
             to either. Two processes may have written this session; look at what comes before."
        ),
    ),
    Rule::error(
        DECIDED_OUTSIDE,
        "an approval is decided inside a turn",
        optional!(
            "The decision came after the turn of its question had ended. Whatever it allowed or \
             refused was over by then. Do not read it as a permission."
        ),
    ),
    Rule::error(
        DECIDED_WITHOUT_ASK,
        "a decision answers a question that is open",
        optional!(
            "No question with this id was open: it was never asked, was asked later, or had its \
             answer. Do not count the decision as a permission. Two processes that wrote one \
             session, or a front end that answered a stale prompt, leave such records."
        ),
    ),
    Rule::error(
        UNKNOWN_OUTCOME,
        "a decision is allowed-once, rejected, cancelled or unavailable",
        optional!(
            "The outcome is a word that the host does not have. It grants nothing. Something \
             other than the host wrote the decision."
        ),
    ),
    Rule::error(
        UNKNOWN_POLICY,
        "an approval policy is ask or never",
        optional!(
            "From here on the policy is a word that the host does not have, and what the host \
             does with it is not defined. Set the policy again before continuing the session."
        ),
    ),
];

/// The questions that are open.
#[derive(Clone, Debug, Default)]
pub(super) struct Approval {
    turn_open: bool,
    /// Ids that were asked and not decided; a turn's end leaves them open.
    pending: KeySet,
}

impl Approval {
    fn plan_asked(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !self.turn_open {
            let text = "approval/asked appended outside any open turn";
            return Err(Violation::new(ASKED_OUTSIDE, text));
        }
        let tool = field(event, "toolName", ASKED_WITHOUT_TOOL)?;
        if length(tool, ASKED_WITHOUT_TOOL)? == Some(0.0) {
            let text = "approval/asked toolName must be non-empty";
            return Err(Violation::new(ASKED_WITHOUT_TOOL, text));
        }
        let id = event.field("id");
        if self.pending.contains(id) {
            let text = format!("approval/asked repeated open id {}", quoted(id));
            return Err(Violation::new(ASKED_REPEATS, text));
        }
        Ok(())
    }

    fn plan_decided(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !self.turn_open {
            let text = "approval/decided appended outside any open turn";
            return Err(Violation::new(DECIDED_OUTSIDE, text));
        }
        let id = field(event, "id", DECIDED_WITHOUT_ASK)?;
        if !self.pending.contains(id) {
            let id = quoted(id);
            let text = format!("approval/decided has no matching approval/asked for id {id}");
            return Err(Violation::new(DECIDED_WITHOUT_ASK, text));
        }
        let outcome = event.field("outcome");
        if is_one_of(outcome, &OUTCOMES) {
            return Ok(());
        }
        let text = format!("approval/decided carries unknown outcome {}", quoted(outcome));
        Err(Violation::new(UNKNOWN_OUTCOME, text))
    }
}

fn plan_policy(event: &Event<'_>) -> Result<(), Violation> {
    let policy = field(event, "policy", UNKNOWN_POLICY)?;
    if is_one_of(policy, &POLICIES) {
        return Ok(());
    }
    let text = format!("approval/policy carries unknown policy {}", quoted(policy));
    Err(Violation::new(UNKNOWN_POLICY, text))
}

impl Companion for Approval {
    fn name(&self) -> &'static str {
        "approval"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "approval/asked",
            "approval/decided",
            "approval/policy",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "approval/asked" => self.plan_asked(event),
            "approval/decided" => self.plan_decided(event),
            "approval/policy" => plan_policy(event),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            // The host keeps the number, and takes null alone for "no turn". A payload that is
            // null breaks its companions here; that is the session family's to report.
            "turn/start" => self.turn_open = !is_null(event.field("turn")),
            "turn/end" => self.turn_open = false,
            // Outside a turn, a start may have been lost: the rest of it is not faulted again.
            "approval/asked" => {
                self.turn_open = true;
                self.pending.insert(event.field("id"));
            }
            "approval/decided" => {
                self.turn_open = true;
                self.pending.remove(event.field("id"));
            }
            _ => {}
        }
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::{faults, messages};

    const TURN: &str = r#"turn/start {"turn":1}"#;

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut Approval::default(), lines)
    }

    #[test]
    fn a_question_and_its_answer_are_lawful() {
        for outcome in OUTCOMES {
            let decided = format!(r#"approval/decided {{"id":"a","outcome":"{outcome}"}}"#);
            assert_eq!(run(&[TURN, r#"approval/asked {"id":"a","toolName":"t"}"#, &decided]), []);
        }
        let again = r#"approval/asked {"id":"a","toolName":"t"}"#;
        let decided = r#"approval/decided {"id":"a","outcome":"rejected"}"#;
        assert_eq!(run(&[TURN, again, decided, again]), [], "an id may be used again");
        let later = [TURN, again, "turn/end {}", r#"turn/start {"turn":2}"#, decided];
        assert_eq!(run(&later), [], "the host lets a later turn decide");
        assert_eq!(run(&[TURN, r#"approval/asked {"id":"a","toolName":5}"#]), []);
    }

    #[test]
    fn asks_break_their_rules_in_the_hosts_order() {
        assert_eq!(run(&["approval/asked null"]), [(ASKED_OUTSIDE, 0)]);
        let empty = [TURN, r#"approval/asked {"id":"a","toolName":""}"#];
        assert_eq!(run(&empty), [(ASKED_WITHOUT_TOOL, 1)]);
        for bad in [r#"{"id":"a"}"#, "null", r#"{"id":"a","toolName":[]}"#, "7"] {
            let line = format!("approval/asked {bad}");
            assert_eq!(run(&[TURN, &line]), [(ASKED_WITHOUT_TOOL, 1)], "{bad}");
        }
        let twice = [
            TURN,
            r#"approval/asked {"id":"a","toolName":"t"}"#,
            r#"approval/asked {"id":"a","toolName":"t"}"#,
            r#"approval/decided {"id":"a","outcome":"rejected"}"#,
        ];
        assert_eq!(run(&twice), [(ASKED_REPEATS, 2)]);
        assert_eq!(
            messages(&mut Approval::default(), &twice),
            [r#"approval/asked repeated open id "a""#]
        );
        let nameless =
            [TURN, r#"approval/asked {"toolName":"t"}"#, r#"approval/asked {"toolName":"t"}"#];
        assert_eq!(
            messages(&mut Approval::default(), &nameless),
            ["approval/asked repeated open id undefined"]
        );
    }

    #[test]
    fn decisions_break_their_rules_in_the_hosts_order() {
        let asked = r#"approval/asked {"id":"a","toolName":"t"}"#;
        assert_eq!(run(&["approval/decided null"]), [(DECIDED_OUTSIDE, 0)]);
        assert_eq!(run(&[TURN, "approval/decided null"]), [(DECIDED_WITHOUT_ASK, 1)]);
        let ghost = [TURN, r#"approval/decided {"id":"a","outcome":"maybe"}"#, asked];
        assert_eq!(run(&ghost), [(DECIDED_WITHOUT_ASK, 1)], "an orphan adds nothing");
        let lost =
            [asked, r#"approval/decided {"id":"a","outcome":"rejected"}"#, "turn/end {}", asked];
        assert_eq!(
            run(&lost),
            [(ASKED_OUTSIDE, 0), (ASKED_OUTSIDE, 3)],
            "a lost start is one finding"
        );
        let number = [TURN, r#"approval/asked {"id":1,"toolName":"t"}"#];
        let text = [number[0], number[1], r#"approval/decided {"id":"1","outcome":"rejected"}"#];
        assert_eq!(run(&text), [(DECIDED_WITHOUT_ASK, 2)], "1 is not \"1\"");
        let reference = [
            TURN,
            r#"approval/asked {"id":{},"toolName":"t"}"#,
            r#"approval/decided {"id":{},"outcome":"rejected"}"#,
        ];
        assert_eq!(run(&reference), [(DECIDED_WITHOUT_ASK, 2)], "no two objects are one");
        for outcome in [r#""allowed""#, "null", "true", r#"["rejected"]"#] {
            let line = format!(r#"approval/decided {{"id":"a","outcome":{outcome}}}"#);
            assert_eq!(run(&[TURN, asked, &line]), [(UNKNOWN_OUTCOME, 2)], "{outcome}");
        }
    }

    #[test]
    fn a_null_turn_opens_nothing() {
        let asked = r#"approval/asked {"id":"a","toolName":"t"}"#;
        assert_eq!(run(&[r#"turn/start {"turn":null}"#, asked]), [(ASKED_OUTSIDE, 1)]);
        assert_eq!(run(&["turn/start {}", asked]), []);
    }

    #[test]
    fn policies_are_two_words() {
        assert_eq!(run(&[r#"approval/policy {"policy":"ask"}"#]), []);
        assert_eq!(run(&[r#"approval/policy {"policy":"never","source":"x"}"#]), []);
        for bad in [r#"{"policy":"on-request"}"#, "{}", "null", "[]", r#"{"policy":["ask"]}"#] {
            let line = format!("approval/policy {bad}");
            assert_eq!(run(&[&line]), [(UNKNOWN_POLICY, 0)], "{bad}");
        }
    }
}
