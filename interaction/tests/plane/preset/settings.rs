//! A person's own default: PP-44 to PP-46, S-099.

use super::{Kept, Stage, triple};
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::preset::{SettingError, Settings};
use std::sync::Arc;

#[tokio::test]
async fn pp_44_only_names_of_the_table_are_kept() {
    let stage = Stage::new();
    let settings = Kept::of("read-only");
    stage.presets.set_settings(Some(settings.clone())).expect("it is in the table");
    let error = stage.presets.set_default("nowhere").expect_err("it is no row");
    assert!(matches!(error, SettingError::Unknown(_)), "{error}");
    assert_eq!(settings.value().as_deref(), Some("read-only"));
    stage.presets.set_default("danger-full-access").expect("it is in the table");
    assert_eq!(settings.value().as_deref(), Some("danger-full-access"));
}

#[tokio::test]
async fn s_099_an_update_that_names_no_preset_is_refused_and_the_old_value_stays() {
    let stage = Stage::new();
    let settings = Kept::of("read-only");
    stage.presets.set_settings(Some(settings.clone())).expect("it is in the table");
    for name in ["custom", "", "Read-Only"] {
        assert!(stage.presets.set_default(name).is_err(), "{name:?}");
        assert_eq!(settings.value().as_deref(), Some("read-only"));
    }
    stage.presets.mount(&stage.world.store, Vec::new);
    stage.world.session("a");
    assert_eq!(stage.facts("a"), triple("read-only", "ask"));
    stage.is_sound();
}

#[tokio::test]
async fn pp_45_a_stored_default_that_the_table_lost_keeps_the_settings_out() {
    let stage = Stage::new();
    let lost = stage.presets.set_settings(Some(Kept::of("lost")));
    let text = lost.expect_err("it is no row").to_string();
    assert_eq!(
        text,
        "permission: unknown preset \"lost\" (known: read-only, workspace-write, \
         danger-full-access)"
    );
    // They are not used: what is composed is the default.
    stage.presets.mount(&stage.world.store, Vec::new);
    stage.world.session("a");
    assert_eq!(stage.facts("a"), triple("workspace-write", "ask"));
}

#[tokio::test]
async fn pp_46_without_settings_the_composition_is_the_default() {
    let stage = Stage::new();
    stage.presets.set_settings(Some(Kept::of("read-only"))).expect("it is in the table");
    stage.presets.mount(&stage.world.store, Vec::new);
    stage.world.session("a");
    stage.presets.set_settings(None).expect("nothing to look at");
    stage.world.session("b");
    assert_eq!(stage.facts("a"), triple("read-only", "ask"));
    assert_eq!(stage.facts("b"), triple("workspace-write", "ask"));
    assert!(matches!(stage.presets.set_default("read-only"), Err(SettingError::NotKept(_))));
}

/// Settings that cannot be read.
struct Broken;

impl Settings for Broken {
    fn get(&self, _: &str, _: &str) -> Result<Option<String>, BoxError> {
        Err("the file is gone".into())
    }

    fn set(&self, _: &str, _: &str, _: &str) -> Result<(), BoxError> {
        Err("the file is gone".into())
    }
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_an_error_and_no_default() {
    let stage = Stage::new();
    let error = stage.presets.set_settings(Some(Arc::new(Broken))).expect_err("unreadable");
    assert!(error.to_string().contains("the file is gone"), "{error}");
}
