//! What a front end may send beside a line, and what of it is kept.

use super::pictures::{encoded, png};
use super::support::{By, Desk, Shelf, driven, executed, image, never, receipt, with};
use crate::support::Kind;
use gatelog_interaction::command::{
    Attachment, AttachmentBlock, AttachmentCode, CommandDefinition, CommandInvocation,
    CommandResult, EncodedImage, ExecuteOptions, ReceiptResolver, WireError,
};
use gatelog_interaction::profile::Profile;
use gatelog_validator::projection::Commands;
use serde_json::{Value, json};
use std::sync::Arc;

fn takes(handler: impl gatelog_interaction::command::CommandHandler) -> CommandDefinition {
    CommandDefinition::new("x", "d", handler).with_attachments("pictures")
}

#[test]
fn ca_04_the_text_of_an_image_is_the_one_spelling_of_its_bytes() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it can be built");
    runtime.block_on(async {
        for (text, passes) in [
            ("QQ==", true),
            ("QUI=", true),
            ("QUJD", true),
            ("+/+/", true),
            ("", false),
            ("QQ", false),
            ("QQ=", false),
            ("QQ===", false),
            ("QR==", false),
            ("QUJ=", false),
            ("Q", false),
            ("-_-_", false),
            (" QQ==", false),
            ("QQ==\n", false),
            ("QQ==QQ==", false),
            ("====", false),
            ("Q\u{e9}==", false),
            ("data:image/png;base64,QQ==", false),
        ] {
            let shelf = Arc::new(Shelf::default());
            let desk = Desk::of(Kind::Native, Profile::STRICT, Some(shelf.clone()));
            let _x = desk.global(takes(By(|_| async { Ok(CommandResult::success()) })));
            let execution = executed(desk.with("/x", with([image(text)])).await);
            let refused = CommandResult::error("Image upload is not canonical base64.");
            let expected = if passes { Some(CommandResult::success()) } else { refused };
            assert_eq!(Some(execution.result), expected, "{text:?}");
            assert_eq!(shelf.calls(), usize::from(passes), "{text:?}");
        }
    });
}

#[tokio::test]
async fn ca_05_one_bad_member_and_the_store_sees_nothing() {
    let good = encoded(&png("good"));
    for bad_at in 0..4 {
        let shelf = Arc::new(Shelf::default());
        let desk = Desk::of(Kind::Native, Profile::STRICT, Some(shelf.clone()));
        let _x = desk.global(takes(never()));
        let mut batch = vec![good.clone(); 4];
        batch[bad_at] = image("not base64");
        let _execution = executed(desk.with("/x", with(batch)).await);
        assert_eq!(shelf.calls(), 0, "at {bad_at}");
        assert_eq!(desk.error_text(), "Image upload is not canonical base64.");
        desk.assert_lawful();
    }
}

#[test]
fn ca_15_a_request_lists_images_and_receipts_in_order() {
    let read = |request: &Value, profile| Attachment::list_from_json(request, &profile);
    let named = json!({"type": "image", "data": "QQ==", "mediaType": "image/png", "name": "a"});
    let request = json!({"attachments": [
        named,
        {"type": "file", "receipt": "r"},
        {"type": "image", "data": "QUI=", "mediaType": "image/gif"},
    ]});
    let listed = [
        Attachment::Image(EncodedImage {
            data: "QQ==".into(),
            media_type: "image/png".into(),
            name: Some("a".into()),
        }),
        receipt("r"),
        Attachment::Image(EncodedImage {
            data: "QUI=".into(),
            media_type: "image/gif".into(),
            name: None,
        }),
    ];
    assert_eq!(read(&request, Profile::STRICT).expect("a list"), listed);
    assert_eq!(read(&request, Profile::DSH).expect("a list"), listed);
    assert_eq!(read(&json!({}), Profile::STRICT).expect("none"), []);
    for (bad, at) in [
        (json!({"attachments": {}}), 0),
        (json!({"attachments": null}), 0),
        (json!({"attachments": [named, {}]}), 1),
        (json!({"attachments": [{"type": "file"}]}), 0),
        (json!({"attachments": [{"type": "link", "receipt": "r"}]}), 0),
        (json!({"attachments": [{"data": "QQ==", "mediaType": "image/png"}]}), 0),
        (json!({"attachments": [named, named, {"type": "image", "data": 1}]}), 2),
        (json!({"attachments": [{"type": "image", "data": "", "mediaType": "", "name": 1}]}), 0),
    ] {
        assert_eq!(read(&bad, Profile::STRICT), Err(WireError { at }), "{bad}");
    }
}

#[test]
fn ca_15_images_is_another_name_of_the_list_for_the_host_alone() {
    let request = json!({"images": [{"data": "QQ==", "mediaType": "image/png"}]});
    let read = |profile| Attachment::list_from_json(&request, &profile).expect("a list").len();
    assert_eq!(read(Profile::STRICT), 0);
    assert_eq!((read(Profile::DSH), read(Profile::DSH_0_1_1)), (1, 1));
    let receipt = json!({"images": [{"type": "file", "receipt": "r"}]});
    let refused = Attachment::list_from_json(&receipt, &Profile::DSH);
    assert_eq!(refused, Err(WireError { at: 0 }), "a receipt is no image");
}

#[tokio::test]
async fn ca_11_the_handler_sees_references_in_order_and_nothing_else() {
    let shelf = Arc::new(Shelf::default());
    let desk = Desk::of(Kind::Native, Profile::STRICT, Some(shelf));
    let _files = desk.registry.register_receipts(Arc::new(super::receipts::Known("r")));
    let (handler, mut entered) = driven();
    let _x = desk.global(takes(handler));
    // The shelf's ids are the bytes.
    let batch = [encoded(b"one"), receipt("r"), encoded(b"two")];
    let running = desk.spawn("/x", with(batch));
    let entered = entered.recv().await.expect("it is entered");
    let blocks = &entered.invocation.attachments;
    let ids: Vec<&str> = blocks
        .iter()
        .map(|block| match block {
            AttachmentBlock::Image(image) => image.attachment_id.as_str(),
            AttachmentBlock::File(file) => file.attachment_id.as_str(),
        })
        .collect();
    assert_eq!(ids, ["one", "file-r", "two"]);
    let shown = serde_json::to_value(&**blocks).expect("it is JSON");
    let first = json!({
        "type": "image",
        "attachment": {
            "attachmentId": "one",
            "mediaType": "image/png",
            "bytes": 3,
            "width": 1,
            "height": 1,
            "name": "n.png",
        },
    });
    let second = json!({
        "type": "file",
        "attachment": {"attachmentId": "file-r", "name": "r.txt", "bytes": 5},
    });
    assert_eq!((&shown[0], &shown[1]), (&first, &second));
    // They are shared and cannot be changed: a clone is another list.
    assert_eq!(Arc::clone(blocks), entered.invocation.clone().attachments);
    assert!(entered.reply(Ok(CommandResult::success())));
    let _execution = executed(running.await.expect("no panic"));
    desk.assert_lawful();
}

#[tokio::test]
async fn ca_12_no_event_and_no_projection_has_what_was_sent() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, Some(Arc::new(Shelf::default())));
        let commands = desk.agent().session().project(Commands::default).expect("it is live");
        let _x = desk.global(takes(By(|_| async { Ok(CommandResult::success()) })));
        let bytes = png("a secret of some length");
        let _execution = executed(desk.with("/x a", with([encoded(&bytes)])).await);
        let Attachment::Image(sent) = encoded(&bytes) else { unreachable!("an image") };
        let log = serde_json::to_string(&desk.log()).expect("it is JSON");
        let view = serde_json::to_string(&commands.view().expect("it can be read").0);
        let view = view.expect("it is JSON");
        assert!(view.contains("success"), "{kind:?}: {view}");
        for text in [&log, &view] {
            assert!(!text.contains(&sent.data), "{kind:?}");
            assert!(!text.contains("n.png") && !text.contains("attachment"), "{kind:?}");
        }
        let keys: Vec<_> =
            desk.log()[0].1.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(keys, ["commandId", "name", "args", "source"], "{kind:?}");
        // Nor does a debug print show what was sent.
        assert!(!format!("{sent:?}").contains(&sent.data));
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_13_a_plain_line_has_an_empty_list() {
    for store in [None, Some(Arc::new(Shelf::default()) as _)] {
        let desk = Desk::of(Kind::Native, Profile::STRICT, store);
        let _x = desk.global(takes(By(|invocation: CommandInvocation| async move {
            Ok(CommandResult::text(invocation.attachments.len().to_string()))
        })));
        assert_eq!(desk.done("/x").await.result, CommandResult::text("0"));
    }
}

#[tokio::test]
async fn ca_14_no_attachment_becomes_part_of_a_message_by_itself() {
    let desk = Desk::of(Kind::Native, Profile::STRICT, Some(Arc::new(Shelf::default())));
    let _x = desk.global(takes(By(|_| async { Ok(CommandResult::success()) })));
    let _execution = executed(desk.with("/x", with([encoded(&png("a"))])).await);
    let kinds: Vec<_> = desk.world.events("a").into_iter().map(|seen| seen.kind).collect();
    assert_eq!(kinds, ["command/run", "command/done"]);
}

#[test]
fn ca_07_the_codes_are_a_closed_set_of_words() {
    let words: Vec<_> = AttachmentCode::ALL.iter().map(|code| code.word()).collect();
    assert_eq!(
        words,
        [
            "INVALID_IMAGE_BASE64",
            "TOO_MANY_IMAGES",
            "IMAGES_TOO_LARGE",
            "UNSUPPORTED_IMAGE_TYPE",
            "INVALID_IMAGE",
            "IMAGE_TYPE_MISMATCH",
            "IMAGE_TOO_LARGE",
            "IMAGE_TOO_MANY_PIXELS",
            "IMAGE_DIMENSION_TOO_LARGE",
            "INVALID_ATTACHMENT_REF",
            "ATTACHMENT_NOT_FOUND",
            "ATTACHMENT_CORRUPT",
            "ATTACHMENT_WRITE_FAILED",
            "ATTACHMENT_READ_FAILED",
            "ATTACHMENT_PROJECTION_UNSUPPORTED",
        ]
    );
}

#[tokio::test]
async fn s_139_an_image_a_receipt_and_an_image() {
    for kind in Kind::ALL {
        let shelf = Arc::new(Shelf::default());
        let desk = Desk::of(kind, Profile::STRICT, Some(shelf.clone()));
        let resolver: Arc<dyn ReceiptResolver> = Arc::new(super::receipts::Known("r"));
        let _files = desk.registry.register_receipts(resolver).expect("nobody else is there");
        let (handler, mut entered) = driven();
        let _x = desk.global(takes(handler));
        let options: ExecuteOptions = with([encoded(b"one"), receipt("r"), encoded(b"two")]);
        let running = desk.spawn("/x", options);
        let entered = entered.recv().await.expect("it is entered");
        let shown = serde_json::to_value(&*entered.invocation.attachments).expect("it is JSON");
        let ids = [0, 1, 2].map(|at| shown[at]["attachment"]["attachmentId"].clone());
        assert_eq!(ids, [json!("one"), json!("file-r"), json!("two")], "{kind:?}");
        assert_eq!(shelf.calls(), 1, "{kind:?}: one batch");
        assert!(entered.reply(Ok(CommandResult::success())));
        let _execution = executed(running.await.expect("no panic"));
        desk.assert_lawful();
    }
}
