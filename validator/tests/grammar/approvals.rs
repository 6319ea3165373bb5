//! Questions for an approval, and their answers.

use super::{Grammar, Tape};
use gatelog_engine::rules::Draft;
use gatelog_validator::facts::Facts;

const OUTCOMES: [&str; 4] = ["allowed-once", "rejected", "cancelled", "unavailable"];

#[derive(Default)]
pub(super) struct Approvals {
    /// Ids that were used, so that none is used twice.
    ids: u64,
}

/// Takes the id as JSON, as the facts have it.
fn asked(id: &str) -> Draft {
    Draft::new("approval/asked", format!(r#"{{"id":{id},"toolName":"t"}}"#))
}

fn decided(id: &str, outcome: &str) -> Draft {
    Draft::new("approval/decided", format!(r#"{{"id":{id},"outcome":"{outcome}"}}"#))
}

impl Grammar for Approvals {
    fn lawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<Draft> {
        facts.turn?;
        let mut asks = facts.asks();
        asks.retain(|ask| ask.is_of_open_turn);
        if !asks.is_empty() && tape.pick(3) != 0 {
            let ask = &asks[tape.pick(asks.len())];
            return Some(decided(&ask.id, OUTCOMES[tape.pick(4)]));
        }
        Some(asked(&format!("\"q{}\"", self.ids)))
    }

    fn unlawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<(Draft, &'static str)> {
        let fresh = format!("\"q{}\"", self.ids);
        if facts.turn.is_none() {
            return Some((asked(&fresh), "approval/asked-outside-turn"));
        }
        let open = facts.asks().into_iter().find(|ask| ask.is_of_open_turn);
        Some(match (tape.pick(3), open) {
            (0, Some(ask)) => (asked(&ask.id), "approval/asked-repeats-open-id"),
            (1, Some(ask)) => (decided(&ask.id, "perhaps"), "approval/decided-unknown-outcome"),
            (2, _) => (decided(&fresh, OUTCOMES[tape.pick(4)]), "approval/decided-without-ask"),
            _ => {
                let nameless = format!(r#"{{"id":{fresh}}}"#);
                let draft = Draft::new("approval/asked", nameless);
                (draft, "approval/asked-without-tool-name")
            }
        })
    }

    fn apply(&mut self, draft: &Draft, _: u64) {
        if draft.kind == "approval/asked" {
            self.ids += 1;
        }
    }
}
