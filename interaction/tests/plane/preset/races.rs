//! Two who switch at once: S-071.

use super::{Stage, fact};
use gatelog_interaction::approval::{ApprovalPolicy, ApprovalService, KnobSource};

/// The runs of events in a log: each begins with an intent.
fn runs(facts: &[(String, String)]) -> Vec<Vec<(String, String)>> {
    let mut runs: Vec<Vec<(String, String)>> = Vec::new();
    for fact in facts {
        if fact.0 == "permission/preset" {
            runs.push(Vec::new());
        }
        runs.last_mut().expect("a switch begins with its intent").push(fact.clone());
    }
    runs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_071_two_switches_are_two_runs_and_the_last_intent_is_what_is_in_force() {
    for round in 0..60 {
        let stage = Stage::new();
        let session = stage.world.session("a");
        let names = ["read-only", "danger-full-access"];
        let switching = names.map(|name| {
            let (presets, session) = (stage.presets.clone(), session.clone());
            tokio::spawn(async move { presets.set(&session, name).await })
        });
        for switching in switching {
            switching.await.expect("no panic").expect("written");
        }
        let facts = stage.facts("a");
        for run in runs(&facts) {
            let kinds: Vec<_> = run.iter().map(|(kind, _)| kind.as_str()).collect();
            let order = ["permission/preset", "sandbox/mode", "approval/policy"];
            let ranks: Vec<_> =
                kinds.iter().map(|kind| order.iter().position(|it| it == kind)).collect();
            assert!(ranks.is_sorted(), "round {round}: {facts:?}");
            // All of a run is of one preset.
            let full = run[0].1 == "danger-full-access";
            let of_it = |(kind, word): &(String, String)| match kind.as_str() {
                "approval/policy" => (word == "never") == full,
                _ => *word == run[0].1,
            };
            assert!(run.iter().all(of_it), "round {round}: {facts:?}");
        }
        let last = facts.iter().rev().find(|(kind, _)| kind == "permission/preset");
        assert_eq!(stage.current(&session).await, last.expect("there is one").1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_policy_that_is_set_meanwhile_stands_before_or_behind_a_switch() {
    for _ in 0..40 {
        let stage = Stage::new();
        let session = stage.world.session("a");
        let approvals = ApprovalService::new(&stage.world.plane, None);
        let (presets, of) = (stage.presets.clone(), session.clone());
        let switching = tokio::spawn(async move { presets.set(&of, "danger-full-access").await });
        let set = approvals.set_session_policy(&session, ApprovalPolicy::Ask, KnobSource::User);
        set.await.expect("written");
        switching.await.expect("no panic").expect("written");
        let facts = stage.facts("a");
        let at = facts.iter().position(|it| *it == fact("approval/policy", "ask"));
        assert!(at == Some(0) || at == Some(3), "{facts:?}");
    }
}
