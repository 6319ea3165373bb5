//! The goal of a session: each change follows from the goal before it, and each round is the next.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.8.

use gatelog_engine::companion::{Companion, End, Listens, Violation};
use gatelog_engine::event::Event;

use super::goal_change::INVALID_CHANGE;
use super::goal_fold::{
    COUNTERS_CHANGED, CREATE_NOT_FRESH, DEFINITION_CHANGED, EARLY_CLEAR, GoalFold, INVALID_SOURCE,
    INVALID_TRANSITION, NO_CURRENT_GOAL, REVISION_NOT_NEXT, ROUND_NOT_NEXT,
};
use crate::rule::Rule;

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        INVALID_CHANGE,
        "a goal change has a known version and operation, exactly its members, and sound values",
        optional!(
            "What the goal became here cannot be told, so the host's goal service cannot rebuild \
             it. See whether a newer program or an edit wrote the line."
        ),
    ),
    Rule::error(
        CREATE_NOT_FRESH,
        "a goal is created active, at revision 1, with no round, under a new id, and while no \
         other goal is unfinished",
        optional!(
            "Two goals overlap: a change that ended the first may be lost, or two programs wrote \
             to one session."
        ),
    ),
    Rule::error(
        NO_CURRENT_GOAL,
        "a change other than a creation finds a goal",
        optional!("The event that created the goal is missing, or the goal was cleared."),
    ),
    Rule::error(
        REVISION_NOT_NEXT,
        "a change is the next revision of the current goal",
        optional!(
            "A change is missing before this one, or a change was written twice: look for two \
             programs that wrote to one session."
        ),
    ),
    Rule::error(
        COUNTERS_CHANGED,
        "a change keeps the time of creation and the number of rounds, and moves no time back",
        optional!(
            "The counters disagree with the log: a round or a change may be missing, or a clock \
             was set back."
        ),
    ),
    Rule::error(
        DEFINITION_CHANGED,
        "only an edit changes the objective or the number of rounds allowed",
        optional!("An edit of the goal may be missing from the log."),
    ),
    Rule::error(
        INVALID_TRANSITION,
        "an operation leads from a phase that allows it to its own phase",
        optional!("A change may be missing from the log, or was written by another program."),
    ),
    Rule::error(
        EARLY_CLEAR,
        "a goal is not cleared before its last update",
        optional!("A clock was set back between the two changes."),
    ),
    Rule::error(
        INVALID_SOURCE,
        "a message that a goal sends names its goal, revision and round",
        optional!("The round that this message starts cannot be told."),
    ),
    Rule::error(
        ROUND_NOT_NEXT,
        "a message that a goal sends is the next round of the active goal, within its limit",
        optional!(
            "A round is missing, was written twice, or ran for a goal that had changed: look for \
             two programs that wrote to one session."
        ),
    ),
];

/// The companion of goals.
#[derive(Clone, Default)]
pub(super) struct GoalStream {
    fold: GoalFold,
}

impl Companion for GoalStream {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["goal/change", "user/message"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        self.fold.judge(event).map_err(|inner| {
            let (seq, text) = (event.seq, inner.message);
            let message = format!("session event {seq} violates the durable goal stream: {text}");
            Violation::new(inner.rule, message)
        })
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.fold.apply(event);
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests;
