//! The goal of a session, folded from its changes and from the rounds that were admitted for it.
//!
//! Two companions fold it: that of the goal itself, and that of the prompts which its rounds carry.
//! After a change that cannot be read the goal is unknown, and nothing is held against the next
//! records until one of them tells the whole goal again: one fault is one finding.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.8, transitions and admitted rounds.

use gatelog_engine::companion::{RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

use super::goal_change::{self, Change, Goal, Operation, Phase, Snapshot};
use super::script;
use super::shape::{bytes, positive};
use crate::key::Seen;

pub(super) const CREATE_NOT_FRESH: RuleId = "goal/create-not-fresh";
pub(super) const NO_CURRENT_GOAL: RuleId = "goal/no-current-goal";
pub(super) const REVISION_NOT_NEXT: RuleId = "goal/revision-not-next";
pub(super) const COUNTERS_CHANGED: RuleId = "goal/counters-changed";
pub(super) const DEFINITION_CHANGED: RuleId = "goal/definition-changed";
pub(super) const INVALID_TRANSITION: RuleId = "goal/invalid-transition";
pub(super) const EARLY_CLEAR: RuleId = "goal/early-clear";
pub(super) const INVALID_SOURCE: RuleId = "goal/invalid-source";
pub(super) const ROUND_NOT_NEXT: RuleId = "goal/round-not-next";

/// The goal that a session has at some place of its log.
#[derive(Clone, Debug, Default)]
pub(super) struct GoalFold {
    current: Current,
    /// Ids of all goals that were created.
    seen: Seen,
}

/// What is known of the current goal.
#[derive(Clone, Debug, Default)]
pub(super) enum Current {
    /// There is none.
    #[default]
    Nothing,
    /// There is this one.
    Known(Snapshot),
    /// An earlier record could not be read.
    Unknown,
}

impl GoalFold {
    /// Returns the current goal.
    pub(super) fn current(&self) -> &Current {
        &self.current
    }

    /// Judges an event; the message is the host's inner one.
    pub(super) fn judge(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "goal/change" => self.judge_change(event, &goal_change::decode(event)?),
            "user/message" => self.judge_message(event),
            _ => Ok(()),
        }
    }

    /// Takes in what an event claims.
    pub(super) fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "goal/change" => match goal_change::decode(event) {
                Ok(change) => self.apply_change(event, change),
                Err(_) => self.current = Current::Unknown,
            },
            "user/message" => self.apply_message(event),
            _ => {}
        }
    }

    fn judge_change(&self, event: &Event<'_>, change: &Change) -> Result<(), Violation> {
        let current = match &self.current {
            Current::Unknown => return Ok(()),
            Current::Nothing => None,
            Current::Known(current) => Some(current),
        };
        match change {
            Change::Snapshot { operation: Operation::Create, next } => {
                let fresh = next.goal.revision == 1.0
                    && next.goal.phase == Phase::Active
                    && next.rounds_started == 0.0
                    && current.is_none_or(|current| current.goal.phase == Phase::Complete)
                    && !self.seen.contains(created_id(event));
                check(fresh, CREATE_NOT_FRESH, || {
                    "goal create requires a fresh active revision-one goal with zero rounds".into()
                })
            }
            Change::Snapshot { operation, next } => {
                let word = operation.word();
                let current = current.ok_or_else(|| no_current_goal(word))?;
                next_revision(current, &next.goal.id, next.goal.revision, word)?;
                judge_transition(*operation, current, next)
            }
            Change::Clear { id, revision, cleared_at } => {
                let current = current.ok_or_else(|| no_current_goal("clear"))?;
                next_revision(current, id, *revision, "clear")?;
                check(*cleared_at >= current.updated_at, EARLY_CLEAR, || {
                    "goal clear timestamp cannot precede the current goal update".into()
                })
            }
        }
    }

    fn apply_change(&mut self, event: &Event<'_>, change: Change) {
        self.current = match change {
            Change::Snapshot { operation, next } => {
                if operation == Operation::Create {
                    self.seen.insert(created_id(event));
                }
                Current::Known(next)
            }
            Change::Clear { .. } => Current::Nothing,
        };
    }

    /// Judges a message that a goal sent; replacements on the surface are messages like any other.
    fn judge_message(&self, event: &Event<'_>) -> Result<(), Violation> {
        let Some(source) = goal_source(event) else { return Ok(()) };
        let round = Round::of(source)
            .ok_or_else(|| Violation::new(INVALID_SOURCE, "goal message source is invalid"))?;
        if matches!(self.current, Current::Unknown) {
            return Ok(());
        }
        check(self.admits(&round), ROUND_NOT_NEXT, || {
            let seq = event.seq;
            format!(
                "goal round at session event {seq} is not the next admitted round of the active \
                 goal"
            )
        })
    }

    fn admits(&self, round: &Round) -> bool {
        let Current::Known(current) = &self.current else { return false };
        let Snapshot { goal, rounds_started, .. } = current;
        goal.phase == Phase::Active
            && round.goal_id == goal.id
            && round.revision == goal.revision
            && round.number == rounds_started + 1.0
            && round.number <= goal.max_rounds
    }

    fn apply_message(&mut self, event: &Event<'_>) {
        if let Some(round) = goal_source(event).and_then(Round::of)
            && let Current::Known(current) = &mut self.current
            && current.goal.id == round.goal_id
        {
            current.rounds_started = round.number;
        }
    }
}

/// The round that a message claims to start.
#[derive(Clone)]
struct Round {
    goal_id: Box<[u8]>,
    revision: f64,
    number: f64,
}

impl Round {
    fn of(source: Json<'_>) -> Option<Self> {
        let goal_id = bytes(source.get("goalId")).filter(|id| !id.is_empty())?;
        let revision = positive(source.get("revision"))?;
        let number = positive(source.get("round"))?;
        Some(Self { goal_id, revision, number })
    }
}

/// Returns the source of a message that a goal sent.
pub(super) fn goal_source<'a>(event: &Event<'a>) -> Option<Json<'a>> {
    let source = event.field("source")?;
    script::is_str(source.get("kind"), "goal").then_some(source)
}

/// Judges an operation on the current goal, its revision being the next.
fn judge_transition(
    operation: Operation,
    current: &Snapshot,
    next: &Snapshot,
) -> Result<(), Violation> {
    let word = operation.word();
    let kept = next.created_at == current.created_at
        && next.updated_at >= current.updated_at
        && next.rounds_started == current.rounds_started;
    check(kept, COUNTERS_CHANGED, || {
        format!("goal {word} does not preserve the current counters and timestamps")
    })?;
    let (from, to) = (&current.goal, &next.goal);
    if operation == Operation::Edit {
        let same = to.phase == from.phase && to.blocked_reason == from.blocked_reason;
        return check(same, INVALID_TRANSITION, || {
            "goal edit cannot change phase or blocked reason".into()
        });
    }
    let same = to.objective == from.objective && to.max_rounds == from.max_rounds;
    check(same, DEFINITION_CHANGED, || {
        format!("goal {word} cannot change objective or maxGoalRounds")
    })?;
    check(is_lawful(operation, from, to, current.rounds_started), INVALID_TRANSITION, || {
        if operation == Operation::Resume {
            return "goal resume has an invalid phase transition or exhausted round budget".into();
        }
        format!("goal {word} has an invalid phase transition")
    })
}

/// Returns whether an operation may lead from one phase to the other.
fn is_lawful(operation: Operation, from: &Goal, to: &Goal, rounds_started: f64) -> bool {
    match operation {
        Operation::Pause => from.phase == Phase::Active && to.phase == Phase::Paused,
        Operation::Resume => {
            from.phase != Phase::Complete
                && to.phase == Phase::Active
                && rounds_started < to.max_rounds
        }
        Operation::Complete => from.phase != Phase::Complete && to.phase == Phase::Complete,
        Operation::Block => from.phase == Phase::Active && to.phase == Phase::Blocked,
        Operation::Create | Operation::Edit => true,
    }
}

fn next_revision(
    current: &Snapshot,
    id: &[u8],
    revision: f64,
    word: &str,
) -> Result<(), Violation> {
    let next = *current.goal.id == *id && revision == current.goal.revision + 1.0;
    check(next, REVISION_NOT_NEXT, || {
        format!("goal {word} must advance the current goal by one revision")
    })
}

fn no_current_goal(word: &str) -> Violation {
    Violation::new(NO_CURRENT_GOAL, format!("goal {word} requires a current goal"))
}

/// Returns the id that a `create` gives.
fn created_id<'a>(event: &Event<'a>) -> script::Value<'a> {
    event.field("goal").and_then(|goal| goal.get("id"))
}

fn check(holds: bool, rule: RuleId, message: impl FnOnce() -> String) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(rule, message())) }
}
