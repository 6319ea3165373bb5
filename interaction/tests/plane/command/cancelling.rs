//! Commands that are no longer wanted.

use super::support::{By, Desk, cancelled_by, driven, never, settle};
use crate::support::Kind;
use gatelog_interaction::cancel::{Cancel, Reason};
use gatelog_interaction::command::{
    CommandError, CommandInvocation, CommandResult, ExecuteOptions, OnAbandon,
};
use gatelog_interaction::internal::Said;
use gatelog_interaction::profile::Profile;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};

fn reason(failed: &CommandError) -> &Reason {
    match failed {
        CommandError::PreCancelled(reason) | CommandError::Cancelled(reason) => reason,
        other => panic!("a cancellation: {other:?}"),
    }
}

#[tokio::test]
async fn ce_02_what_is_cancelled_before_it_begins_is_not_logged() {
    let desk = Desk::new();
    let _x = desk.x(never());
    let cancel = Cancel::new();
    cancel.cancel_because(Reason::message("too late"));
    let failed = desk.with("/x", cancelled_by(&cancel)).await.expect_err("it is cancelled");
    assert!(matches!(failed, CommandError::PreCancelled(_)));
    assert_eq!(failed.to_string(), "too late");
    assert_eq!(desk.world.events("a"), []);
    // Only what is resolved is cancelled.
    let unknown = desk.with("/y", cancelled_by(&cancel)).await.expect("it is no failure");
    assert_eq!(unknown, gatelog_interaction::command::Dispatch::NotMatched);
}

#[tokio::test]
async fn ce_02_a_cancellation_while_run_is_appended_keeps_the_handler_out() {
    let desk = Desk::new();
    let _x = desk.x(never());
    desk.faults().hold("command/run");
    let cancel = Cancel::new();
    let running = desk.spawn("/x", cancelled_by(&cancel));
    while desk.faults().waiting() == 0 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    desk.faults().release();
    let failed = running.await.expect("no panic").expect_err("it is cancelled");
    assert!(matches!(failed, CommandError::Cancelled(_)));
    assert_eq!(desk.error_text(), "command aborted");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_22_a_cancellation_stops_the_wait_and_is_logged_with_its_reason() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let cancel = Cancel::new();
    let running = desk.spawn("/x", cancelled_by(&cancel));
    let entered = entered.recv().await.expect("it is entered");
    cancel.cancel_because(Reason::message("enough"));
    let failed = running.await.expect("no panic").expect_err("it is cancelled");
    assert!(matches!(failed, CommandError::Cancelled(_)));
    assert_eq!(failed.to_string(), "enough");
    assert_eq!(desk.error_text(), "enough");
    assert!(!entered.is_gone(), "nobody ended the handler");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_23_a_handler_that_does_not_listen_runs_on_unheard() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let cancel = Cancel::new();
    let running = desk.spawn("/x", cancelled_by(&cancel));
    let entered = entered.recv().await.expect("it is entered");
    cancel.cancel();
    running.await.expect("no panic").expect_err("it is cancelled");
    assert_eq!(desk.world.plane.undrained(), 1, "somebody counts it");
    assert!(entered.reply(Ok(CommandResult::text("late"))));
    desk.world.plane.drained().await;
    assert_eq!(desk.dones().len(), 1);
    desk.assert_lawful();
}

#[tokio::test(start_paused = true)]
async fn ce_23_a_handler_may_be_given_a_while_and_then_be_dropped() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    let cancel = Cancel::new();
    let on_abandon = OnAbandon::AbortAfter(Duration::from_secs(5));
    let running = desk.spawn("/x", ExecuteOptions { on_abandon, ..cancelled_by(&cancel) });
    let entered = entered.recv().await.expect("it is entered");
    tokio::time::advance(Duration::from_secs(60)).await;
    settle().await;
    assert!(!entered.is_gone(), "somebody waits for it");
    cancel.cancel();
    running.await.expect("no panic").expect_err("it is cancelled");
    tokio::time::advance(Duration::from_millis(4_900)).await;
    settle().await;
    assert!(!entered.is_gone(), "the while is not over");
    tokio::time::advance(Duration::from_millis(200)).await;
    settle().await;
    assert!(entered.is_gone());
    assert_eq!(desk.world.plane.undrained(), 0);
    desk.assert_lawful();
}

/// Gives its own signal, and then succeeds.
fn cancels_itself(own: bool, cancel: &Cancel) -> impl gatelog_interaction::command::CommandHandler {
    let callers = cancel.clone();
    By(move |invocation: CommandInvocation| {
        let cancel = if own { invocation.cancel } else { callers.clone() };
        async move {
            cancel.cancel_because(Reason::message("mine"));
            Ok(CommandResult::text("fine"))
        }
    })
}

#[tokio::test]
async fn ce_24_a_handler_that_cancels_itself_has_not_succeeded() {
    for own in [true, false] {
        let desk = Desk::new();
        let cancel = Cancel::new();
        let _x = desk.x(cancels_itself(own, &cancel));
        let failed = desk.with("/x", cancelled_by(&cancel)).await.expect_err("it is cancelled");
        assert_eq!(reason(&failed).to_string(), "mine", "own: {own}");
        assert_eq!(desk.error_text(), "mine", "own: {own}");
        assert_eq!(cancel.is_cancelled(), !own, "what is the caller's own is not given for it");
        desk.assert_lawful();
    }
}

/// Tells the test that the handler has returned, before anybody can take its result up.
struct Returned(Arc<Notify>);

impl Drop for Returned {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Gives a signal when the handler has returned. There is one thread, on which tasks run in the
/// order in which they were woken: this one before the one that takes the result up.
async fn cancel_once(returned: &Arc<Notify>, cancel: &Cancel, reason: Reason) {
    let (returned, cancel) = (Arc::clone(returned), cancel.clone());
    let task = tokio::spawn(async move {
        returned.notified().await;
        cancel.cancel_because(reason);
    });
    task.await.expect("nothing panics");
}

#[tokio::test]
async fn ce_25_a_cancellation_between_the_return_and_its_taking_up_wins() {
    let desk = Desk::new();
    let returned = Arc::new(Notify::new());
    let tells = Arc::clone(&returned);
    let (results, mut resulted) = mpsc::unbounded_channel();
    let _x = desk.x(By(move |_| {
        let (tells, results) = (Returned(Arc::clone(&tells)), results.clone());
        async move {
            let _tells = tells;
            results.send(()).expect("the test listens");
            Ok(CommandResult::text("fine"))
        }
    }));
    let cancel = Cancel::new();
    let running = desk.spawn("/x", cancelled_by(&cancel));
    cancel_once(&returned, &cancel, Reason::message("between")).await;
    resulted.try_recv().expect("the handler came to its end");
    let failed = running.await.expect("no panic").expect_err("cancellation wins");
    assert_eq!(reason(&failed).to_string(), "between");
    assert_eq!(desk.error_text(), "between");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_25_one_that_comes_after_it_was_taken_up_is_too_late() {
    let desk = Desk::new();
    let (handler, mut entered) = driven();
    let _x = desk.x(handler);
    desk.faults().hold("command/done");
    let cancel = Cancel::new();
    let running = desk.spawn("/x", cancelled_by(&cancel));
    let entered = entered.recv().await.expect("it is entered");
    assert!(entered.reply(Ok(CommandResult::text("fine"))));
    while desk.faults().waiting() == 0 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    desk.faults().release();
    let execution = super::support::executed(running.await.expect("no panic"));
    assert_eq!(execution.result, CommandResult::text("fine"), "the log says so already");
    assert_eq!(desk.dones()[0]["kind"], "success");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_26_a_reason_is_an_error_a_text_or_the_fixed_text() {
    let said = Arc::new(Said("disk full".into()));
    let rows: [(Reason, &str); 3] = [
        (Reason::Error(said.clone()), "disk full"),
        (Reason::message("a text"), "a text"),
        (Reason::Unsaid, "command aborted"),
    ];
    for (given, text) in rows {
        for begun in [false, true] {
            let desk = Desk::new();
            let (handler, mut entered) = driven();
            let _x = desk.x(handler);
            let cancel = Cancel::new();
            if !begun {
                cancel.cancel_because(given.clone());
            }
            let running = desk.spawn("/x", cancelled_by(&cancel));
            if begun {
                let _entered = entered.recv().await.expect("it is entered");
                cancel.cancel_because(given.clone());
            }
            let failed = running.await.expect("no panic").expect_err("it is cancelled");
            assert_eq!(failed.to_string(), text);
            if let (Reason::Error(given), Reason::Error(told)) = (&given, reason(&failed)) {
                assert!(Arc::ptr_eq(given, told), "the very error");
            }
            if begun {
                assert_eq!(desk.error_text(), text);
            }
        }
    }
}

#[tokio::test]
async fn s_126_a_signal_that_was_given_before() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(never());
        let cancel = Cancel::new();
        cancel.cancel_because(Reason::message("no longer"));
        let failed = desk.with("/x", cancelled_by(&cancel)).await.expect_err("it is cancelled");
        assert_eq!(reason(&failed).to_string(), "no longer", "{kind:?}");
        assert_eq!(desk.world.events("a"), [], "{kind:?}");
        assert_eq!(desk.world.plane.undrained(), 0, "{kind:?}");
    }
}

#[tokio::test]
async fn s_129_a_handler_that_does_not_listen() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        let cancel = Cancel::new();
        let running = desk.spawn("/x", cancelled_by(&cancel));
        let entered = entered.recv().await.expect("it is entered");
        cancel.cancel_because(Reason::message("stop"));
        let failed = running.await.expect("no panic").expect_err("it is cancelled");
        assert_eq!(reason(&failed).to_string(), "stop", "{kind:?}");
        assert_eq!(desk.error_text(), "stop", "{kind:?}");
        assert!(entered.reply(Ok(CommandResult::text("late"))), "{kind:?}: it still ran");
        desk.world.plane.drained().await;
        settle().await;
        assert_eq!(desk.log().len(), 2, "{kind:?}: what it said is ignored");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_130_a_handler_that_cancels_itself() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let cancel = Cancel::new();
        let _x = desk.x(cancels_itself(false, &cancel));
        let failed = desk.with("/x", cancelled_by(&cancel)).await.expect_err("it is cancelled");
        assert_eq!(reason(&failed).to_string(), "mine", "{kind:?}");
        assert_eq!(desk.error_text(), "mine", "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_131_a_cancellation_before_the_continuation() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let returned = Arc::new(Notify::new());
        let tells = Arc::clone(&returned);
        let _x = desk.x(By(move |_| {
            let tells = Returned(Arc::clone(&tells));
            async move {
                let _tells = tells;
                Ok(CommandResult::success())
            }
        }));
        let cancel = Cancel::new();
        let running = desk.spawn("/x", cancelled_by(&cancel));
        cancel_once(&returned, &cancel, Reason::Unsaid).await;
        let failed = running.await.expect("no panic").expect_err("cancellation wins");
        assert!(matches!(failed, CommandError::Cancelled(_)), "{kind:?}");
        assert_eq!(desk.dones().len(), 1, "{kind:?}");
        assert_eq!(desk.error_text(), "command aborted", "{kind:?}");
        desk.assert_lawful();
    }
}
