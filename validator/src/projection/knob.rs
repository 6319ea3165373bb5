//! The two settings that decide what an agent may do: approval policy and sandbox mode.
//!
//! The host looks at the last event of its type alone, whatever it says; where that says nothing,
//! or there is none, what its installation is composed with is in force.

use super::kept::Resume;
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;
use serde::{Deserialize, Serialize};

/// What an installation of the host is composed with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composed {
    /// Sandbox mode; default `workspace-write`.
    pub sandbox: String,
    /// Approval policy; default `ask`.
    pub approval: String,
}

impl Default for Composed {
    fn default() -> Self {
        Self { sandbox: "workspace-write".to_owned(), approval: "ask".to_owned() }
    }
}

/// The last event that set a knob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    /// What it says; nothing where it says nothing.
    pub value: Option<Raw>,
    /// Who set it, where the event says so.
    pub source: Option<Raw>,
    /// Seq of the event.
    pub seq: u64,
}

impl Set {
    pub(super) fn of(event: &Event<'_>, key: &str) -> Self {
        let value = event.field(key).filter(|value| !value.is_null()).map(Raw::of);
        Self { value, source: Raw::member(event.data, "source"), seq: event.seq }
    }
}

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnobView {
    /// The value in force.
    pub effective: Raw,
    /// What the log says of it last.
    pub set: Option<Set>,
}

/// The value of a knob that is in force, given the one that is composed.
pub(super) fn effective(set: Option<&Set>, composed: &str) -> Raw {
    set.and_then(|set| set.value.clone()).unwrap_or_else(|| Raw::word(composed))
}

/// The effective approval policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    #[serde(skip)]
    composed: Composed,
    set: Option<Set>,
}

/// The sandbox mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    #[serde(skip)]
    composed: Composed,
    set: Option<Set>,
}

impl Policy {
    /// Makes the projection for an installation.
    pub fn new(composed: Composed) -> Self {
        Self { composed, set: None }
    }
}

impl Sandbox {
    /// Makes the projection for an installation.
    pub fn new(composed: Composed) -> Self {
        Self { composed, set: None }
    }
}

impl Fold for Policy {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "approval/policy" {
            self.set = Some(Set::of(event, "policy"));
        }
    }
}

impl Fold for Sandbox {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "sandbox/mode" {
            self.set = Some(Set::of(event, "mode"));
        }
    }
}

impl Projection for Policy {
    type View = KnobView;

    fn name(&self) -> &'static str {
        "policy"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["approval/policy"])
    }

    fn view(&self) -> KnobView {
        let effective = effective(self.set.as_ref(), &self.composed.approval);
        KnobView { effective, set: self.set.clone() }
    }
}

impl Projection for Sandbox {
    type View = KnobView;

    fn name(&self) -> &'static str {
        "sandbox"
    }

    fn version(&self) -> u32 {
        1
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["sandbox/mode"])
    }

    fn view(&self) -> KnobView {
        let effective = effective(self.set.as_ref(), &self.composed.sandbox);
        KnobView { effective, set: self.set.clone() }
    }
}

/// Returns the text of a member that is a string.
pub(super) fn word(event: &Event<'_>, key: &str) -> Option<String> {
    event.field(key).as_ref().and_then(Json::as_text).map(|word| word.to_lossy().into_owned())
}

impl Resume for Policy {
    fn resume(&mut self, saved: Self) {
        self.set = saved.set;
    }
}

impl Resume for Sandbox {
    fn resume(&mut self, saved: Self) {
        self.set = saved.set;
    }
}
