//! Agent teams: members, tasks and messages of the team whose root this session is.
//!
//! The host checks these rules when a record is appended, and never when a log is loaded: in a
//! stored log they are warnings. Records of other teams, which a fork copies along, only have to
//! be well formed.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.15.

use std::collections::HashMap;

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::{Json, display};

use super::shape::bytes;
use super::team_record::{self, KINDS};
use super::team_tasks::{Fault, Task, Tasks, shown};
use crate::rule::Rule;

const INVALID_PAYLOAD: RuleId = "team/invalid-payload";
const UNSUPPORTED_VERSION: RuleId = "team/unsupported-version";
const REUSED_NAME: RuleId = "team/reused-name";
const NOT_PROVISIONED: RuleId = "team/not-provisioned";
const CHANGED_IDENTITY: RuleId = "team/changed-identity";
const INVALID_TRANSITION: RuleId = "team/invalid-transition";
const REVISION_NOT_NEXT: RuleId = "team/revision-not-next";
const INVALID_GRAPH: RuleId = "team/invalid-graph";
const QUEUED_TWICE: RuleId = "team/queued-twice";
const DELIVERED_UNQUEUED: RuleId = "team/delivered-unqueued";
const CHANGED_TARGET: RuleId = "team/changed-target";
const DELIVERED_TWICE: RuleId = "team/delivered-twice";
const GRAPH_NOT_CHECKED: RuleId = "team/graph-not-checked";

/// Makes the help of a rule that the host applies to live appends only.
macro_rules! live_help {
    ($text:literal) => {
        concat!(
            $text,
            " The host checks this only when a record is appended, and only where its optional \
             invariant plugins are installed: it loads the file as it is."
        )
    };
}

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::warning(
        INVALID_PAYLOAD,
        "a team record has exactly its members, all of them sound",
        live_help!("What happened in the team here cannot be told."),
    ),
    Rule::warning(
        UNSUPPORTED_VERSION,
        "a record of this team is of version 1",
        live_help!("A newer program wrote the record."),
    ),
    Rule::warning(
        REUSED_NAME,
        "no two members of a team share a name",
        live_help!("Messages to that name may reach the wrong member."),
    ),
    Rule::warning(
        NOT_PROVISIONED,
        "a member begins in the phase `provisioning`",
        live_help!("The record that began the member is missing."),
    ),
    Rule::warning(
        CHANGED_IDENTITY,
        "a member keeps its name, provider and context",
        live_help!("Two members may share an id."),
    ),
    Rule::warning(
        INVALID_TRANSITION,
        "a member goes from `provisioning` to `active` or `failed`, once",
        live_help!("A record was written twice, or came late."),
    ),
    Rule::warning(
        REVISION_NOT_NEXT,
        "the revisions of a task count from 1 without a gap",
        live_help!("A record of the task is missing, or was written twice."),
    ),
    Rule::warning(
        INVALID_GRAPH,
        "tasks wait for other tasks that are there, each named once, and never in a circle",
        live_help!("The tasks involved may wait for ever."),
    ),
    Rule::warning(
        QUEUED_TWICE,
        "a message is queued once",
        live_help!("The record was written twice."),
    ),
    Rule::warning(
        DELIVERED_UNQUEUED,
        "a message that is delivered was queued",
        live_help!("The record that queued the message is missing, and its text with it."),
    ),
    Rule::warning(
        CHANGED_TARGET,
        "a message is delivered to the member for which it was queued",
        live_help!("The message reached another member, or a record was changed."),
    ),
    Rule::warning(
        DELIVERED_TWICE,
        "a message is delivered once",
        live_help!("The member may have read the message twice."),
    ),
    Rule::note(
        GRAPH_NOT_CHECKED,
        "the task graph of a team is small enough to be checked",
        "The log has so many tasks that their graph was not checked to the end; nothing is known \
         to be wrong with it.",
    )
    .at_end(),
];

/// The team of one session.
#[derive(Clone, Default)]
pub(super) struct Team {
    session: Box<[u8]>,
    members: HashMap<Box<[u8]>, Member>,
    /// The id of the member that has a name.
    names: HashMap<Box<[u8]>, Box<[u8]>>,
    tasks: Tasks,
    messages: HashMap<Box<[u8]>, Message>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member {
    name: Box<[u8]>,
    provider: Box<[u8]>,
    context: Box<[u8]>,
    phase: Box<[u8]>,
}

#[derive(Clone, Debug)]
struct Message {
    target: Box<[u8]>,
    delivered: bool,
}

/// A record of this team that is well formed.
#[derive(Clone)]
enum Record {
    Member { id: Box<[u8]>, member: Member },
    Task(Task),
    Queued { id: Box<[u8]>, target: Box<[u8]> },
    Delivered { id: Box<[u8]>, target: Box<[u8]> },
}

impl Team {
    /// Makes the fold of a session, whose id is the id of its team.
    pub(super) fn new(session: &[u8]) -> Self {
        Self { session: session.into(), ..Self::default() }
    }

    /// Reads a record; nothing comes of one that belongs to another team.
    fn read(&self, event: &Event<'_>) -> Result<Option<Record>, (RuleId, String)> {
        let invalid = || {
            let kind = event.kind;
            (INVALID_PAYLOAD, format!("persisted Agent Teams {kind} payload is invalid"))
        };
        let (version, team) = team_record::selector(event.data).ok_or_else(invalid)?;
        let is_own = bytes(Some(team)).is_some_and(|team| team == self.session);
        if version != 1.0 {
            if !is_own {
                return Ok(None);
            }
            let version = display(version);
            let text = format!("unsupported Agent Teams event version {version}");
            return Err((UNSUPPORTED_VERSION, text));
        }
        if !team_record::is_valid(event) {
            return Err(invalid());
        }
        Ok(if is_own { Record::of(event) } else { None })
    }

    fn judge(&self, record: &Record) -> Result<(), (RuleId, String)> {
        match record {
            Record::Member { id, member } => self.judge_member(id, member),
            Record::Task(task) => self.tasks.judge(task).map_err(|fault| match fault {
                Fault::Revision(text) => (REVISION_NOT_NEXT, text),
                Fault::Graph(text) => (INVALID_GRAPH, text),
            }),
            Record::Queued { id, .. } if self.messages.contains_key(id) => {
                Err((QUEUED_TWICE, format!("team message \"{}\" was queued twice", shown(id))))
            }
            Record::Queued { .. } => Ok(()),
            Record::Delivered { id, target } => {
                let (rule, what) = match self.messages.get(id) {
                    None => (DELIVERED_UNQUEUED, "was delivered before queueing"),
                    Some(queued) if queued.target != *target => (CHANGED_TARGET, "target changed"),
                    Some(queued) if queued.delivered => (DELIVERED_TWICE, "was delivered twice"),
                    Some(_) => return Ok(()),
                };
                Err((rule, format!("team message \"{}\" {what}", shown(id))))
            }
        }
    }

    fn judge_member(&self, id: &[u8], member: &Member) -> Result<(), (RuleId, String)> {
        let name = shown(&member.name);
        if self.names.get(&member.name).is_some_and(|other| **other != *id) {
            let text = format!("teammate name \"{name}\" is reused by another member");
            return Err((REUSED_NAME, text));
        }
        let provisioning = |member: &Member| *member.phase == *b"provisioning";
        let Some(prior) = self.members.get(id) else {
            if provisioning(member) {
                return Ok(());
            }
            let text = format!("teammate \"{name}\" must begin provisioning");
            return Err((NOT_PROVISIONED, text));
        };
        let identity = |member: &Member| {
            (member.name.clone(), member.provider.clone(), member.context.clone())
        };
        if identity(prior) != identity(member) {
            let id = shown(id);
            let text = format!("teammate \"{id}\" changed immutable identity fields");
            return Err((CHANGED_IDENTITY, text));
        }
        if !provisioning(prior) || provisioning(member) {
            let (from, to) = (shown(&prior.phase), shown(&member.phase));
            let text = format!("teammate \"{name}\" has an invalid {from} -> {to} transition");
            return Err((INVALID_TRANSITION, text));
        }
        Ok(())
    }

    fn adopt(&mut self, record: Record) {
        match record {
            Record::Member { id, member } => {
                // The host fixes a member's name with its first record.
                if !self.members.contains_key(&id) {
                    self.names.entry(member.name.clone()).or_insert_with(|| id.clone());
                }
                self.members.insert(id, member);
            }
            Record::Task(task) => self.tasks.apply(task),
            Record::Queued { id, target } => {
                self.messages.entry(id).or_insert(Message { target, delivered: false });
            }
            Record::Delivered { id, target } => {
                let unqueued = Message { target: target.clone(), delivered: true };
                let message = self.messages.entry(id).or_insert(unqueued);
                message.delivered = true;
                message.target = target;
            }
        }
    }
}

impl Record {
    /// Reads a record that is valid.
    fn of(event: &Event<'_>) -> Option<Self> {
        let data = event.data;
        let of = |owner: Json<'_>, key: &str| bytes(owner.get(key));
        Some(match event.kind {
            "team/member" => {
                let member = data.get("member")?;
                Self::Member {
                    id: of(member, "id")?,
                    member: Member {
                        name: of(member, "name")?,
                        provider: of(member, "provider")?,
                        context: of(member, "context")?,
                        phase: of(member, "phase")?,
                    },
                }
            }
            "team/task" => Self::Task(Task::of(data.get("task")?)?),
            "team/message/queued" => {
                let message = data.get("message")?;
                Self::Queued { id: of(message, "id")?, target: of(message, "targetId")? }
            }
            _ => Self::Delivered { id: of(data, "messageId")?, target: of(data, "targetId")? },
        })
    }
}

impl Companion for Team {
    fn name(&self) -> &'static str {
        "team"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(KINDS)
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !KINDS.contains(&event.kind) {
            return Ok(());
        }
        let judged = self.read(event).and_then(|record| match record {
            Some(record) => self.judge(&record),
            None => Ok(()),
        });
        judged.map_err(|(rule, inner)| {
            let seq = event.seq;
            let text = format!("session event {seq} violates the Agent Teams stream: {inner}");
            Violation::new(rule, text)
        })
    }

    fn apply(&mut self, event: &Event<'_>) {
        if KINDS.contains(&event.kind)
            && let Ok(Some(record)) = self.read(event)
        {
            self.adopt(record);
        }
    }

    fn finish(&self, _end: &End, report: &mut dyn FnMut(Violation)) {
        if !self.tasks.is_checked() {
            let text = "not checked: the task graph of the team is larger than the checks allow";
            report(Violation::new(GRAPH_NOT_CHECKED, text));
        }
    }
}

#[cfg(test)]
mod tests;
