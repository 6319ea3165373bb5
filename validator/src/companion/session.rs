//! Turns, steps and tool calls: the host's own companion of the session log.
//!
//! A log is lawful if and only if turns are numbered 1, 2, 3, … and never overlap, steps are
//! numbered from 1 inside a turn and never overlap, what names a turn and a step names the open
//! ones, a tool result follows a call of the same step, and execution facts lie inside a turn.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.1; `@deepseek-ai/dsh-session/invariant`.

mod counter;
#[cfg(test)]
mod tests;

use super::script::{field, first, is_str, is_true, member, shown};
use crate::key::KeySet;
use crate::rule::Rule;
use counter::Counter;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const SEQ_ORDER: RuleId = "envelope/seq-order";
const START_WHILE_OPEN: RuleId = "turn/start-while-open";
const START_NUMBER: RuleId = "turn/start-number";
const END_MISMATCH: RuleId = "turn/end-mismatch";
const END_STEP_OPEN: RuleId = "turn/end-step-open";
const EVENT_OUTSIDE_TURN: RuleId = "turn/event-outside";
const STEP_TURN: RuleId = "step/start-turn-mismatch";
const STEP_WHILE_OPEN: RuleId = "step/start-while-open";
const STEP_NUMBER: RuleId = "step/start-number";
const EVENT_OUTSIDE_STEP: RuleId = "step/event-outside";
const REPLACE_OUTSIDE: RuleId = "tool/replace-outside-turn";
const RESULT_WITHOUT_CALL: RuleId = "tool/result-without-call";

/// The rules of this family, in the host's order.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        SEQ_ORDER,
        "the seq of an event is greater than that of the event before it",
        optional!(
            "An event stands where an earlier one already stands. No log that the host can load \
             breaks this; events were put together by something else. Take the file from a \
             backup, or ask the tool that wrote it."
        ),
    ),
    Rule::error(
        START_WHILE_OPEN,
        "a turn starts only when no other turn is open",
        optional!(
            "The turn before this one was never closed: a crash that nobody repaired, or two \
             processes that wrote the same session. Look at what comes just before this event; if \
             two histories are mixed there, keep a copy and continue in a new session."
        ),
    ),
    Rule::error(
        START_NUMBER,
        "turns are numbered 1, 2, 3 and so on",
        optional!(
            "A turn is missing or is there twice. Events were removed, copied or renumbered by a \
             tool. Compare with a backup before continuing this session."
        ),
    ),
    Rule::error(
        END_MISMATCH,
        "the end of a turn names the turn that is open",
        optional!(
            "A turn is closed that is not the open one: its start is missing, or it was closed \
             before, for example once by crash recovery and once by the process that was thought \
             dead. Look at the turn/end before this one."
        ),
    ),
    Rule::error(
        END_STEP_OPEN,
        "a turn ends only when its last step has ended",
        optional!(
            "The end of a step is missing. The conversation reads, but what the step did may be \
             counted wrongly. Nothing needs to be done unless a tool complains."
        ),
    ),
    Rule::error(
        STEP_TURN,
        "a step starts in the turn that is open",
        optional!(
            "A step names another turn than the one that is open, or there is no open turn. \
             Events were removed, or two histories are mixed here. Compare with a backup."
        ),
    ),
    Rule::error(
        STEP_WHILE_OPEN,
        "a step starts only when no other step is open",
        optional!(
            "The step before this one was never closed: a crash that nobody repaired, or two \
             processes that wrote the same turn. Look at what comes just before this event."
        ),
    ),
    Rule::error(
        STEP_NUMBER,
        "the steps of a turn are numbered 1, 2, 3 and so on",
        optional!(
            "A step is missing or is there twice. Events were removed, copied or renumbered by a \
             tool. Compare with a backup before continuing this session."
        ),
    ),
    Rule::error(
        EVENT_OUTSIDE_STEP,
        "what belongs to a step names the open turn and the open step",
        optional!(
            "A message, a part of one, a tool call or its result stands outside the step that it \
             names. The host still shows it, in the place where it lies. Only the first of such a \
             row of events is reported."
        ),
    ),
    Rule::error(
        REPLACE_OUTSIDE,
        "a tool result is rewritten only inside a turn",
        optional!(
            "Something shortened or replaced an old tool result between two turns. What the model \
             sees is well defined; the tool that did it should do it inside a turn."
        ),
    ),
    Rule::error(
        RESULT_WITHOUT_CALL,
        "a tool result follows a tool call with its id in the same step",
        optional!(
            "A result has no call, or the call had its result already. Model providers refuse \
             such a conversation with HTTP 400. If the next request fails, fork the session from \
             before this event."
        ),
    ),
    Rule::error(
        EVENT_OUTSIDE_TURN,
        "a todo list, a request header or a request context is recorded inside a turn",
        optional!(
            "The event lies between two turns, where crash recovery may cut it away. It still \
             counts when the session is read. Only the first of such a row of events is reported."
        ),
    ),
];

/// The state of turns, steps and calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    last_seq: Option<u64>,
    turns: Counter,
    steps: Counter,
    /// Calls of the open step that have no result.
    pending: KeySet,
}

impl Session {
    fn plan_turn_start(&self, event: &Event<'_>) -> Result<(), Violation> {
        if self.turns.is_open() {
            let turn = shown(field(event, "turn", START_WHILE_OPEN)?);
            let text = format!("turn/start {turn} while turn {} is still open", self.turns);
            return Err(Violation::new(START_WHILE_OPEN, text));
        }
        let turn = field(event, "turn", START_NUMBER)?;
        if self.turns.expects(turn) {
            return Ok(());
        }
        let (next, turn) = (self.turns.next(), shown(turn));
        let text = format!("turn/start expected turn {next}, got {turn}");
        Err(Violation::new(START_NUMBER, text))
    }

    fn plan_turn_end(&self, event: &Event<'_>) -> Result<(), Violation> {
        let turn = field(event, "turn", END_MISMATCH)?;
        if !self.turns.is_named_by(turn) {
            let turn = shown(turn);
            let text = format!("turn/end {turn} does not match open turn {}", self.turns);
            return Err(Violation::new(END_MISMATCH, text));
        }
        if self.steps.is_open() {
            let turn = shown(turn);
            let text = format!("turn/end {turn} while step {} is still open", self.steps);
            return Err(Violation::new(END_STEP_OPEN, text));
        }
        Ok(())
    }

    fn plan_step_start(&self, event: &Event<'_>) -> Result<(), Violation> {
        let turn = field(event, "turn", STEP_TURN)?;
        if !self.turns.is_named_by(turn) {
            let turn = shown(turn);
            let text = format!("step/start in turn {turn} but open turn is {}", self.turns);
            return Err(Violation::new(STEP_TURN, text));
        }
        let step = field(event, "step", STEP_NUMBER)?;
        if self.steps.is_open() {
            let step = shown(step);
            let text = format!("step/start {step} while step {} is still open", self.steps);
            return Err(Violation::new(STEP_WHILE_OPEN, text));
        }
        if self.steps.expects(step) {
            return Ok(());
        }
        let (next, turn, step) = (self.steps.next(), shown(turn), shown(step));
        let text = format!("step/start expected step {next} in turn {turn}, got {step}");
        Err(Violation::new(STEP_NUMBER, text))
    }

    /// Requires that an event names the open turn and the open step.
    fn plan_in_step(&self, event: &Event<'_>) -> Result<(), Violation> {
        let turn = field(event, "turn", EVENT_OUTSIDE_STEP)?;
        let step = field(event, "step", EVENT_OUTSIDE_STEP)?;
        if self.turns.is_named_by(turn) && self.steps.is_named_by(step) {
            return Ok(());
        }
        let text = format!(
            "{} names turn {}/step {} but open is turn {}/step {}",
            event.kind,
            shown(turn),
            shown(step),
            self.turns,
            self.steps
        );
        Err(Violation::new(EVENT_OUTSIDE_STEP, text))
    }

    fn plan_result(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !event.is_append() {
            if self.turns.is_closed() {
                let text = "tool/result surface replacement appended outside any open turn";
                return Err(Violation::new(REPLACE_OUTSIDE, text));
            }
            return Ok(());
        }
        self.plan_in_step(event)?;
        let message = field(event, "message", RESULT_WITHOUT_CALL)?;
        let source = member(message, "source", RESULT_WITHOUT_CALL)?;
        let call = member(source, "callId", RESULT_WITHOUT_CALL)?;
        let content = member(message, "content", RESULT_WITHOUT_CALL)?;
        let block = first(content, RESULT_WITHOUT_CALL)?;
        let failed = is_true(member(block, "isError", RESULT_WITHOUT_CALL)?);
        if self.pending.contains(call) || (failed && never_started(event)) {
            return Ok(());
        }
        let text = format!("tool/result for {} with no prior tool/call in this step", shown(call));
        Err(Violation::new(RESULT_WITHOUT_CALL, text))
    }

    fn plan_in_turn(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !self.turns.is_closed() {
            return Ok(());
        }
        let text = format!(
            "{} appended outside any open turn (core execution events must be turn-enclosed)",
            event.kind
        );
        Err(Violation::new(EVENT_OUTSIDE_TURN, text))
    }

    fn apply_turn_start(&mut self, event: &Event<'_>) {
        // A start inside a turn: whoever wrote it knew of no open step. The host leaves a step
        // alone that was opened between turns, and so does a start that crosses nothing.
        if !self.turns.is_closed() {
            self.close_step();
        }
        self.turns.start(event.field("turn"));
        self.steps.count_anew();
    }

    fn apply_turn_end(&mut self, event: &Event<'_>) {
        self.turns.end(event.field("turn"));
        if !self.steps.is_closed() {
            self.close_step();
        }
    }

    fn apply_step_start(&mut self, event: &Event<'_>) {
        self.turns.adopt(event.field("turn"));
        if !self.steps.is_closed() {
            self.pending.clear();
        }
        self.steps.start(event.field("step"));
    }

    fn apply_step_end(&mut self, event: &Event<'_>) {
        self.turns.adopt(event.field("turn"));
        self.steps.end(event.field("step"));
        self.pending.clear();
    }

    /// Closes the step, wherever it was, and forgets its calls.
    fn close_step(&mut self) {
        self.steps.close();
        self.pending.clear();
    }

    /// Takes the turn and the step for open that an event names.
    fn adopt(&mut self, event: &Event<'_>) {
        self.turns.adopt(event.field("turn"));
        self.steps.adopt(event.field("step"));
    }

    fn apply_result(&mut self, event: &Event<'_>) {
        if !event.is_append() {
            self.turns.adopt_next();
            return;
        }
        self.adopt(event);
        let source = event.field("message").and_then(|message| message.get("source"));
        self.pending.remove(source.and_then(|source| source.get("callId")));
    }
}

/// Returns whether a failed result says that its call was never started: crash recovery made it.
fn never_started(event: &Event<'_>) -> bool {
    is_str(event.field("error").and_then(|error| error.get("code")), "TOOL_NOT_STARTED")
}

impl Companion for Session {
    fn name(&self) -> &'static str {
        "session"
    }

    fn listens(&self) -> Listens {
        Listens::All
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if let Some(last) = self.last_seq
            && event.seq <= last
        {
            let text = format!("seq must strictly increase: saw {} after {last}", event.seq);
            return Err(Violation::new(SEQ_ORDER, text));
        }
        match event.kind {
            "assistant/chunk" | "assistant/message" | "tool/call" | "step/end" => {
                self.plan_in_step(event)
            }
            "tool/result" => self.plan_result(event),
            "turn/start" => self.plan_turn_start(event),
            "turn/end" => self.plan_turn_end(event),
            "step/start" => self.plan_step_start(event),
            "todo/write" | "request/header" | "request/context" => self.plan_in_turn(event),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.last_seq = Some(event.seq + event.members.saturating_sub(1));
        match event.kind {
            "assistant/chunk" | "assistant/message" => self.adopt(event),
            "tool/call" => {
                self.adopt(event);
                self.pending.insert(event.field("callId"));
            }
            "tool/result" => self.apply_result(event),
            "turn/start" => self.apply_turn_start(event),
            "turn/end" => self.apply_turn_end(event),
            "step/start" => self.apply_step_start(event),
            "step/end" => self.apply_step_end(event),
            "todo/write" | "request/header" | "request/context" => self.turns.adopt_next(),
            _ => {}
        }
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}
