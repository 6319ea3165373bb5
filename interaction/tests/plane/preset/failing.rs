//! Appends of a switch and of a pin that fail: S-086, S-087, S-093.

use super::{Stage, triple};
use crate::support::{Kind, header};
use gatelog_engine::backend::AppendError;
use gatelog_interaction::preset::{PresetError, Switched};

async fn failed(stage: &Stage, kind: &str) -> (Switched, gatelog_engine::store::Session) {
    let session = stage.world.session("a");
    stage.world.faults.fail(kind);
    let failed = stage.presets.set(&session, "danger-full-access").await;
    let Err(PresetError::Append { written, source }) = failed else { panic!("{failed:?}") };
    assert!(matches!(source, AppendError::NotWritten(_)));
    (written, session)
}

#[tokio::test]
async fn a_first_append_that_fails_leaves_nothing() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        let (written, session) = failed(&stage, "permission/preset").await;
        assert!(written.is_empty());
        assert_eq!(stage.facts("a"), vec![]);
        assert_eq!(stage.current(&session).await, "workspace-write");
    }
}

#[tokio::test]
async fn s_086_a_second_append_that_fails_leaves_the_intent_and_the_old_knobs() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        let (written, session) = failed(&stage, "sandbox/mode").await;
        assert_eq!(written, Switched { preset: Some(0), sandbox: None, approval: None });
        assert_eq!(stage.facts("a"), triple("danger-full-access", "never")[..1]);
        assert_eq!(stage.current(&session).await, "workspace-write", "from the old knobs");
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_087_a_third_append_that_fails_is_made_up_for_by_the_same_choice() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        let (written, session) = failed(&stage, "approval/policy").await;
        assert_eq!(written, Switched { preset: Some(0), sandbox: Some(1), approval: None });
        assert_eq!(stage.facts("a"), triple("danger-full-access", "never")[..2]);
        assert_eq!(stage.current(&session).await, "custom");
        let again = stage.presets.set(&session, "danger-full-access").await.expect("written");
        // The current preset is not the target, so the intent is recorded again, and the policy.
        assert_eq!(again.sandbox, None);
        assert!(again.approval.is_some());
        assert_eq!(stage.current(&session).await, "danger-full-access");
        stage.is_sound();
    }
}

#[tokio::test]
async fn s_093_a_pin_that_is_not_written_makes_no_session() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind);
        stage.presets.mount(&stage.world.store, Vec::new);
        stage.world.faults.fail("permission/preset");
        let refused = stage.world.store.create("a", &header("a"), |_| Ok(()));
        assert!(matches!(refused, Err(AppendError::NotWritten(_))), "{refused:?}");
        assert!(stage.world.store.list().expect("readable").is_empty());
        assert!(stage.world.store.session("a").is_err());
        stage.world.session("a");
        assert_eq!(stage.facts("a"), triple("workspace-write", "ask"));
        stage.is_sound();
    }
}

#[tokio::test]
async fn a_late_pin_that_fails_is_reported_and_can_be_tried_again() {
    use gatelog_interaction::internal::Site;
    let stage = Stage::new();
    let session = stage.world.session("a");
    stage.world.faults.fail("sandbox/mode");
    let failed = stage.presets.mount(&stage.world.store, || vec![session.clone()]);
    assert_eq!(failed.len(), 1);
    let told = stage.world.sink.at(Site::Adoption);
    assert_eq!(told.first().and_then(|told| told.session.as_deref()), Some("a"));
    stage.presets.adopt(&session).await.expect("written");
    assert_eq!(stage.facts("a"), triple("workspace-write", "ask"));
}
