//! Who may register where.

use crate::waterfall::scene::{Scene, Trace};
use gatelog_interaction::chain::Place;
use gatelog_interaction::scope::{Authority, RegisterError};

#[tokio::test(start_paused = true)]
async fn aw_24_a_scoped_composition_registers_in_its_own_scope_only() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let own = live.agent().scope();
    let registrar = scene.service.registrar(Authority::Within(own.clone()));
    let _own = registrar.scoped(own, Place::Last, trace.passes("own")).expect("its own");
    for foreign in [scene.world.root.clone(), own.child("below").expect("three deep")] {
        let refused = registrar.scoped(&foreign, Place::Last, trace.passes("foreign"));
        let wanted = foreign.label().to_owned();
        let expected = RegisterError::ForeignScope { scope: "a".to_owned(), wanted };
        assert_eq!(refused.map(drop), Err(expected));
    }
    let refused = registrar.global(Place::First, trace.passes("global"));
    assert_eq!(refused.map(drop), Err(RegisterError::NotGlobal { scope: "a".to_owned() }));
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["own"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_053_a_refused_registration_changes_nothing() {
    let scene = Scene::new();
    let (live, other) = (scene.world.in_turn("a"), scene.world.in_turn("b"));
    let trace = Trace::default();
    let _kept = scene.all.global(Place::Last, trace.passes("kept")).expect("root");
    let registrar = scene.service.registrar(Authority::Within(live.agent().scope().clone()));
    let global = registrar.global(Place::First, trace.passes("global"));
    let foreign = registrar.scoped(other.agent().scope(), Place::First, trace.passes("foreign"));
    assert!(global.is_err() && foreign.is_err());
    for asking in [&live, &other] {
        scene.unanswered(asking).await;
        assert_eq!(trace.take(), ["kept"]);
    }
    scene.close(&live);
}
