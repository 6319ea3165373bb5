//! What a `goal/change` says, read strictly and in the host's order of checks.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.8, the decoder.

use gatelog_engine::companion::{RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

use super::script::{self, Value};
use super::shape::{bytes, has_joined_keys, is_trimmed, not_negative, positive};

pub(super) const INVALID_CHANGE: RuleId = "goal/invalid-change";

/// Where a goal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Active,
    Paused,
    Blocked,
    Complete,
}

/// What a snapshot does to a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Edit,
    Pause,
    Resume,
    Complete,
    Block,
}

/// The words of phases.
const PHASES: [(&str, Phase); 4] = [
    ("active", Phase::Active),
    ("paused", Phase::Paused),
    ("blocked", Phase::Blocked),
    ("complete", Phase::Complete),
];

/// The words of operations that carry a snapshot.
const OPERATIONS: [(&str, Operation); 6] = [
    ("create", Operation::Create),
    ("edit", Operation::Edit),
    ("pause", Operation::Pause),
    ("resume", Operation::Resume),
    ("complete", Operation::Complete),
    ("block", Operation::Block),
];

const CLEAR_KEYS: &str = "cleared,clearedAt,kind,operation,version";
const SNAPSHOT_KEYS: &str = "createdAt,goal,kind,operation,roundsStarted,updatedAt,version";
const GOAL_KEYS: &str = "id,maxGoalRounds,objective,phase,revision";
const BLOCKED_GOAL_KEYS: &str = "blockedReason,id,maxGoalRounds,objective,phase,revision";

impl Operation {
    /// Returns the word of the operation.
    pub(super) fn word(self) -> &'static str {
        OPERATIONS[self as usize].0
    }
}

/// One revision of a goal.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    pub(super) id: Box<[u8]>,
    pub(super) revision: f64,
    /// The objective as `JSON.stringify` prints it, which tells all objectives apart.
    pub(super) objective: Box<str>,
    pub(super) phase: Phase,
    pub(super) max_rounds: f64,
    /// Why it is blocked, code and message, in the same print.
    pub(super) blocked_reason: Option<Box<str>>,
}

/// A goal with its counters, as a snapshot writes them.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) goal: Goal,
    pub(super) rounds_started: f64,
    pub(super) created_at: f64,
    pub(super) updated_at: f64,
}

/// A change that is well formed.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Snapshot { operation: Operation, next: Snapshot },
    Clear { id: Box<[u8]>, revision: f64, cleared_at: f64 },
}

/// Reads the change that a `goal/change` event is.
pub(super) fn decode(event: &Event<'_>) -> Result<Change, Violation> {
    let data = event.data;
    if !data.is_object() || !script::is_str(data.get("kind"), "goal/change") {
        return refuse(format!("goal change at session event {} has an invalid kind", event.seq));
    }
    if script::number(data.get("version")) != Some(1.0) {
        let version = script::shown(data.get("version"));
        return refuse(format!("unsupported goal change version {version}"));
    }
    if script::is_str(data.get("operation"), "clear") {
        return decode_clear(data);
    }
    let Some(operation) = word(data.get("operation"), &OPERATIONS) else {
        return refuse("goal change operation is invalid");
    };
    if !has_joined_keys(data, SNAPSHOT_KEYS) {
        return refuse(format!("goal snapshot change must have exactly {SNAPSHOT_KEYS} fields"));
    }
    let created_at = at_least_zero(data.get("createdAt"), "createdAt")?;
    let updated_at = at_least_zero(data.get("updatedAt"), "updatedAt")?;
    if updated_at < created_at {
        return refuse("goal change updatedAt cannot precede createdAt");
    }
    let goal = decode_goal(data.get("goal"))?;
    let rounds_started = at_least_zero(data.get("roundsStarted"), "roundsStarted")?;
    let next = Snapshot { goal, rounds_started, created_at, updated_at };
    Ok(Change::Snapshot { operation, next })
}

fn decode_clear(data: Json<'_>) -> Result<Change, Violation> {
    if !has_joined_keys(data, CLEAR_KEYS) {
        return refuse(format!("goal clear change must have exactly {CLEAR_KEYS} fields"));
    }
    let cleared = data.get("cleared").filter(|cleared| has_joined_keys(*cleared, "id,revision"));
    let Some(cleared) = cleared else {
        return refuse("goal clear tombstone must have exactly id and revision fields");
    };
    let Some(id) = bytes(cleared.get("id")).filter(|id| !id.is_empty()) else {
        return refuse("goal clear tombstone id must be a non-empty string");
    };
    let revision = at_least_one(cleared.get("revision"), "cleared.revision")?;
    let cleared_at = at_least_zero(data.get("clearedAt"), "clearedAt")?;
    Ok(Change::Clear { id, revision, cleared_at })
}

fn decode_goal(value: Value<'_>) -> Result<Goal, Violation> {
    let Some(goal) = value.filter(Json::is_object) else {
        return refuse("goal change goal must be a record");
    };
    let Some(id) = bytes(goal.get("id")).filter(|id| !id.is_empty()) else {
        return refuse("goal change goal.id must be a non-empty string");
    };
    let objective = goal.get("objective").filter(|objective| is_trimmed(Some(*objective)));
    let Some(objective) = objective else {
        return refuse("goal change goal.objective must be non-empty and normalized");
    };
    let Some(phase) = word(goal.get("phase"), &PHASES) else {
        return refuse("goal change goal.phase is invalid");
    };
    let keys = if phase == Phase::Blocked { BLOCKED_GOAL_KEYS } else { GOAL_KEYS };
    if !has_joined_keys(goal, keys) {
        let phase = PHASES[phase as usize].0;
        return refuse(format!(
            "goal change goal for phase {phase} must have exactly {keys} fields"
        ));
    }
    let revision = at_least_one(goal.get("revision"), "goal.revision")?;
    let max_rounds = at_least_one(goal.get("maxGoalRounds"), "goal.maxGoalRounds")?;
    let blocked_reason = match phase {
        Phase::Blocked => Some(decode_blocked_reason(goal.get("blockedReason"))?),
        _ => None,
    };
    let objective = objective.to_json().into();
    Ok(Goal { id, revision, objective, phase, max_rounds, blocked_reason })
}

fn decode_blocked_reason(value: Value<'_>) -> Result<Box<str>, Violation> {
    let reason = value.filter(|reason| has_joined_keys(*reason, "code,message"));
    let Some(reason) = reason else {
        return refuse("goal change goal.blockedReason must have exactly code and message fields");
    };
    if !bytes(reason.get("code")).is_some_and(|code| is_kebab_case(&code)) {
        return refuse("goal change goal.blockedReason.code must be lower-kebab-case");
    }
    if !is_trimmed(reason.get("message")) {
        return refuse("goal change goal.blockedReason.message must be non-empty and normalized");
    }
    let print = |key| reason.get(key).map(|json| json.to_json()).unwrap_or_default();
    Ok((print("code") + &print("message")).into())
}

/// Returns whether a text is `[a-z][a-z0-9]*(-[a-z0-9]+)*` as a whole.
fn is_kebab_case(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_lowercase)
        && text.split(|byte| *byte == b'-').all(|part| {
            !part.is_empty()
                && part.iter().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

fn word<T: Copy>(value: Value<'_>, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(word, _)| script::is_str(value, word)).map(|(_, meaning)| *meaning)
}

fn at_least_one(value: Value<'_>, field: &str) -> Result<f64, Violation> {
    positive(value).ok_or_else(|| {
        let message = format!("goal change {field} must be a positive safe integer");
        Violation::new(INVALID_CHANGE, message)
    })
}

fn at_least_zero(value: Value<'_>, field: &str) -> Result<f64, Violation> {
    not_negative(value).ok_or_else(|| {
        let message = format!("goal change {field} must be a non-negative safe integer");
        Violation::new(INVALID_CHANGE, message)
    })
}

fn refuse<T>(message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(INVALID_CHANGE, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_at_the_place_of_their_meaning() {
        assert!(PHASES.iter().enumerate().all(|(index, (_, phase))| *phase as usize == index));
        let mut operations = OPERATIONS.iter().enumerate();
        assert!(operations.all(|(index, (_, operation))| *operation as usize == index));
    }

    #[test]
    fn kebab_case_is_lower_and_has_no_empty_part() {
        for text in ["a", "a1-2b-c", "needs-review"] {
            assert!(is_kebab_case(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "a-", "-a", "a--b", "1a", "A", "a_b", "a b", "ä"] {
            assert!(!is_kebab_case(text.as_bytes()), "{text}");
        }
    }
}
