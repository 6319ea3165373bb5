//! Schedules: each change is well formed, and acts on a schedule that is there.
//!
//! Events that a forked session copied from its parent are the parent's: the fold starts behind
//! `seedLength`. A one-shot schedule (`after`, `at`) ends with its dispatch; a repeated one
//! (`every`) moves to the first occurrence behind the moment at which the dispatch was accepted.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.7.

use std::collections::HashMap;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, Text, is_safe_integer};

use super::instant::{self, BadInstant};
use super::script::{self, Value};
use super::shape::{bytes, is_trimmed, positive};
use crate::rule::Rule;

const SEED_LENGTH: RuleId = "schedule/seed-length";
const INVALID_PAYLOAD: RuleId = "schedule/invalid-payload";
const INVALID_RECORD: RuleId = "schedule/invalid-record";
const INVALID_ID: RuleId = "schedule/invalid-id";
const INVALID_INSTANT: RuleId = "schedule/invalid-instant";
const REUSED_ID: RuleId = "schedule/reused-id";
const INACTIVE_TARGET: RuleId = "schedule/inactive-target";
const ACCEPTED_AT: RuleId = "schedule/accepted-at";
const EARLY_DISPATCH: RuleId = "schedule/early-dispatch";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        SEED_LENGTH,
        "the seed length of the header is within the log",
        optional!(
            "The header says that more events were copied from a parent session than the log \
             holds: events are missing at its end, or the header was changed. Compare with the \
             parent session."
        ),
    )
    .at_end(),
    Rule::error(
        INVALID_PAYLOAD,
        "a schedule change has a known version and operation and exactly its members",
        optional!(
            "The scheduler does not understand this change, and what it scheduled or cancelled is \
             unknown. See whether a newer program or an edit wrote the line."
        ),
    ),
    Rule::error(
        INVALID_RECORD,
        "a created schedule has a known kind, exactly its members, a trimmed prompt and a sound \
         interval",
        optional!("The schedule cannot be armed. Create it again in the session."),
    ),
    Rule::error(
        INVALID_ID,
        "a schedule id is a string that is not empty and has no white space at its ends",
        optional!("The schedule cannot be named. Create it again in the session."),
    ),
    Rule::error(
        INVALID_INSTANT,
        "an instant is a real one, written as YYYY-MM-DDTHH:MM:SS.mmmZ",
        optional!("The time cannot be told. Create the schedule again in the session."),
    ),
    Rule::error(
        REUSED_ID,
        "a schedule id is used once in a session",
        optional!(
            "Two schedules share an id, so a later change cannot tell them apart. A change that \
             was written twice is a sign of two programs writing to one session."
        ),
    ),
    Rule::error(
        INACTIVE_TARGET,
        "a schedule that is deleted or dispatched is active",
        optional!(
            "The change names a schedule that was never created here, or has ended: the event \
             that created it may be lost, or a change was written twice."
        ),
    ),
    Rule::error(
        ACCEPTED_AT,
        "a dispatch says when it was accepted if, and only if, its schedule repeats",
        optional!("The next occurrence cannot be told from this dispatch."),
    ),
    Rule::error(
        EARLY_DISPATCH,
        "a repeated schedule is not dispatched before its time",
        optional!(
            "The dispatch was accepted before the occurrence that it answers: a clock was set \
             back, or a dispatch was written twice."
        ),
    ),
];

/// The schedules of one session.
#[derive(Clone)]
pub(super) struct Schedule {
    seed_length: u64,
    /// How many events there were so far; kept only where there is a seed.
    events: u64,
    /// The last of them is a `session/end-seed`.
    sealed: bool,
    /// What each id that was ever used stands for; nothing once it has ended.
    schedules: HashMap<Box<[u8]>, Option<Active>>,
}

/// A schedule that is still to fire.
#[derive(Clone, Copy, Debug)]
enum Active {
    /// It fires once.
    Once,
    /// It fires every `interval_ms`, next at `target_ms`.
    Every { interval_ms: i64, target_ms: i64 },
    /// Its record was faulty; no rule is held against it.
    Unknown,
}

/// A change, as far as its own text tells.
enum Change<'a> {
    Create { id: Text<'a>, active: Active },
    Delete { id: Text<'a> },
    Dispatch { id: Text<'a>, accepted_ms: Option<i64> },
}

impl Schedule {
    /// Makes the fold of a session whose first `seed_length` events are its parent's.
    pub(super) fn new(seed_length: Option<u64>) -> Self {
        let seed_length = seed_length.unwrap_or(0);
        Self { seed_length, events: 0, sealed: false, schedules: HashMap::new() }
    }

    fn active(&self, id: Text<'_>) -> Option<Active> {
        self.schedules.get(&*id.to_wtf8()).copied().flatten()
    }

    /// Judges a change against the schedules that are there.
    fn judge(&self, change: &Change<'_>) -> Result<(), Violation> {
        match change {
            Change::Create { id, .. } if self.schedules.contains_key(&*id.to_wtf8()) => {
                let id = id.quoted();
                Err(Violation::new(REUSED_ID, format!("schedule id {id} was reused")))
            }
            Change::Create { .. } => Ok(()),
            Change::Delete { id } => {
                self.active(*id).map(|_| ()).ok_or_else(|| inactive("delete", *id))
            }
            Change::Dispatch { id, accepted_ms } => {
                let active = self.active(*id).ok_or_else(|| inactive("dispatch", *id))?;
                dispatched(active, *accepted_ms).map(|_| ())
            }
        }
    }

    fn adopt(&mut self, change: &Change<'_>) {
        match change {
            Change::Create { id, active } => {
                self.schedules.insert(id.to_wtf8().into(), Some(*active));
            }
            Change::Delete { id } => {
                if let Some(active) = self.schedules.get_mut(&*id.to_wtf8()) {
                    *active = None;
                }
            }
            Change::Dispatch { id, accepted_ms } => {
                if let Some(slot) = self.schedules.get_mut(&*id.to_wtf8())
                    && let Some(active) = *slot
                {
                    // A dispatch that breaks a rule still ends what fires once.
                    *slot = dispatched(active, *accepted_ms).unwrap_or(match active {
                        Active::Once => None,
                        other => Some(other),
                    });
                }
            }
        }
    }

    /// Adopts what can be told from a change that is not well formed.
    fn adopt_malformed(&mut self, data: Json<'_>) {
        if script::is_str(data.get("operation"), "create") {
            if let Some(id) = bytes(data.get("schedule").and_then(|record| record.get("id"))) {
                self.schedules.insert(id, Some(Active::Unknown));
            }
        } else if let Some(id) = bytes(data.get("id"))
            && let Some(active) = self.schedules.get_mut(&id)
        {
            *active = active.map(|_| Active::Unknown);
        }
    }
}

impl Companion for Schedule {
    fn name(&self) -> &'static str {
        "schedule"
    }

    fn listens(&self) -> Listens {
        // The length of a seed is held against all events, those that crash recovery adds included.
        if self.seed_length > 0 { Listens::All } else { Listens::Kinds(&["schedule/change"]) }
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if event.kind != "schedule/change" || event.seq < self.seed_length {
            return Ok(());
        }
        self.judge(&decode(event.data)?)
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.events = event.seq + event.members;
        self.sealed = event.kind == "session/end-seed";
        if event.kind != "schedule/change" || event.seq < self.seed_length {
            return;
        }
        match decode(event.data) {
            Ok(change) => self.adopt(&change),
            Err(_) => self.adopt_malformed(event.data),
        }
    }

    fn finish(&self, end: &End, report: &mut dyn FnMut(Violation)) {
        // Loading a log seals it with one more event, unless it ends with a seal already.
        let events = self.events.max(end.events) + u64::from(!self.sealed);
        if self.seed_length > events {
            let message = "schedule seedLength must be within the supplied event log";
            report(Violation::new(SEED_LENGTH, message));
        }
    }
}

/// Reads a change, in the host's order of checks.
fn decode(data: Json<'_>) -> Result<Change<'_>, Violation> {
    let payload = |message| Err(Violation::new(INVALID_PAYLOAD, message));
    if !data.is_object() {
        return payload("schedule/change payload must be an object");
    }
    if script::number(data.get("version")) != Some(1.0) {
        return payload("schedule/change version must be 1");
    }
    let operation = data.get("operation");
    if script::is_str(operation, "create") {
        if !data.has_exactly(&["version", "operation", "schedule"], &[]) {
            return payload(
                "schedule create must contain exactly version, operation, and schedule",
            );
        }
        return decode_record(data.get("schedule"));
    }
    if script::is_str(operation, "delete") {
        if !data.has_exactly(&["version", "operation", "id"], &[]) {
            return payload("schedule delete must contain exactly version, operation, and id");
        }
        return Ok(Change::Delete { id: decode_id(data)? });
    }
    if !script::is_str(operation, "dispatch") {
        return payload("schedule/change operation must be create, delete, or dispatch");
    }
    if !data.has_exactly(&["version", "operation", "id"], &["acceptedAt"]) {
        return payload("schedule dispatch must contain id and optional acceptedAt only");
    }
    let id = decode_id(data)?;
    let accepted_ms = match data.get("acceptedAt") {
        Some(accepted) => Some(decode_instant(Some(accepted))?),
        None => None,
    };
    Ok(Change::Dispatch { id, accepted_ms })
}

/// Reads the record that a `create` carries.
fn decode_record(value: Value<'_>) -> Result<Change<'_>, Violation> {
    let refuse = |message: String| Err(Violation::new(INVALID_RECORD, message));
    let Some(record) = value.filter(Json::is_object) else {
        return refuse("schedule record must be an object".to_owned());
    };
    let kinds = [("after", "afterSeconds"), ("at", ""), ("every", "everySeconds")];
    let kind = kinds.iter().find(|(kind, _)| script::is_str(record.get("kind"), kind));
    let Some((kind, seconds)) = kind else {
        return refuse(r#"v1 schedule kind must be "after", "at", or "every""#.to_owned());
    };
    let common = ["id", "kind", "prompt", "scheduledAt"];
    let own = [common[0], common[1], common[2], seconds, common[3]];
    let keys: &[&str] = if seconds.is_empty() { &common } else { &own };
    if !record.has_exactly(keys, &[]) {
        let (last, others) = keys.split_last().expect("a record has keys");
        let others = others.join(", ");
        return refuse(format!("{kind} schedule must contain exactly {others}, and {last}"));
    }
    if !is_trimmed(record.get("prompt")) {
        return refuse(format!("{kind} prompt must be non-empty and already trimmed"));
    }
    let mut interval_ms = None;
    if *kind == "after" && positive(record.get(seconds)).is_none() {
        return refuse("afterSeconds must be a positive safe integer".to_owned());
    }
    if *kind == "every" {
        interval_ms = interval(record.get(seconds));
        if interval_ms.is_none() {
            return refuse("everySeconds must be a safe integer of at least 300".to_owned());
        }
    }
    let id = decode_id(record)?;
    let target_ms = decode_instant(record.get("scheduledAt"))?;
    let active =
        interval_ms.map_or(Active::Once, |interval_ms| Active::Every { interval_ms, target_ms });
    Ok(Change::Create { id, active })
}

/// Returns the interval of a repeated schedule: at least 300 seconds, and safe in milliseconds.
fn interval(seconds: Value<'_>) -> Option<i64> {
    let seconds = positive(seconds).filter(|seconds| *seconds >= 300.0)?;
    let interval_ms = seconds * 1000.0;
    is_safe_integer(interval_ms).then_some(interval_ms as i64)
}

fn decode_id(owner: Json<'_>) -> Result<Text<'_>, Violation> {
    let id = owner.get("id").filter(|id| is_trimmed(Some(*id)));
    id.and_then(|id| id.as_text()).ok_or_else(|| {
        let message = "schedule id must be a non-empty string without surrounding whitespace";
        Violation::new(INVALID_ID, message)
    })
}

/// Reads an instant; the host says `scheduledAt` of an `acceptedAt` too.
fn decode_instant(value: Value<'_>) -> Result<i64, Violation> {
    let text = value.and_then(|json| json.as_text());
    let read = text.map_or(Err(BadInstant::Form), |text| instant::canonical(&text.to_wtf8()));
    read.map_err(|bad| {
        let message = match bad {
            BadInstant::Form => {
                "scheduledAt must be a canonical four-digit-year RFC 3339 UTC instant"
            }
            BadInstant::Calendar => "scheduledAt is not a real UTC calendar instant",
        };
        Violation::new(INVALID_INSTANT, message)
    })
}

/// Returns what a dispatch leaves of a schedule.
fn dispatched(active: Active, accepted_ms: Option<i64>) -> Result<Option<Active>, Violation> {
    let refuse = |rule, message| Err(Violation::new(rule, message));
    match (active, accepted_ms) {
        (Active::Unknown, _) => Ok(Some(Active::Unknown)),
        (Active::Once, None) => Ok(None),
        (Active::Once, Some(_)) => {
            refuse(ACCEPTED_AT, "one-shot dispatch must not contain acceptedAt")
        }
        (Active::Every { .. }, None) => {
            refuse(ACCEPTED_AT, "every dispatch must contain acceptedAt")
        }
        (Active::Every { interval_ms, target_ms }, Some(accepted_ms)) => {
            if accepted_ms < target_ms {
                let message = "every dispatch cannot precede the active scheduledAt";
                return refuse(EARLY_DISPATCH, message);
            }
            let missed = (accepted_ms - target_ms) / interval_ms;
            let next_ms = target_ms + missed * interval_ms + interval_ms;
            let next = Active::Every { interval_ms, target_ms: next_ms };
            Ok((next_ms <= instant::LAST_MS).then_some(next))
        }
    }
}

fn inactive(operation: &str, id: Text<'_>) -> Violation {
    let message = format!("schedule {operation} targets inactive id {}", id.quoted());
    Violation::new(INACTIVE_TARGET, message)
}

#[cfg(test)]
mod tests;
