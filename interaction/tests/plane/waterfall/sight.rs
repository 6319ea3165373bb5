//! Which listeners see which requests.

use crate::waterfall::scene::{Scene, Trace};
use gatelog_interaction::agent::{Agent, LiveAgent, NoticeQueue};
use gatelog_interaction::approval::{ApprovalError, ApprovalOutcome, ApprovalRequest};
use gatelog_interaction::chain::{Place, Registration};
use gatelog_interaction::scope::Scope;
use std::sync::Arc;

/// A live agent in a scope of the test's choice, whose turn is open.
fn in_scope(scene: &Scene, id: &str, scope: &Scope) -> LiveAgent {
    let session = scene.world.session(id);
    crate::support::start_turn(&session, 1);
    let agent = Agent::new(id, session, scope.clone(), Arc::new(NoticeQueue::default()));
    scene.world.agents.enter(agent, None)
}

fn scoped(scene: &Scene, trace: &Trace, scope: &Scope, name: &'static str) -> Registration {
    scene.all.scoped(scope, Place::Last, trace.passes(name)).expect("root may do all")
}

fn global(scene: &Scene, trace: &Trace, name: &'static str) -> Registration {
    scene.all.global(Place::Last, trace.passes(name)).expect("root may do all")
}

#[tokio::test(start_paused = true)]
async fn aw_07_a_global_listener_sees_every_agent() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (one, other) = (scene.world.in_turn("a"), scene.world.in_turn("b"));
    let _all = global(&scene, &trace, "all");
    scene.unanswered(&one).await;
    scene.unanswered(&other).await;
    assert_eq!(trace.take(), ["all", "all"]);
}

#[tokio::test(start_paused = true)]
async fn aw_08_a_scoped_listener_sees_its_scope_and_all_below() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let parent = scene.world.root.child("parent").expect("two deep");
    let child = parent.child("child").expect("three deep");
    let grandchild = child.child("grandchild").expect("four deep");
    let _seen = scoped(&scene, &trace, &parent, "parent");
    for (id, scope) in [("p", &parent), ("c", &child), ("g", &grandchild)] {
        let live = in_scope(&scene, id, scope);
        scene.unanswered(&live).await;
        assert_eq!(trace.take(), ["parent"], "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn aw_09_requests_go_up_and_never_down() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let child = scene.world.root.child("child").expect("two deep");
    let _below = scoped(&scene, &trace, &child, "below");
    let live = in_scope(&scene, "a", &scene.world.root);
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn aw_10_a_foreign_scope_sees_nothing() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (one, other) = (scene.world.in_turn("a"), scene.world.in_turn("b"));
    let _foreign = scoped(&scene, &trace, other.agent().scope(), "foreign");
    let _sibling_below = {
        let below = other.agent().scope().child("below").expect("three deep");
        scoped(&scene, &trace, &below, "below the foreign")
    };
    assert_eq!(scene.outcome(&one).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn aw_11_scopes_match_by_identity() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (one, other) = (Scope::new("same"), Scope::new("same"));
    let _other = scoped(&scene, &trace, &other, "other");
    let live = in_scope(&scene, "a", &one);
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), [""; 0]);
    let _one = scoped(&scene, &trace, &one.clone(), "one");
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn aw_12_a_request_is_dispatched_for_its_own_agent_only() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (one, other) = (scene.world.in_turn("a"), scene.world.in_turn("b"));
    let _all = global(&scene, &trace, "all");
    let foreign = Arc::new(other.agent().scope().lease());
    let request = ApprovalRequest::new(one.agent(), "bash").with_lease(foreign);
    let refused = scene.request(request).await.expect("it does not panic");
    assert!(matches!(refused, Err(ApprovalError::ForeignLease)), "{refused:?}");
    let request =
        ApprovalRequest::new(one.agent(), "bash").in_session(other.agent().session().clone());
    let refused = scene.request(request).await.expect("it does not panic");
    assert!(matches!(refused, Err(ApprovalError::StaleAgent(_))), "{refused:?}");
    assert_eq!(trace.take(), [""; 0], "nobody is asked");
    assert_eq!((scene.decided("a"), scene.decided("b")), (vec![], vec![]), "nothing is logged");
    scene.close(&one);
}

/// The set-up of S-038: a global listener, a scoped one, a global one, a scoped one.
fn four(scene: &Scene, trace: &Trace, scope: &Scope) -> [Registration; 4] {
    [
        global(scene, trace, "g1"),
        scoped(scene, trace, scope, "s1"),
        global(scene, trace, "g2"),
        scoped(scene, trace, scope, "s2"),
    ]
}

#[tokio::test(start_paused = true)]
async fn s_038_global_and_scoped_listeners_stand_in_one_line() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let live = scene.world.in_turn("a");
    let _four = four(&scene, &trace, live.agent().scope());
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["g1", "s1", "g2", "s2"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_039_another_agent_is_seen_by_the_global_ones_only() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (live, other) = (scene.world.agent("a"), scene.world.in_turn("b"));
    let _four = four(&scene, &trace, live.agent().scope());
    scene.unanswered(&other).await;
    assert_eq!(trace.take(), ["g1", "g2"]);
    scene.close(&other);
}

#[tokio::test(start_paused = true)]
async fn s_040_a_parents_listener_runs_for_the_childs_agent() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let parent = scene.world.root.child("parent").expect("two deep");
    let child = parent.child("child").expect("three deep");
    let _parents = scoped(&scene, &trace, &parent, "parents");
    let live = in_scope(&scene, "a", &child);
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["parents"]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_041_a_childs_listener_does_not_run_for_the_parents_agent() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let parent = scene.world.root.child("parent").expect("two deep");
    let child = parent.child("child").expect("three deep");
    let _childs = scoped(&scene, &trace, &child, "childs");
    let live = in_scope(&scene, "a", &parent);
    assert_eq!(scene.outcome(&live).await, ApprovalOutcome::Unavailable);
    assert_eq!(trace.take(), [""; 0]);
    scene.close(&live);
}

#[tokio::test(start_paused = true)]
async fn s_042_of_two_scopes_with_one_name_only_the_very_one_is_asked() {
    let (scene, trace) = (Scene::new(), Trace::default());
    let (one, other) = (Scope::new("same"), Scope::new("same"));
    let _other = scoped(&scene, &trace, &other, "other");
    let _one = scoped(&scene, &trace, &one, "one");
    let (live, second) = (in_scope(&scene, "a", &one), in_scope(&scene, "b", &other));
    scene.unanswered(&live).await;
    assert_eq!(trace.take(), ["one"]);
    scene.unanswered(&second).await;
    assert_eq!(trace.take(), ["other"]);
    scene.close(&live);
}
