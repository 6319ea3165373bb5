//! Approvals: what was asked for, what was decided, and under which policy.

use super::kept::Resume;
use super::knob::{Composed, Policy};
use super::raw::Raw;
use super::time_ms;
use super::turns::Position;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One question, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: Option<Raw>,
    /// The tool that it is for.
    pub tool: Option<Raw>,
    /// The call that it is for.
    pub call_id: Option<Raw>,
    /// Why it was asked.
    pub reason: Option<Raw>,
    /// The turn in which it was asked.
    pub turn: Option<Raw>,
    /// The step in which it was asked.
    pub step: Option<Raw>,
    /// The policy that was in force.
    pub policy: Raw,
    /// Seq of the question.
    pub asked_seq: u64,
    /// Time of the question, in milliseconds since 1970.
    pub asked_time_ms: i64,
    /// How it ended.
    pub outcome: Option<Raw>,
    /// Seq of the answer; nothing while there is none.
    pub decided_seq: Option<u64>,
    /// Time of the answer, in milliseconds since 1970.
    pub decided_time_ms: Option<i64>,
}

/// Open and decided questions, each in the order in which it was asked or decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApprovalsView {
    /// Questions without an answer.
    pub open: Vec<Approval>,
    /// Questions with one.
    pub decided: Vec<Approval>,
}

/// The approvals of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvals {
    policy: Policy,
    position: Position,
    open: BTreeMap<String, Approval>,
    decided: Vec<Approval>,
}

impl Approvals {
    /// Makes the projection for an installation.
    pub fn new(composed: Composed) -> Self {
        Self { policy: Policy::new(composed), ..Self::default() }
    }
}

impl Fold for Approvals {
    fn fold(&mut self, event: &Event<'_>) {
        self.policy.fold(event);
        self.position.fold(event);
        let id = event.field("id");
        // What is an object equals nothing, so nothing ever decides about it.
        let is_reference = id.is_some_and(|id| id.is_object() || id.is_array());
        let key = match id {
            Some(_) if is_reference => format!("seq {}", event.seq),
            Some(id) => id.to_json(),
            None => "undefined".to_owned(),
        };
        match event.kind {
            "approval/asked" => {
                let member = |key| Raw::member(event.data, key);
                let asked = Approval {
                    id: member("id"),
                    tool: member("toolName"),
                    call_id: member("callId"),
                    reason: member("reason"),
                    turn: self.position.turn.clone(),
                    step: self.position.step.clone(),
                    policy: self.policy.view().effective,
                    asked_seq: event.seq,
                    asked_time_ms: time_ms(event),
                    outcome: None,
                    decided_seq: None,
                    decided_time_ms: None,
                };
                self.open.insert(key, asked);
            }
            "approval/decided" => {
                if let Some(mut approval) = self.open.remove(&key) {
                    approval.outcome = Raw::member(event.data, "outcome");
                    approval.decided_seq = Some(event.seq);
                    approval.decided_time_ms = Some(time_ms(event));
                    self.decided.push(approval);
                }
            }
            _ => {}
        }
    }
}

impl Projection for Approvals {
    type View = ApprovalsView;

    fn name(&self) -> &'static str {
        "approvals"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "turn/start",
            "turn/end",
            "step/start",
            "step/end",
            "approval/policy",
            "approval/asked",
            "approval/decided",
        ])
    }

    fn view(&self) -> ApprovalsView {
        let mut open: Vec<_> = self.open.values().cloned().collect();
        open.sort_unstable_by_key(|asked| asked.asked_seq);
        ApprovalsView { open, decided: self.decided.clone() }
    }
}

impl Resume for Approvals {
    fn resume(&mut self, saved: Self) {
        let Self { policy, position, open, decided } = saved;
        self.policy.resume(policy);
        (self.position, self.open, self.decided) = (position, open, decided);
    }
}
