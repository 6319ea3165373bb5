//! Permission presets.

mod command;
mod configured;
mod failing;
mod pinned;
mod pinned_late;
mod races;
mod scenarios;
mod settings;
mod switched;
mod viewed;

use crate::support::{Kind, World};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::approval::ApprovalPolicy;
use gatelog_interaction::preset::{
    ComposedDefaults, KEY, NAMESPACE, PresetService, PresetTable, Settings,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::sandbox::SandboxMode;
use gatelog_validator::rule::Profile as Rules;
use serde_json::Value;
use std::sync::{Arc, Mutex};

pub(super) const COMPOSED: ComposedDefaults = ComposedDefaults {
    executor_mode: Some(SandboxMode::WorkspaceWrite),
    approval: ApprovalPolicy::Ask,
};

/// A world with the shipped presets.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) presets: PresetService,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::of(Kind::Native)
    }

    pub(super) fn of(kind: Kind) -> Self {
        Self::with(World::of(kind, Rules::Strict, Profile::STRICT), PresetTable::shipped())
    }

    pub(super) fn with(world: World, table: PresetTable) -> Self {
        let presets = PresetService::new(&world.plane, table, COMPOSED, None);
        Self { presets: presets.expect("the table has the default"), world }
    }

    /// What a session's log says of permissions: type and word.
    pub(super) fn facts(&self, id: &str) -> Vec<(String, String)> {
        facts(&self.world, id)
    }

    pub(super) fn is_sound(&self) {
        assert_eq!(self.world.errors(Rules::Strict), Vec::<String>::new());
    }

    pub(super) async fn current(&self, session: &Session) -> String {
        self.presets.current(session).await.expect("the gate is free").to_string()
    }
}

pub(super) fn facts(world: &World, id: &str) -> Vec<(String, String)> {
    let key = |kind: &str| match kind {
        "permission/preset" => Some("preset"),
        "sandbox/mode" => Some("mode"),
        "approval/policy" => Some("policy"),
        _ => None,
    };
    let fact = |seen: crate::support::Seen| {
        let word = seen.data[key(&seen.kind)?].as_str()?.to_owned();
        Some((seen.kind, word))
    };
    world.events(id).into_iter().filter_map(fact).collect()
}

pub(super) fn fact(kind: &str, word: &str) -> (String, String) {
    (kind.to_owned(), word.to_owned())
}

/// The three facts of a preset whose mode has its name.
pub(super) fn triple(preset: &str, policy: &str) -> Vec<(String, String)> {
    vec![
        fact("permission/preset", preset),
        fact("sandbox/mode", preset),
        fact("approval/policy", policy),
    ]
}

pub(super) fn say(session: &Session, kind: &str, key: &str, word: &str) {
    let draft = Draft::new(kind, format!(r#"{{"{key}":"{word}"}}"#));
    session.append([draft], Durability::Synced).expect("it is lawful");
}

pub(super) fn mode(session: &Session, word: &str) {
    say(session, "sandbox/mode", "mode", word);
}

pub(super) fn policy(session: &Session, word: &str) {
    say(session, "approval/policy", "policy", word);
}

pub(super) fn chosen(session: &Session, word: &str) {
    say(session, "permission/preset", "preset", word);
}

/// Settings in memory.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<String>>);

impl Kept {
    pub(super) fn of(name: &str) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some(name.to_owned()))))
    }

    pub(super) fn value(&self) -> Option<String> {
        self.0.lock().expect("sound").clone()
    }
}

impl Settings for Kept {
    fn get(&self, namespace: &str, key: &str) -> Result<Option<String>, BoxError> {
        assert_eq!((namespace, key), (NAMESPACE, KEY));
        Ok(self.value())
    }

    fn set(&self, namespace: &str, key: &str, value: &str) -> Result<(), BoxError> {
        assert_eq!((namespace, key), (NAMESPACE, KEY));
        *self.0.lock().expect("sound") = Some(value.to_owned());
        Ok(())
    }
}

pub(super) fn row(sandbox: &str, approval: &str) -> Value {
    serde_json::json!({"sandbox": sandbox, "approval": approval})
}
