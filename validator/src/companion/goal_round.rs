//! Goal rounds: the message that starts a round carries the prompt that the goal prescribes.
//!
//! The goal is folded strictly from the events before the message. Where these break the rules of
//! goals, the first round after them cannot be checked and says so; the ones after it are checked
//! against what the log claims.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.9.

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, display};

use super::goal_change::{Goal, Phase, Snapshot};
use super::goal_fold::{Current, GoalFold, goal_source};
use super::script::{self, Value};
use super::shape::bytes;
use crate::rule::Rule;

const BROKEN_PREFIX: RuleId = "goal-round/broken-prefix";
const UNEXPECTED_ROUND: RuleId = "goal-round/unexpected-round";
const PROMPT_DIFFERS: RuleId = "goal-round/prompt-differs";

/// What the prompt of a round says after the objective and the number; the host's text.
const INSTRUCTION: &str = "Continue working toward the objective in this same session. Treat the \
    current workspace, tool results, and durable session state as authoritative; inspect them \
    instead of assuming earlier narration is still current. Make concrete progress and verify the \
    result. Before claiming completion, gather evidence that the whole objective is achieved, read \
    the current goal, and mark it complete. If work remains, leave the goal active for the next \
    round. Follow the configured goal-tool policy before reporting a blocker.";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        BROKEN_PREFIX,
        "the events before a goal round keep the rules of goals",
        optional!(
            "The prompt of this round cannot be checked, because an earlier event breaks a rule of \
             the goal; see that finding first."
        ),
    ),
    Rule::error(
        UNEXPECTED_ROUND,
        "a goal round follows from the goal before it",
        optional!(
            "The round is not the next one of the active goal; the finding of the goal at the same \
             event says the same."
        ),
    ),
    Rule::error(
        PROMPT_DIFFERS,
        "the message of a goal round is exactly the prompt that its goal prescribes",
        optional!(
            "The model was told something else than the goal says: another release of the host \
             wrote the prompt, or the text was changed."
        ),
    ),
];

/// The companion of goal rounds.
#[derive(Clone, Default)]
pub(super) struct GoalRound {
    fold: GoalFold,
    /// The first fault of the goal that no round has told of yet.
    broken: Option<String>,
}

impl Companion for GoalRound {
    fn name(&self) -> &'static str {
        "goal-round"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["goal/change", "user/message"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let Some(source) = round_source(event) else { return Ok(()) };
        if let Some(inner) = &self.broken {
            let message =
                format!("cannot reconstruct the goal before a continuation message: {inner}");
            return Err(Violation::new(BROKEN_PREFIX, message));
        }
        let round = source.get("round");
        let current = match self.fold.current() {
            Current::Unknown => return Ok(()),
            Current::Nothing => None,
            Current::Known(current) => Some(current).filter(|goal| is_next(goal, source)),
        };
        let Some(current) = current else {
            let message = format!(
                "goal round {} cannot be reconstructed from the preceding durable goal state",
                script::shown(round)
            );
            return Err(Violation::new(UNEXPECTED_ROUND, message));
        };
        if is_prompt(event.field("content"), &current.goal, current.rounds_started + 1.0) {
            return Ok(());
        }
        let message = format!(
            "goal round {} content does not match the package-owned continuation prompt",
            script::shown(round)
        );
        Err(Violation::new(PROMPT_DIFFERS, message))
    }

    fn apply(&mut self, event: &Event<'_>) {
        if self.plan(event).is_err() {
            self.broken = None;
        } else if let Err(inner) = self.fold.judge(event) {
            self.broken.get_or_insert(inner.message);
        }
        self.fold.apply(event);
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

/// Returns the source of a message that starts a round; the older form of round 0 is not checked.
fn round_source<'a>(event: &Event<'a>) -> Option<Json<'a>> {
    if event.kind != "user/message" {
        return None;
    }
    goal_source(event).filter(|source| !is_at_most_zero(source.get("round")))
}

/// Returns whether `value <= 0` in JavaScript, which makes a number of what is none.
fn is_at_most_zero(value: Value<'_>) -> bool {
    let Some(json) = value else { return false };
    if let Some(number) = json.as_number() {
        return number <= 0.0;
    }
    if json.is_object() || json.as_bool() == Some(true) {
        return false;
    }
    let text =
        if json.is_array() || json.is_string() { json.to_js_string() } else { String::new() };
    let text = text.trim();
    text.is_empty() || text.parse().is_ok_and(|number: f64| number <= 0.0)
}

fn is_next(current: &Snapshot, source: Json<'_>) -> bool {
    let Snapshot { goal, rounds_started, .. } = current;
    let round = script::number(source.get("round"));
    goal.phase == Phase::Active
        && bytes(source.get("goalId")).is_some_and(|id| id == goal.id)
        && script::number(source.get("revision")) == Some(goal.revision)
        && round == Some(rounds_started + 1.0)
        && round.is_some_and(|round| round <= goal.max_rounds)
}

/// Returns whether a content is one text block with the prompt of a round.
fn is_prompt(content: Value<'_>, goal: &Goal, round: f64) -> bool {
    let Some(content) = content.filter(|content| content.is_array() && content.len() == 1) else {
        return false;
    };
    let prompt = prompt(goal, round);
    content.at(0).is_some_and(|block| {
        block.has_exactly(&["type", "text"], &[])
            && script::is_str(block.get("type"), "text")
            && script::is_str(block.get("text"), &prompt)
    })
}

fn prompt(goal: &Goal, round: f64) -> String {
    let Goal { objective, max_rounds, .. } = goal;
    let (round, max_rounds) = (display(round), display(*max_rounds));
    format!(
        "<goal_round>\nObjective: {objective}\nRound: {round}/{max_rounds}\n\n{INSTRUCTION}\n\
         </goal_round>"
    )
}

#[cfg(test)]
mod tests;
