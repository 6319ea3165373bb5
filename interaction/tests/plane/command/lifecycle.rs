//! A command from its line to its end in the log.

use super::support::{By, Desk, driven, executed, never, says, settle, succeeds};
use crate::support::Kind;
use gatelog_interaction::agent::LiveAgents as _;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{
    CommandDefinition, CommandError, CommandInvocation, CommandRegistry, CommandResult, Dispatch,
    ExecuteOptions,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn ce_01_what_is_no_command_or_not_known_is_not_matched_and_not_logged() {
    let desk = Desk::new();
    let _x = desk.x(never());
    for line in ["", "x", "/", "/X", "/y", "/xx", "/x/y"] {
        let dispatch = desk.execute(line).await.expect("it is no failure");
        assert_eq!(dispatch, Dispatch::NotMatched, "{line:?}");
    }
    assert_eq!(desk.world.events("a"), []);
}

#[tokio::test]
async fn ce_01_an_agent_that_is_not_the_live_one_runs_nothing() {
    let desk = Desk::new();
    let _x = desk.x(never());
    let dormant = desk.world.dormant("d");
    let options = ExecuteOptions::default();
    let refused = desk.registry.execute(&dormant, "/x", options).await;
    let refused = refused.expect_err("it is not live");
    assert!(matches!(refused, CommandError::Stale(_)));
    // Before the line is even looked at.
    let refused = desk.registry.execute(&dormant, "hello", ExecuteOptions::default()).await;
    refused.expect_err("it is not live");
    assert!(!desk.world.agents.is_live(&dormant));
    assert_eq!(desk.world.events("d"), []);
}

#[tokio::test]
async fn ce_03_what_is_resolved_is_run_whatever_becomes_of_its_registration() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let mut x = desk.x(handler);
    desk.faults().hold("command/run");
    let running = desk.spawn("/x", ExecuteOptions::default());
    while desk.faults().waiting() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(x.withdraw());
    desk.faults().release();
    let entered = entered.recv().await.expect("the old one is entered");
    assert!(entered.reply(Ok(CommandResult::text("old"))));
    let execution = executed(running.await.expect("no panic"));
    assert_eq!(execution.result, CommandResult::text("old"));
    assert_eq!(desk.execute("/x").await.expect("no failure"), Dispatch::NotMatched);
}

#[tokio::test]
async fn ce_04_ids_are_of_one_form_and_differ_between_registries() {
    let desk = Desk::new();
    let _x = desk.x(succeeds());
    let mut ids = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    for life in 0..3 {
        // Each registry is a later life of the process over the same log.
        let registry = CommandRegistry::new(desk.world.plane.clone());
        let registrar = registry.registrar(Authority::Root);
        let _x = registrar.global(CommandDefinition::new("x", "d", succeeds())).expect("free");
        for number in 1..=2 {
            let dispatch = registry.execute(desk.agent(), "/x", ExecuteOptions::default()).await;
            let id = executed(dispatch).command_id.to_string();
            let parts: Vec<&str> = id.split('-').collect();
            let [prefix, token, counter] = parts[..] else { panic!("three parts: {id}") };
            assert_eq!((prefix, counter), ("cmd", number.to_string().as_str()), "life {life}");
            assert!(token.len() == 8 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
            tokens.insert(token.to_owned());
            assert!(ids.insert(id), "no id comes twice");
        }
    }
    assert_eq!(tokens.len(), 3);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_05_an_attempt_that_fails_uses_its_id_up() {
    let desk = Desk::new();
    let _x = desk.x(succeeds());
    desk.faults().fail("command/run");
    let failed = desk.execute("/x").await.expect_err("run is not appended");
    assert!(matches!(failed, CommandError::Run(_)));
    let execution = desk.done("/x").await;
    assert!(execution.command_id.as_str().ends_with("-2"), "the first was used up");
    // What never begins uses none.
    let _unmatched = desk.execute("/y").await.expect("no failure");
    let cancel = Cancel::new();
    cancel.cancel();
    let cancelled = ExecuteOptions { cancel, ..ExecuteOptions::default() };
    desk.with("/x", cancelled).await.expect_err("it is cancelled");
    assert!(desk.done("/x").await.command_id.as_str().ends_with("-3"));
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_06_run_is_in_the_log_before_the_handler_is_entered() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        let running = desk.spawn("/x a", ExecuteOptions::default());
        let entered = entered.recv().await.expect("it is entered");
        let log = desk.log();
        assert_eq!(log.len(), 1, "{kind:?}");
        assert_eq!(log[0].0, "command/run", "{kind:?}");
        assert_eq!(log[0].1["commandId"], entered.invocation.id.as_str(), "{kind:?}");
        // And on the device, not only in the cache.
        assert_eq!(desk.kinds_on_the_device(), ["command/run"], "{kind:?}");
        assert!(entered.reply(Ok(CommandResult::success())));
        let _execution = executed(running.await.expect("no panic"));
    }
}

#[tokio::test]
async fn ce_07_run_says_id_name_input_and_that_a_person_gave_it() {
    let desk = Desk::new();
    let _x = desk.x(succeeds());
    let execution = desk.done("/x a\n\"b\"").await;
    let (kind, data) = desk.log().swap_remove(0);
    assert_eq!(kind, "command/run");
    let expected = json!({
        "commandId": execution.command_id.as_str(),
        "name": "x",
        "args": " a\n\"b\"",
        "source": {"kind": "user"},
    });
    assert_eq!(data.to_string(), expected.to_string(), "in this order, too");
    let _bare = desk.done("/x").await;
    assert_eq!(desk.log()[2].1["args"], "", "an empty input is recorded as well");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_08_an_input_that_is_not_recorded_still_reaches_the_handler() {
    let desk = Desk::new();
    let echo = By(|of: CommandInvocation| async move { Ok(CommandResult::text(&*of.raw_input)) });
    let _x = desk.global(CommandDefinition::new("x", "d", echo).without_recording());
    let execution = desk.done("/x secret").await;
    assert_eq!(execution.result, CommandResult::text(" secret"));
    assert_eq!(desk.log()[0].1.get("args"), None);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_10_the_handler_is_given_id_agent_input_attachments_and_signal() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let cancel = Cancel::new();
    let options = ExecuteOptions { cancel: cancel.clone(), ..ExecuteOptions::default() };
    let running = desk.spawn("/x a", options);
    let entered = entered.recv().await.expect("it is entered");
    let given = &entered.invocation;
    assert_eq!(given.agent, *desk.agent(), "the exact one");
    assert_eq!((given.name.as_str(), &*given.raw_input), ("x", " a"));
    assert_eq!(given.attachments.len(), 0);
    assert!(!given.cancel.is_cancelled());
    cancel.cancel_because(gatelog_interaction::cancel::Reason::message("enough"));
    assert_eq!(given.cancel.reason().expect("it is passed on").to_string(), "enough");
    running.await.expect("no panic").expect_err("it is cancelled");
    assert_eq!(desk.log()[0].1["commandId"], given.id.as_str());
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_12_a_success_may_say_anything_and_cite_an_earlier_event() {
    for (result, expected) in [
        (CommandResult::success(), json!({"kind": "success"})),
        (CommandResult::text(""), json!({"kind": "success", "text": ""})),
        (CommandResult::text(" \n"), json!({"kind": "success", "text": " \n"})),
        (
            CommandResult::Success { text: None, source_event_seq: Some(0) },
            json!({"kind": "success", "sourceEventSeq": 0}),
        ),
    ] {
        let desk = Desk::new();
        crate::support::start_turn(desk.agent().session(), 1);
        let _x = desk.x(says(result.clone()));
        let execution = desk.done("/x").await;
        assert_eq!(execution.result, result);
        let mut done = desk.dones().remove(0);
        done.as_object_mut().expect("an object").remove("commandId");
        assert_eq!(done, expected);
    }
    for blank in ["", " \t\n", "\u{feff}\u{a0}"] {
        assert_eq!(CommandResult::error(blank), None, "{blank:?}");
    }
}

#[tokio::test]
async fn ce_15_done_says_id_kind_text_and_source_in_this_order() {
    let desk = Desk::new();
    crate::support::start_turn(desk.agent().session(), 1);
    let result = CommandResult::Success { text: Some("t".into()), source_event_seq: Some(0) };
    let _x = desk.x(says(result));
    let execution = desk.done("/x").await;
    let id = execution.command_id.as_str();
    let expected = json!({"commandId": id, "kind": "success", "text": "t", "sourceEventSeq": 0});
    assert_eq!(desk.dones()[0].to_string(), expected.to_string());
}

#[tokio::test]
async fn ce_16_the_caller_is_given_the_id_and_the_result() {
    let desk = Desk::new();
    let _x = desk.x(says(CommandResult::text("t")));
    let execution = desk.done("/x").await;
    assert_eq!(desk.log()[0].1["commandId"], execution.command_id.as_str());
    let shown = serde_json::to_value(&execution).expect("it is JSON");
    let id = execution.command_id.as_str();
    assert_eq!(shown, json!({"commandId": id, "result": {"kind": "success", "text": "t"}}));
}

#[tokio::test]
async fn ce_17_an_expected_error_is_a_normal_return() {
    let desk = Desk::new();
    let error = CommandResult::error("no such goal").expect("it says something");
    let _x = desk.x(says(error.clone()));
    assert_eq!(desk.done("/x").await.result, error);
    assert_eq!(desk.error_text(), "no such goal");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_35_a_success_is_told_only_when_done_is_on_the_device() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(succeeds());
        desk.faults().hold("command/done");
        let running = desk.spawn("/x", ExecuteOptions::default());
        while desk.faults().waiting() == 0 {
            tokio::task::yield_now().await;
        }
        settle().await;
        assert!(!running.is_finished(), "{kind:?}: nothing is told before");
        desk.faults().release();
        let _execution = executed(running.await.expect("no panic"));
        // What a power cut leaves now has both.
        let expected = ["command/run", "command/done"];
        assert_eq!(desk.kinds_on_the_device(), expected, "{kind:?}");
    }
}

#[tokio::test]
async fn s_122_an_unknown_name_is_not_matched() {
    let desk = Desk::new();
    let _x = desk.x(never());
    let dispatch = desk.execute("/nope now").await.expect("it is no failure");
    assert_eq!(dispatch, Dispatch::NotMatched);
    assert_eq!(desk.world.events("a"), []);
    desk.assert_lawful();
}

#[tokio::test]
async fn s_127_an_input_that_is_off_the_record() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.global(CommandDefinition::new("x", "d", handler).without_recording());
        let running = desk.spawn("/x a b", ExecuteOptions::default());
        let entered = entered.recv().await.expect("it is entered");
        assert_eq!(&*entered.invocation.raw_input, " a b");
        assert!(entered.reply(Ok(CommandResult::success())));
        let _execution = executed(running.await.expect("no panic"));
        assert_eq!(desk.log()[0].1.get("args"), None, "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_128_a_definition_that_goes_while_its_handler_runs() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let x = desk.x(handler);
        let running = desk.spawn("/x", ExecuteOptions::default());
        let entered = entered.recv().await.expect("it is entered");
        drop(x);
        assert!(desk.registry.get(desk.agent(), "x").is_none());
        assert!(entered.reply(Ok(CommandResult::text("done"))));
        let execution = executed(running.await.expect("no panic"));
        assert_eq!(desk.dones()[0]["commandId"], execution.command_id.as_str(), "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_143_a_command_inside_a_turn() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        crate::support::start_turn(desk.agent().session(), 1);
        let _x = desk.x(says(CommandResult::text("t")));
        let _execution = desk.done("/x").await;
        crate::support::end_turn(desk.agent().session(), 1);
        let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
        let expected = ["turn/start", "command/run", "command/done", "turn/end"];
        assert_eq!(kinds, expected, "{kind:?}");
        desk.assert_lawful();
    }
}
