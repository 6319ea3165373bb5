//! Commands are no part of the conversation.

use super::support::{By, Desk, executed, never, says, succeeds};
use gatelog_engine::backend::Durability;
use gatelog_engine::rules::Draft;
use gatelog_interaction::agent::{Agent, BoxError, Notice, NoticeQueue};
use gatelog_interaction::command::{
    CommandDefinition, CommandInvocation, CommandResult, Dispatch, ExecuteOptions,
};
use gatelog_validator::projection::{Request, Turns};
use std::ops::ControlFlow;
use std::sync::Arc;

#[tokio::test]
async fn cr_19_descriptors_input_and_output_add_nothing_to_a_request() {
    let desk = Desk::new();
    let session = desk.agent().session();
    let request = session.project(Request::default).expect("the session is live");
    let before = request.view().expect("it can be read").0;
    let _x = desk.global(
        CommandDefinition::new("x", "does x", says(CommandResult::text("shown"))).with_hint("h"),
    );
    let _execution = desk.done("/x secret").await;
    assert_eq!(request.view().expect("it can be read").0, before);
    let mut placed = Vec::new();
    let read = desk.world.store.read("a", 0, &mut |event| {
        placed.push((event.kind.to_owned(), event.surface.is_some()));
        ControlFlow::Continue(())
    });
    read.expect("the disk is sound");
    let log_only = [("command/run".to_owned(), false), ("command/done".to_owned(), false)];
    assert_eq!(placed, log_only);
}

#[tokio::test]
async fn cr_20_an_unknown_line_is_told_from_a_result_and_reaches_nobody() {
    let (desk, queue) = (Desk::new(), Arc::new(NoticeQueue::default()));
    let session = desk.world.session("b");
    let scope = desk.world.root.child("b").expect("two deep");
    let agent = Agent::new("b", session, scope, queue.clone());
    let _live = desk.world.agents.enter(agent.clone(), None);
    let dispatch = desk.registry.execute(&agent, "/typo now", ExecuteOptions::default()).await;
    assert_eq!(dispatch.expect("no failure"), Dispatch::NotMatched, "the adapter refuses it");
    assert_eq!((desk.world.events("b"), queue.take()), (vec![], vec![]));
}

#[tokio::test]
async fn ce_31_a_command_opens_no_turn_and_writes_no_message() {
    let desk = Desk::new();
    let session = desk.agent().session();
    let turns = session.project(Turns::default).expect("the session is live");
    let _x = desk.x(says(CommandResult::text("t")));
    let _execution = desk.done("/x").await;
    let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["command/run", "command/done"]);
    assert_eq!(turns.view().expect("it can be read").0, []);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_32_work_for_a_model_is_the_handlers_to_queue() {
    let (desk, queue) = (Desk::new(), Arc::new(NoticeQueue::default()));
    let session = desk.world.session("b");
    let scope = desk.world.root.child("b").expect("two deep");
    let agent = Agent::new("b", session, scope, queue.clone());
    let _live = desk.world.agents.enter(agent.clone(), None);
    let notice = Notice { text: "do it".into(), source: r#"{"kind":"command"}"#.into() };
    let given = notice.clone();
    let _silent = desk.global(CommandDefinition::new("silent", "d", succeeds()));
    let _x = desk.x(By(move |invocation: CommandInvocation| {
        let queued = invocation.agent.notices().queue(given.clone());
        std::future::ready(queued.map(|()| CommandResult::success()))
    }));
    let execute = async |line| desk.registry.execute(&agent, line, ExecuteOptions::default()).await;
    let _execution = executed(execute("/silent do it").await);
    assert_eq!(queue.take(), [], "the registry queues nothing by itself");
    let _execution = executed(execute("/x").await);
    assert_eq!(queue.take(), [notice]);
}

#[tokio::test]
async fn ce_33_a_change_of_the_domain_is_the_domains_own_event() {
    let desk = Desk::new();
    let changes = By(|invocation: CommandInvocation| async move {
        let session = invocation.agent.session().clone();
        let append = move || {
            let draft = Draft::new("approval/policy", r#"{"policy":"never"}"#);
            session.append([draft], Durability::Synced)
        };
        // The gate is not held while a handler runs.
        let commit = tokio::task::spawn_blocking(append).await?;
        let commit = commit.map_err(BoxError::from)?;
        Ok(CommandResult::Success { text: None, source_event_seq: Some(commit.first_seq) })
    });
    let _x = desk.x(changes);
    let execution = desk.done("/x").await;
    let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["command/run", "approval/policy", "command/done"]);
    assert_eq!(execution.result.source_event_seq(), Some(1));
    assert_eq!(desk.dones()[0]["sourceEventSeq"], 1);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_33_a_handler_may_run_a_command_of_the_same_session() {
    let desk = Desk::new();
    let _inner = desk.global(CommandDefinition::new("inner", "d", succeeds()));
    let registry = desk.registry.clone();
    let _x = desk.x(By(move |invocation: CommandInvocation| {
        let registry = registry.clone();
        async move {
            let options = ExecuteOptions::default();
            let inner = registry.execute(&invocation.agent, "/inner", options).await?;
            assert!(matches!(inner, Dispatch::Executed(_)));
            Ok(CommandResult::success())
        }
    }));
    let _execution = desk.done("/x").await;
    let kinds: Vec<_> = desk.log().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["command/run", "command/run", "command/done", "command/done"]);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_34_what_a_handler_says_is_the_dispatchers_to_show() {
    let desk = Desk::new();
    let request = desk.agent().session().project(Request::default).expect("it is live");
    let _x = desk.x(says(CommandResult::text("only for a person")));
    let _never = desk.global(CommandDefinition::new("never", "d", never()));
    let execution = desk.done("/x").await;
    assert_eq!(execution.result.shown(), Some("only for a person"));
    assert_eq!(request.view().expect("it can be read").0, None, "no model hears of it");
}
