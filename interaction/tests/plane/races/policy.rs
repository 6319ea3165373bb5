//! Asking and switching the policy, at once.

use super::{Numbers, by_tool, held, spin};
use crate::support::{Kind, World};
use crate::waterfall::scene::{Scene, Trace, one, soon, told};
use gatelog_engine::backend::AppendError;
use gatelog_engine::store::Session;
use gatelog_interaction::approval::{
    ApprovalOutcome, ApprovalPolicy, ApprovalPort, ApprovalRequest, KnobSource,
};
use gatelog_interaction::chain::Place;
use std::collections::BTreeMap;
use tokio::task::JoinHandle;

fn switching(
    scene: &Scene,
    session: &Session,
    policy: ApprovalPolicy,
) -> JoinHandle<Result<u64, AppendError>> {
    let (service, session) = (scene.service.clone(), session.clone());
    tokio::spawn(
        async move { service.set_session_policy(&session, policy, KnobSource::User).await },
    )
}

#[tokio::test]
async fn s_072_a_switch_before_the_question_decides_it() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let trace = Trace::default();
        let allows = trace.says("allows", ApprovalOutcome::AllowedOnce);
        let _allows = scene.all.global(Place::Last, allows).expect("root");
        scene.world.faults.hold("approval/policy");
        let switching = switching(&scene, live.agent().session(), ApprovalPolicy::Never);
        held(&scene.world.faults).await;
        let asked = scene.ask(&live);
        tokio::task::yield_now().await;
        scene.world.faults.release();
        soon(switching).await.expect("it does not panic").expect("the log is sound");
        assert_eq!(told(asked).await, ApprovalOutcome::Rejected);
        assert_eq!(trace.take(), [""; 0], "nobody is asked");
        assert_eq!(scene.decided("a"), one(ApprovalOutcome::Rejected));
        scene.close(&live);
    }
}

#[tokio::test]
async fn s_072_a_switch_behind_the_question_does_not_decide_it() {
    for kind in Kind::ALL {
        let scene = Scene::of(kind);
        let live = scene.world.in_turn("a");
        let trace = Trace::default();
        let allows = trace.says("allows", ApprovalOutcome::AllowedOnce);
        let _allows = scene.all.global(Place::Last, allows).expect("root");
        scene.world.faults.hold("approval/asked");
        let asked = scene.ask(&live);
        held(&scene.world.faults).await;
        let switching = switching(&scene, live.agent().session(), ApprovalPolicy::Never);
        tokio::task::yield_now().await;
        scene.world.faults.release();
        assert_eq!(told(asked).await, ApprovalOutcome::AllowedOnce);
        soon(switching).await.expect("it does not panic").expect("the log is sound");
        assert_eq!(trace.take(), ["allows"]);
        let kinds: Vec<_> =
            scene.world.events_of("a", "approval/").into_iter().map(|seen| seen.kind).collect();
        let switch = kinds.iter().position(|kind| kind == "approval/policy");
        assert!(switch > Some(0), "the question was first: {kinds:?}");
        scene.close(&live);
    }
}

/// What every question must have come to, by the policy that the log says at that place.
fn by_policy(world: &World, session: &str) -> BTreeMap<String, Option<ApprovalOutcome>> {
    let mut policy = ApprovalPolicy::Ask;
    let mut expected = BTreeMap::new();
    for seen in world.events_of(session, "approval/") {
        if seen.kind == "approval/policy" {
            policy =
                ApprovalPolicy::of(seen.data["policy"].as_str().expect("a word")).expect("one");
        } else if seen.kind == "approval/asked" {
            let outcome = match policy {
                ApprovalPolicy::Ask => ApprovalOutcome::AllowedOnce,
                ApprovalPolicy::Never => ApprovalOutcome::Rejected,
            };
            expected.insert(seen.data["toolName"].as_str().expect("a name").into(), Some(outcome));
        }
    }
    expected
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_072_questions_are_treated_by_the_policy_at_their_place_in_the_log() {
    let scene = Scene::new();
    let live = scene.world.in_turn("a");
    let trace = Trace::default();
    let allows = trace.says("allows", ApprovalOutcome::AllowedOnce);
    let _allows = scene.all.global(Place::Last, allows).expect("root");
    let session = live.agent().session();
    for round in 0..80 {
        let mut numbers = Numbers(round);
        let asking: Vec<_> = (0..2)
            .map(|ask| {
                let request = ApprovalRequest::new(live.agent(), format!("{round}-{ask}"));
                let (service, turns) = (scene.service.clone(), numbers.below(10_000));
                tokio::spawn(async move {
                    spin(turns);
                    service.request(request).await
                })
            })
            .collect();
        spin(numbers.below(10_000));
        let policy = ApprovalPolicy::ALL[usize::from(round % 2 == 0)];
        let switched = soon(switching(&scene, session, policy)).await;
        switched.expect("it does not panic").expect("the log is sound");
        for asked in asking {
            assert!(
                [ApprovalOutcome::AllowedOnce, ApprovalOutcome::Rejected]
                    .contains(&told(asked).await)
            );
        }
    }
    let decided = by_tool(&scene.world, "a");
    assert_eq!(decided, by_policy(&scene.world, "a"));
    let allowed =
        decided.values().filter(|outcome| **outcome == Some(ApprovalOutcome::AllowedOnce));
    assert_eq!(trace.take().len(), allowed.count(), "who was rejected was not asked for");
    scene.close(&live);
}
