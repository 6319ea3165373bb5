//! What a session's gate shows to those who append: where the session stands.

use crate::key::KeyMap;
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, is_seq};

/// A word that some event said, and its seq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The word.
    pub word: String,
    /// Seq of the event.
    pub seq: u64,
}

/// A turn that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenTurn {
    /// Its number; 0 where the event names none.
    pub number: u64,
    /// Seq of its start.
    pub seq: u64,
    /// Number of the open step, if one is open.
    pub step: Option<u64>,
}

/// A question that is not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenAsk {
    /// Its id, as JSON text.
    pub id: String,
    /// Id of the call that it is about, as JSON text.
    pub call: Option<String>,
    /// Seq of the question.
    pub seq: u64,
    /// It was asked in the turn that is open.
    pub is_of_open_turn: bool,
}

/// A compaction that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenCompaction {
    /// The members that its end repeats, as JSON text.
    pub(crate) members: String,
}

/// Where a session stands, folded from its events.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Seq of the next event.
    pub next_seq: u64,
    /// The open turn.
    pub turn: Option<OpenTurn>,
    /// Number of the last turn that was started; 0 without one.
    pub turns: u64,
    /// The last approval policy that was recorded.
    pub policy: Option<Said>,
    /// The last sandbox mode that was recorded.
    pub mode: Option<Said>,
    /// The last permission preset that was recorded.
    pub preset: Option<Said>,
    /// A `session/end-seed` stands in the log.
    pub seeded: bool,
    asks: KeyMap<OpenAsk>,
    compaction: Option<OpenCompaction>,
}

impl Facts {
    /// Returns the questions that are not decided, in the order in which they were asked.
    pub fn asks(&self) -> Vec<OpenAsk> {
        let mut asks: Vec<OpenAsk> = self.asks.values().cloned().collect();
        asks.sort_unstable_by_key(|ask| ask.seq);
        for ask in &mut asks {
            ask.is_of_open_turn = self.turn.is_some_and(|turn| turn.seq < ask.seq);
        }
        asks
    }

    /// Returns the compaction that is under way.
    pub(crate) fn compaction(&self) -> Option<&OpenCompaction> {
        self.compaction.as_ref()
    }

    /// Returns about how many bytes the state takes.
    pub(crate) fn state_bytes(&self) -> usize {
        size_of::<Self>() + self.asks.count() * size_of::<OpenAsk>() * 2
    }

    /// Takes one event in.
    pub fn take(&mut self, event: &Event<'_>) {
        self.next_seq = event.seq + event.members;
        let seq = event.seq;
        match event.kind {
            "turn/start" => {
                let number = number(event.field("turn")).unwrap_or(0);
                self.turns = number;
                self.turn = Some(OpenTurn { number, seq, step: None });
            }
            "turn/end" => self.turn = None,
            "step/start" | "step/end" => {
                if let Some(turn) = &mut self.turn {
                    let step = number(event.field("step"));
                    turn.step = step.filter(|_| event.kind == "step/start");
                }
            }
            "approval/policy" => say_knob(&mut self.policy, event, "policy"),
            "sandbox/mode" => say_knob(&mut self.mode, event, "mode"),
            "permission/preset" => say(&mut self.preset, event, "preset"),
            "session/end-seed" => {
                self.seeded = true;
                self.compaction = None;
            }
            "approval/asked" => {
                if let Some(id) = event.field("id") {
                    let call = event.field("callId").map(|call| call.to_json());
                    let is_of_open_turn = self.turn.is_some();
                    let ask = OpenAsk { id: id.to_json(), call, seq, is_of_open_turn };
                    self.asks.insert(Some(id), ask);
                }
            }
            "approval/decided" => drop(self.asks.remove(event.field("id"))),
            "compaction/start" => {
                let members = ["compactionId", "sourceCommandId", "turn"].into_iter();
                let members = members.filter_map(|key| {
                    event.field(key).map(|value| format!("\"{key}\":{}", value.to_json()))
                });
                let members = members.collect::<Vec<_>>().join(",");
                self.compaction = Some(OpenCompaction { members });
            }
            "compaction/end" => self.compaction = None,
            _ => {}
        }
    }
}

fn number(value: Option<Json<'_>>) -> Option<u64> {
    value?.as_number().filter(|number| is_seq(*number)).map(|number| number as u64)
}

/// Takes what an event says of a knob. A value that is no word is one that nothing stands for: it
/// must not be taken for the default.
fn say_knob(said: &mut Option<Said>, event: &Event<'_>, key: &str) {
    say(said, event, key);
    let value = event.field(key).filter(|value| said.is_none() && !value.is_null());
    if let Some(value) = value {
        *said = Some(Said { word: value.to_json(), seq: event.seq });
    }
}

/// Takes the word that an event says. The host looks at the last event alone: one without a word
/// takes back what was said before.
fn say(said: &mut Option<Said>, event: &Event<'_>, key: &str) {
    let word = event.field(key).as_ref().and_then(Json::as_text);
    *said = word.map(|word| Said { word: word.to_lossy().into_owned(), seq: event.seq });
}
