//! What a `team/…` event says, read strictly.
//!
//! # Source
//! `docs/dsh-format.md`, sections 14.3 and 15.15.

use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

use super::script::{self, Value};
use super::shape::{is_string_or_absent, not_negative, positive};

/// The types of the family.
pub(super) const KINDS: &[&str] =
    &["team/member", "team/task", "team/message/queued", "team/message/delivered"];

/// The media types of images.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Returns version and team of a payload, or nothing where it does not say them.
pub(super) fn selector(data: Json<'_>) -> Option<(f64, Json<'_>)> {
    let version = not_negative(data.get("version"))?;
    let team = data.get("teamId").filter(Json::is_nonempty_string)?;
    Some((version, team))
}

/// Returns whether the payload of an event of version 1 has exactly its members, all sound.
pub(super) fn is_valid(event: &Event<'_>) -> bool {
    let data = event.data;
    let own = |key| data.has_exactly(&["version", "teamId", key], &[]);
    match event.kind {
        "team/member" => own("member") && data.get("member").is_some_and(is_member),
        "team/task" => own("task") && data.get("task").is_some_and(is_task),
        "team/message/queued" => own("message") && data.get("message").is_some_and(is_message),
        _ => {
            data.has_exactly(&["version", "teamId", "messageId", "targetId"], &[])
                && are_filled(data, &["messageId", "targetId"])
        }
    }
}

fn is_member(member: Json<'_>) -> bool {
    let strings = ["name", "description", "provider"];
    member.has_exactly(&["id", "name", "description", "provider", "context", "phase"], &["error"])
        && are_filled(member, &["id"])
        && are_strings(member, &strings)
        && script::is_one_of(member.get("context"), &["fresh", "fork"])
        && script::is_one_of(member.get("phase"), &["provisioning", "active", "failed"])
        && is_string_or_absent(member.get("error"))
}

fn is_task(task: Json<'_>) -> bool {
    let keys = ["id", "revision", "subject", "description", "status", "blockedBy", "writeScopes"];
    let statuses = ["pending", "in_progress", "completed", "deleted"];
    task.has_exactly(&keys, &["ownerId"])
        && is_task_id(task.get("id"))
        && positive(task.get("revision")).is_some()
        && are_strings(task, &["subject", "description"])
        && script::is_one_of(task.get("status"), &statuses)
        && task.get("ownerId").is_none_or(|owner| owner.is_nonempty_string())
        && every(task.get("blockedBy"), |blocker| is_task_id(Some(blocker)))
        && every(task.get("writeScopes"), |scope| scope.is_string())
}

fn is_message(message: Json<'_>) -> bool {
    let keys = ["id", "senderId", "senderName", "targetId", "delivery", "content"];
    message.has_exactly(&keys, &[])
        && are_filled(message, &["id", "senderId", "targetId"])
        && are_strings(message, &["senderName"])
        && script::is_one_of(message.get("delivery"), &["quiet", "wakeup"])
        && message.get("content").is_some_and(is_content)
}

/// Returns whether a value is the id of a task; the number in `task-<digits>` is a safe one.
fn is_task_id(value: Value<'_>) -> bool {
    let Some(id) = value.filter(Json::is_nonempty_string).and_then(|id| id.as_text()) else {
        return false;
    };
    let id = id.to_wtf8();
    let digits = id
        .strip_prefix(b"task-")
        .filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    digits.is_none_or(|digits| {
        let number = str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number.is_some_and(gatelog_engine::json::is_safe_integer)
    })
}

/// Returns whether a value is a list of content blocks; the results of tools hold such lists.
fn is_content(value: Json<'_>) -> bool {
    // A stack of our own: a log may nest as deep as it likes.
    let mut lists = vec![value];
    while let Some(list) = lists.pop() {
        if !list.is_array() || !list.elements().all(|block| is_block(block, &mut lists)) {
            return false;
        }
    }
    true
}

/// Judges a block; the list that it holds is put on the stack.
fn is_block<'a>(block: Json<'a>, lists: &mut Vec<Json<'a>>) -> bool {
    let Some(block_type) = block.get("type").filter(Json::is_nonempty_string) else {
        return false;
    };
    let is = |name| block_type.is_str(name);
    if is("text") || is("reasoning") {
        block.has_exactly(&["type", "text"], &[]) && are_strings(block, &["text"])
    } else if is("image") {
        block.has_exactly(&["type", "attachment"], &[])
            && block.get("attachment").is_some_and(is_attachment)
    } else if is("tool-call") {
        block.has_exactly(&["type", "id", "name", "arguments"], &[])
            && are_filled(block, &["id"])
            && are_strings(block, &["name", "arguments"])
    } else if is("tool-result") {
        lists.extend(block.get("content"));
        block.has_exactly(&["type", "toolCallId", "content"], &["isError"])
            && are_filled(block, &["toolCallId"])
            && block.get("isError").is_none_or(|is_error| is_error.is_bool())
    } else {
        true
    }
}

fn is_attachment(attachment: Json<'_>) -> bool {
    let keys = ["attachmentId", "mediaType", "bytes", "width", "height"];
    attachment.has_exactly(&keys, &["name"])
        && are_filled(attachment, &["attachmentId"])
        && script::is_one_of(attachment.get("mediaType"), &IMAGES)
        && not_negative(attachment.get("bytes")).is_some()
        && positive(attachment.get("width")).is_some()
        && positive(attachment.get("height")).is_some()
        && is_string_or_absent(attachment.get("name"))
}

fn are_filled(owner: Json<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| script::is_nonempty_string(owner.get(key)))
}

fn are_strings(owner: Json<'_>, keys: &[&str]) -> bool {
    keys.iter().all(|key| owner.get(key).is_some_and(|value| value.is_string()))
}

fn every(list: Value<'_>, holds: impl FnMut(Json<'_>) -> bool) -> bool {
    list.is_some_and(|list| list.is_array() && list.elements().all(holds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::json::Document;

    #[test]
    fn content_is_checked_to_its_depths() {
        let nest = |inner: &str| {
            format!(r#"[{{"type":"tool-result","toolCallId":"c","content":{inner}}}]"#)
        };
        let image = |extra: &str| {
            format!(
                r#"[{{"type":"image","attachment":{{"attachmentId":"a","mediaType":"image/png",
                    "bytes":0,"width":1,"height":1{extra}}}}}]"#
            )
        };
        let cases = [
            ("[]".to_owned(), true),
            (r#"[{"type":"text","text":""}]"#.to_owned(), true),
            (r#"[{"type":"text"}]"#.to_owned(), false),
            (r#"[{"type":"own","x":1}]"#.to_owned(), true),
            (r#"[{"type":""}]"#.to_owned(), false),
            ("[1]".to_owned(), false),
            (nest(r#"[{"type":"text","text":"a"}]"#), true),
            (nest(&nest(r#"[{"type":"text","text":5}]"#)), false),
            (nest("{}"), false),
            (image(""), true),
            (image(r#","name":"n""#), true),
            (image(r#","originalDimensions":{}"#), false),
            (r#"[{"type":"tool-call","id":"c","name":"","arguments":""}]"#.to_owned(), true),
            (r#"[{"type":"tool-call","id":"","name":"","arguments":""}]"#.to_owned(), false),
        ];
        for (text, expected) in cases {
            let document = Document::parse(text.as_str()).expect("the case is JSON");
            assert_eq!(is_content(document.root()), expected, "{text}");
        }
    }

    #[test]
    fn the_number_of_a_task_is_safe() {
        for (id, expected) in [
            (r#""task-1""#, true),
            (r#""task-9007199254740991""#, true),
            (r#""task-9007199254740992""#, false),
            (r#""task-""#, true),
            (r#""task-1x""#, true),
            (r#""other""#, true),
            (r#""""#, false),
            ("1", false),
        ] {
            let document = Document::parse(id).expect("the case is JSON");
            assert_eq!(is_task_id(Some(document.root())), expected, "{id}");
        }
    }
}
