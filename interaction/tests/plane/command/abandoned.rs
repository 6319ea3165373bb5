//! Callers that go away.

use super::support::{Desk, driven, settle};
use crate::support::Kind;
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{CommandResult, ExecuteOptions, OnAbandon};
use gatelog_interaction::profile::Profile;
use std::time::Duration;

/// Waits until the command has its end in the log.
async fn done(desk: &Desk) {
    for _ in 0..10_000 {
        if !desk.dones().is_empty() {
            return;
        }
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| ()).await.expect("nothing panics");
    }
    panic!("the command has no end");
}

#[tokio::test]
async fn ce_22_a_caller_that_goes_away_cancels_and_the_end_is_logged() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        let callers = Cancel::new();
        let options = ExecuteOptions { cancel: callers.clone(), ..ExecuteOptions::default() };
        let running = desk.spawn("/x", options);
        let entered = entered.recv().await.expect("it is entered");
        running.abort();
        running.await.expect_err("it is aborted");
        assert!(entered.invocation.cancel.is_cancelled(), "{kind:?}: the handler is told");
        assert!(!callers.is_cancelled(), "{kind:?}: the caller said nothing of its other work");
        done(&desk).await;
        assert_eq!(desk.error_text(), "command aborted", "{kind:?}");
        assert!(entered.reply(Ok(CommandResult::success())), "{kind:?}: it was left to finish");
        desk.world.plane.drained().await;
        assert_eq!(desk.log().len(), 2, "{kind:?}");
        for _ in 0..10_000 {
            if callers.subscriptions() == 0 {
                break;
            }
            tokio::task::spawn_blocking(|| ()).await.expect("nothing panics");
        }
        assert_eq!(callers.subscriptions(), 0, "{kind:?}: nothing is left behind");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ce_22_a_caller_that_goes_away_while_run_is_appended_leaves_a_pair() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        desk.faults().hold("command/run");
        let running = desk.spawn("/x", ExecuteOptions::default());
        while desk.faults().waiting() == 0 {
            tokio::task::yield_now().await;
        }
        running.abort();
        running.await.expect_err("it is aborted");
        desk.faults().release();
        done(&desk).await;
        assert_eq!(desk.error_text(), "command aborted", "{kind:?}");
        assert!(entered.try_recv().is_err(), "{kind:?}: the handler is not entered");
        desk.assert_lawful();
    }
}

#[tokio::test(start_paused = true)]
async fn ce_23_an_abandoned_handler_is_dropped_after_its_while() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let on_abandon = OnAbandon::AbortAfter(Duration::from_secs(1));
    let running = desk.spawn("/x", ExecuteOptions { on_abandon, ..ExecuteOptions::default() });
    let entered = entered.recv().await.expect("it is entered");
    running.abort();
    settle().await;
    assert!(!entered.is_gone());
    tokio::time::advance(Duration::from_millis(1_100)).await;
    settle().await;
    assert!(entered.is_gone());
    done(&desk).await;
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_16_a_signal_that_is_given_after_the_end_changes_nothing() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let callers = Cancel::new();
    let options = ExecuteOptions { cancel: callers.clone(), ..ExecuteOptions::default() };
    let running = desk.spawn("/x", options);
    let entered = entered.recv().await.expect("it is entered");
    let given = entered.invocation.cancel.clone();
    assert!(entered.reply(Ok(CommandResult::success())));
    let _execution = super::support::executed(running.await.expect("no panic"));
    assert_eq!(callers.subscriptions(), 0, "nothing is left behind");
    callers.cancel();
    assert!(!given.is_cancelled(), "the command is over");
    assert_eq!(desk.log().len(), 2);
    desk.assert_lawful();
}
