//! How a session gets another preset: PP-20 to PP-30.

use super::{Stage, chosen, fact, mode, policy, row, triple};
use crate::support::World;
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::preset::{PresetError, PresetTable, Switched};
use gatelog_interaction::profile::Profile;
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn pp_20_an_unknown_name_fails_before_any_write() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let error = stage.presets.set(&session, "nowhere").await.expect_err("it is no row");
    assert!(matches!(error, PresetError::Config(_)));
    assert_eq!(stage.world.events("a"), []);
}

#[tokio::test]
async fn pp_21_the_intent_is_written_only_where_the_current_preset_is_another() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    assert_eq!(stage.presets.set(&session, "workspace-write").await.expect("set").preset, None);
    assert!(stage.presets.set(&session, "read-only").await.expect("set").preset.is_some());
    assert_eq!(stage.presets.set(&session, "read-only").await.expect("set").preset, None);
}

#[tokio::test]
async fn pp_22_a_knob_is_written_only_where_it_differs() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let written = stage.presets.set(&session, "read-only").await.expect("set");
    assert!(written.sandbox.is_some());
    assert_eq!(written.approval, None, "both presets ask");
    let facts = [fact("permission/preset", "read-only"), fact("sandbox/mode", "read-only")];
    assert_eq!(stage.facts("a"), facts);
}

#[tokio::test]
async fn pp_23_the_order_is_intent_sandbox_approval() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let written = stage.presets.set(&session, "danger-full-access").await.expect("set");
    assert_eq!(stage.facts("a"), triple("danger-full-access", "never"));
    let seqs = Switched { preset: Some(0), sandbox: Some(1), approval: Some(2) };
    assert_eq!(written, seqs);
    stage.is_sound();
}

#[tokio::test]
async fn pp_24_choosing_what_is_in_force_writes_nothing() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.presets.set(&session, "read-only").await.expect("set");
    let before = stage.world.events("a");
    assert!(stage.presets.set(&session, "read-only").await.expect("set").is_empty());
    assert_eq!(stage.world.events("a"), before);
}

#[tokio::test]
async fn pp_25_choosing_again_behind_a_drift_records_it_and_mends_the_knob() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.presets.set(&session, "read-only").await.expect("set");
    policy(&session, "never");
    let written = stage.presets.set(&session, "read-only").await.expect("set");
    assert!(written.preset.is_some() && written.approval.is_some());
    assert_eq!(written.sandbox, None);
    assert_eq!(stage.current(&session).await, "read-only");
}

#[tokio::test]
async fn pp_26_between_presets_of_one_bundle_only_the_intent_is_written() {
    let rows = json!({"one": row("workspace-write", "ask"), "two": row("workspace-write", "ask")});
    let table = PresetTable::from_config(&rows, &Profile::STRICT).expect("a table");
    let stage = Stage::with(World::new(), table);
    let session = stage.world.session("a");
    stage.presets.set(&session, "two").await.expect("set");
    assert_eq!(stage.facts("a"), [fact("permission/preset", "two")]);
}

#[tokio::test]
async fn pp_27_choosing_what_the_table_derives_anyway_records_no_intent() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    assert!(stage.presets.set(&session, "workspace-write").await.expect("set").is_empty());
    assert_eq!(stage.world.events("a"), []);
}

#[tokio::test]
async fn pp_28_an_append_that_fails_leaves_what_stands_before_it() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.world.faults.fail("approval/policy");
    let failed = stage.presets.set(&session, "danger-full-access").await;
    let Err(PresetError::Append { written, .. }) = failed else { panic!("{failed:?}") };
    assert_eq!(written, Switched { preset: Some(0), sandbox: Some(1), approval: None });
    assert_eq!(stage.facts("a"), triple("danger-full-access", "never")[..2]);
}

#[tokio::test]
async fn pp_29_a_switch_holds_the_gate_from_its_first_append_to_its_last() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.world.faults.hold("sandbox/mode");
    let (presets, of) = (stage.presets.clone(), session.clone());
    let switching = tokio::spawn(async move { presets.set(&of, "danger-full-access").await });
    while stage.world.faults.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    // Somebody else wants to append between the intent and the knobs.
    let other = session.clone();
    let appending = std::thread::spawn(move || super::policy(&other, "ask"));
    stage.world.faults.release();
    switching.await.expect("no panic").expect("written");
    appending.join().expect("the gate is free in the end");
    let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
    let switch = ["permission/preset", "sandbox/mode", "approval/policy"];
    assert_eq!(kinds[..3], switch, "nothing came between");
    assert_eq!(kinds[3], "approval/policy", "the other one had to wait");
    assert_eq!(kinds.len(), 4);
}

#[tokio::test]
async fn pp_30_the_service_tells_nobody_and_a_person_tells_the_model() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    let notices = Arc::new(NoticeQueue::default());
    let scope = stage.world.root.child("a").expect("two deep");
    let agent = Agent::new("a", session.clone(), scope, notices.clone());
    let live = stage.world.agents.enter(agent, None);
    stage.presets.set(&session, "danger-full-access").await.expect("set");
    assert_eq!(notices.take(), vec![]);
    stage.presets.select_for(live.agent(), "read-only").await.expect("set");
    let texts: Vec<_> = notices.take().into_iter().map(|notice| notice.text).collect();
    let text = r#"The approval policy changed from "never" to "ask" (changed by the user)."#;
    assert_eq!(texts, [text]);
    stage.presets.select_for(live.agent(), "workspace-write").await.expect("set");
    assert_eq!(notices.take(), vec![], "the policy did not change");
}

#[tokio::test]
async fn a_choice_that_was_recorded_and_drifted_is_custom_or_another_row() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    chosen(&session, "read-only");
    mode(&session, "read-only");
    assert_eq!(stage.current(&session).await, "read-only");
    mode(&session, "danger-full-access");
    assert_eq!(stage.current(&session).await, "custom");
}
