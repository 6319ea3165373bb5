//! SM-01 to SM-10.

use super::{Switch, modes, sandbox, set};
use crate::support::{Kind, World};
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Sim;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::sandbox::{
    Enforcement, Sandbox, SandboxError, SandboxMode, SandboxUnavailable, workspace_root,
};
use gatelog_validator::rule::Profile as Rules;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

use SandboxMode::{DangerFullAccess, ReadOnly, WorkspaceWrite};

#[test]
fn sm_01_there_are_three_modes() {
    let words = ["read-only", "workspace-write", "danger-full-access"];
    assert_eq!(SandboxMode::ALL.map(SandboxMode::word), words);
    for mode in SandboxMode::ALL {
        assert_eq!(SandboxMode::of(mode.word()), Some(mode));
        assert_eq!(serde_json::to_value(mode).expect("JSON"), mode.word());
    }
    assert_eq!(SandboxMode::of("Read-Only"), None);
}

#[tokio::test]
async fn sm_02_the_last_event_is_the_override_and_without_one_there_is_none() {
    let world = World::new();
    let (sandbox, session) = (sandbox(&world, None), world.session("a"));
    assert_eq!(sandbox.override_of(&session).await.expect("read"), None);
    set(&sandbox, &session, DangerFullAccess).await;
    set(&sandbox, &session, WorkspaceWrite).await;
    assert_eq!(sandbox.override_of(&session).await.expect("read"), Some(WorkspaceWrite));
}

#[tokio::test]
async fn sm_03_what_was_approved_then_the_override_then_the_default() {
    let world = World::new();
    let (sandbox, session) = (sandbox(&world, Some(WorkspaceWrite)), world.session("a"));
    let effective = async |approved| sandbox.effective(&session, approved).await.expect("read");
    assert_eq!(effective(None).await, WorkspaceWrite);
    set(&sandbox, &session, ReadOnly).await;
    assert_eq!(effective(None).await, ReadOnly);
    assert_eq!(effective(Some(DangerFullAccess)).await, DangerFullAccess);
    assert_eq!(effective(None).await, ReadOnly, "what was approved was for one call");
}

#[tokio::test]
async fn sm_04_the_default_is_reading_unless_configured_and_a_foreign_word_is_refused() {
    let world = World::new();
    assert_eq!(sandbox(&world, None).default_mode(), ReadOnly);
    assert_eq!(Sandbox::default_of("workspace-write"), Ok(WorkspaceWrite));
    let error = Sandbox::default_of("everything").expect_err("it is no mode").to_string();
    assert!(error.contains("\"everything\""), "{error}");
}

#[test]
fn sm_05_the_root_is_the_sessions_own_directory_else_the_configured_one_without_links() {
    let sim = Sim::new(1);
    sim.put_dir("/srv/work").expect("there is room");
    sim.put_dir("/srv/other").expect("there is room");
    let disk = sim.disk();
    let root = |cwd: Option<&str>, configured: Option<&str>| {
        workspace_root(&disk, cwd.map(Path::new), configured.map(Path::new))
    };
    assert_eq!(root(Some("/srv/work"), Some("/srv/other")).expect("there"), Path::new("/srv/work"));
    assert_eq!(root(None, Some("/srv/other")).expect("there"), Path::new("/srv/other"));
    assert!(root(None, None).is_err());
    assert!(root(Some("/nowhere"), Some("/srv/other")).is_err(), "and no other in its place");
}

#[tokio::test]
async fn sm_06_the_writer_appends_one_event_whatever_is_in_force() {
    let world = World::new();
    let (sandbox, session) = (sandbox(&world, Some(ReadOnly)), world.session("a"));
    assert_eq!(set(&sandbox, &session, ReadOnly).await, 0);
    assert_eq!(set(&sandbox, &session, ReadOnly).await, 1);
    assert_eq!(modes(&world, "a"), [json!({"mode": "read-only"}), json!({"mode": "read-only"})]);
}

#[tokio::test]
async fn sm_07_a_word_that_is_no_mode_cannot_be_written_and_the_rules_catch_it() {
    // The writer takes a mode and no word; a raw append is caught by the gate.
    let world = World::new();
    let session = world.session("a");
    let draft = Draft::new("sandbox/mode", r#"{"mode":"wide"}"#);
    let refused = session.append([draft], Durability::Synced);
    let Err(AppendError::Refused(Refusal::Violation(violation))) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(violation.message, "sandbox/mode carries unknown mode \"wide\"");
}

#[tokio::test]
async fn sm_08_a_child_gets_what_its_parents_log_says_and_no_default() {
    let world = World::new();
    let sandbox = sandbox(&world, Some(DangerFullAccess));
    let (parent, child) = (world.session("p"), world.session("c"));
    assert_eq!(sandbox.copy_to_child(&parent, &child).await.expect("read"), None);
    assert_eq!(modes(&world, "c"), Vec::<serde_json::Value>::new());
    set(&sandbox, &parent, WorkspaceWrite).await;
    sandbox.copy_to_child(&parent, &child).await.expect("written");
    let copied = json!({"mode": "workspace-write", "source": "delegation"});
    assert_eq!(modes(&world, "c"), [copied]);
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn sm_09_a_running_call_keeps_its_stamp() {
    let world = World::new();
    let live = world.agent("a");
    let sandbox = sandbox(&world, Some(WorkspaceWrite));
    let stamped = sandbox.check_call(live.agent(), None).await.expect("usable");
    set(&sandbox, live.agent().session(), ReadOnly).await;
    assert_eq!(stamped, WorkspaceWrite);
    let next = sandbox.check_call(live.agent(), None).await.expect("usable");
    assert_eq!(next, ReadOnly);
}

/// Panics when it is asked.
struct Panics;

impl Enforcement for Panics {
    fn usable(&self, _: SandboxMode) -> bool {
        panic!("a test's enforcement")
    }
}

#[tokio::test]
async fn sm_10_a_mode_that_confines_fails_where_nothing_can() {
    let world = World::of(Kind::Native, Rules::Strict, Profile::STRICT);
    let live = world.agent("a");
    let nobody =
        [None, Some(Switch::new(false) as Arc<dyn Enforcement>), Some(Arc::new(Panics) as _)];
    for enforcement in nobody {
        let sandbox = Sandbox::new(&world.plane, Some(WorkspaceWrite), enforcement);
        for approved in [None, Some(WorkspaceWrite), Some(ReadOnly)] {
            let failed = sandbox.check_call(live.agent(), approved).await;
            let Err(SandboxError::Unavailable(unavailable)) = failed else { panic!("{failed:?}") };
            let mode = approved.unwrap_or(WorkspaceWrite);
            let text = unavailable.to_string();
            let whole = format!(
                "sandbox mode \"{mode}\" is requested but no sandbox backend is usable on this \
                 host; refusing to run the command unconfined. Install bubblewrap or run a \
                 Landlock-enforcing kernel (Linux), ensure sandbox-exec is usable (macOS), or \
                 ensure the ACL restricted-token runner can start (Windows) — otherwise switch \
                 the consumer to danger-full-access."
            );
            assert_eq!(text, whole);
        }
        assert!(sandbox.check(DangerFullAccess).is_ok(), "it confines nothing");
    }
    assert_eq!(SandboxUnavailable::CODE, "SANDBOX_UNAVAILABLE");
}
