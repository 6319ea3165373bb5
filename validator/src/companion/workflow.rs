//! Workflow runs: members start and end within a run, and a run ends once, with all of them ended.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.10.

use std::collections::HashMap;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, Text};

use super::script;
use super::shape::{is_string_or_absent, positive};
use crate::rule::Rule;

const INVALID_PAYLOAD: RuleId = "workflow/invalid-payload";
const REPEATED_RUN: RuleId = "workflow/repeated-run";
const UNKNOWN_RUN: RuleId = "workflow/unknown-run";
const ENDED_RUN: RuleId = "workflow/ended-run";
const REPEATED_MEMBER: RuleId = "workflow/repeated-member";
const UNKNOWN_MEMBER: RuleId = "workflow/unknown-member";
const ENDED_MEMBER: RuleId = "workflow/ended-member";
const OPEN_MEMBERS: RuleId = "workflow/open-members";
const UNKNOWN_TYPE: RuleId = "workflow/unknown-type";

/// What the types of the family start with.
const PREFIX: &str = "tool-workflow/";

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::error(
        INVALID_PAYLOAD,
        "a workflow record names its run, and its members are sound",
        optional!(
            "What happened in the run here cannot be told. See whether another program or an edit \
             wrote the line."
        ),
    ),
    Rule::error(
        REPEATED_RUN,
        "a run id is used once in a session",
        optional!("Two runs share an id, or a record was written twice."),
    ),
    Rule::error(
        UNKNOWN_RUN,
        "a record belongs to a run that was started",
        optional!("The record that started the run is missing."),
    ),
    Rule::error(
        ENDED_RUN,
        "nothing of a run follows its end",
        optional!("A record came late or was written twice; the run itself is complete."),
    ),
    Rule::error(
        REPEATED_MEMBER,
        "a member of a run starts once",
        optional!("Two members share a number, or a record was written twice."),
    ),
    Rule::error(
        UNKNOWN_MEMBER,
        "a member that ends was started",
        optional!("The record that started the member is missing."),
    ),
    Rule::error(
        ENDED_MEMBER,
        "a member of a run ends once",
        optional!("The record was written twice."),
    ),
    Rule::error(
        OPEN_MEMBERS,
        "all members of a run have ended when it ends",
        optional!(
            "How some members ended is not recorded: records are missing, or the host stopped in \
             the middle of the run."
        ),
    ),
    Rule::error(
        UNKNOWN_TYPE,
        "a record whose type starts with `tool-workflow/` is of a known type",
        optional!("A newer program wrote the record."),
    ),
];

/// The runs of one session, under their ids.
#[derive(Clone, Default)]
pub(super) struct Workflow {
    runs: HashMap<Box<[u8]>, Run>,
}

#[derive(Clone, Debug, Default)]
struct Run {
    ended: bool,
    /// Members of a run that has not ended, under their numbers.
    members: HashMap<u64, Member>,
}

#[derive(Clone, Debug)]
struct Member {
    /// Its place in the order in which members started.
    place: usize,
    ended: bool,
}

impl Workflow {
    /// Returns the run that a record belongs to, if it may still have records.
    fn open_run(&self, run_id: Text<'_>, kind: &str) -> Result<&Run, Violation> {
        let shown = run_id.to_lossy();
        let Some(run) = self.runs.get(&*run_id.to_wtf8()) else {
            let text = format!("{kind} has no matching tool-workflow/run-start for run {shown}");
            return refuse(UNKNOWN_RUN, text);
        };
        if run.ended {
            let text = format!("{kind} appears after tool-workflow/run-end for run {shown}");
            return refuse(ENDED_RUN, text);
        }
        Ok(run)
    }

    fn judge_run_start(&self, data: Json<'_>, run_id: Text<'_>) -> Result<(), Violation> {
        if !script::is_nonempty_string(data.get("name")) {
            let text = "tool-workflow/run-start name must be a non-empty string";
            return refuse(INVALID_PAYLOAD, text);
        }
        if self.runs.contains_key(&*run_id.to_wtf8()) {
            let run_id = run_id.to_lossy();
            return refuse(REPEATED_RUN, format!("tool-workflow/run-start repeats run {run_id}"));
        }
        Ok(())
    }

    fn judge_agent_start(&self, data: Json<'_>, run_id: Text<'_>) -> Result<(), Violation> {
        let run = self.open_run(run_id, "tool-workflow/agent-start")?;
        let member = member(data)?;
        let text = if !data.get("label").is_some_and(|label| label.is_string()) {
            "tool-workflow/agent-start label must be a string"
        } else if !is_string_or_absent(data.get("phase")) {
            "tool-workflow/agent-start phase must be a string when present"
        } else if !script::is_nonempty_string(data.get("childId")) {
            "tool-workflow/agent-start childId must be a non-empty string"
        } else if run.members.contains_key(&member) {
            let run_id = run_id.to_lossy();
            let text =
                format!("tool-workflow/agent-start repeats member seq {member} in run {run_id}");
            return refuse(REPEATED_MEMBER, text);
        } else {
            return Ok(());
        };
        refuse(INVALID_PAYLOAD, text)
    }

    fn judge_agent_end(&self, data: Json<'_>, run_id: Text<'_>) -> Result<(), Violation> {
        let run = self.open_run(run_id, "tool-workflow/agent-end")?;
        let number = member(data)?;
        let outcome = data.get("outcome");
        if !script::is_one_of(outcome, &["completed", "failed", "cancelled"]) {
            let outcome = script::shown(outcome);
            let text = format!("tool-workflow/agent-end outcome {outcome} is invalid");
            return refuse(INVALID_PAYLOAD, text);
        }
        let (rule, what) = match run.members.get(&number) {
            None => (UNKNOWN_MEMBER, "has no matching"),
            Some(member) if member.ended => (ENDED_MEMBER, "repeats"),
            Some(_) => return Ok(()),
        };
        let run_id = run_id.to_lossy();
        refuse(rule, format!("tool-workflow/agent-end {what} member seq {number} in run {run_id}"))
    }

    fn judge_run_end(&self, data: Json<'_>, run_id: Text<'_>) -> Result<(), Violation> {
        let run = self.open_run(run_id, "tool-workflow/run-end")?;
        let reason = data.get("stopReason");
        if !script::is_one_of(reason, &["completed", "cancelled", "error"]) {
            let reason = script::shown(reason);
            let text = format!("tool-workflow/run-end stopReason {reason} is invalid");
            return refuse(INVALID_PAYLOAD, text);
        }
        let open = run.members.iter().filter(|(_, member)| !member.ended);
        let mut open: Vec<_> = open.map(|(number, member)| (member.place, *number)).collect();
        if open.is_empty() {
            return Ok(());
        }
        open.sort_unstable();
        let open: Vec<_> = open.iter().map(|(_, number)| number.to_string()).collect();
        let (open, run_id) = (open.join(", "), run_id.to_lossy());
        let text = format!("tool-workflow/run-end leaves member seq {open} open in run {run_id}");
        refuse(OPEN_MEMBERS, text)
    }
}

impl Companion for Workflow {
    fn name(&self) -> &'static str {
        "workflow"
    }

    // The family claims every type that starts with its prefix, those that nobody knows included.
    fn listens(&self) -> Listens {
        Listens::All
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !event.kind.starts_with(PREFIX) {
            return Ok(());
        }
        let (kind, data) = (event.kind, event.data);
        if !data.is_object() {
            return refuse(INVALID_PAYLOAD, format!("{kind} data must be a JSON object"));
        }
        let Some(run_id) = run_id(data) else {
            return refuse(INVALID_PAYLOAD, format!("{kind} runId must be a non-empty string"));
        };
        match kind {
            "tool-workflow/run-start" => self.judge_run_start(data, run_id),
            "tool-workflow/agent-start" => self.judge_agent_start(data, run_id),
            "tool-workflow/agent-end" => self.judge_agent_end(data, run_id),
            "tool-workflow/run-end" => self.judge_run_end(data, run_id),
            _ => refuse(UNKNOWN_TYPE, format!("unknown tool-workflow event type {kind}")),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        let Some(kind) = event.kind.strip_prefix(PREFIX) else { return };
        let Some(run_id) = run_id(event.data) else { return };
        let member = member(event.data).ok();
        if !["run-start", "agent-start", "agent-end", "run-end"].contains(&kind) {
            return;
        }
        // A record of a run that is not there, or no longer, speaks for one that is.
        let run = self.runs.entry(run_id.to_wtf8().into()).or_default();
        run.ended = kind == "run-end";
        match (kind, member) {
            ("agent-start" | "agent-end", Some(number)) => {
                let place = run.members.len();
                let member = run.members.entry(number).or_insert(Member { place, ended: false });
                member.ended = kind == "agent-end";
            }
            ("run-start" | "run-end", _) => run.members = HashMap::new(),
            _ => {}
        }
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

fn run_id(data: Json<'_>) -> Option<Text<'_>> {
    data.get("runId")?.as_text().filter(|run_id| !run_id.is_empty())
}

/// Returns the number of the member that a record is about.
fn member(data: Json<'_>) -> Result<u64, Violation> {
    let number = positive(data.get("seq")).map(|number| number as u64);
    number.ok_or_else(|| {
        let text = "tool-workflow member seq must be a positive safe integer";
        Violation::new(INVALID_PAYLOAD, text)
    })
}

fn refuse<T>(rule: RuleId, message: impl Into<String>) -> Result<T, Violation> {
    Err(Violation::new(rule, message))
}

#[cfg(test)]
mod tests;
