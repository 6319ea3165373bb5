//! Approvals, beyond the host's rules: a question is decided once, in its turn, and what was not
//! allowed did not run.
//!
//! A decision does not say who made it, so no message here says that a person refused.

mod rules;
#[cfg(test)]
mod tests;

use super::script::{Value, is_nonempty_string, is_one_of, is_str, quoted, shown};
use super::strict_tool::{call_id, is_failure};
use crate::key::{Key, KeyMap, Seen};
use gatelog_engine::companion::{Companion, End, Listens, Violation};
use gatelog_engine::event::Event;
use rules::{
    DECIDED_BEFORE_ASK, DECIDED_TWICE, INVALID_ID, LATER_TURN, MANY_CANCELLED, RAN_WITHOUT_GRANT,
    REPEATED_ID, UNDECIDED_AT_TURN_END,
};
pub(super) use rules::{RULES, UNDECIDED_AT_END};

/// So many approvals of one turn that end without an answer are worth a note.
const MANY: u32 = 10;

/// An open question: where it was asked, and for which call.
#[derive(Clone, Debug)]
struct Ask {
    seq: u64,
    /// Its id, as people are shown it.
    id: String,
    /// The call's id; what is decided is kept under it.
    call: Option<Key>,
}

/// What was decided about a call.
#[derive(Clone, Debug)]
enum Grant {
    /// At least one question for it was allowed.
    Allowed,
    /// None was allowed, and the question of this seq ended in this way.
    Denied(u64, String),
}

/// The questions that are open, and the ids that were used.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictApproval {
    turn_open: bool,
    /// Open questions of this turn, or asked since the last one.
    open: KeyMap<Ask>,
    /// Open questions of earlier turns.
    left: KeyMap<Ask>,
    asked: Seen,
    decided: Seen,
    /// Ids that were decided and never asked.
    orphans: Seen,
    /// What was decided about the calls of this turn.
    grants: KeyMap<Grant>,
    /// Approvals of this turn that ended without an answer.
    cancelled: u32,
}

impl StrictApproval {
    fn plan_asked(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = event.field("id");
        if self.open.contains(id) || self.left.contains(id) {
            // The host's rule speaks of an id that is open.
            return Ok(());
        }
        if self.asked.contains(id) {
            let text = format!("approval/asked uses the id {} of an earlier question", quoted(id));
            return Err(Violation::new(REPEATED_ID, text));
        }
        if self.orphans.contains(id) {
            let text = format!("approval {} was decided before it is asked for", quoted(id));
            return Err(Violation::new(DECIDED_BEFORE_ASK, text));
        }
        if is_nonempty_string(id) {
            return Ok(());
        }
        let text = format!("approval/asked has the id {}", quoted(id));
        Err(Violation::new(INVALID_ID, text))
    }

    fn plan_decided(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = event.field("id");
        if let Some(ask) = self.left.get(id)
            && self.turn_open
        {
            let id = quoted(id);
            let text = format!("approval {id} of seq {} is decided in a later turn", ask.seq);
            return Err(Violation::new(LATER_TURN, text));
        }
        if !self.open.contains(id) && !self.left.contains(id) && self.decided.contains(id) {
            let text = format!("approval {} was decided before", quoted(id));
            return Err(Violation::new(DECIDED_TWICE, text));
        }
        if is_unanswered(event) && self.cancelled + 1 == MANY {
            let text = format!("{MANY} approvals of this turn ended without an answer");
            return Err(Violation::new(MANY_CANCELLED, text));
        }
        Ok(())
    }

    fn plan_result(&self, event: &Event<'_>) -> Result<(), Violation> {
        let call = call_id(event);
        if !event.is_append() || is_failure(event) {
            return Ok(());
        }
        let Some(Grant::Denied(seq, outcome)) = self.grants.get(call) else { return Ok(()) };
        let call = quoted(call);
        let text =
            format!("call {call} succeeded although its approval of seq {seq} ended in {outcome}");
        Err(Violation::new(RAN_WITHOUT_GRANT, text))
    }

    /// Speaks of questions that the end of a turn, or the start of the next one, leaves open.
    fn plan_boundary(&self, event: &Event<'_>) -> Result<(), Violation> {
        if self.open.is_empty() || !self.turn_open {
            return Ok(());
        }
        let count = self.open.count();
        let Some(ask) = self.open.values().min_by_key(|ask| ask.seq) else { return Ok(()) };
        let (first, id) = (ask.seq, &ask.id);
        let text = match count {
            1 => format!("approval {id} of seq {first} is undecided at {}", event.kind),
            _ => format!(
                "{count} approvals are undecided at {}, the first {id} of seq {first}",
                event.kind
            ),
        };
        // Told at the question: the end may be one that crash recovery adds, and not in the file.
        Err(Violation::at(UNDECIDED_AT_TURN_END, text, first))
    }

    fn apply_asked(&mut self, event: &Event<'_>) {
        let id = event.field("id");
        let call = event.field("callId").and_then(|call| Key::of(Some(call)));
        self.left.remove(id);
        self.open.insert(id, Ask { seq: event.seq, id: quoted(id), call });
        self.asked.insert(id);
    }

    fn apply_decided(&mut self, event: &Event<'_>) {
        let id = event.field("id");
        if is_unanswered(event) {
            self.cancelled += 1;
        }
        let Some(ask) = self.open.remove(id).or_else(|| self.left.remove(id)) else {
            if !self.asked.contains(id) {
                self.orphans.insert(id);
            }
            return;
        };
        self.decided.insert(id);
        let Some(call) = ask.call else { return };
        let outcome = event.field("outcome");
        if is_str(outcome, "allowed-once") {
            self.grants.insert_key(call, Grant::Allowed);
        } else if !matches!(self.grants.get_key(&call), Some(Grant::Allowed)) {
            self.grants.insert_key(call, Grant::Denied(ask.seq, shown(outcome)));
        }
    }

    fn apply_boundary(&mut self, turn_open: bool) {
        if self.turn_open {
            self.open.drain_into(&mut self.left);
        }
        self.turn_open = turn_open;
        self.grants.clear();
        self.cancelled = 0;
    }
}

/// Returns whether a decision says that nobody answered.
fn is_unanswered(event: &Event<'_>) -> bool {
    is_one_of(event.field("outcome"), &["cancelled", "unavailable"])
}

impl Companion for StrictApproval {
    fn name(&self) -> &'static str {
        "approval"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "tool/call",
            "tool/result",
            "approval/asked",
            "approval/decided",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "approval/asked" => self.plan_asked(event),
            "approval/decided" => self.plan_decided(event),
            "tool/result" => self.plan_result(event),
            "turn/start" | "turn/end" => self.plan_boundary(event),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        let forget = |grants: &mut KeyMap<Grant>, call: Value<'_>| drop(grants.remove(call));
        match event.kind {
            "approval/asked" => self.apply_asked(event),
            "approval/decided" => self.apply_decided(event),
            // A new call with an old id needs a grant of its own, and a grant is used up.
            "tool/call" => forget(&mut self.grants, event.field("callId")),
            "tool/result" if event.is_append() => forget(&mut self.grants, call_id(event)),
            "turn/start" => self.apply_boundary(true),
            "turn/end" => self.apply_boundary(false),
            _ => {}
        }
    }

    fn finish(&self, _: &End, report: &mut dyn FnMut(Violation)) {
        let mut open: Vec<&Ask> = self.open.values().collect();
        open.sort_unstable_by_key(|ask| ask.seq);
        for Ask { seq, id, .. } in open {
            let text = format!("approval {id} was never decided");
            report(Violation::at(UNDECIDED_AT_END, text, *seq));
        }
    }
}
