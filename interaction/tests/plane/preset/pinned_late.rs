//! Pins of sessions that were there before the service: PP-40, PP-41, S-112, S-113, S-196.

use super::{Kept, Stage, fact, triple};
use crate::support::World;
use gatelog_engine::store::Session;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Barrier, Mutex};

#[tokio::test]
async fn pp_40_a_pin_is_in_the_first_batch_and_older_sessions_are_swept() {
    let stage = Stage::new();
    let old = stage.world.session("old");
    let failed = stage.presets.mount(&stage.world.store, || vec![old.clone()]);
    assert!(failed.is_empty(), "{failed:?}");
    stage.world.session("new");
    for id in ["old", "new"] {
        assert_eq!(stage.facts(id), triple("workspace-write", "ask"), "{id}");
    }
    // Nobody ever saw the new one without its facts: they are one batch with its creation.
    let mut batches = Vec::new();
    let read = stage.world.store.read("new", 0, &mut |event| {
        batches.push(event.batch_first_seq);
        std::ops::ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    assert_eq!(batches, [0, 0, 0]);
}

#[tokio::test]
async fn pp_41_the_subscription_is_there_before_the_sweep_looks() {
    let stage = Stage::new();
    let store = Arc::clone(&stage.world.store);
    let between = Mutex::new(None);
    stage.presets.mount(&stage.world.store, || {
        // A session that is made while the sweep gathers its own.
        let header = crate::support::header("between");
        let made = store.create("between", &header, |_| Ok(())).expect("it is new");
        *between.lock().expect("sound") = Some(made);
        Vec::new()
    });
    assert_eq!(stage.facts("between"), triple("workspace-write", "ask"));
}

#[tokio::test]
async fn s_196_a_session_that_was_live_before_gets_the_setting_of_the_moment() {
    let stage = Stage::new();
    let settings = Kept::of("read-only");
    let session = stage.world.session("a");
    stage.presets.set_settings(Some(settings)).expect("it is in the table");
    stage.presets.set_default("danger-full-access").expect("it is in the table");
    stage.presets.mount(&stage.world.store, || vec![session.clone()]);
    assert_eq!(stage.facts("a"), triple("danger-full-access", "never"));
    assert!(stage.presets.adopt(&session).await.expect("it has all").is_empty());
    stage.is_sound();
}

#[tokio::test]
async fn s_112_without_the_service_the_last_knobs_still_rule() {
    let stage = Stage::new();
    let live = stage.world.in_turn("a");
    let session = live.agent().session();
    stage.presets.set(session, "danger-full-access").await.expect("set");
    let Stage { world, presets } = stage;
    drop(presets);
    let approvals = ApprovalService::new(&world.plane, None);
    let outcome = approvals.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(outcome.expect("decided"), ApprovalOutcome::Rejected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_113_whenever_the_service_comes_each_session_is_pinned_once() {
    for round in 0..20 {
        let stage = Stage::with(World::new(), gatelog_interaction::preset::PresetTable::shipped());
        let live: Arc<Mutex<BTreeMap<String, Session>>> = Arc::default();
        let start = Arc::new(Barrier::new(3));
        let makers = (0..2).map(|maker| {
            let (store, live, start) =
                (Arc::clone(&stage.world.store), Arc::clone(&live), Arc::clone(&start));
            std::thread::spawn(move || {
                start.wait();
                for n in 0..6 {
                    let id = format!("{maker}-{n}");
                    let header = crate::support::header(&id);
                    let session = store.create(&id, &header, |_| Ok(())).expect("it is new");
                    live.lock().expect("sound").insert(id, session);
                }
            })
        });
        let makers: Vec<_> = makers.collect();
        start.wait();
        let of_store = || {
            let all = stage.world.store.list().expect("readable");
            let open =
                |info: gatelog_engine::backend::SessionInfo| stage.world.store.session(&info.id);
            all.into_iter().map(|info| open(info).expect("it is there")).collect()
        };
        let failed = stage.presets.mount(&stage.world.store, of_store);
        assert!(failed.is_empty(), "{failed:?}");
        for maker in makers {
            maker.join().expect("no panic");
        }
        for id in live.lock().expect("sound").keys() {
            assert_eq!(stage.facts(id), triple("workspace-write", "ask"), "round {round}, {id}");
        }
    }
}

#[tokio::test]
async fn a_live_session_with_a_drifted_knob_keeps_it() {
    let stage = Stage::new();
    let session = stage.world.session("a");
    super::policy(&session, "never");
    let written = stage.presets.adopt(&session).await.expect("written");
    assert_eq!((written.preset, written.approval), (None, None));
    assert_eq!(
        stage.facts("a"),
        [fact("approval/policy", "never"), fact("sandbox/mode", "workspace-write")]
    );
}
