//! Switches: S-100, S-102 to S-107.

use super::{Stage, chosen, fact, policy, row, triple};
use crate::support::World;
use gatelog_interaction::preset::{PresetError, PresetTable};
use gatelog_interaction::profile::Profile;
use gatelog_validator::board::{Board, Registry, Unit};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn twins() -> PresetTable {
    let rows = json!({"one": row("workspace-write", "ask"), "two": row("workspace-write", "ask")});
    PresetTable::from_config(&rows, &Profile::STRICT).expect("a table")
}

#[tokio::test]
async fn s_100_of_two_equal_rows_the_chosen_one_is_current_and_else_the_first() {
    let stage = Stage::with(World::new(), twins());
    let session = stage.world.session("a");
    assert_eq!(stage.current(&session).await, "one");
    chosen(&session, "two");
    assert_eq!(stage.current(&session).await, "two");
}

#[tokio::test]
async fn s_102_a_drifted_policy_is_mended_with_the_intent_and_nothing_else() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.presets.set(&session, "read-only").await.expect("set");
    policy(&session, "never");
    let before = stage.facts("a").len();
    stage.presets.set(&session, "read-only").await.expect("set");
    let added = [fact("permission/preset", "read-only"), fact("approval/policy", "ask")];
    assert_eq!(stage.facts("a")[before..], added);
    stage.is_sound();
}

#[tokio::test]
async fn s_103_what_the_knobs_derive_anyway_is_not_recorded() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.presets.set(&session, "workspace-write").await.expect("set");
    assert_eq!(stage.world.events("a"), []);
    stage.is_sound();
}

#[tokio::test]
async fn s_104_between_rows_that_share_both_knobs_only_the_intent_moves() {
    let stage = Stage::with(World::new(), twins());
    let session = stage.world.session("a");
    stage.presets.set(&session, "two").await.expect("set");
    stage.presets.set(&session, "one").await.expect("set");
    let intents = [fact("permission/preset", "two"), fact("permission/preset", "one")];
    assert_eq!(stage.facts("a"), intents);
    stage.is_sound();
}

#[tokio::test]
async fn s_105_a_switch_of_three_facts_is_heard_three_times() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let registry = Registry::new();
    let presets = stage.presets.clone();
    let _unit = registry.register(Unit::of(move || presets.projection())).expect("it is new");
    let header = crate::support::header("a");
    let board = Board::follow(&registry, &session, header).expect("the gate is free");
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&heard);
    board.subscribe(move |change| {
        let view: Value = serde_json::from_str(change.view.as_ref().expect("sound")).expect("JSON");
        kept.lock().expect("sound").push(view["currentValue"].to_string());
    });
    stage.presets.set(&session, "danger-full-access").await.expect("set");
    let heard = heard.lock().expect("sound").clone();
    assert_eq!(heard, ["\"workspace-write\"", "\"custom\"", "\"danger-full-access\""]);
    stage.is_sound();
}

#[tokio::test]
async fn s_106_custom_ends_the_list_while_it_is_current_and_goes_with_it() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    policy(&session, "never");
    let values = |view: &Value| -> Vec<String> {
        let options = view["options"].as_array().expect("a list").iter();
        options.map(|option| option["value"].as_str().expect("a word").to_owned()).collect()
    };
    let view = stage.presets.view(&session).await.expect("read");
    assert_eq!(view["currentValue"], "custom");
    assert_eq!(values(&view).last().map(String::as_str), Some("custom"));
    policy(&session, "ask");
    let view = stage.presets.view(&session).await.expect("read");
    assert_eq!(view["currentValue"], "workspace-write");
    assert!(!values(&view).contains(&"custom".to_owned()));
    stage.is_sound();
}

#[tokio::test]
async fn s_107_custom_cannot_be_chosen() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let error = stage.presets.set(&session, "custom").await.expect_err("it is no row");
    assert!(matches!(error, PresetError::Config(_)));
    assert_eq!(
        error.to_string(),
        "permission: unknown preset \"custom\" (known: read-only, workspace-write, \
         danger-full-access)"
    );
    assert_eq!(stage.world.events("a"), []);
    let _ = triple;
}
