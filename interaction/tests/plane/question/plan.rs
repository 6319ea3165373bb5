//! Plan review: PM-01 to PM-05.

use super::{Stage, chosen, said};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::ListenerError;
use gatelog_interaction::question::{
    Answer, Intent, PlanReview, QuestionAsk, QuestionError, review_plan,
};
use std::sync::Arc;

/// Has a plan looked at by whoever answers with `reply`; returns the review and what was asked.
async fn reviewed(
    reply: Result<Vec<Answer>, ListenerError>,
    ends: bool,
) -> (PlanReview, Arc<QuestionAsk>) {
    let stage = Stage::of(gatelog_interaction::profile::Profile::DSH);
    let (_guard, mut script) = stage.scripted();
    let (questions, agent) = (stage.questions.clone(), stage.live.agent().clone());
    let lifetime = Cancel::new();
    let life = lifetime.clone();
    let reviewing = tokio::spawn(async move {
        let lease = Some(Arc::new(agent.scope().lease()));
        review_plan(&questions, &agent, lease, "# Plan\n1. do it", None, &life).await
    });
    let called = script.called().await;
    let ask = Arc::clone(&called.ask);
    if ends {
        lifetime.cancel();
    }
    called.reply(reply);
    (reviewing.await.expect("no panic"), ask)
}

#[tokio::test]
async fn pm_01_a_plan_is_one_question_with_all_of_it_as_detail() {
    let (_, ask) = reviewed(Ok(vec![chosen("plan-review", &["Approve"])]), false).await;
    let [question] = ask.questions() else { panic!("one question") };
    assert_eq!(question.id, "plan-review");
    assert_eq!(question.detail.as_deref(), Some("# Plan\n1. do it"));
    let labels: Vec<_> = question.options.iter().flatten().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["Approve", "Keep planning"]);
    assert_eq!(question.intent, Some(Intent::PlanReview { approve: "Approve".to_owned() }));
}

#[tokio::test]
async fn pm_02_approval_is_one_answer_with_exactly_the_approving_label() {
    let (review, _) = reviewed(Ok(vec![chosen("plan-review", &["Approve"])]), false).await;
    assert!(matches!(review, PlanReview::Approved));
    assert_eq!(review.text(), None);
    let with_text =
        Answer { custom: Some("but".to_owned()), ..chosen("plan-review", &["Approve"]) };
    for answers in [
        vec![],
        vec![chosen("other", &["Approve"])],
        vec![chosen("plan-review", &["approve"])],
        vec![chosen("plan-review", &["Approve", "Keep planning"])],
        vec![chosen("plan-review", &["Approve"]), chosen("x", &[])],
        vec![with_text],
    ] {
        let (review, _) = reviewed(Ok(answers.clone()), false).await;
        assert!(matches!(review, PlanReview::KeepPlanning { .. }), "{answers:?}: {review:?}");
    }
}

#[tokio::test]
async fn pm_03_anything_else_is_to_keep_planning_and_words_are_feedback() {
    let (review, _) = reviewed(Ok(vec![chosen("plan-review", &["Keep planning"])]), false).await;
    assert_eq!(
        review.text().as_deref(),
        Some("The user chose to keep planning; revise the plan and present it again.")
    );
    let (review, _) = reviewed(Ok(vec![said("plan-review", "too long")]), false).await;
    assert_eq!(
        review.text().as_deref(),
        Some("The user chose to keep planning; their feedback: too long")
    );
}

#[tokio::test]
async fn pm_04_a_dismissal_is_the_person_taking_the_turn_back() {
    let dismissed = Err(ListenerError::failed(QuestionError::cancelled()));
    let (review, _) = reviewed(dismissed, false).await;
    assert!(matches!(review, PlanReview::Dismissed));
    assert_eq!(
        review.text().as_deref(),
        Some(
            "The user dismissed the plan review to speak instead; stay in plan mode, stop here, \
             and wait for their message."
        )
    );
    let (review, _) = reviewed(Err(ListenerError::failed("the socket broke")), false).await;
    assert_eq!(review.text().as_deref(), Some("the socket broke"), "its own words");
}

#[tokio::test]
async fn pm_05_a_service_that_ended_meanwhile_takes_no_approval() {
    let (review, _) = reviewed(Ok(vec![chosen("plan-review", &["Approve"])]), true).await;
    assert!(matches!(review, PlanReview::Unloaded));
    assert_eq!(
        review.text().as_deref(),
        Some(
            "the plan-mode service was reloaded while the plan was under review; present the plan \
             again"
        )
    );
    let (review, _) = reviewed(Ok(vec![chosen("plan-review", &["Keep planning"])]), true).await;
    assert!(matches!(review, PlanReview::KeepPlanning { .. }), "a no stays a no");
}
