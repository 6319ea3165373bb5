//! Sandbox mode and escalation.

mod escalated;
mod knob;
mod scenarios;

use crate::support::World;
use gatelog_engine::store::Session;
use gatelog_interaction::sandbox::{Enforcement, Sandbox, SandboxMode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Can confine while its switch is on.
pub(super) struct Switch(pub(super) AtomicBool);

impl Switch {
    pub(super) fn new(is_on: bool) -> Arc<Self> {
        Arc::new(Self(AtomicBool::new(is_on)))
    }
}

impl Enforcement for Switch {
    fn usable(&self, _: SandboxMode) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

pub(super) fn sandbox(world: &World, default: Option<SandboxMode>) -> Sandbox {
    Sandbox::new(&world.plane, default, Some(Switch::new(true)))
}

pub(super) fn modes(world: &World, id: &str) -> Vec<serde_json::Value> {
    world.events_of(id, "sandbox/mode").into_iter().map(|seen| seen.data).collect()
}

pub(super) async fn set(sandbox: &Sandbox, session: &Session, mode: SandboxMode) -> u64 {
    let source = gatelog_interaction::approval::KnobSource::User;
    sandbox.set_mode(session, mode, source).await.expect("the log takes it")
}
