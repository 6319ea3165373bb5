//! Batches and what is looked at before anybody is asked: UQ-01 to UQ-27.

use super::{Stage, choice, chosen, code, reviewed, said};
use crate::support::World;
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::Place;
use gatelog_interaction::plane::Plane;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::{
    Answer, Intent, ProviderError, Question, QuestionAsk, Questions, check_answers,
};
use gatelog_interaction::scope::{Authority, RegisterError};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn uq_01_an_ask_is_a_batch_with_an_agent_and_a_signal_if_any() {
    let stage = Stage::new();
    let bare = QuestionAsk::new(vec![choice("q", &["x"]), choice("r", &["y"])]);
    assert_eq!((bare.questions().len(), bare.agent(), bare.cancel().is_some()), (2, None, false));
    let cancel = Cancel::new();
    let whole = bare.by(stage.live.agent()).until(cancel.clone());
    assert_eq!(whole.agent(), Some(stage.live.agent()));
    assert!(whole.cancel().is_some_and(|signal| signal.is_same(&cancel)));
}

#[test]
fn uq_02_a_question_has_an_id_a_text_and_may_have_more() {
    let bare: Question = serde_json::from_value(json!({"id": "q", "question": "?"})).expect("JSON");
    assert_eq!(serde_json::to_value(&bare).expect("JSON"), json!({"id": "q", "question": "?"}));
    let whole = json!({
        "id": "q", "question": "?", "detail": "d", "header": "h",
        "options": [{"label": "l", "description": "what"}],
        "multiSelect": true, "intent": {"kind": "plan-review", "approve": "l"},
    });
    let read: Question = serde_json::from_value(whole.clone()).expect("JSON");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), whole);
}

#[test]
fn uq_03_an_option_is_its_label_which_is_what_is_returned() {
    let question = choice("q", &["Yes, do it"]);
    assert_eq!(
        check_answers(std::slice::from_ref(&question), &[chosen("q", &["Yes, do it"])]),
        Ok(())
    );
    assert!(check_answers(&[question], &[chosen("q", &["0"])]).is_err(), "no index, no value");
}

#[test]
fn uq_04_an_answer_has_the_id_the_labels_and_a_text_if_any() {
    let answer: Answer = serde_json::from_value(json!({"id": "q", "selected": []})).expect("JSON");
    assert_eq!(answer, Answer { id: "q".to_owned(), ..Answer::default() });
    let text = json!({"id": "q", "selected": ["x"], "custom": "and more"});
    let answer: Answer = serde_json::from_value(text.clone()).expect("JSON");
    assert_eq!(serde_json::to_value(&answer).expect("JSON"), text);
}

#[test]
fn uq_05_of_a_single_choice_a_text_replaces_the_selection() {
    let question = [choice("q", &["a", "b"])];
    assert_eq!(check_answers(&question, &[said("q", "neither")]), Ok(()));
    let both = Answer { custom: Some("neither".to_owned()), ..chosen("q", &["a"]) };
    assert!(check_answers(&question, &[both]).is_err());
}

#[test]
fn uq_06_of_a_multiple_choice_a_text_may_stand_beside_selections() {
    let question = [Question { multi_select: Some(true), ..choice("q", &["a", "b"]) }];
    let both = Answer { custom: Some("and c".to_owned()), ..chosen("q", &["a", "b"]) };
    assert_eq!(check_answers(&question, &[both]), Ok(()));
}

#[test]
fn uq_07_a_skipped_question_is_an_item_with_nothing_in_it() {
    assert_eq!(check_answers(&[choice("q", &["a"])], &[chosen("q", &[])]), Ok(()));
    assert!(check_answers(&[choice("q", &["a"])], &[]).is_err(), "and no item that is missing");
}

#[tokio::test]
async fn uq_08_the_checks_run_in_one_order() {
    let stage = Stage::new();
    let child = stage.world.dormant("child");
    let cancel = Cancel::new();
    cancel.cancel();
    let empty = QuestionAsk::new(Vec::new()).by(&child);
    assert_eq!(stage.code(empty.clone().until(cancel)).await, "ASK_ABORTED");
    assert_eq!(stage.code(empty).await, "EMPTY_QUESTIONS");
    let bad = || vec![reviewed("x", &["y"], None)];
    assert_eq!(stage.code(QuestionAsk::new(bad()).by(&child)).await, "CALLER_NOT_LIVE");
    let _live = stage.world.agents.enter(child.clone(), Some(stage.live.agent().clone()));
    assert_eq!(stage.code(QuestionAsk::new(bad()).by(&child)).await, "DELEGATED_CALLER");
    let agent = stage.live.agent();
    assert_eq!(stage.code(QuestionAsk::new(bad()).by(agent)).await, "BAD_INTENT");
    assert_eq!(stage.code(stage.ask()).await, "NO_PROVIDER");
}

#[tokio::test]
async fn uq_09_a_signal_given_before_reaches_nobody() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    cancel.cancel();
    let error = stage.questions.ask(stage.ask().until(cancel)).await.expect_err("taken back");
    assert_eq!(error.to_string(), "ask_user_question was aborted before the user answered");
    assert!(script.try_called().is_none());
}

#[tokio::test]
async fn uq_10_a_batch_without_a_question_fails() {
    let stage = Stage::new();
    let error = stage.questions.ask(QuestionAsk::new(Vec::new())).await.expect_err("empty");
    assert_eq!(error.to_string(), "ask_user_question requires at least one question");
}

const NOT_LIVE: &str =
    "human interaction requires the exact live calling agent when an agent is supplied";

#[tokio::test]
async fn uq_11_an_agent_must_be_the_exact_live_one() {
    let stage = Stage::new();
    let (session, scope) =
        (stage.live.agent().session().clone(), stage.live.agent().scope().clone());
    let twin = Agent::new("a", session, scope, Arc::new(NoticeQueue::default()));
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(&twin);
    let error = stage.questions.ask(ask).await.expect_err("it is another instance");
    assert_eq!(error.to_string(), NOT_LIVE);
}

#[tokio::test]
async fn uq_12_without_a_registry_no_agent_can_be_attested() {
    let stage = Stage::new();
    let plane = Plane::new(tokio::runtime::Handle::current(), Profile::STRICT);
    let questions = Questions::new(&plane);
    assert_eq!(code(questions.ask(stage.ask()).await), "CALLER_NOT_LIVE");
}

/// An agent that the stage's own agent owns.
fn owned(stage: &Stage) -> gatelog_interaction::agent::LiveAgent {
    let child = stage.world.dormant("child");
    stage.world.agents.enter(child, Some(stage.live.agent().clone()))
}

const DELEGATED: &str = "human interaction is unavailable while the calling agent is owned by \
                         another live agent; include the unresolved question or decision in the \
                         child agent's final result";

#[tokio::test]
async fn uq_13_a_child_of_a_live_owner_may_not_ask() {
    let stage = Stage::new();
    let child = owned(&stage);
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(child.agent());
    assert_eq!(stage.code(ask).await, "DELEGATED_CALLER");
}

#[tokio::test]
async fn uq_14_what_a_session_once_was_does_not_matter() {
    // A session whose log says that it was delegated, taken up as a root: it may ask.
    let stage = Stage::new();
    let agent = stage.world.dormant("was-child");
    let policy = r#"{"policy":"never","source":"delegation"}"#;
    let draft = gatelog_engine::rules::Draft::new("approval/policy", policy);
    let append = agent.session().append([draft], gatelog_engine::backend::Durability::Synced);
    append.expect("it is lawful");
    let live = stage.world.agents.enter(agent, None);
    let (_guard, mut script) = stage.scripted();
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(live.agent());
    let asking = stage.asking(ask);
    script.called().await.reply(Ok(vec![chosen("q", &["x"])]));
    assert_eq!(asking.await.expect("no panic").expect("answered"), [chosen("q", &["x"])]);
}

#[tokio::test]
async fn uq_15_a_child_is_told_to_put_it_into_its_report() {
    let stage = Stage::new();
    let child = owned(&stage);
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(child.agent());
    let error = stage.questions.ask(ask).await.expect_err("it is owned");
    assert_eq!(error.to_string(), DELEGATED);
}

#[tokio::test]
async fn uq_16_an_ask_without_an_agent_skips_both_looks() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(QuestionAsk::new(vec![choice("q", &["x"])]));
    script.called().await.reply(Ok(vec![chosen("q", &["x"])]));
    assert!(asking.await.expect("no panic").is_ok());
}

#[test]
fn uq_17_there_is_one_intent() {
    let intent = Intent::PlanReview { approve: "Approve".to_owned() };
    assert_eq!(intent.kind(), "plan-review");
    let text = json!({"kind": "plan-review", "approve": "Approve"});
    assert_eq!(serde_json::to_value(&intent).expect("JSON"), text);
    let other = json!({"kind": "poll"});
    assert!(serde_json::from_value::<Intent>(other).is_err());
}

async fn intent_error(question: Question) -> String {
    let stage = Stage::new();
    let ask = QuestionAsk::new(vec![question]).by(stage.live.agent());
    let error = stage.questions.ask(ask).await.expect_err("nobody answers");
    error.to_string()
}

fn no_label(label: &str) -> String {
    format!(
        "question q declares intent plan-review whose approve label \"{label}\" names none of its \
         options"
    )
}

#[tokio::test]
async fn uq_18_the_approving_label_is_one_of_the_options_exactly() {
    let text = intent_error(reviewed("approve", &["Approve"], Some("d"))).await;
    assert_eq!(text, no_label("approve"));
    let bare = Question { options: None, ..reviewed("Approve", &[], Some("d")) };
    assert_eq!(intent_error(bare).await, no_label("Approve"));
}

#[tokio::test]
async fn uq_19_an_intent_needs_a_detail_which_may_be_empty() {
    let text = intent_error(reviewed("Approve", &["Approve"], None)).await;
    assert_eq!(text, "question q declares intent plan-review without the detail it reviews");
    let empty = intent_error(reviewed("Approve", &["Approve"], Some(""))).await;
    assert_eq!(empty, "no user-questions answerer accepted the request", "it was sent off");
}

#[tokio::test]
async fn uq_20_the_label_is_looked_at_first_and_the_first_question_is_said() {
    assert_eq!(intent_error(reviewed("x", &["y"], None)).await, no_label("x"));
    let stage = Stage::new();
    let second = Question { id: "r".to_owned(), ..reviewed("x", &["y"], Some("d")) };
    let batch = vec![reviewed("Approve", &["Approve"], None), second];
    let ask = QuestionAsk::new(batch).by(stage.live.agent());
    let error = stage.questions.ask(ask).await.expect_err("both are bad").to_string();
    assert!(error.starts_with("question q "), "{error}");
}

#[test]
fn uq_21_an_intent_changes_no_answer() {
    let plain = [choice("q", &["Approve", "No"])];
    let intent = [reviewed("Approve", &["Approve", "No"], Some("d"))];
    for answers in [vec![chosen("q", &["No"])], vec![said("q", "later")], vec![]] {
        assert_eq!(check_answers(&plain, &answers), check_answers(&intent, &answers));
    }
}

#[tokio::test]
async fn uq_22_the_host_looks_no_closer_at_ids_and_texts() {
    let stage = Stage::of(Profile::DSH);
    let (_guard, mut script) = stage.scripted();
    let twice = vec![choice("", &["x"]), choice("", &["x"])];
    let asking = stage.asking(QuestionAsk::new(twice).by(stage.live.agent()));
    script.called().await.reply(Ok(vec![chosen("nobody", &["nothing"])]));
    assert_eq!(asking.await.expect("no panic").expect("passed on").len(), 1);
}

#[tokio::test]
async fn uq_23_a_second_provider_is_refused_while_there_is_one() {
    for (profile, refuses) in
        [(Profile::STRICT, true), (Profile::DSH_0_1_1, true), (Profile::DSH, false)]
    {
        let stage = Stage::of(profile);
        let provider = || super::Holding::default();
        let mut first = stage.questions.provider(Authority::Root, provider()).expect("the first");
        let second = stage.questions.provider(Authority::Root, provider());
        assert_eq!(second.is_err(), refuses);
        if let Err(ProviderError::Duplicate(error)) = second {
            assert_eq!(error.code.as_str(), "DUPLICATE_PROVIDER");
            assert_eq!(error.message, "a user-questions provider is already registered");
        }
        first.withdraw();
        first.withdraw();
        assert!(stage.questions.provider(Authority::Root, provider()).is_ok());
    }
}

#[tokio::test]
async fn uq_24_listeners_are_a_waterfall_as_for_approvals() {
    let stage = Stage::new();
    let (_first, mut first) = stage.scripted();
    let (_second, mut second) = stage.scripted();
    let asking = stage.asking(stage.ask());
    let delegating = tokio::spawn(first.called().await.delegate());
    second.called().await.reply(Ok(vec![chosen("q", &["no"])]));
    delegating.await.expect("no panic");
    assert_eq!(asking.await.expect("no panic").expect("answered"), [chosen("q", &["no"])]);
    let asking = stage.asking(stage.ask());
    tokio::spawn(first.called().await.delegate());
    tokio::spawn(second.called().await.delegate());
    assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER", "everybody delegated");
}

#[tokio::test]
async fn uq_25_a_channel_may_be_the_terminal_provider() {
    let stage = Stage::new();
    let holding = super::Holding::default();
    let _guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let (_late, mut late) = stage.scripted();
    let asking = stage.asking(stage.ask());
    let (ask, _, reply) = holding.held(1).await.remove(0);
    assert_eq!(ask.questions()[0].id, "q");
    reply.send(Ok(vec![chosen("q", &["yes"])])).expect("it is waited for");
    assert!(asking.await.expect("no panic").is_ok());
    assert!(late.try_called().is_none(), "a provider hands nothing on");
}

#[tokio::test]
async fn uq_26_what_belongs_to_a_preset_cannot_be_global() {
    let stage = Stage::new();
    let within = Authority::Within(stage.live.agent().scope().clone());
    let refused = stage.questions.provider(within, super::Holding::default());
    let global = matches!(refused, Err(ProviderError::Register(RegisterError::NotGlobal { .. })));
    assert!(global, "{refused:?}");
    // And the refused one holds no place.
    assert!(stage.questions.provider(Authority::Root, super::Holding::default()).is_ok());
}

#[tokio::test]
async fn uq_27_without_anybody_an_ask_fails_and_does_not_degrade() {
    for (profile, text) in [
        (Profile::STRICT, "no user-questions answerer accepted the request"),
        (Profile::DSH, "no user-questions answerer accepted the request"),
        (Profile::DSH_0_1_1, "no user-questions provider is registered"),
    ] {
        let stage = Stage::of(profile);
        let error = stage.questions.ask(stage.ask()).await.expect_err("nobody");
        assert_eq!(error.to_string(), text);
        assert_eq!(error.code().expect("of the domain").as_str(), "NO_PROVIDER");
    }
    let _ = (World::new(), Place::Last);
}
