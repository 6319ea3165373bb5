//! Logs of the host, continued: S-180.

use crate::support::{Kind, errors, open_zstd, start_turn, turn_end};
use gatelog_engine::backend::Durability;
use gatelog_engine::storage::Sim;
use gatelog_interaction::agent::{Agent, Agents, NoticeQueue};
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest, ApprovalService,
};
use gatelog_interaction::command::{CommandRegistry, Dispatch, ExecuteOptions};
use gatelog_interaction::plane::Plane;
use gatelog_interaction::preset::{
    ComposedDefaults, PresetService, PresetTable, permission_command,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::sandbox::SandboxMode;
use gatelog_interaction::scope::{Authority, Scope};
use gatelog_validator::facts::Facts;
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Logs that the host wrote, below `fixtures/demo`.
const LOGS: [&str; 2] =
    ["--home-ann-shop--/3f6c1d52-price-rounding", "--home-ann-notes--/a81f0c3d-weekly-report"];

/// Puts the log of a demo folder onto a disk.
fn on_disk(folder: &str) -> Sim {
    let demo = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/demo");
    let log = std::fs::read(demo.join(folder).join("session.jsonl.zstd")).expect("it is there");
    let sim = Sim::new(3);
    let path = Path::new("/s").join(folder).join("session.jsonl.zstd");
    sim.put_dir(path.parent().expect("it has one")).expect("there is room");
    sim.put(&path, &log).expect("there is room");
    sim
}

#[tokio::test]
async fn s_180_what_we_append_to_a_log_of_the_host_satisfies_strict_by_itself() {
    for folder in LOGS {
        let sim = on_disk(folder);
        let before = errors(Kind::Files, &sim, Rules::Strict);
        assert_eq!(errors(Kind::Files, &sim, Rules::Host), Vec::<String>::new());
        let store = open_zstd(&sim, Standard::new(Rules::Host));
        let id = store.list().expect("readable").remove(0).id;
        let session = store.session(&id).expect("it is sound");
        let agents = Agents::new();
        let plane = Plane::new(tokio::runtime::Handle::current(), Profile::DSH)
            .with_agents(Arc::new(agents.clone()));
        let scope = Scope::new("a");
        let agent = Agent::new(&*id, session.clone(), scope, Arc::new(NoticeQueue::default()));
        let live = agents.enter(agent, None);
        let mut gate = session.gate().expect("nobody holds it");
        let facts: &Facts = gate.facts().expect("readable");
        let turn = facts.turns + 1;
        assert!(facts.turn.is_none(), "the log is closed");
        drop(gate);
        start_turn(&session, turn);
        let approvals = ApprovalService::new(&plane, None);
        let outcome = approvals.request(ApprovalRequest::new(live.agent(), "shell")).await;
        assert_eq!(outcome.expect("decided"), ApprovalOutcome::Unavailable);
        approvals.set_policy(live.agent(), ApprovalPolicy::Never).await.expect("set");
        let composed = ComposedDefaults::of_mode(SandboxMode::WorkspaceWrite);
        let presets = PresetService::new(&plane, PresetTable::shipped(), composed, None);
        let presets = presets.expect("composed");
        let commands = CommandRegistry::new(plane.clone());
        let registrar = commands.registrar(Authority::Root);
        let _command = registrar.global(permission_command(&presets)).expect("lawful");
        let line = "/permission read-only";
        let ran = commands.execute(live.agent(), line, ExecuteOptions::default()).await;
        assert!(matches!(ran, Ok(Dispatch::Executed(_))), "{ran:?}");
        assert_eq!(approvals.drain_turn(&session).await.expect("nothing is open"), 0);
        session.append([turn_end(turn)], Durability::Synced).expect("nothing is open in it");
        store.close().expect("the disk is sound");
        assert_eq!(errors(Kind::Files, &sim, Rules::Host), Vec::<String>::new(), "{folder}");
        let after = errors(Kind::Files, &sim, Rules::Strict);
        assert_eq!(after, before, "{folder}: nothing of ours is found fault with");
    }
}
