//! S-154 to S-161.

use super::{Stage, choice, chosen, code, said};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::{ListenerError, Place};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::{
    Answer, QuestionAsk, QuestionCode, QuestionError, check_answers,
};
use gatelog_interaction::scope::Authority;

#[tokio::test]
async fn s_154_a_domain_error_that_came_before_the_cancellation_is_returned() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.ask().until(cancel.clone()));
    let error = QuestionError::new(QuestionCode::Other("MINE".to_owned()), "mine");
    script.called().await.reply(Err(ListenerError::failed(error.clone())));
    let ended = asking.await.expect("no panic").expect_err("it failed");
    cancel.cancel();
    assert_eq!(ended.domain(), Some(&error));
}

#[test]
fn s_155_an_empty_code_is_a_domain_error_and_a_missing_one_is_none() {
    let restored = QuestionError::restore("UserQuestionError", Some("m"), Some(""));
    assert_eq!(restored.map(|error| error.code.as_str().to_owned()).as_deref(), Some(""));
    assert_eq!(QuestionError::restore("UserQuestionError", Some("m"), None), None);
}

#[test]
fn s_156_free_text_answers_a_single_choice_only_without_a_selection() {
    let question = [choice("q", &["a"])];
    assert_eq!(check_answers(&question, &[said("q", "b")]), Ok(()));
    let both = Answer { custom: Some("b".to_owned()), ..chosen("q", &["a"]) };
    assert!(check_answers(&question, &[both]).is_err());
}

#[tokio::test]
async fn s_157_each_answer_that_does_not_fit_is_a_bad_answer() {
    let stage = Stage::of(Profile::STRICT);
    let (_guard, mut script) = stage.scripted();
    let two = || vec![choice("q", &["a", "b"]), choice("r", &["a"])];
    let r = || chosen("r", &["a"]);
    let bad = [
        vec![chosen("q", &["z"]), r()],
        vec![chosen("q", &["a", "a"]), r()],
        vec![chosen("q", &["a", "b"]), r()],
        vec![said("q", " \t"), r()],
        vec![r(), chosen("q", &["a"])],
        vec![chosen("q", &["a"])],
    ];
    for answers in bad {
        let asking = stage.asking(QuestionAsk::new(two()).by(stage.live.agent()));
        script.called().await.reply(Ok(answers.clone()));
        assert_eq!(code(asking.await.expect("no panic")), "BAD_ANSWER", "{answers:?}");
    }
}

#[tokio::test]
async fn s_158_a_skipped_question_is_accepted() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    script.called().await.reply(Ok(vec![chosen("q", &[])]));
    assert_eq!(asking.await.expect("no panic").expect("accepted"), [chosen("q", &[])]);
}

#[tokio::test]
async fn s_159_an_ask_without_an_agent_reaches_only_who_has_no_scope() {
    let stage = Stage::new();
    let registrar = stage.questions.registrar(Authority::Root);
    let (listener, mut scoped) = crate::support::script::<QuestionAsk>();
    let scope = stage.live.agent().scope().clone();
    let _scoped = registrar.scoped(&scope, Place::First, listener).expect("root may");
    let (_global, mut global) = stage.scripted();
    let asking = stage.asking(QuestionAsk::new(vec![choice("q", &["x"])]));
    global.called().await.reply(Ok(vec![chosen("q", &["x"])]));
    assert!(asking.await.expect("no panic").is_ok());
    assert!(scoped.try_called().is_none());
}

#[tokio::test]
async fn s_160_two_agents_ask_at_once_and_each_gets_its_own_end() {
    let stage = Stage::new();
    let other = stage.world.agent("b");
    let (_guard, mut script) = stage.scripted();
    let first = stage.asking(stage.ask());
    let of_first = script.called().await;
    let second = stage.asking(QuestionAsk::new(vec![choice("r", &["x"])]).by(other.agent()));
    let of_second = script.called().await;
    of_first.reply(Err(ListenerError::failed(QuestionError::cancelled())));
    of_second.reply(Ok(vec![chosen("r", &["x"])]));
    assert_eq!(code(first.await.expect("no panic")), "ASK_CANCELLED");
    assert_eq!(second.await.expect("no panic").expect("answered"), [chosen("r", &["x"])]);
    let _ = Cancel::new();
}

#[tokio::test]
async fn s_161_a_composition_of_a_preset_registers_no_global_provider() {
    let stage = Stage::new();
    let within = Authority::Within(stage.live.agent().scope().clone());
    assert!(stage.questions.provider(within, super::Holding::default()).is_err());
    assert_eq!(stage.code(stage.ask()).await, "NO_PROVIDER");
}
