//! S-144 to S-153.

use super::{Holding, Stage, choice, chosen, code, reviewed};
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::question::QuestionAsk;
use gatelog_interaction::scope::Authority;
use std::sync::{Arc, Mutex};

#[tokio::test]
async fn s_144_of_five_causes_the_codes_come_in_their_order() {
    let stage = Stage::new();
    let dead = stage.world.dormant("dead");
    let cancel = Cancel::new();
    cancel.cancel();
    let bad = || vec![reviewed("x", &["y"], Some("d"))];
    let asks = [
        (QuestionAsk::new(vec![]).by(&dead).until(cancel), "ASK_ABORTED"),
        (QuestionAsk::new(vec![]).by(&dead), "EMPTY_QUESTIONS"),
        (QuestionAsk::new(bad()).by(&dead), "CALLER_NOT_LIVE"),
        (QuestionAsk::new(bad()).by(stage.live.agent()), "BAD_INTENT"),
        (stage.ask(), "NO_PROVIDER"),
    ];
    for (ask, code) in asks {
        assert_eq!(stage.code(ask).await, code);
    }
    assert_eq!(stage.world.events("a"), []);
}

#[tokio::test]
async fn s_145_a_live_child_of_a_live_parent_is_told_to_report() {
    let stage = Stage::new();
    let child = stage.world.dormant("child");
    let live = stage.world.agents.enter(child, Some(stage.live.agent().clone()));
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(live.agent());
    let error = stage.questions.ask(ask).await.expect_err("it is owned");
    assert_eq!(error.code().expect("of the domain").as_str(), "DELEGATED_CALLER");
    assert!(error.to_string().ends_with("in the child agent's final result"), "{error}");
}

#[tokio::test]
async fn s_146_a_session_that_was_delegated_and_is_a_root_now_is_admitted() {
    let stage = Stage::new();
    let agent = stage.world.dormant("resumed");
    let policy = r#"{"policy":"never","source":"delegation"}"#;
    let draft = gatelog_engine::rules::Draft::new("approval/policy", policy);
    let append = agent.session().append([draft], gatelog_engine::backend::Durability::Synced);
    append.expect("it is lawful");
    let live = stage.world.agents.enter(agent, None);
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(QuestionAsk::new(vec![choice("q", &["x"])]).by(live.agent()));
    script.called().await.reply(Ok(vec![chosen("q", &["x"])]));
    assert!(asking.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn s_147_a_stale_handle_with_a_live_id_is_not_live() {
    let stage = Stage::new();
    let (session, scope) =
        (stage.live.agent().session().clone(), stage.live.agent().scope().clone());
    let stale = Agent::new("a", session, scope, Arc::new(NoticeQueue::default()));
    let ask = QuestionAsk::new(vec![choice("q", &["x"])]).by(&stale);
    assert_eq!(stage.code(ask).await, "CALLER_NOT_LIVE");
}

#[tokio::test]
async fn s_148_three_intents_are_bad_and_an_empty_detail_is_sent_off() {
    let stage = Stage::new();
    let agent = stage.live.agent();
    let cases = [
        (reviewed("approve", &["Approve"], Some("d")), "BAD_INTENT"),
        (reviewed("Approve", &[], Some("d")), "BAD_INTENT"),
        (reviewed("Approve", &["Approve"], None), "BAD_INTENT"),
        (reviewed("Approve", &["Approve"], Some("")), "NO_PROVIDER"),
    ];
    for (question, code) in cases {
        assert_eq!(stage.code(QuestionAsk::new(vec![question]).by(agent)).await, code);
    }
}

#[tokio::test]
async fn s_149_of_a_bad_label_and_a_missing_detail_the_label_is_said() {
    let stage = Stage::new();
    let ask = QuestionAsk::new(vec![reviewed("x", &["y"], None)]).by(stage.live.agent());
    let text = stage.questions.ask(ask).await.expect_err("both are bad").to_string();
    assert!(text.contains("names none of its options"), "{text}");
}

#[tokio::test]
async fn s_150_a_provider_that_unloads_closes_its_three_asks_before_it_hears_of_its_end() {
    let stage = Stage::new();
    let holding = Holding::default();
    let guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let asking: Vec<_> = (0..3).map(|_| stage.asking(stage.ask())).collect();
    let held = holding.held(3).await;
    // When the lifetime ends, each of the three is over already: nobody hears an answer.
    let order: Arc<Mutex<Vec<&str>>> = Arc::default();
    let told = Arc::clone(&order);
    let _told = held[0].1.subscribe(move || told.lock().expect("sound").push("lifetime"));
    for (ask, ..) in &held {
        assert!(ask.cancel().is_none());
    }
    drop(guard);
    assert_eq!(*order.lock().expect("sound"), ["lifetime"]);
    for (_, _, reply) in held {
        let _ = reply.send(Ok(vec![chosen("q", &["yes"])]));
    }
    for asking in asking {
        assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
    }
}

#[tokio::test]
async fn s_151_the_old_providers_late_answer_changes_nothing_and_the_new_one_sees_none() {
    let stage = Stage::new();
    let (old, new) = (Holding::default(), Holding::default());
    let guard = stage.questions.provider(Authority::Root, old.clone()).expect("the first");
    let asking: Vec<_> = (0..3).map(|_| stage.asking(stage.ask())).collect();
    let held = old.held(3).await;
    drop(guard);
    let _next = stage.questions.provider(Authority::Root, new.clone()).expect("the next");
    for asking in asking {
        assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
    }
    for (_, _, reply) in held {
        let _ = reply.send(Ok(vec![chosen("q", &["yes"])]));
    }
    stage.world.plane.drained().await;
    assert_eq!(new.count(), 0);
}

#[tokio::test]
async fn s_152_the_service_that_unloads_closes_what_waits_as_no_provider() {
    let stage = Stage::new();
    let holding = Holding::default();
    let _guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let asking = stage.asking(stage.ask());
    let _held = holding.held(1).await;
    stage.questions.shutdown();
    assert_eq!(code(asking.await.expect("no panic")), "NO_PROVIDER");
}

#[tokio::test]
async fn s_153_an_answer_behind_a_cancellation_is_dropped() {
    let stage = Stage::new();
    let holding = Holding::default();
    let _guard = stage.questions.provider(Authority::Root, holding.clone()).expect("the first");
    let cancel = Cancel::new();
    let asking = stage.asking(stage.ask().until(cancel.clone()));
    let (_, _, reply) = holding.held(1).await.remove(0);
    cancel.cancel();
    let _ = reply.send(Ok(vec![chosen("q", &["yes"])]));
    assert_eq!(code(asking.await.expect("no panic")), "ASK_ABORTED");
}
