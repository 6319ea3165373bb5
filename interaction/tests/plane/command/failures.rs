//! Every way in which a command comes to no result.

use super::support::{By, Desk, driven, never, says, succeeds};
use crate::support::Kind;
use gatelog_interaction::agent::BoxError;
use gatelog_interaction::command::{CommandError, CommandResult, ExecuteOptions};
use gatelog_interaction::internal::Site;
use gatelog_interaction::profile::Profile;
use std::fmt;
use std::sync::Arc;

/// An error that can be told from every other.
#[derive(Clone, Debug)]
struct Mine(Arc<str>);

impl fmt::Display for Mine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mine {}

/// An error that cannot even be shown.
#[derive(Debug)]
struct Unshown;

impl fmt::Display for Unshown {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("it cannot be shown")
    }
}

impl std::error::Error for Unshown {}

fn fails(error: &Mine) -> impl gatelog_interaction::command::CommandHandler {
    let error = error.clone();
    By(move |_| std::future::ready(Err(Box::new(error.clone()) as BoxError)))
}

#[tokio::test]
async fn ce_09_without_a_run_the_handler_is_not_entered_and_there_is_no_done() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(never());
        desk.faults().fail("command/run");
        let failed = desk.execute("/x").await.expect_err("run is not appended");
        assert!(matches!(failed, CommandError::Run(_)), "{kind:?}: {failed:?}");
        assert_eq!(desk.world.events("a"), [], "{kind:?}");
        assert_eq!(desk.world.sink.all().len(), 0, "{kind:?}: it was not entered");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ce_18_a_handlers_error_is_logged_and_handed_on_as_it_is() {
    let desk = Desk::new();
    let mine = Mine("it broke".into());
    let _x = desk.x(fails(&mine));
    let failed = desk.execute("/x").await.expect_err("the handler failed");
    let CommandError::Handler(error) = failed else { panic!("the handler's own: {failed:?}") };
    let same = error.downcast_ref::<Mine>().expect("the very error");
    assert!(Arc::ptr_eq(&same.0, &mine.0));
    assert_eq!(desk.error_text(), "it broke");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_18_a_text_of_any_size_leaves_a_command_its_end() {
    let desk = Desk::new();
    let _x = desk.x(fails(&Mine("é".repeat(40 << 20).into())));
    desk.execute("/x").await.expect_err("the handler failed");
    assert_eq!(desk.error_text().len(), 64 << 10);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_20_an_error_that_cannot_be_shown_has_a_placeholder() {
    let desk = Desk::new();
    let _x = desk.x(By(|_| std::future::ready(Err(Box::new(Unshown) as BoxError))));
    let failed = desk.execute("/x").await.expect_err("the handler failed");
    assert!(matches!(failed, CommandError::Handler(error) if error.is::<Unshown>()));
    assert_eq!(desk.error_text(), "<unrenderable thrown value>");
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_19_a_panic_is_a_value_that_is_no_error() {
    let desk = Desk::new();
    let _x = desk.x(By(|_| async { panic!("out of {}", "range") }));
    let failed = desk.execute("/x").await.expect_err("the handler panicked");
    let CommandError::Panicked(panicked) = &failed else { panic!("a panic: {failed:?}") };
    assert_eq!(panicked.0, "out of range");
    let text = "command handler rejected with a non-Error value: out of range";
    assert_eq!((desk.error_text().as_str(), failed.to_string().as_str()), (text, text));

    let desk = Desk::new();
    let _x = desk.x(By(|_| async { std::panic::panic_any(7_u8) }));
    desk.execute("/x").await.expect_err("the handler panicked");
    let text = "command handler rejected with a non-Error value: <unrenderable thrown value>";
    assert_eq!(desk.error_text(), text);
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_21_a_result_that_is_none_is_a_failure_of_the_handler() {
    let desk = Desk::new();
    let _x = desk.x(says(CommandResult::Success { text: None, source_event_seq: Some(u64::MAX) }));
    let failed = desk.execute("/x").await.expect_err("no event has that seq");
    assert!(matches!(failed, CommandError::BadResult(_)));
    assert_eq!(desk.error_text(), failed.to_string());
    desk.assert_lawful();
}

#[tokio::test]
async fn ce_27_a_done_that_fails_behind_a_failure_is_reported_and_changes_nothing() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(fails(&Mine("it broke".into())));
        desk.faults().fail("command/done");
        let failed = desk.execute("/x").await.expect_err("the handler failed");
        assert!(matches!(&failed, CommandError::Handler(error) if error.is::<Mine>()), "{kind:?}");
        let reported = desk.world.sink.at(Site::CommandDone);
        let [reported] = &reported[..] else { panic!("one report: {reported:?}") };
        let text = reported.error.to_string();
        assert!(text.starts_with("command \"x\": command/done append failed: "), "{text}");
        assert!(text.contains("a test fails the append of command/done"), "{text}");
        assert_eq!(reported.session.as_deref(), Some("a"));
        let run = desk.log().swap_remove(0).1;
        assert_eq!(reported.subject.as_deref(), run["commandId"].as_str());
        assert_eq!(desk.dones(), Vec::<serde_json::Value>::new(), "{kind:?}");
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
    }
}

#[tokio::test]
async fn ce_28_a_success_without_its_done_is_no_success() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(succeeds());
        desk.faults().fail("command/done");
        let failed = desk.execute("/x").await.expect_err("done is not appended");
        assert!(matches!(failed, CommandError::Done(_)), "{kind:?}: {failed:?}");
        assert_eq!(desk.world.sink.all().len(), 0, "{kind:?}: the caller was told");
    }
}

#[tokio::test]
async fn ce_29_the_log_keeps_the_run_and_what_the_handler_did_stands() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let (handler, mut entered) = driven();
        let _x = desk.x(handler);
        desk.faults().fail("command/done");
        let running = desk.spawn("/x", ExecuteOptions::default());
        let entered = entered.recv().await.expect("it is entered");
        let session = desk.agent().session();
        crate::support::start_turn(session, 1);
        assert!(entered.reply(Ok(CommandResult::success())));
        running.await.expect("no panic").expect_err("done is not appended");
        let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
        assert_eq!(kinds, ["command/run", "turn/start"], "{kind:?}");
        crate::support::end_turn(session, 1);
        assert_eq!(desk.errors(), Vec::<String>::new(), "{kind:?}");
        assert_eq!(desk.world.errors(gatelog_validator::rule::Profile::Host), Vec::<String>::new());
    }
}

#[tokio::test]
async fn ce_30_an_expected_error_without_its_done_fails_the_call() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let _x = desk.x(says(CommandResult::error("no").expect("it says something")));
        desk.faults().fail_after("command/done", 0, 2);
        let failed = desk.execute("/x").await.expect_err("done is not appended");
        assert!(matches!(failed, CommandError::Done(_)), "{kind:?}: {failed:?}");
        // So does the refusal of attachments.
        let options = super::support::with([super::support::image("AAAA")]);
        let failed = desk.with("/x", options).await.expect_err("done is not appended");
        assert!(matches!(failed, CommandError::Done(_)), "{kind:?}: {failed:?}");
        assert_eq!(desk.dones(), Vec::<serde_json::Value>::new(), "{kind:?}");
        assert_eq!(desk.world.sink.all().len(), 0, "{kind:?}: nothing is contained");
    }
}
