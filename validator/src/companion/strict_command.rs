//! Commands, beyond the host's rules: each is done once, and says what it was.

use super::script::{is_nonempty_string, is_one_of, is_str, quoted};
use crate::key::{KeyMap, Seen};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const INVALID_ID: RuleId = "command/invalid-id";
const UNKNOWN_SOURCE: RuleId = "command/unknown-source";
const REPEATED_DONE: RuleId = "command/repeated-done";
const UNKNOWN_KIND: RuleId = "command/unknown-kind";
const NEVER_DONE: RuleId = "command/never-done";

/// What a command can come to.
const KINDS: [&str; 2] = ["success", "error"];

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule::strict(
        INVALID_ID,
        "a command has an id, a non-empty text",
        "The run cannot be told apart from others, so its result proves nothing. Something other \
         than the host wrote the event. Nothing needs to be done for the session itself.",
    ),
    Rule::strict(
        UNKNOWN_SOURCE,
        "a command is given by the user",
        "The record says that something other than a person gave the command. Look at what wrote \
         it before you count the command as a person's act.",
    ),
    Rule::strict(
        REPEATED_DONE,
        "a command is done once",
        "The command had its result already, and it cannot be told which of the two is right. Two \
         processes that wrote the session, or a front end that answered twice, leave such \
         records.",
    ),
    Rule::strict(
        UNKNOWN_KIND,
        "a command ends in success or in error",
        "It cannot be told whether the command worked. Something other than the host wrote the \
         event.",
    ),
    Rule::strict(
        NEVER_DONE,
        "a command that was run is done before the log ends",
        "The process died while the command ran, or the command is still running. What it did \
         before that stands; check its effect, and give it again if you need it.",
    )
    .at_end(),
];

/// The commands that are running, and those that are done.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictCommand {
    /// Runs without a result: their seqs.
    running: KeyMap<u64>,
    done: Seen,
}

impl StrictCommand {
    fn plan_done(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = event.field("commandId");
        if !self.running.contains(id) && self.done.contains(id) {
            let text = format!("command/done {} repeats a settled command", quoted(id));
            return Err(Violation::new(REPEATED_DONE, text));
        }
        let kind = event.field("kind");
        if is_one_of(kind, &KINDS) {
            return Ok(());
        }
        let text = format!("command/done {} carries unknown kind {}", quoted(id), quoted(kind));
        Err(Violation::new(UNKNOWN_KIND, text))
    }
}

fn plan_run(event: &Event<'_>) -> Result<(), Violation> {
    let id = event.field("commandId");
    if !is_nonempty_string(id) {
        let text = format!("command/run has the id {}", quoted(id));
        return Err(Violation::new(INVALID_ID, text));
    }
    let source = event.field("source");
    let kind = source.and_then(|source| source.get("kind"));
    if source.is_none() || is_str(kind, "user") {
        return Ok(());
    }
    let text =
        format!("command/run {} carries unknown source {}", quoted(id), quoted(kind.or(source)));
    Err(Violation::new(UNKNOWN_SOURCE, text))
}

impl Companion for StrictCommand {
    fn name(&self) -> &'static str {
        "command"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["command/run", "command/done"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "command/run" => plan_run(event),
            _ => self.plan_done(event),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        let id = event.field("commandId");
        if event.kind == "command/run" {
            self.running.insert(id, event.seq);
        } else if self.running.remove(id).is_some() {
            self.done.insert(id);
        }
    }

    fn finish(&self, _: &End, report: &mut dyn FnMut(Violation)) {
        let mut seqs: Vec<u64> = self.running.values().copied().collect();
        seqs.sort_unstable();
        for seq in seqs {
            let text = "the command has no command/done";
            report(Violation::at(NEVER_DONE, text, seq));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    const RUN: &str = r#"command/run {"commandId":"c","name":"n","source":{"kind":"user"}}"#;
    const DONE: &str = r#"command/done {"commandId":"c","kind":"success"}"#;

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut StrictCommand::default(), lines)
    }

    #[test]
    fn a_command_that_is_run_and_done_is_lawful() {
        assert_eq!(run(&[RUN, DONE]), []);
        assert_eq!(
            run(&[
                r#"command/run {"commandId":"d"}"#,
                r#"command/done {"commandId":"d","kind":"error"}"#
            ]),
            []
        );
        assert_eq!(run(&[DONE]), [], "the host's rule speaks of an orphan");
    }

    #[test]
    fn a_command_is_done_once() {
        assert_eq!(run(&[RUN, DONE, DONE]), [(REPEATED_DONE, 2)]);
        assert_eq!(run(&[RUN, DONE, RUN, DONE]), [], "the host's rule speaks of a second run");
        assert_eq!(run(&["turn/start {}", RUN, "session/end-seed {}"]), [(NEVER_DONE, 1)]);
    }

    #[test]
    fn a_command_says_what_it_was() {
        let maybe = r#"command/done {"commandId":"c","kind":"maybe"}"#;
        assert_eq!(run(&[RUN, maybe]), [(UNKNOWN_KIND, 1)]);
        let agent = r#"command/run {"commandId":"c","source":{"kind":"agent"}}"#;
        assert_eq!(run(&[agent, DONE]), [(UNKNOWN_SOURCE, 0)]);
        let empty = r#"command/run {"commandId":""}"#;
        assert_eq!(
            run(&[empty, r#"command/done {"commandId":"","kind":"error"}"#]),
            [(INVALID_ID, 0)]
        );
    }
}
