//! The turn around an ask: TE, S-014 to S-021.

use super::{Stage, append, count, violation};
use crate::support::{Kind, World, end_turn, header, start_turn, turn_end};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_interaction::agent::{Agent, NoticeQueue};
use gatelog_interaction::approval::{
    ApprovalError, ApprovalOutcome, ApprovalPort, ApprovalRequest, ApprovalService,
};
use gatelog_interaction::profile::Profile;
use gatelog_validator::rule::Profile as Rules;
use std::sync::Arc;

const GRANTED: ApprovalOutcome = ApprovalOutcome::AllowedOnce;

const OUTSIDE: &str = "approval.request() outside an open turn: the approval/asked + \
                       approval/decided audit pair must be turn-enclosed (a bare event between \
                       turns is crash-tail garbage on reload). Ask from inside the turn that \
                       needs the decision.";

/// A world with a service and an agent that is in no turn.
fn idle() -> (World, ApprovalService, gatelog_interaction::agent::LiveAgent) {
    let world = World::new();
    let service = ApprovalService::new(&world.plane, None);
    let live = world.agent("a");
    (world, service, live)
}

#[tokio::test]
async fn s_014_an_ask_over_an_empty_log_fails_and_writes_nothing() {
    let (world, service, live) = idle();
    let error = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(error.expect_err("no turn is open").to_string(), OUTSIDE);
    assert_eq!(world.events("a"), []);
}

#[tokio::test]
async fn s_015_an_ask_behind_an_ended_turn_fails_the_same_way() {
    let stage = Stage::new();
    let (_guard, asked) = stage.always(GRANTED);
    end_turn(stage.session(), 1);
    assert!(matches!(stage.ask().await, Err(ApprovalError::OutsideTurn)));
    assert_eq!((stage.audit(), count(&asked)), (vec![], 0));
}

#[tokio::test]
async fn te_01_a_request_is_legal_in_an_open_turn_and_nowhere_else() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    assert_eq!(stage.ask().await.expect("a turn is open"), GRANTED);
    end_turn(stage.session(), 1);
    assert!(matches!(stage.ask().await, Err(ApprovalError::OutsideTurn)));
    start_turn(stage.session(), 2);
    assert_eq!(stage.ask().await.expect("a turn is open"), GRANTED);
}

#[tokio::test]
async fn te_02_the_last_turn_event_decides_whatever_stands_behind_it() {
    let stage = Stage::new();
    let (_guard, _) = stage.always(GRANTED);
    append(stage.session(), "approval/policy", r#"{"policy":"ask"}"#).expect("it is lawful");
    append(stage.session(), "sandbox/mode", r#"{"mode":"read-only"}"#).expect("it is lawful");
    assert_eq!(stage.ask().await.expect("the turn is still open"), GRANTED);
    end_turn(stage.session(), 1);
    append(stage.session(), "approval/policy", r#"{"policy":"ask"}"#).expect("it is lawful");
    assert!(matches!(stage.ask().await, Err(ApprovalError::OutsideTurn)));
}

#[tokio::test]
async fn te_03_a_violation_fails_before_anything_is_appended() {
    let (world, service, live) = idle();
    append(live.agent().session(), "approval/policy", r#"{"policy":"ask"}"#).expect("lawful");
    let before = world.events("a");
    let failed = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert!(failed.is_err());
    assert_eq!(world.events("a"), before);
    assert_eq!(service.pending(), 0);
}

#[tokio::test]
async fn te_04_the_failure_is_an_error_that_says_why_and_no_outcome() {
    let (_world, service, live) = idle();
    let error = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    let error = error.expect_err("no turn is open");
    assert_eq!((error.code(), error.to_string().as_str()), ("OUTSIDE_TURN", OUTSIDE));
}

#[tokio::test]
async fn te_05_a_question_between_turns_is_refused_by_the_gate_as_well() {
    let (_world, _service, live) = idle();
    let asked = append(live.agent().session(), "approval/asked", r#"{"id":"x","toolName":"t"}"#);
    let (rule, text) = violation(asked);
    assert_eq!(rule, "approval/asked-outside-turn");
    assert_eq!(text, "approval/asked appended outside any open turn");
}

/// Facts that may stand outside any turn.
const EXEMPT: [(&str, &str); 6] = [
    ("approval/policy", r#"{"policy":"never"}"#),
    ("permission/preset", r#"{"preset":"read-only"}"#),
    ("sandbox/mode", r#"{"mode":"read-only"}"#),
    ("command/run", r#"{"commandId":"c1","name":"x","source":{"kind":"user"}}"#),
    ("command/done", r#"{"commandId":"c1","kind":"success"}"#),
    ("plan/mode", r#"{"active":true}"#),
];

#[tokio::test]
async fn te_06_knobs_and_commands_need_no_turn() {
    let (world, _service, live) = idle();
    for (kind, data) in EXEMPT {
        append(live.agent().session(), kind, data).expect(kind);
    }
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn s_017_a_policy_a_mode_a_preset_and_a_command_are_accepted_without_a_turn() {
    for kind in Kind::ALL {
        let world = World::of(kind, Rules::Strict, Profile::STRICT);
        let session = world.session("a");
        for (kind, data) in EXEMPT {
            append(&session, kind, data).expect(kind);
        }
        assert_eq!(world.events("a").len(), 6);
        assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
    }
}

#[tokio::test]
async fn te_07_a_command_in_an_open_turn_joins_it() {
    let stage = Stage::new();
    for (kind, data) in &EXEMPT[3..5] {
        append(stage.session(), kind, data).expect(kind);
    }
    let kinds: Vec<_> = stage.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["turn/start", "command/run", "command/done"]);
    stage.is_sound();
}

/// An agent over a session that begins with an open turn.
fn seeded(world: &World) -> gatelog_interaction::agent::LiveAgent {
    let session = world.store.create("a", &header("a"), |init| {
        init.append(Draft::new("turn/start", r#"{"turn":1}"#));
        Ok(())
    });
    let session = session.expect("the session is new");
    let scope = world.root.child("a").expect("two deep");
    world.agents.enter(Agent::new("a", session, scope, Arc::new(NoticeQueue::default())), None)
}

#[tokio::test]
async fn te_08_a_turn_that_a_seed_left_open_admits_an_ask() {
    let world = World::new();
    let service = ApprovalService::new(&world.plane, None);
    let live = seeded(&world);
    let outcome = service.request(ApprovalRequest::new(live.agent(), "shell")).await;
    assert_eq!(outcome.expect("a turn is open"), ApprovalOutcome::Unavailable);
}

#[tokio::test]
async fn s_016_an_ask_in_an_unbalanced_seed_needs_no_new_turn() {
    let world = World::new();
    let service = ApprovalService::new(&world.plane, None);
    let live = seeded(&world);
    let _ = service.request(ApprovalRequest::new(live.agent(), "shell")).await.expect("admitted");
    let kinds: Vec<_> = world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["turn/start", "approval/asked", "approval/decided"]);
    end_turn(live.agent().session(), 1);
    assert_eq!(world.errors(Rules::Strict), Vec::<String>::new());
}

#[tokio::test]
async fn s_018_a_turn_does_not_end_under_a_waiting_ask() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let called = script.called().await;
    let id = called.ask.id().to_string();
    let ended = stage.session().append([turn_end(1)], Durability::Synced);
    let (rule, text) = violation(ended.map(|commit| commit.first_seq));
    assert_eq!(rule, "approval/undecided-at-turn-end");
    assert!(text.contains(&id), "{text} names {id}");
    called.reply(Ok(GRANTED.into()));
    assert_eq!(asking.await.expect("no panic").expect("it is decided"), GRANTED);
    stage.is_sound();

    let stage = Stage::at(World::of(Kind::Native, Rules::Host, Profile::DSH), None);
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let _called = script.called().await;
    end_turn(stage.session(), 1);
    asking.abort();
}

#[tokio::test]
async fn s_019_a_drained_turn_ends_behind_its_cancelled_asks() {
    for kind in Kind::ALL {
        let stage = Stage::of(kind, None);
        let (_guard, mut script) = stage.scripted();
        let asking = stage.asking(stage.wish());
        let _called = script.called().await;
        assert_eq!(stage.service.drain_turn(stage.session()).await.expect("the log takes it"), 1);
        stage.is_sound();
        let outcome = asking.await.expect("no panic").expect("it is decided");
        assert_eq!(outcome, ApprovalOutcome::Cancelled);
        assert_eq!(stage.pairs(), (vec![ApprovalOutcome::Cancelled], 0));
        let last = stage.world.events("a").pop().expect("there are events");
        assert_eq!(last.kind, "turn/end");
    }
}

/// An ask under whose wait a foreign owner ended the turn, which the host's rules allow.
async fn ended_under(another_turn: bool) {
    let stage = Stage::at(World::of(Kind::Native, Rules::Host, Profile::DSH), None);
    let (_guard, mut script) = stage.scripted();
    let asking = stage.asking(stage.wish());
    let called = script.called().await;
    end_turn(stage.session(), 1);
    if another_turn {
        start_turn(stage.session(), 2);
    }
    let before = stage.world.events("a");
    called.reply(Ok(GRANTED.into()));
    let failed = asking.await.expect("no panic");
    assert!(matches!(failed, Err(ApprovalError::TurnClosed)), "{failed:?}");
    assert_eq!(stage.world.events("a"), before, "nothing is appended");
    assert_eq!(stage.service.pending(), 0);
}

#[tokio::test]
async fn s_020_an_answer_behind_a_foreign_turn_end_is_not_returned() {
    ended_under(false).await;
}

#[tokio::test]
async fn s_021_an_answer_in_another_turn_is_not_written() {
    ended_under(true).await;
}
