//! Receipts of files that were handed in before.

use super::pictures::{encoded, png};
use super::support::{By, Desk, Shelf, executed, never, receipt, settle, with};
use crate::support::Kind;
use async_trait::async_trait;
use gatelog_interaction::agent::Agent;
use gatelog_interaction::command::{
    AttachmentId, CommandDefinition, CommandError, CommandResult, FileRef, ReceiptResolver,
    StoreFailure,
};
use gatelog_interaction::internal::Said;
use gatelog_interaction::profile::Profile;
use std::sync::{Arc, Mutex};

/// Knows one receipt.
pub(super) struct Known(pub(super) &'static str);

#[async_trait]
impl ReceiptResolver for Known {
    async fn resolve(&self, _: &Agent, receipt: &str) -> Result<Option<FileRef>, StoreFailure> {
        Ok((receipt == self.0).then(|| FileRef {
            attachment_id: AttachmentId::new(format!("file-{receipt}")),
            name: format!("{receipt}.txt"),
            bytes: 5,
        }))
    }
}

/// Remembers for whom it was asked what, and fails.
#[derive(Default)]
struct Asked(Mutex<Vec<(Agent, String)>>);

#[async_trait]
impl ReceiptResolver for Asked {
    async fn resolve(&self, agent: &Agent, receipt: &str) -> Result<Option<FileRef>, StoreFailure> {
        self.0.lock().expect("sound").push((agent.clone(), receipt.to_owned()));
        Err(StoreFailure::Other(Said("the desk is closed".into()).into()))
    }
}

const UNKNOWN: &str = "File upload receipt is unknown for this session.";

fn desk(kind: Kind) -> (Desk, Arc<Shelf>) {
    let shelf = Arc::new(Shelf::default());
    (Desk::of(kind, Profile::STRICT, Some(shelf.clone())), shelf)
}

fn takes(handler: impl gatelog_interaction::command::CommandHandler) -> CommandDefinition {
    CommandDefinition::new("x", "d", handler).with_attachments("files")
}

#[tokio::test]
async fn ca_16_every_receipt_is_resolved_before_an_image_is_stored() {
    for batch in [
        vec![encoded(&png("a")), receipt("r"), receipt("unknown")],
        vec![receipt("unknown"), encoded(&png("a"))],
    ] {
        let (desk, shelf) = desk(Kind::Native);
        let _files = desk.registry.register_receipts(Arc::new(Known("r"))).expect("free");
        let _x = desk.global(takes(never()));
        let execution = executed(desk.with("/x", with(batch)).await);
        assert_eq!(Some(execution.result), CommandResult::error(UNKNOWN));
        assert_eq!(shelf.calls(), 0);
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_16_without_a_resolver_every_receipt_is_unknown() {
    let (desk, shelf) = desk(Kind::Native);
    let _x = desk.global(takes(never()));
    let _execution = executed(desk.with("/x", with([encoded(&png("a")), receipt("r")])).await);
    assert_eq!((desk.error_text().as_str(), shelf.calls()), (UNKNOWN, 0));
}

#[tokio::test]
async fn ca_16_a_receipt_is_resolved_for_the_agent_that_sent_it() {
    let (desk, _) = desk(Kind::Native);
    let asked = Arc::new(Asked::default());
    let _files = desk.registry.register_receipts(asked.clone()).expect("free");
    let _x = desk.global(takes(never()));
    let failed = desk.with("/x", with([receipt("r")])).await.expect_err("the resolver failed");
    assert_eq!(*asked.0.lock().expect("sound"), [(desk.agent().clone(), "r".to_owned())]);
    assert!(matches!(&failed, CommandError::Attachments(error) if error.is::<Said>()));
    assert_eq!(desk.error_text(), "the desk is closed");
    desk.assert_lawful();
}

#[tokio::test]
async fn ca_17_there_is_one_resolver_and_a_guard_removes_only_its_own() {
    let (desk, _) = desk(Kind::Native);
    let register = |resolver: Known| desk.registry.register_receipts(Arc::new(resolver));
    let _x = desk.global(takes(By(|_| async { Ok(CommandResult::success()) })));
    let mut first = register(Known("first")).expect("free");
    let refused = register(Known("second")).expect_err("one is there");
    assert_eq!(refused.to_string(), "commands: a file receipt resolver is already registered");
    assert!(first.withdraw());
    let second = register(Known("second")).expect("the place is free again");
    assert!(!first.withdraw(), "it is not its own any more");
    drop(first);
    let execution = executed(desk.with("/x", with([receipt("second")])).await);
    assert_eq!(execution.result, CommandResult::success());
    drop(second);
    let execution = executed(desk.with("/x", with([receipt("second")])).await);
    assert_eq!(Some(execution.result), CommandResult::error(UNKNOWN));
}

#[tokio::test]
async fn ca_18_files_alone_need_a_store_as_well() {
    let desk = Desk::new();
    let _files = desk.registry.register_receipts(Arc::new(Known("r"))).expect("free");
    let _x = desk.global(takes(never()));
    let _execution = executed(desk.with("/x", with([receipt("r")])).await);
    assert_eq!(
        desk.error_text(),
        "/x: attachments are unavailable because no attachment store is composed"
    );
    desk.assert_lawful();
}

#[tokio::test]
async fn ca_18_a_store_is_not_asked_to_take_nothing() {
    let (desk, shelf) = desk(Kind::Native);
    let _files = desk.registry.register_receipts(Arc::new(Known("r"))).expect("free");
    let _x = desk.global(takes(By(|_| async { Ok(CommandResult::success()) })));
    let execution = executed(desk.with("/x", with([receipt("r")])).await);
    assert_eq!((execution.result, shelf.calls()), (CommandResult::success(), 0));
    settle().await;
}

#[tokio::test]
async fn s_140_one_image_and_an_unknown_receipt() {
    for kind in Kind::ALL {
        let (desk, shelf) = desk(kind);
        let _files = desk.registry.register_receipts(Arc::new(Known("r"))).expect("free");
        let _x = desk.global(takes(never()));
        let batch = [encoded(&png("a")), receipt("someone else's")];
        let execution = executed(desk.with("/x", with(batch)).await);
        assert_eq!(Some(execution.result), CommandResult::error(UNKNOWN), "{kind:?}");
        assert_eq!(desk.error_text(), UNKNOWN, "{kind:?}");
        assert_eq!(shelf.calls(), 0, "{kind:?}: nothing was written");
        desk.assert_lawful();
    }
}
