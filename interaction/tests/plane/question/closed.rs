//! How an ask ends without an answer: UQ-28 to UQ-45.

use super::{Stage, choice, chosen, code};
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::chain::ListenerError;
use gatelog_interaction::question::{
    AskError, Question, QuestionAsk, QuestionCode, QuestionError, check_answers,
};
use gatelog_interaction::scope::Authority;
use std::fmt;
use std::time::Duration;

/// An error of a provider's own.
#[derive(Debug, PartialEq, Eq)]
struct Offline(u32);

impl fmt::Display for Offline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offline since {}", self.0)
    }
}

impl std::error::Error for Offline {}

#[tokio::test]
async fn uq_28_a_providers_own_failure_is_handed_on_as_it_is() {
    let stage = Stage::new();
    let holding = super::Holding::default();
    let _guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let asking = stage.asking(stage.ask());
    let error: Box<Offline> = Box::new(Offline(7));
    let at = std::ptr::from_ref::<Offline>(&error).addr();
    let (_, _, reply) = holding.held(1).await.remove(0);
    reply.send(Err(error as BoxError)).expect("it is waited for");
    let Err(AskError::Provider(error)) = asking.await.expect("no panic") else { panic!("own") };
    let own = error.downcast_ref::<Offline>().expect("its own type");
    assert_eq!((own, std::ptr::from_ref(own).addr()), (&Offline(7), at), "the very one");
    let asking = stage.asking(stage.ask());
    let domain = QuestionError::new(QuestionCode::Other("X".to_owned()), "mine");
    let (_, _, reply) = holding.held(1).await.remove(0);
    reply.send(Err(domain.clone().into())).expect("it is waited for");
    let error = asking.await.expect("no panic").expect_err("it failed");
    assert_eq!(error.domain(), Some(&domain));
}

#[test]
fn uq_29_what_crossed_a_transport_is_restored_only_whole() {
    let restored = QuestionError::restore("UserQuestionError", Some("m"), Some("NO_PROVIDER"));
    assert_eq!(restored, Some(QuestionError::new(QuestionCode::NoProvider, "m")));
    let empty = QuestionError::restore("UserQuestionError", Some("m"), Some(""));
    assert_eq!(empty.expect("an empty code is kept").code.as_str(), "");
    for code in QuestionCode::ALL {
        assert_eq!(QuestionCode::of(code.as_str()), code);
    }
}

#[test]
fn uq_30_a_look_alike_is_passed_through() {
    assert_eq!(QuestionError::restore("UserQuestionError", Some("m"), None), None);
    assert_eq!(QuestionError::restore("UserQuestionError", None, Some("NO_PROVIDER")), None);
    assert_eq!(QuestionError::restore("Error", Some("m"), Some("NO_PROVIDER")), None);
}

#[tokio::test]
async fn uq_31_a_domain_error_that_was_first_outranks_an_abort() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.ask().until(cancel.clone()));
    script.called().await.reply(Err(ListenerError::failed(QuestionError::cancelled())));
    // The failure has settled it when nobody waits any more; only then is the signal given.
    let ended = asking.await.expect("no panic");
    cancel.cancel();
    assert_eq!(code(ended), "ASK_CANCELLED");
}

#[tokio::test]
async fn uq_32_a_failure_while_the_signal_is_given_is_an_abort() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let asking = stage.asking(stage.ask().until(cancel.clone()));
    let called = script.called().await;
    cancel.cancel();
    called.reply(Err(ListenerError::failed(Offline(1))));
    let error = asking.await.expect("no panic").expect_err("taken back");
    assert!(super::is(&error, QuestionCode::AskAborted), "{error}");
}

#[tokio::test]
async fn uq_34_each_ask_has_an_ending_of_its_own() {
    let stage = Stage::new();
    let holding = super::Holding::default();
    let _guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let cancel = Cancel::new();
    let taken_back = stage.asking(stage.ask().until(cancel.clone()));
    let first = holding.held(1).await;
    let other = stage.asking(stage.ask());
    let mut second = holding.held(1).await;
    cancel.cancel();
    assert_eq!(code(taken_back.await.expect("no panic")), "ASK_ABORTED");
    assert_eq!(stage.questions.pending(), 1);
    let (_, _, reply) = second.remove(0);
    reply.send(Ok(vec![chosen("q", &["yes"])])).expect("it is waited for");
    assert!(other.await.expect("no panic").is_ok());
    drop(first);
}

#[tokio::test]
async fn uq_35_all_that_a_provider_holds_is_closed_before_its_lifetime_ends() {
    let stage = Stage::new();
    let holding = super::Holding::default();
    let guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let asking: Vec<_> = (0..3).map(|_| stage.asking(stage.ask())).collect();
    let held = holding.held(3).await;
    // What the provider sees when its lifetime ends: nobody waits for any of its asks.
    let lifetime = held[0].1.clone();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(None));
    let (sees, questions) = (std::sync::Arc::clone(&seen), stage.questions.clone());
    let _told = lifetime.subscribe(move || {
        *sees.lock().expect("sound") = Some(questions.pending());
    });
    assert!(!lifetime.is_cancelled());
    drop(guard);
    assert!(lifetime.is_cancelled());
    for asking in asking {
        assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
    }
    assert!(seen.lock().expect("sound").is_some());
}

#[tokio::test]
async fn uq_36_late_answers_and_replacements_change_nothing() {
    let stage = Stage::new();
    let old = super::Holding::default();
    let guard = stage.questions.provider(Authority::Root, old.clone()).expect("the first");
    let asking = stage.asking(stage.ask());
    let (_, _, late) = old.held(1).await.remove(0);
    drop(guard);
    let new = super::Holding::default();
    let _new = stage.questions.provider(Authority::Root, new.clone()).expect("the next");
    let _ = late.send(Ok(vec![chosen("q", &["yes"])]));
    stage.world.plane.drained().await;
    assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
    assert_eq!(new.count(), 0, "it inherits nothing");
}

#[tokio::test]
async fn uq_37_unloading_the_service_closes_all_at_once() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    let _held = script.called().await;
    stage.questions.shutdown();
    assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
    assert_eq!(stage.code(stage.ask()).await, "NO_PROVIDER", "and what comes later");
}

#[test]
fn uq_39_answers_fit_their_questions_one_by_one() {
    let multiple = Question { multi_select: Some(true), ..choice("m", &["a", "b"]) };
    let batch = [choice("s", &["a", "b"]), multiple];
    let good = [chosen("s", &["a"]), chosen("m", &["a", "b"])];
    assert_eq!(check_answers(&batch, &good), Ok(()));
    let bad = [
        vec![chosen("s", &["a"])],
        vec![chosen("m", &["a"]), chosen("s", &["a"])],
        vec![chosen("s", &["a", "b"]), chosen("m", &[])],
        vec![chosen("s", &["c"]), chosen("m", &[])],
        vec![chosen("s", &["a"]), chosen("m", &["a", "a"])],
        vec![super::said("s", "  "), chosen("m", &[])],
        vec![chosen("s", &["a"]), chosen("m", &[]), chosen("x", &[])],
    ];
    for answers in bad {
        let error = check_answers(&batch, &answers).expect_err("it does not fit");
        assert_eq!(error.code, QuestionCode::BadAnswer, "{answers:?}");
    }
}

#[test]
fn uq_40_a_front_end_can_refuse_a_bad_answer_and_leave_the_prompt_open() {
    let batch = [choice("q", &["a"])];
    let error = check_answers(&batch, &[chosen("q", &["b"])]).expect_err("it was not offered");
    assert_eq!(error.message, "answer for question q does not fit the question");
    assert_eq!(check_answers(&batch, &[chosen("q", &["a"])]), Ok(()), "the next try");
}

#[tokio::test]
async fn uq_41_a_dismissal_is_a_code_of_its_own() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    script.called().await.reply(Err(ListenerError::failed(QuestionError::cancelled())));
    let error = asking.await.expect("no panic").expect_err("dismissed");
    assert_eq!(error.to_string(), "the user cancelled ask_user_question");
    assert!(super::is(&error, QuestionCode::AskCancelled));
}

#[tokio::test]
async fn uq_44_questions_write_no_event() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    script.called().await.reply(Ok(vec![chosen("q", &["yes"])]));
    assert!(asking.await.expect("no panic").is_ok());
    assert_eq!(stage.world.events("a"), []);
}

#[tokio::test(start_paused = true)]
async fn uq_45_waiting_has_no_limit_but_the_callers() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let mut asking = stage.asking(stage.ask());
    let called = script.called().await;
    let year = Duration::from_secs(365 * 24 * 3600);
    assert!(tokio::time::timeout(year, &mut asking).await.is_err());
    called.reply(Ok(vec![chosen("q", &["yes"])]));
    assert!(asking.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn a_listener_that_panics_is_an_error_and_no_answer() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    script.called().await.reply(Err(ListenerError::Closed));
    assert!(matches!(asking.await.expect("no panic"), Err(AskError::Provider(_))));
}

#[tokio::test]
async fn a_future_that_is_dropped_takes_its_questions_back() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.ask());
    let called = script.called().await;
    asking.abort();
    assert!(asking.await.expect_err("it was aborted").is_cancelled());
    assert!(called.next.is_closed());
    assert_eq!(stage.questions.pending(), 0);
    let _ = QuestionAsk::new(vec![]);
}
