//! Pins at creation: PP-35 to PP-39, PP-42, PP-43, S-095 to S-098.

use super::{COMPOSED, Kept, Stage, fact, triple};
use crate::support::{Kind, World, header};
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Init, Session};
use gatelog_interaction::approval::ApprovalPolicy;
use gatelog_interaction::preset::{
    ComposedDefaults, KEY, NAMESPACE, PresetService, PresetTable, Settings as _,
};
use gatelog_interaction::sandbox::SandboxMode;

/// Mounts the presets of a stage before any session is there.
fn mounted(stage: &Stage) {
    assert!(stage.presets.mount(&stage.world.store, Vec::new).is_empty());
}

fn create(
    world: &World,
    id: &str,
    init: impl FnOnce(&mut Init<'_>),
) -> Result<Session, AppendError> {
    world.store.create(id, &header(id), |begun| {
        init(begun);
        Ok(())
    })
}

fn seed() -> Draft {
    Draft::new("session/end-seed", "{}")
}

fn mode(word: &str) -> Draft {
    Draft::new("sandbox/mode", format!(r#"{{"mode":"{word}"}}"#))
}

fn policy(word: &str) -> Draft {
    Draft::new("approval/policy", format!(r#"{{"policy":"{word}"}}"#))
}

#[tokio::test]
async fn pp_35_a_fresh_session_gets_all_three_facts_of_the_default_as_it_is_set() {
    let stage = Stage::new();
    let settings = Kept::of("danger-full-access");
    stage.presets.set_settings(Some(settings)).expect("it is in the table");
    mounted(&stage);
    create(&stage.world, "a", |_| {}).expect("the session is new");
    assert_eq!(stage.facts("a"), triple("danger-full-access", "never"));
}

#[tokio::test]
async fn pp_36_a_session_with_the_mark_of_a_seed_keeps_the_composition() {
    let stage = Stage::new();
    let settings = Kept::of("danger-full-access");
    stage.presets.set_settings(Some(settings)).expect("it is in the table");
    mounted(&stage);
    create(&stage.world, "a", |init| init.append(seed())).expect("the session is new");
    assert_eq!(stage.facts("a"), triple("workspace-write", "ask"));
}

#[tokio::test]
async fn pp_37_a_session_that_has_some_facts_gains_only_the_others() {
    let stage = Stage::new();
    mounted(&stage);
    create(&stage.world, "a", |init| init.append(policy("never"))).expect("it is new");
    // The knobs match no row, so that no preset is recorded.
    assert_eq!(
        stage.facts("a"),
        [fact("approval/policy", "never"), fact("sandbox/mode", "workspace-write")]
    );
}

#[tokio::test]
async fn pp_38_the_preset_is_added_only_if_it_is_absent_and_not_custom_and_before_the_knobs() {
    let stage = Stage::new();
    mounted(&stage);
    create(&stage.world, "a", |init| init.append(mode("read-only"))).expect("it is new");
    assert_eq!(
        stage.facts("a"),
        [
            fact("sandbox/mode", "read-only"),
            fact("permission/preset", "read-only"),
            fact("approval/policy", "ask"),
        ]
    );
    create(&stage.world, "b", |init| {
        init.append(Draft::new("permission/preset", r#"{"preset":"read-only"}"#));
    })
    .expect("it is new");
    let presets = stage.facts("b").into_iter().filter(|(kind, _)| kind == "permission/preset");
    assert_eq!(presets.count(), 1, "what is there is not added again");
}

#[tokio::test]
async fn pp_39_missing_knobs_are_those_of_the_executor_and_of_the_composition() {
    let world = World::new();
    let composed = ComposedDefaults {
        executor_mode: Some(SandboxMode::ReadOnly),
        approval: ApprovalPolicy::Ask,
    };
    let presets = PresetService::new(&world.plane, PresetTable::shipped(), composed, None);
    let stage = Stage { presets: presets.expect("composed"), world };
    mounted(&stage);
    create(&stage.world, "a", |init| init.append(seed())).expect("it is new");
    assert_eq!(stage.facts("a"), triple("read-only", "ask"));
    let _ = COMPOSED;
}

#[tokio::test]
async fn pp_42_a_pin_that_fails_vetoes_the_session() {
    let stage = Stage::new();
    let settings = Kept::of("read-only");
    stage.presets.set_settings(Some(settings.clone())).expect("it is in the table");
    mounted(&stage);
    // The person's settings name what is not there by the time of the pin.
    settings.set(NAMESPACE, KEY, "nowhere").expect("memory takes all");
    let refused = create(&stage.world, "a", |_| {});
    let Err(AppendError::Refused(Refusal::Internal { what })) = refused else {
        panic!("{refused:?}")
    };
    assert!(what.starts_with("permission: unknown preset \"nowhere\""), "{what}");
    assert!(stage.world.store.list().expect("readable").is_empty());
}

#[tokio::test]
async fn pp_43_another_default_is_for_sessions_made_from_then_on() {
    let stage = Stage::new();
    stage.presets.set_settings(Some(Kept::of("read-only"))).expect("it is in the table");
    mounted(&stage);
    create(&stage.world, "a", |_| {}).expect("it is new");
    stage.presets.set_default("danger-full-access").expect("it is in the table");
    create(&stage.world, "b", |_| {}).expect("it is new");
    assert_eq!(stage.facts("a"), triple("read-only", "ask"));
    assert_eq!(stage.facts("b"), triple("danger-full-access", "never"));
}

#[tokio::test]
async fn s_095_a_new_session_begins_with_the_three_facts_of_the_settings() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        stage.presets.set_settings(Some(Kept::of("read-only"))).expect("it is in the table");
        mounted(&stage);
        create(&stage.world, "a", |_| {}).expect("it is new");
        let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
        assert_eq!(kinds, ["permission/preset", "sandbox/mode", "approval/policy"]);
        assert_eq!(stage.facts("a"), triple("read-only", "ask"));
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_096_an_empty_seed_pins_the_composition_and_not_the_newer_setting() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        stage.presets.set_settings(Some(Kept::of("read-only"))).expect("it is in the table");
        mounted(&stage);
        create(&stage.world, "a", |init| init.append(seed())).expect("it is new");
        assert_eq!(stage.facts("a"), triple("workspace-write", "ask"));
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_097_a_session_with_a_mode_gains_what_is_missing_and_a_preset_only_if_one_fits() {
    let stage = Stage::new();
    mounted(&stage);
    create(&stage.world, "a", |init| init.append(mode("read-only"))).expect("it is new");
    assert_eq!(
        stage.facts("a"),
        [
            fact("sandbox/mode", "read-only"),
            fact("permission/preset", "read-only"),
            fact("approval/policy", "ask"),
        ]
    );
    create(&stage.world, "b", |init| init.append(mode("danger-full-access"))).expect("it is new");
    assert_eq!(
        stage.facts("b"),
        [fact("sandbox/mode", "danger-full-access"), fact("approval/policy", "ask")],
        "full access with questions is custom"
    );
    stage.is_sound();
}

#[tokio::test]
async fn s_098_a_setting_changes_what_comes_and_not_what_is() {
    let stage = Stage::new();
    stage.presets.set_settings(Some(Kept::of("read-only"))).expect("it is in the table");
    mounted(&stage);
    let first = create(&stage.world, "x", |_| {}).expect("it is new");
    let before = stage.world.events("x");
    stage.presets.set_default("workspace-write").expect("it is in the table");
    create(&stage.world, "y", |_| {}).expect("it is new");
    assert_eq!(stage.world.events("x"), before);
    assert_eq!(stage.current(&first).await, "read-only");
    assert_eq!(stage.facts("y"), triple("workspace-write", "ask"));
    stage.is_sound();
}
