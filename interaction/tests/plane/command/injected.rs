//! Appends that fail at every point of a command, in both stores.

use super::support::{By, Desk, cancelled_by, driven, executed, says, succeeds};
use crate::support::Kind;
use gatelog_engine::backend::AppendError;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::cancel::{Cancel, Reason};
use gatelog_interaction::command::{CommandError, CommandResult, ExecuteOptions};
use gatelog_interaction::internal::Site;
use gatelog_interaction::profile::Profile;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span;

/// Remembers the messages that `tracing` is told on this thread.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<Vec<String>>>);

impl Visit for Traced {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().expect("sound").push(format!("{value:?}"));
        }
    }
}

impl tracing::Subscriber for Traced {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

fn injected(error: &AppendError) -> bool {
    matches!(error, AppendError::NotWritten(error) if error.to_string().contains("a test fails"))
}

#[tokio::test]
async fn s_088_a_run_that_fails_leaves_no_trace_but_a_gap_in_the_ids() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        desk.faults().fail("command/run");
        let failed = desk.execute("/x").await.expect_err("run is not appended");
        assert!(matches!(&failed, CommandError::Run(error) if injected(error)), "{failed:?}");
        assert!(entered.try_recv().is_err(), "{kind:?}: the handler was not entered");
        assert_eq!(desk.world.events("a"), [], "{kind:?}");
        let running = desk.spawn("/x", ExecuteOptions::default());
        let second = entered.recv().await.expect("it is entered");
        assert!(second.invocation.id.as_str().ends_with("-2"), "{kind:?}");
        assert!(second.reply(Ok(CommandResult::success())));
        let _execution = executed(running.await.expect("no panic"));
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_089_a_success_whose_done_fails() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let session = desk.agent().session().clone();
        let does = By(move |_| {
            let session = session.clone();
            async move {
                let work = move || crate::support::start_turn(&session, 1);
                tokio::task::spawn_blocking(work).await?;
                Ok(CommandResult::success())
            }
        });
        let _x = desk.x(does);
        desk.faults().fail("command/done");
        let failed = desk.execute("/x").await.expect_err("done is not appended");
        assert!(matches!(&failed, CommandError::Done(error) if injected(error)), "{failed:?}");
        let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
        assert_eq!(kinds, ["command/run", "turn/start"], "{kind:?}: its effect stands");
        crate::support::end_turn(desk.agent().session(), 1);
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
    }
}

#[tokio::test]
async fn s_090_an_expected_error_whose_done_fails() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(says(CommandResult::error("no").expect("it says something")));
        desk.faults().fail("command/done");
        let failed = desk.execute("/x").await.expect_err("done is not appended");
        assert!(matches!(&failed, CommandError::Done(error) if injected(error)), "{failed:?}");
        assert_eq!(desk.dones(), Vec::<Value>::new(), "{kind:?}");
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
    }
}

#[tokio::test]
async fn s_091_a_failure_whose_done_fails() {
    for kind in Kind::ALL {
        let traced = Traced::default();
        let _here = tracing::subscriber::set_default(traced.clone());
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(By(|_| std::future::ready(Err(BoxError::from("it broke")))));
        desk.faults().fail("command/done");
        let failed = desk.execute("/x").await.expect_err("the handler failed");
        assert!(matches!(&failed, CommandError::Handler(_)), "{kind:?}: {failed:?}");
        assert_eq!(failed.to_string(), "it broke");
        let reported = desk.world.sink.at(Site::CommandDone);
        assert_eq!(reported.len(), 1, "{kind:?}");
        let text = reported[0].error.to_string();
        assert!(text.starts_with("command \"x\": command/done append failed: "), "{text}");
        let traced = traced.0.lock().expect("sound").clone();
        let told = traced.iter().filter(|told| told.contains(&text)).count();
        assert_eq!(told, 1, "{kind:?}: {traced:?}");
        assert_eq!(desk.dones(), Vec::<Value>::new(), "{kind:?}");
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
    }
}

#[tokio::test]
async fn s_092_a_cancellation_whose_done_fails() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        desk.faults().fail("command/done");
        let cancel = Cancel::new();
        let running = desk.spawn("/x", cancelled_by(&cancel));
        let _entered = entered.recv().await.expect("it is entered");
        cancel.cancel_because(Reason::message("enough"));
        let failed = running.await.expect("no panic").expect_err("it is cancelled");
        let CommandError::Cancelled(reason) = failed else { panic!("the reason: {failed:?}") };
        assert_eq!(reason.to_string(), "enough", "{kind:?}");
        assert_eq!(desk.world.sink.at(Site::CommandDone).len(), 1, "{kind:?}");
        assert_eq!(desk.dones(), Vec::<Value>::new(), "{kind:?}");
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
    }
}

#[tokio::test]
async fn ce_28_a_run_whose_done_failed_does_not_stand_in_the_way_of_the_next() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(succeeds());
        desk.faults().fail("command/done");
        desk.execute("/x").await.expect_err("done is not appended");
        let next = desk.done("/x").await;
        assert_eq!(desk.dones()[0]["commandId"], next.command_id.as_str(), "{kind:?}");
    }
}
