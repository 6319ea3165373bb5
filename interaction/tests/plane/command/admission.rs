//! What becomes of a batch on its way to the handler.

use super::pictures::{encoded, png};
use super::support::{
    By, Desk, Shelf, cancelled_by, executed, image, never, settle, succeeds, with,
};
use crate::support::Kind;
use gatelog_interaction::cancel::{Cancel, Reason};
use gatelog_interaction::command::{
    Attachment, AttachmentCode, AttachmentError, CommandDefinition, CommandError, CommandHandler,
    CommandResult, ExecuteOptions, StoreFailure,
};
use gatelog_interaction::internal::Said;
use gatelog_interaction::profile::Profile;
use std::sync::Arc;

fn takes(handler: impl CommandHandler) -> CommandDefinition {
    CommandDefinition::new("x", "d", handler).with_attachments("pictures")
}

fn one() -> Vec<Attachment> {
    vec![encoded(&png("one"))]
}

fn desk(kind: Kind, profile: Profile) -> (Desk, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    (Desk::of(kind, profile, Some(shelf.clone())), shelf)
}

#[tokio::test]
async fn ca_01_a_command_that_takes_none_is_not_entered_with_some() {
    for (profile, text) in [
        (Profile::STRICT, "/x does not accept attachments"),
        (Profile::DSH, "/x does not accept attachments"),
        (Profile::DSH_0_1_1, "/x does not accept image attachments"),
    ] {
        let (desk, shelf) = desk(Kind::Native, profile);
        let _x = desk.global(CommandDefinition::new("x", "d", never()).with_hint("text"));
        let execution = executed(desk.with("/x", with(one())).await);
        assert_eq!(Some(execution.result), CommandResult::error(text));
        assert_eq!((desk.error_text().as_str(), shelf.calls()), (text, 0));
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_02_the_declaration_in_force_counts_whatever_a_composer_saw() {
    let (desk, _) = desk(Kind::Native, Profile::STRICT);
    let x = desk.global(takes(succeeds()));
    assert!(desk.registry.get(desk.agent(), "x").expect("it is there").takes_attachments());
    // Between the composer's look and the line, the command became another one.
    drop(x);
    let _x = desk.x(never());
    let _execution = executed(desk.with("/x", with(one())).await);
    assert_eq!(desk.error_text(), "/x does not accept attachments");
}

#[tokio::test]
async fn ca_03_without_a_store_the_handler_is_not_entered() {
    for (profile, what) in [
        (Profile::STRICT, "attachments"),
        (Profile::DSH, "attachments"),
        (Profile::DSH_0_1_1, "image attachments"),
    ] {
        let desk = Desk::of(Kind::Native, profile, None);
        let _x = desk.global(takes(never()));
        let execution = executed(desk.with("/x", with(one())).await);
        let text = format!("/x: {what} are unavailable because no attachment store is composed");
        assert_eq!(Some(execution.result), CommandResult::error(text.clone()));
        assert_eq!(desk.error_text(), text);
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_07_a_failure_with_a_name_is_an_ordinary_error() {
    let (desk, shelf) = desk(Kind::Native, Profile::STRICT);
    let _x = desk.global(takes(never()));
    let error = AttachmentError::new(AttachmentCode::ImageTooLarge, "Image is too large.");
    shelf.fail(error.into());
    let execution = executed(desk.with("/x", with(one())).await);
    assert_eq!(Some(execution.result), CommandResult::error("Image is too large."));
    assert_eq!(desk.error_text(), "Image is too large.");
    desk.assert_lawful();
}

#[tokio::test]
async fn ca_08_any_other_failure_is_logged_and_handed_on() {
    let (desk, shelf) = desk(Kind::Native, Profile::STRICT);
    let _x = desk.global(takes(never()));
    shelf.fail(StoreFailure::Other(Said("the shelf fell".into()).into()));
    let failed = desk.with("/x", with(one())).await.expect_err("the store failed");
    let CommandError::Attachments(error) = failed else { panic!("the store's own: {failed:?}") };
    assert_eq!(error.downcast_ref::<Said>(), Some(&Said("the shelf fell".into())));
    assert_eq!(desk.error_text(), "the shelf fell");
    desk.assert_lawful();
}

#[tokio::test]
async fn ca_10_a_cancellation_during_admission_keeps_the_handler_out() {
    for finishes in [true, false] {
        let (desk, shelf) = desk(Kind::Native, Profile::STRICT);
        let _x = desk.global(takes(never()));
        let held = shelf.hold();
        let cancel = Cancel::new();
        let options = ExecuteOptions { attachments: one(), ..cancelled_by(&cancel) };
        let running = desk.spawn("/x", options);
        while shelf.calls() == 0 {
            tokio::task::yield_now().await;
        }
        settle().await;
        if finishes {
            held.send(Ok(())).expect("the store waits");
            cancel.cancel();
        } else {
            // A store that hangs holds nobody up.
            cancel.cancel();
        }
        let failed = running.await.expect("no panic").expect_err("it is cancelled");
        assert!(matches!(failed, CommandError::Cancelled(_)), "{finishes}");
        assert_eq!(desk.error_text(), "command aborted", "{finishes}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_11_a_store_that_cites_too_few_is_not_believed() {
    struct Forgetful;

    #[async_trait::async_trait]
    impl gatelog_interaction::command::AttachmentStore for Forgetful {
        async fn admit(
            &self,
            _: Vec<gatelog_interaction::command::ImageUpload>,
            _: Cancel,
        ) -> Result<Vec<gatelog_interaction::command::ImageRef>, StoreFailure> {
            Ok(Vec::new())
        }

        async fn read(
            &self,
            _: &gatelog_interaction::command::AttachmentId,
        ) -> Result<Vec<u8>, StoreFailure> {
            Ok(Vec::new())
        }
    }

    let desk = Desk::of(Kind::Native, Profile::STRICT, Some(Arc::new(Forgetful)));
    let _x = desk.global(takes(never()));
    let failed = desk.with("/x", with(one())).await.expect_err("nothing can be cited");
    assert!(matches!(failed, CommandError::Attachments(_)));
    assert_eq!(desk.error_text(), "the store took 1 images and cites 0");
}

#[tokio::test]
async fn s_137_images_for_a_command_that_takes_none() {
    for kind in Kind::ALL {
        let (desk, shelf) = desk(kind, Profile::STRICT);
        let _x = desk.x(never());
        let execution = executed(desk.with("/x", with(one())).await);
        let refused = CommandResult::error("/x does not accept attachments");
        assert_eq!(Some(execution.result), refused, "{kind:?}");
        let kinds: Vec<_> = desk.log().into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, ["command/run", "command/done"], "{kind:?}");
        assert_eq!(desk.error_text(), "/x does not accept attachments", "{kind:?}");
        assert_eq!(shelf.calls(), 0, "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_138_three_images_of_which_the_second_is_none() {
    for kind in Kind::ALL {
        let (desk, shelf) = desk(kind, Profile::STRICT);
        let _x = desk.global(takes(never()));
        let batch = [encoded(&png("1")), image("AB=="), encoded(&png("3"))];
        let execution = executed(desk.with("/x", with(batch)).await);
        let refused = CommandResult::error("Image upload is not canonical base64.");
        assert_eq!(Some(execution.result), refused, "{kind:?}");
        assert_eq!(shelf.calls(), 0, "{kind:?}");
        assert_eq!(desk.error_text(), "Image upload is not canonical base64.", "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_141_a_cancellation_while_the_store_works() {
    for kind in Kind::ALL {
        let (desk, shelf) = desk(kind, Profile::STRICT);
        let _x = desk.global(takes(never()));
        let held = shelf.hold();
        let cancel = Cancel::new();
        let options = ExecuteOptions { attachments: one(), ..cancelled_by(&cancel) };
        let running = desk.spawn("/x", options);
        while shelf.calls() == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel_because(Reason::message("changed my mind"));
        held.send(Ok(())).expect("the store finishes anyway");
        let failed = running.await.expect("no panic").expect_err("it is cancelled");
        assert_eq!(failed.to_string(), "changed my mind", "{kind:?}");
        assert_eq!(desk.error_text(), "changed my mind", "{kind:?}");
        desk.world.plane.drained().await;
        assert_eq!(desk.log().len(), 2, "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn s_142_a_store_that_fails_for_a_reason_without_a_name() {
    for kind in Kind::ALL {
        let (desk, shelf) = desk(kind, Profile::STRICT);
        let _x = desk.global(takes(By(|_| async { panic!("it is not to be entered") })));
        let original = Said("no such shelf".into());
        shelf.fail(StoreFailure::Other(original.clone().into()));
        let failed = desk.with("/x", with(one())).await.expect_err("the store failed");
        let same = match &failed {
            CommandError::Attachments(error) => error.downcast_ref::<Said>(),
            _ => None,
        };
        assert_eq!(same, Some(&original), "{kind:?}: {failed:?}");
        assert_eq!(desk.error_text(), "no such shelf", "{kind:?}");
        desk.assert_lawful();
    }
}
