//! The calls of a step: TP-24, TP-25, S-175.

use super::{ABORTED, Stage, is_dispatched, refused};
use gatelog_interaction::approval::{Approval, ApprovalOutcome};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::Place;
use gatelog_interaction::scope::Authority;
use gatelog_interaction::tool::ToolCall;

fn calls(stage: &Stage, cancel: &Cancel) -> Vec<ToolCall> {
    let agent = stage.live.agent();
    let call = |id: &str| {
        ToolCall::new(agent.session(), "shell", id.to_owned(), "{}").by(agent).until(cancel.clone())
    };
    ["c1", "c2", "c3"].map(call).into()
}

#[tokio::test]
async fn tp_24_asks_come_in_the_models_order_one_at_a_time() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let (listener, mut script) = crate::support::script::<Approval>();
    let registrar = stage.approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    let (seam, calls) = (stage.seam.clone(), calls(&stage, &Cancel::new()));
    let deciding = tokio::spawn(async move { seam.decide_step(calls).await });
    for id in ["c1", "c2", "c3"] {
        let called = script.called().await;
        assert_eq!(called.ask.request().call_id(), Some(id));
        assert!(script.try_called().is_none(), "the next one waits");
        called.reply(Ok(ApprovalOutcome::AllowedOnce.into()));
    }
    deciding.await.expect("no panic").iter().for_each(is_dispatched);
    let kinds: Vec<_> =
        stage.world.events_of("a", "approval/").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["approval/asked", "approval/decided"].repeat(3));
}

/// A step of three, the second of which is taken back while it waits.
async fn second_is_cancelled(stage: &Stage) -> Vec<gatelog_interaction::tool::Verdict> {
    let (listener, mut script) = crate::support::script::<Approval>();
    let registrar = stage.approvals.registrar(Authority::Root);
    let _guard = registrar.global(Place::Last, listener).expect("root may");
    let cancel = Cancel::new();
    let (seam, calls) = (stage.seam.clone(), calls(stage, &cancel));
    let deciding = tokio::spawn(async move { seam.decide_step(calls).await });
    script.called().await.reply(Ok(ApprovalOutcome::AllowedOnce.into()));
    let _held = script.called().await;
    cancel.cancel();
    deciding.await.expect("no panic")
}

#[tokio::test]
async fn tp_25_a_wait_that_is_cancelled_aborts_those_behind_it_in_order() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let mut verdicts = second_is_cancelled(&stage).await.into_iter();
    is_dispatched(&verdicts.next().expect("the first"));
    for _ in 0..2 {
        let verdict = refused(verdicts.next().expect("each has a result"));
        assert_eq!(verdict.code, ABORTED);
    }
    assert_eq!(stage.world.events_of("a", "approval/asked").len(), 2, "the third asked nobody");
}

#[tokio::test]
async fn s_175_one_has_its_result_and_two_and_three_are_aborted() {
    let stage = Stage::new();
    let _ask = stage.asks();
    let verdicts = second_is_cancelled(&stage).await;
    assert_eq!(verdicts.len(), 3);
    let codes: Vec<_> = verdicts.into_iter().skip(1).map(|it| refused(it).code).collect();
    assert_eq!(codes, [ABORTED, ABORTED]);
    assert_eq!(stage.outcomes(), ["allowed-once", "cancelled"]);
    stage.is_sound();
}
