//! Turns and their steps.

use super::kept::Resume;
use super::raw::Raw;
use super::time_ms;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number.
    pub step: Option<Raw>,
    /// Seq of its start.
    pub start_seq: u64,
    /// Seq of its end; nothing where it has none.
    pub end_seq: Option<u64>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number.
    pub turn: Option<Raw>,
    /// Seq of its start.
    pub start_seq: u64,
    /// Time of its start, in milliseconds since 1970.
    pub start_time_ms: i64,
    /// Seq of its end; nothing where it has none.
    pub end_seq: Option<u64>,
    /// Time of its end, in milliseconds since 1970.
    pub end_time_ms: Option<i64>,
    /// Why it ended.
    pub reason: Option<Raw>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// The turns of a session, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    turns: Vec<Turn>,
}

impl Turns {
    /// Returns the last turn, if it is open.
    fn open(&mut self) -> Option<&mut Turn> {
        self.turns.last_mut().filter(|turn| turn.end_seq.is_none())
    }
}

impl Fold for Turns {
    fn fold(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => self.turns.push(Turn {
                turn: Raw::member(event.data, "turn"),
                start_seq: event.seq,
                start_time_ms: time_ms(event),
                end_seq: None,
                end_time_ms: None,
                reason: None,
                steps: Vec::new(),
            }),
            "turn/end" => {
                if let Some(turn) = self.open() {
                    turn.end_seq = Some(event.seq);
                    turn.end_time_ms = Some(time_ms(event));
                    turn.reason = Raw::member(event.data, "reason");
                }
            }
            "step/start" => {
                let step = Raw::member(event.data, "step");
                if let Some(turn) = self.open() {
                    turn.steps.push(Step { step, start_seq: event.seq, end_seq: None });
                }
            }
            "step/end" => {
                let last = self.open().and_then(|turn| turn.steps.last_mut());
                if let Some(step) = last.filter(|step| step.end_seq.is_none()) {
                    step.end_seq = Some(event.seq);
                }
            }
            _ => {}
        }
    }
}

impl Projection for Turns {
    type View = Vec<Turn>;

    fn name(&self) -> &'static str {
        "turns"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["turn/start", "turn/end", "step/start", "step/end"])
    }

    fn view(&self) -> Vec<Turn> {
        self.turns.clone()
    }
}

/// The turn and the step that are open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) turn: Option<Raw>,
    pub(super) step: Option<Raw>,
}

impl Position {
    pub(super) fn fold(&mut self, event: &Event<'_>) {
        match event.kind {
            "turn/start" => *self = Self { turn: Raw::member(event.data, "turn"), step: None },
            "turn/end" => *self = Self::default(),
            "step/start" => self.step = Raw::member(event.data, "step"),
            "step/end" => self.step = None,
            _ => {}
        }
    }
}

impl Resume for Turns {}
