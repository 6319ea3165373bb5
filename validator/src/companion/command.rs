//! Commands: an id is run once, and what is done was run.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.3; `@deepseek-ai/dsh-commands/invariant`.

use super::script::{self, Value, field, is_str, quoted, shown};
use crate::key::Seen;
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json;

const RUN_REPEATS: RuleId = "command/run-repeats-id";
const DONE_WITHOUT_RUN: RuleId = "command/done-without-run";
const INVALID_SOURCE: RuleId = "command/done-invalid-source";

/// The rules of this family, in the host's order.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        RUN_REPEATS,
        "a command id is run once in a log",
        optional!(
            "Two runs share one id, so their results cannot be told apart. Two processes may have \
             written this session, or events were copied. The commands themselves did run."
        ),
    ),
    Rule::error(
        DONE_WITHOUT_RUN,
        "a command that is done was run before",
        optional!(
            "The result has no run in front of it: the run was lost, or stands later. Do not \
             count it as a command that a person gave."
        ),
    ),
    Rule::error(
        INVALID_SOURCE,
        "a successful command may cite one earlier event, and not a command's",
        optional!(
            "The result cites an event that is not there, comes later, or is itself a record of a \
             command. Ignore the citation; the result still stands."
        ),
    ),
];

/// The commands that were run, ever.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    run_ids: Seen,
    /// Seqs of all command events, ascending: what a result must not cite.
    command_seqs: Vec<u64>,
}

impl Command {
    /// Returns whether a value is the seq of an event before `seq` that is no command's.
    fn is_citable(&self, value: Value<'_>, seq: u64) -> bool {
        let Some(source) = script::number(value).filter(|number| json::is_seq(*number)) else {
            return false;
        };
        let source = source as u64;
        source < seq && self.command_seqs.binary_search(&source).is_err()
    }

    fn plan_run(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = field(event, "commandId", RUN_REPEATS)?;
        if !self.run_ids.contains(id) {
            return Ok(());
        }
        let text = format!("command/run repeats commandId {}", quoted(id));
        Err(Violation::new(RUN_REPEATS, text))
    }

    fn plan_done(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = field(event, "commandId", DONE_WITHOUT_RUN)?;
        if !self.run_ids.contains(id) {
            let id = quoted(id);
            let text = format!("command/done {id} pairs no prior command/run in this log");
            return Err(Violation::new(DONE_WITHOUT_RUN, text));
        }
        let source = event.field("sourceEventSeq");
        if source.is_none()
            || (is_str(event.field("kind"), "success") && self.is_citable(source, event.seq))
        {
            return Ok(());
        }
        let (id, source) = (quoted(id), shown(source));
        let text = format!("command/done {id} has invalid sourceEventSeq {source}");
        Err(Violation::new(INVALID_SOURCE, text))
    }
}

impl Companion for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["command/run", "command/done"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "command/run" => self.plan_run(event),
            _ => self.plan_done(event),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        self.command_seqs.push(event.seq);
        if event.kind == "command/run" {
            self.run_ids.insert(event.field("commandId"));
        }
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::{faults, messages};

    const RUN: &str = r#"command/run {"commandId":"c","name":"n","source":{"kind":"user"}}"#;
    const TITLE: &str = "session/title {}";

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut Command::default(), lines)
    }

    #[test]
    fn a_run_may_be_done_once_or_more_or_never() {
        let done = r#"command/done {"commandId":"c","kind":"success"}"#;
        assert_eq!(run(&[RUN]), []);
        assert_eq!(run(&[RUN, done, done]), []);
        assert_eq!(run(&[RUN, r#"command/done {"commandId":"c","kind":"maybe"}"#]), []);
        assert_eq!(run(&["command/run {}", "command/done 5"]), [], "undefined is a key");
    }

    #[test]
    fn an_id_is_run_once() {
        assert_eq!(run(&[RUN, RUN]), [(RUN_REPEATS, 1)]);
        assert_eq!(run(&["command/run null"]), [(RUN_REPEATS, 0)]);
        let references = r#"command/run {"commandId":[]}"#;
        assert_eq!(run(&[references, references]), [], "no two arrays are one");
    }

    #[test]
    fn what_is_done_was_run() {
        let done = r#"command/done {"commandId":"c","kind":"success"}"#;
        assert_eq!(run(&[done, RUN]), [(DONE_WITHOUT_RUN, 0)]);
        assert_eq!(run(&["command/done null"]), [(DONE_WITHOUT_RUN, 0)]);
        assert_eq!(
            messages(&mut Command::default(), &["command/done {}"]),
            ["command/done undefined pairs no prior command/run in this log"]
        );
    }

    #[test]
    fn a_citation_names_an_earlier_event_that_is_no_commands() {
        let lines = |source: &str, kind: &str| {
            let done = format!(
                r#"command/done {{"commandId":"c","kind":"{kind}","sourceEventSeq":{source}}}"#
            );
            vec![TITLE.to_owned(), RUN.to_owned(), TITLE.to_owned(), done]
        };
        let verdict = |source: &str, kind: &str| {
            let lines = lines(source, kind);
            run(&lines.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for good in ["0", "-0", "2", "2.0", "0e5"] {
            assert_eq!(verdict(good, "success"), [], "{good}");
            assert_eq!(verdict(good, "error"), [(INVALID_SOURCE, 3)], "{good}");
        }
        for bad in ["1", "3", "4", "-1", "0.5", "null", r#""0""#, "true", "[]", "{}", "1e400"] {
            assert_eq!(verdict(bad, "success"), [(INVALID_SOURCE, 3)], "{bad}");
        }
    }
}
