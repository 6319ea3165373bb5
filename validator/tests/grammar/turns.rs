//! Turns and the steps in them.

use super::{Grammar, Tape};
use gatelog_engine::rules::Draft;
use gatelog_validator::facts::Facts;

#[derive(Default)]
pub(super) struct Turns {
    /// Steps of the open turn that were started.
    steps: u64,
}

fn boundary(kind: &'static str, turn: u64, step: Option<u64>) -> Draft {
    let step = step.map_or(String::new(), |step| format!(r#","step":{step}"#));
    Draft::new(kind, format!(r#"{{"turn":{turn}{step}}}"#))
}

fn end(turn: u64) -> Draft {
    let data = format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#);
    Draft::new("turn/end", data)
}

impl Grammar for Turns {
    fn lawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<Draft> {
        let Some(turn) = facts.turn else {
            return Some(boundary("turn/start", facts.turns + 1, None));
        };
        if let Some(step) = turn.step {
            return Some(boundary("step/end", turn.number, Some(step)));
        }
        let asks = facts.asks().iter().any(|ask| ask.is_of_open_turn);
        if !asks && tape.pick(2) == 0 {
            return Some(end(turn.number));
        }
        Some(boundary("step/start", turn.number, Some(self.steps + 1)))
    }

    fn unlawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<(Draft, &'static str)> {
        let Some(turn) = facts.turn else {
            let other = facts.turns + 2 + tape.pick(3) as u64;
            return Some((boundary("turn/start", other, None), "turn/start-number"));
        };
        let number = turn.number;
        Some(match (tape.pick(3), turn.step) {
            (0, _) => (boundary("turn/start", number + 1, None), "turn/start-while-open"),
            (1, _) => (end(number + 1), "turn/end-mismatch"),
            (_, Some(_)) if tape.pick(2) == 0 => (end(number), "turn/end-step-open"),
            (_, Some(step)) => {
                (boundary("step/start", number, Some(step + 1)), "step/start-while-open")
            }
            (_, None) if tape.pick(2) == 0 => (
                boundary("step/start", number + 1, Some(self.steps + 1)),
                "step/start-turn-mismatch",
            ),
            (_, None) => {
                (boundary("step/start", number, Some(self.steps + 2)), "step/start-number")
            }
        })
    }

    fn apply(&mut self, draft: &Draft, _: u64) {
        match &*draft.kind {
            "turn/start" => self.steps = 0,
            "step/start" => self.steps += 1,
            _ => {}
        }
    }
}
