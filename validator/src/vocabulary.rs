//! The host's types of events, as the catalogue of a store has them: owner, placement, and the
//! shape of payloads that no companion looks at.
//!
//! The checks say what every writer of the host keeps; what a reader of the host never looks at
//! may be anything else besides. They are asked before an append, in the strict profile only, and
//! are no part of what makes a stored log sound.
//!
//! # Source
//!
//! The page on the host's files, sections 14.1, 14.3 and 14.8.

use crate::rule::Profile;
use gatelog_engine::dsh::vocabulary::{all, is_surface};
use gatelog_engine::json::{Json, is_count};
use gatelog_engine::rules::{Catalogue, PayloadCheck, Placement, TypeEntry};

/// Who owns the types whose names begin in a way; the longest beginning counts.
const OWNERS: &[(&str, &str)] = &[
    ("agent-preset/", "agent-presets"),
    ("agent/", "agent"),
    ("approval/", "user-approval"),
    ("assistant/", "session"),
    ("command/", "commands"),
    ("compaction/", "compaction"),
    ("feedback/", "command-feedback"),
    ("goal/", "goal"),
    ("hook/", "hook-protocol"),
    ("llm/", "llm-retry"),
    ("permission/", "permission-presets"),
    ("plan/", "plan-mode"),
    ("request/", "session"),
    ("sandbox/", "sandbox-policy"),
    ("schedule/", "schedule"),
    ("session/end-seed", "session"),
    ("session/title", "session-title"),
    ("session/title-llm-request", "session-title-llm"),
    ("step/", "session"),
    ("subagent/", "subagent"),
    ("team/", "agent-team"),
    ("todo/", "session"),
    ("tool-workflow/", "tool-workflow"),
    ("tool/", "session"),
    ("tool/code-dispatch", "tools"),
    ("turn/", "session"),
    ("user/", "session"),
    ("web/", "web-search-deepseek"),
];

/// Returns the package of the host that owns a type.
fn owner(kind: &str) -> &'static str {
    let of = OWNERS.iter().filter(|(beginning, _)| kind.starts_with(beginning));
    of.max_by_key(|(beginning, _)| beginning.len()).map_or("host", |(_, owner)| owner)
}

/// Returns the catalogue of the types that the reader of a format knows.
pub(crate) fn catalogue(format: u64, profile: Profile) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for kind in all(format) {
        let placement = if is_surface(kind) { Placement::Surface } else { Placement::LogOnly };
        let check = check(kind).filter(|_| profile == Profile::Strict);
        let entry = TypeEntry { owner: owner(kind).to_owned(), placement, check };
        catalogue.register(kind, entry).expect("each name stands once in the vocabulary");
    }
    catalogue
}

/// Returns the check of a type whose payload no companion looks at.
fn check(kind: &str) -> Option<PayloadCheck> {
    Some(match kind {
        "agent-preset/selected" => |data| text(data, "agentPreset"),
        "assistant/chunk" => |data| {
            count(data, "turn")?;
            count(data, "step")?;
            record(data, "chunk")
        },
        "compaction/prune" => |data| {
            record(data, "shadowedRange")?;
            list(data, "shadowedSeqs")?;
            count(data, "shadowedTokenCount")
        },
        "feedback/record" => |data| name(data, "text"),
        "request/context" => |data| {
            name(data, "provider")?;
            name(data, "model")
        },
        "session/end-seed" => object,
        "session/title-llm-request" => |data| {
            name(data, "titleProvider")?;
            list(data, "messageSeqs")?;
            list(data, "messages")
        },
        "subagent/descriptor" => |data| {
            name(data, "mode")?;
            count(data, "version")
        },
        "tool/call" => |data| {
            name(data, "name")?;
            text(data, "arguments")
        },
        "web/deepseek-search-llm-request" => |data| {
            name(data, "endpoint")?;
            record(data, "body")
        },
        _ => return None,
    })
}

fn object(data: Json<'_>) -> Result<(), String> {
    if data.is_object() { Ok(()) } else { Err("the payload is no object".to_owned()) }
}

fn demand(
    data: Json<'_>,
    key: &str,
    what: &str,
    test: impl Fn(Json<'_>) -> bool,
) -> Result<(), String> {
    object(data)?;
    if data.get(key).is_some_and(test) { Ok(()) } else { Err(format!("{key} is {what}")) }
}

fn text(data: Json<'_>, key: &str) -> Result<(), String> {
    demand(data, key, "no text", |value| value.is_string())
}

fn name(data: Json<'_>, key: &str) -> Result<(), String> {
    demand(data, key, "no text, or an empty one", |value| value.is_nonempty_string())
}

fn count(data: Json<'_>, key: &str) -> Result<(), String> {
    demand(data, key, "no whole number from 0 on", |value| value.as_number().is_some_and(is_count))
}

fn record(data: Json<'_>, key: &str) -> Result<(), String> {
    demand(data, key, "no object", |value| value.is_object())
}

fn list(data: Json<'_>, key: &str) -> Result<(), String> {
    demand(data, key, "no list", |value| value.is_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelog_engine::json::Document;

    #[test]
    fn each_type_of_format_0_has_an_owner_and_a_place() {
        let catalogue = catalogue(0, Profile::Strict);
        assert_eq!(catalogue.iter().count(), 48);
        let surface: Vec<_> = catalogue
            .iter()
            .filter(|(_, entry)| entry.placement == Placement::Surface)
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(surface, ["assistant/message", "tool/result", "user/message"]);
        for (kind, entry) in catalogue.iter() {
            assert_ne!(entry.owner, "host", "{kind} has no owner");
        }
        let owner = |kind: &str| catalogue.get(kind).map(|entry| entry.owner.as_str());
        assert_eq!(owner("tool/code-dispatch-start"), Some("tools"));
        assert_eq!(owner("session/title-llm-request"), Some("session-title-llm"));
        assert_eq!(owner("model/selection"), None);
    }

    #[test]
    fn payloads_that_no_companion_reads_have_a_shape_in_the_strict_profile() {
        let verdict = |kind, data: &str| {
            let catalogue = catalogue(0, Profile::Strict);
            let check = catalogue.get(kind).and_then(|entry| entry.check).expect("it has one");
            check(Document::parse(data).expect("the case is JSON").root())
        };
        for (kind, data) in [
            ("agent-preset/selected", r#"{"agentPreset":""}"#),
            ("assistant/chunk", r#"{"turn":1,"step":1,"chunk":{}}"#),
            (
                "compaction/prune",
                r#"{"shadowedRange":{},"shadowedSeqs":[],"shadowedTokenCount":0}"#,
            ),
            ("feedback/record", r#"{"text":"a"}"#),
            ("request/context", r#"{"provider":"p","model":"m"}"#),
            ("session/end-seed", "{}"),
            (
                "session/title-llm-request",
                r#"{"titleProvider":"t","messageSeqs":[1],"messages":[]}"#,
            ),
            ("subagent/descriptor", r#"{"mode":"one-shot","version":2}"#),
            ("tool/call", r#"{"name":"n","arguments":""}"#),
            ("web/deepseek-search-llm-request", r#"{"endpoint":"e","body":{}}"#),
        ] {
            assert_eq!(verdict(kind, data), Ok(()), "{kind}");
            assert!(verdict(kind, "null").is_err(), "{kind}");
            if kind != "session/end-seed" {
                assert!(verdict(kind, "{}").is_err(), "{kind}");
            }
        }
        let empty = verdict("feedback/record", r#"{"text":""}"#);
        assert_eq!(empty, Err("text is no text, or an empty one".to_owned()));
        let of_host = catalogue(0, Profile::Host);
        assert!(of_host.iter().all(|(_, entry)| entry.check.is_none()));
    }
}
