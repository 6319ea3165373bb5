//! Commands that are run, and what came of them.

use super::{Grammar, Tape};
use gatelog_engine::rules::Draft;
use gatelog_validator::facts::Facts;

#[derive(Default)]
pub(super) struct Commands {
    /// Commands that were run; each has its number for an id.
    runs: u64,
    /// Those that are not done.
    open: Vec<u64>,
}

fn run(number: u64) -> Draft {
    let source = r#"{"kind":"user"}"#;
    let data = format!(r#"{{"commandId":"k{number}","name":"n","source":{source}}}"#);
    Draft::new("command/run", data)
}

fn done(number: u64, more: &str) -> Draft {
    Draft::new("command/done", format!(r#"{{"commandId":"k{number}",{more}}}"#))
}

impl Grammar for Commands {
    fn lawful(&mut self, _: &Facts, tape: &mut Tape<'_>) -> Option<Draft> {
        if self.open.is_empty() || tape.pick(2) == 0 {
            return Some(run(self.runs));
        }
        let number = self.open[tape.pick(self.open.len())];
        let kind = [r#""kind":"success""#, r#""kind":"error""#][tape.pick(2)];
        Some(done(number, kind))
    }

    fn unlawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<(Draft, &'static str)> {
        match (tape.pick(3), self.open.last()) {
            (0, Some(open)) => Some((run(*open), "command/run-repeats-id")),
            (1, Some(open)) => {
                let later = format!(r#""kind":"success","sourceEventSeq":{}"#, facts.next_seq + 1);
                Some((done(*open, &later), "command/done-invalid-source"))
            }
            _ => Some((done(self.runs + 7, r#""kind":"success""#), "command/done-without-run")),
        }
    }

    fn apply(&mut self, draft: &Draft, _: u64) {
        match &*draft.kind {
            "command/run" => {
                self.open.push(self.runs);
                self.runs += 1;
            }
            "command/done" => {
                let data = String::from_utf8_lossy(&draft.data);
                self.open.retain(|number| !data.contains(&format!("\"k{number}\"")));
            }
            _ => {}
        }
    }
}
