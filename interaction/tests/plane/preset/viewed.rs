//! What is current, and how it is shown: PP-12 to PP-19, PP-47 to PP-50.

use super::{COMPOSED, Stage, chosen, mode, policy, row};
use crate::support::{Faults, Kind, World, open};
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_interaction::approval::ApprovalPolicy;
use gatelog_interaction::preset::{
    ComposedDefaults, CurrentPreset, PresetError, PresetService, PresetTable,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::sandbox::SandboxMode;
use gatelog_validator::board::{Board, Registry, Unit};
use gatelog_validator::rule::Profile as Rules;
use gatelog_validator::standard::Standard;
use serde_json::json;

fn twins() -> PresetTable {
    let rows = json!({"one": row("workspace-write", "ask"), "two": row("workspace-write", "ask"),
                      "rest": row("read-only", "never")});
    PresetTable::from_config(&rows, &Profile::STRICT).expect("a table")
}

#[tokio::test]
async fn pp_12_an_option_has_its_label_or_its_key_and_no_empty_description() {
    let rows = json!({"a": {"sandbox": "workspace-write", "approval": "ask", "name": "Work"},
                      "b": {"sandbox": "read-only", "approval": "ask", "description": "look"}});
    let table = PresetTable::from_config(&rows, &Profile::STRICT).expect("a table");
    let stage = Stage::with(World::new(), table);
    let session = stage.world.session("a");
    let options = stage.presets.options(&session).await.expect("read");
    assert_eq!(
        json!(options),
        json!([{"value": "a", "name": "Work"}, {"value": "b", "name": "b", "description": "look"}])
    );
}

#[tokio::test]
async fn pp_13_the_option_for_custom_has_words_of_its_own() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    policy(&session, "never");
    let options = stage.presets.options(&session).await.expect("read");
    assert_eq!(
        json!(options.last().expect("there are options")),
        json!({"value": "custom", "name": "Custom",
               "description": "Current sandbox and approval settings do not match a preset."})
    );
}

#[tokio::test]
async fn pp_14_a_recorded_choice_that_still_matches_wins() {
    let stage = Stage::with(World::new(), twins());
    let session = stage.world.session("a");
    chosen(&session, "two");
    assert_eq!(stage.current(&session).await, "two");
}

#[tokio::test]
async fn pp_15_otherwise_the_first_row_that_matches() {
    let stage = Stage::with(World::new(), twins());
    let session = stage.world.session("a");
    assert_eq!(stage.current(&session).await, "one");
    chosen(&session, "rest");
    assert_eq!(stage.current(&session).await, "one", "what was chosen does not match");
}

#[tokio::test]
async fn pp_16_otherwise_custom_which_is_a_state_and_no_error() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    mode(&session, "read-only");
    policy(&session, "never");
    let current = stage.presets.current(&session).await.expect("it is no error");
    assert_eq!(current, CurrentPreset::Custom);
}

#[tokio::test]
async fn pp_17_knobs_that_are_not_said_are_those_of_the_composition() {
    let world = World::new();
    let composed = ComposedDefaults {
        executor_mode: Some(SandboxMode::ReadOnly),
        approval: ApprovalPolicy::Ask,
    };
    let presets = PresetService::new(&world.plane, PresetTable::shipped(), composed, None);
    let presets = presets.expect("read-only matches");
    let session = world.session("a");
    let current = async || presets.current(&session).await.expect("read").to_string();
    assert_eq!(current().await, "read-only");
    mode(&session, "workspace-write");
    assert_eq!(current().await, "workspace-write", "the policy is still composed");
}

#[tokio::test]
async fn pp_18_a_choice_that_is_gone_or_does_not_match_is_ignored() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    chosen(&session, "nowhere");
    assert_eq!(stage.current(&session).await, "workspace-write");
    chosen(&session, "danger-full-access");
    assert_eq!(stage.current(&session).await, "workspace-write");
}

#[tokio::test]
async fn pp_19_custom_is_never_chosen_and_never_written() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    policy(&session, "never");
    let before = stage.facts("a");
    let error = stage.presets.set(&session, "custom").await.expect_err("it is no row");
    assert!(matches!(error, PresetError::Config(_)));
    assert_eq!(stage.facts("a"), before);
    assert!(PresetTable::shipped().names().all(|name| name.as_str() != "custom"));
}

#[tokio::test]
async fn pp_47_the_event_has_the_presets_id_and_nothing_else() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.presets.set(&session, "read-only").await.expect("written");
    let event = stage.world.events_of("a", "permission/").remove(0);
    assert_eq!(event.data, json!({"preset": "read-only"}));
}

#[tokio::test]
async fn pp_48_a_gate_that_knows_the_table_refuses_other_names() {
    let presets = vec!["read-only".to_owned(), "workspace-write".to_owned()];
    let rules = Standard::new(Rules::Strict).with_presets(presets);
    let world = World::with(Kind::Native, rules, Rules::Strict, Profile::STRICT);
    let session = world.session("a");
    let draft = |name: &str| Draft::new("permission/preset", json!({"preset": name}).to_string());
    let refused = session.append([draft("nowhere")], Durability::Synced);
    let Err(AppendError::Refused(Refusal::Violation(violation))) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(violation.message, "permission/preset names unknown preset \"nowhere\"");
    session.append([draft("read-only")], Durability::Synced).expect("it is in the table");
}

#[tokio::test]
async fn s_111_a_stored_preset_that_the_table_lost_is_a_note_and_is_ignored() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    chosen(&session, "lost");
    stage.world.store.close().expect("the disk is sound");
    let table = vec!["read-only".to_owned(), "workspace-write".to_owned()];
    let rules = Standard::new(Rules::Strict).with_presets(table);
    let store = open(Kind::Native, &stage.world.sim, rules, &Faults::default());
    let session = store.session("a").expect("the log loads");
    // The derivation ignores what is stored, and only a live append of it is refused.
    let world = World::new();
    let presets = PresetService::new(&world.plane, PresetTable::two_row(), COMPOSED, None);
    let current = presets.expect("composed").current(&session).await.expect("read");
    assert_eq!(current.to_string(), "workspace-write");
    let again = Draft::new("permission/preset", r#"{"preset":"lost"}"#);
    assert!(session.append([again], Durability::Synced).is_err());
    stage.is_sound();
}

#[tokio::test]
async fn pp_49_every_client_reads_one_projection() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    policy(&session, "never");
    let registry = Registry::new();
    let presets = stage.presets.clone();
    let _unit = registry.register(Unit::of(move || presets.projection())).expect("it is new");
    let header = crate::support::header("a");
    let board = Board::follow(&registry, &session, header).expect("the gate is free");
    let text = board.view("permissions").expect("it is registered");
    let of_board: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let of_service = stage.presets.view(&session).await.expect("read");
    for key in ["options", "currentValue", "sandbox", "approval"] {
        assert_eq!(of_board[key], of_service[key], "{key}");
    }
    let status = stage.presets.status(&session).await.expect("read");
    assert_eq!(status, "permission custom, sandbox workspace-write, approval never");
}

#[tokio::test]
async fn the_hosts_view_leaves_the_knobs_out() {
    for (profile, keys) in [
        (Profile::STRICT, vec!["options", "currentValue", "sandbox", "approval"]),
        (Profile::DSH, vec!["options", "currentValue"]),
    ] {
        let stage =
            Stage::with(World::of(Kind::Native, Rules::Strict, profile), PresetTable::shipped());
        let session = stage.world.session("a");
        let view = stage.presets.view(&session).await.expect("read");
        let there: Vec<_> = view.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(there, keys);
    }
}

#[tokio::test]
async fn pp_50_full_access_by_default_is_never_by_default() {
    // What a bundle derives from one variable: the mode, and `never` exactly under full access.
    for mode in SandboxMode::ALL {
        let composed = gatelog_interaction::preset::ComposedDefaults::of_mode(mode);
        assert_eq!(composed.executor_mode, Some(mode));
        let never = composed.approval == ApprovalPolicy::Never;
        assert_eq!(never, mode == SandboxMode::DangerFullAccess);
        let world = World::new();
        let presets = PresetService::new(&world.plane, PresetTable::shipped(), composed, None);
        let session = world.session("a");
        let current = presets.expect("each matches a row").current(&session).await.expect("read");
        assert_eq!(current.to_string(), mode.word());
    }
}
