//! Retries of model requests: each is scheduled in the step that failed, and starts once.
//!
//! A chain is what the retries of one step, provider and policy form; it has one `retryId`, and its
//! retries count from 1.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.11.

use std::collections::{HashMap, HashSet};

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, display};

use super::script::{self, Held, Value};
use super::shape::{Fingerprints, positive};
use crate::rule::Rule;

const INVALID_PAYLOAD: RuleId = "retry/invalid-payload";
const INVALID_FAILURE: RuleId = "retry/invalid-failure";
const INVALID_LIMIT: RuleId = "retry/invalid-limit";
const OUTSIDE_TURN: RuleId = "retry/outside-turn";
const OUTSIDE_STEP: RuleId = "retry/outside-step";
const WRONG_PROVIDER: RuleId = "retry/wrong-provider";
const NOT_NEXT: RuleId = "retry/not-next";
const CHANGED_ID: RuleId = "retry/changed-id";
const REUSED_ID: RuleId = "retry/reused-id";
const STARTED_UNSCHEDULED: RuleId = "retry/started-unscheduled";
const STARTED_ELSEWHERE: RuleId = "retry/started-elsewhere";
const STARTED_TWICE: RuleId = "retry/started-twice";

/// The longest delay that a timer of the host takes, in milliseconds.
const DELAY_MS_MAX: f64 = 2_147_483_647.0;

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        INVALID_PAYLOAD,
        "a retry names its id, provider and policy, its number, and a delay that a timer takes",
        optional!(
            "What was retried cannot be told from this record. See whether another program or an \
             edit wrote the line."
        ),
    ),
    Rule::error(
        INVALID_FAILURE,
        "a retry says which failure it answers: a message, a code, and sound details",
        optional!("Why the request failed cannot be told from this record."),
    ),
    Rule::error(
        INVALID_LIMIT,
        "a retry of a limited policy is within the limit, and that of an unlimited one has none",
        optional!("More retries were made than the policy allows, or its mode is unknown."),
    ),
    Rule::error(
        OUTSIDE_TURN,
        "a retry is scheduled in the open turn, and names it",
        optional!(
            "The records around the retry are missing, or two programs wrote to one session."
        ),
    ),
    Rule::error(
        OUTSIDE_STEP,
        "a retry is scheduled in the open step, and names it",
        optional!(
            "The records around the retry are missing, or two programs wrote to one session."
        ),
    ),
    Rule::error(
        WRONG_PROVIDER,
        "a retry goes to the provider of the request header in force",
        optional!("The header of the request that failed may be missing from the log."),
    ),
    Rule::error(
        NOT_NEXT,
        "the retries of one step, provider and policy count from 1 without a gap",
        optional!("A retry is missing before this one, or was written twice."),
    ),
    Rule::error(
        CHANGED_ID,
        "the retries of one step, provider and policy share one id",
        optional!("Two programs may have retried the same step."),
    ),
    Rule::error(
        REUSED_ID,
        "a retry id belongs to one chain of retries",
        optional!("Two chains cannot be told apart; a record may have been copied."),
    ),
    Rule::error(
        STARTED_UNSCHEDULED,
        "a retry that starts was scheduled",
        optional!("The record that scheduled the retry is missing."),
    ),
    Rule::error(
        STARTED_ELSEWHERE,
        "a retry starts in the turn and step for which it was scheduled",
        optional!("Records may have been moved, or two programs wrote to one session."),
    ),
    Rule::error(
        STARTED_TWICE,
        "a scheduled retry starts once",
        optional!("The record was written twice."),
    ),
];

/// The retries of one session.
#[derive(Clone)]
pub(super) struct Retry {
    /// The last turn boundary is a start; its turn.
    turn: Option<Held>,
    /// The last step boundary is a start; its turn and step.
    step: Option<(Held, Held)>,
    /// A turn ended since the last step started.
    turn_ended_since: bool,
    /// The provider of the last request header.
    provider: Held,
    prints: Fingerprints,
    /// The last retry of each chain, under turn, step, provider and policy.
    chains: HashMap<u128, Last>,
    /// Every id that a retry or a start ever had.
    ids: HashSet<u128>,
    /// Every scheduled retry, under id and number.
    scheduled: HashMap<u128, Place>,
    /// Every start, under id and number.
    started: HashSet<u128>,
}

/// The last retry of a chain.
#[derive(Clone)]
struct Last {
    number: f64,
    id: Option<u128>,
}

/// The step for which a retry was scheduled.
#[derive(Clone)]
struct Place {
    turn: Held,
    step: Held,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            turn: None,
            step: None,
            turn_ended_since: false,
            provider: Held::Undefined,
            prints: Fingerprints::default(),
            chains: HashMap::new(),
            ids: HashSet::new(),
            scheduled: HashMap::new(),
            started: HashSet::new(),
        }
    }
}

impl Retry {
    fn judge_retry(&self, data: Json<'_>) -> Result<(), Violation> {
        judge_payload(data)?;
        self.judge_place(data)?;
        self.judge_chain(data)
    }

    /// Judges where a retry was scheduled.
    fn judge_place(&self, data: Json<'_>) -> Result<(), Violation> {
        let (turn, step) = (data.get("turn"), data.get("step"));
        let Some(open_turn) = &self.turn else {
            return refuse(OUTSIDE_TURN, "llm/retry must be appended inside an open turn");
        };
        if !open_turn.is(turn) {
            let (turn, open) = (script::shown(turn), open_turn.shown());
            let text = format!("llm/retry names turn {turn}, but the open turn is {open}");
            return refuse(OUTSIDE_TURN, text);
        }
        let Some((step_turn, open_step)) = &self.step else {
            return refuse(OUTSIDE_STEP, "llm/retry must be appended inside an open step");
        };
        if !open_step.is(step) || !step_turn.is(turn) {
            let (turn, step) = (script::shown(turn), script::shown(step));
            let open = format!("{}/{}", step_turn.shown(), open_step.shown());
            let text =
                format!("llm/retry names turn {turn}/step {step}, but the open step is {open}");
            return refuse(OUTSIDE_STEP, text);
        }
        let none = Held::Undefined;
        let routed = if self.turn_ended_since { &none } else { &self.provider };
        let provider = data.get("provider");
        if !routed.is(provider) {
            let (provider, routed) = (script::shown(provider), routed.shown());
            let text = format!(
                "llm/retry provider {provider} does not match the failed request provider {routed}"
            );
            return refuse(WRONG_PROVIDER, text);
        }
        Ok(())
    }

    /// Judges a retry against the earlier ones of its chain and of others.
    fn judge_chain(&self, data: Json<'_>) -> Result<(), Violation> {
        let last = self.chain(data).and_then(|chain| self.chains.get(&chain));
        let number = script::number(data.get("retry"));
        let next = last.map_or(0.0, |last| last.number) + 1.0;
        if number != Some(next) {
            let (number, next) = (script::shown(data.get("retry")), display(next));
            let text = format!("llm/retry retry {number} must equal provider policy retry {next}");
            return refuse(NOT_NEXT, text);
        }
        let id = self.prints.of_values(&[data.get("retryId")]);
        match last {
            Some(last) if last.id.is_some() && last.id != id => {
                let text = "llm/retry must preserve retryId across one provider-policy chain";
                refuse(CHANGED_ID, text)
            }
            None if id.is_some_and(|id| self.ids.contains(&id)) => {
                let id = script::quoted(data.get("retryId"));
                let text = format!("llm/retry retryId {id} is already owned by another chain");
                refuse(REUSED_ID, text)
            }
            _ => Ok(()),
        }
    }

    fn judge_started(&self, data: Json<'_>) -> Result<(), Violation> {
        if !script::is_nonempty_string(data.get("retryId")) {
            let text = "llm/retry-started retryId must be a non-empty string";
            return refuse(INVALID_PAYLOAD, text);
        }
        let attempt = self.attempt(data);
        let Some(place) = attempt.and_then(|attempt| self.scheduled.get(&attempt)) else {
            let text = "llm/retry-started pairs no prior scheduled attempt";
            return refuse(STARTED_UNSCHEDULED, text);
        };
        if !place.turn.is(data.get("turn")) || !place.step.is(data.get("step")) {
            let text = "llm/retry-started turn/step must match its scheduled attempt";
            return refuse(STARTED_ELSEWHERE, text);
        }
        if attempt.is_some_and(|attempt| self.started.contains(&attempt)) {
            return refuse(STARTED_TWICE, "llm/retry-started repeats one scheduled attempt");
        }
        Ok(())
    }

    fn chain(&self, data: Json<'_>) -> Option<u128> {
        let keys = ["turn", "step", "provider", "policyKey"];
        self.prints.of_values(&keys.map(|key| data.get(key)))
    }

    fn attempt(&self, data: Json<'_>) -> Option<u128> {
        self.prints.of_values(&[data.get("retryId"), data.get("retry")])
    }

    fn apply_retry(&mut self, data: Json<'_>) {
        let id = self.prints.of_values(&[data.get("retryId")]);
        self.ids.extend(id);
        if let Some(attempt) = self.attempt(data) {
            let place =
                Place { turn: Held::of(data.get("turn")), step: Held::of(data.get("step")) };
            self.scheduled.insert(attempt, place);
        }
        if let (Some(chain), Some(number)) = (self.chain(data), positive(data.get("retry"))) {
            self.chains.insert(chain, Last { number, id });
        }
    }
}

impl Companion for Retry {
    fn name(&self) -> &'static str {
        "retry"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "step/start",
            "step/end",
            "request/header",
            "llm/retry",
            "llm/retry-started",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            // Reading a member of null throws, and of anything else it does not.
            "llm/retry" => {
                script::field(event, "retryId", INVALID_PAYLOAD)?;
                self.judge_retry(event.data)
            }
            "llm/retry-started" => {
                script::field(event, "retryId", INVALID_PAYLOAD)?;
                self.judge_started(event.data)
            }
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => self.turn = Some(Held::of(event.field("turn"))),
            "turn/end" => {
                self.turn = None;
                self.turn_ended_since = true;
            }
            "step/start" => {
                let (turn, step) = (event.field("turn"), event.field("step"));
                self.step = Some((Held::of(turn), Held::of(step)));
                self.turn_ended_since = false;
            }
            "step/end" => self.step = None,
            "request/header" => {
                let config = event.field("header").and_then(|header| header.get("config"));
                self.provider = Held::of(config.and_then(|config| config.get("provider")));
            }
            "llm/retry" => self.apply_retry(event.data),
            "llm/retry-started" => {
                self.ids.extend(self.prints.of_values(&[event.field("retryId")]));
                self.started.extend(self.attempt(event.data));
            }
            _ => {}
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

/// Judges a retry by its own members, in the host's order.
fn judge_payload(data: Json<'_>) -> Result<(), Violation> {
    let filled = |key: &str| {
        if script::is_nonempty_string(data.get(key)) {
            return Ok(());
        }
        refuse(INVALID_PAYLOAD, format!("llm/retry {key} must be a non-empty string"))
    };
    filled("retryId")?;
    judge_failure(data.get("failure"))?;
    let Some(number) = positive(data.get("retry")) else {
        return refuse(INVALID_PAYLOAD, "llm/retry retry must be a positive safe integer");
    };
    filled("provider")?;
    filled("policyKey")?;
    let (mode, limit) = (data.get("mode"), data.get("maxRetries"));
    if script::is_str(mode, "normal") {
        if positive(limit).is_none_or(|limit| number > limit) {
            let (number, limit) = (display(number), script::shown(limit));
            let text = format!(
                "llm/retry retry {number} must not exceed a positive safe maxRetries {limit}"
            );
            return refuse(INVALID_LIMIT, text);
        }
    } else if !script::is_str(mode, "always") {
        let mode = script::shown(mode);
        let text = format!("llm/retry mode must be normal or always, got {mode}");
        return refuse(INVALID_LIMIT, text);
    } else if limit.is_some() {
        return refuse(INVALID_LIMIT, "llm/retry always mode must omit maxRetries");
    }
    match script::number(data.get("delayMs")) {
        Some(delay_ms) if (0.0..=DELAY_MS_MAX).contains(&delay_ms) => Ok(()),
        _ => {
            let text = "llm/retry delayMs must be a finite number within 0..2147483647";
            refuse(INVALID_PAYLOAD, text)
        }
    }
}

/// Judges the failure that a retry answers. An array is an object too, and lacks the members.
fn judge_failure(value: Value<'_>) -> Result<(), Violation> {
    let Some(failure) = value.filter(|value| value.is_object() || value.is_array()) else {
        return refuse(INVALID_FAILURE, "llm/retry failure must be an object");
    };
    let absent_or = |key, holds: fn(f64) -> bool| {
        let value = failure.get(key);
        value.is_none() || script::number(value).is_some_and(holds)
    };
    let text = if !script::is_nonempty_string(failure.get("message")) {
        "message must be a non-empty string"
    } else if !script::is_nonempty_string(failure.get("code")) {
        "code must be a non-empty string"
    } else if !absent_or("status", |n| n.fract() == 0.0 && (100.0..=599.0).contains(&n)) {
        "status must be an integer from 100 through 599 when present"
    } else if !absent_or("providerRetryAfterMs", |n| n.is_finite() && n > 0.0) {
        "providerRetryAfterMs must be a positive finite number when present"
    } else if failure.get("requestId").is_some_and(|id| !id.is_nonempty_string()) {
        "requestId must be a non-empty string when present"
    } else {
        return Ok(());
    };
    refuse(INVALID_FAILURE, format!("llm/retry failure.{text}"))
}

fn refuse<T>(rule: RuleId, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(rule, message))
}

#[cfg(test)]
mod tests;
