//! What may be registered, and what becomes of it.

use super::support::{Desk, never, succeeds};
use crate::support::Kind;
use gatelog_interaction::command::{
    BadDefinition, CommandDefinition, CommandHandler, CommandRegisterError,
};
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Authority;
use serde_json::{Value, json};
use std::sync::Arc;

fn handler() -> Arc<dyn CommandHandler> {
    Arc::new(succeeds())
}

fn refused_by(profile: Profile, value: &Value, is_with_handler: bool) -> String {
    let handler = is_with_handler.then(handler);
    let refused = CommandDefinition::from_json(value, handler, &profile);
    refused.expect_err("the definition is bad").to_string()
}

fn refused(value: &Value) -> String {
    refused_by(Profile::STRICT, value, true)
}

#[tokio::test]
async fn cr_01_what_is_registered_is_a_judged_copy_that_nobody_changes() {
    let desk = Desk::new();
    let registrar = desk.registry.registrar(Authority::Root);
    let blank = CommandDefinition::new("x", "\u{feff} ", never());
    let refused = registrar.global(blank).expect_err("the description is blank");
    let text = "command \"x\" description must not be empty";
    assert_eq!(refused.to_string(), text);
    assert!(matches!(
        refused,
        CommandRegisterError::Definition(BadDefinition::DescriptionBlank(_))
    ));
    assert_eq!(desk.registry.list(desk.agent()), []);

    let definition = CommandDefinition::new("x", "does x", succeeds()).with_hint("what");
    let _x = desk.global(definition.clone());
    // Another one that came from the same definition changes nothing of the first.
    let changed = definition.with_attachments("other");
    drop(changed);
    let listed = desk.registry.list(desk.agent());
    let input = listed[0].input.as_ref().expect("a hint was given");
    assert_eq!((input.hint.as_str(), input.attachments), ("what", false));
}

#[test]
fn cr_02_the_first_fault_in_the_hosts_order_is_told() {
    // Each row mends the fault before it; all that come after are still there.
    let bad_input = json!({"hint": 1, "attachments": 1});
    let rows = [
        (json!({"name": "X", "description": 1, "input": bad_input}), false),
        (json!({"name": "x", "description": 1, "input": bad_input}), false),
        (json!({"name": "x", "description": " ", "input": bad_input}), false),
        (json!({"name": "x", "description": "d", "input": bad_input}), false),
        (json!({"name": "x", "description": "d", "input": bad_input}), true),
        (json!({"name": "x", "description": "d", "input": {"hint": "\t", "attachments": 1}}), true),
        (json!({"name": "x", "description": "d", "input": {"hint": "h", "attachments": 1}}), true),
    ];
    let texts = rows.map(|(value, has)| refused_by(Profile::STRICT, &value, has));
    assert_eq!(
        texts,
        [
            "command name \"X\" must match /^[a-z][a-z0-9_-]*$/u",
            "command \"x\" description must be a string",
            "command \"x\" description must not be empty",
            "command \"x\" handler must be a function",
            "command \"x\" input hint must be a string",
            "command \"x\" input hint must not be empty",
            "command \"x\" input attachments flag must be a boolean",
        ]
    );
    let old = json!({"name": "x", "description": "d", "input": {"hint": "h", "images": "yes"}});
    assert_eq!(
        refused_by(Profile::DSH_0_1_1, &old, true),
        "command \"x\" input images flag must be a boolean"
    );
    let nameless = json!({"description": "d"});
    assert_eq!(refused(&nameless), "command name \"undefined\" must match /^[a-z][a-z0-9_-]*$/u");
}

#[tokio::test]
async fn cr_02_typed_definitions_are_judged_by_the_same_table() {
    let desk = Desk::new();
    let registrar = desk.registry.registrar(Authority::Root);
    let text = |definition| registrar.global(definition).expect_err("it is bad").to_string();
    assert_eq!(
        text(CommandDefinition::new("X", "", never()).with_hint("")),
        "command name \"X\" must match /^[a-z][a-z0-9_-]*$/u"
    );
    assert_eq!(
        text(CommandDefinition::new("x", "", never()).with_hint("")),
        "command \"x\" description must not be empty"
    );
    assert_eq!(
        text(CommandDefinition::new("x", "d", never()).with_hint("\u{feff}")),
        "command \"x\" input hint must not be empty"
    );
}

#[test]
fn cr_03_no_hint_no_object_and_null_are_all_the_hints_fault() {
    for input in [json!({}), json!(null), json!("hint"), json!(5), json!([]), json!({"hint": null})]
    {
        let value = json!({"name": "x", "description": "d", "input": input});
        assert_eq!(refused(&value), "command \"x\" input hint must be a string", "{input}");
    }
    let without = json!({"name": "x", "description": "d"});
    CommandDefinition::from_json(&without, Some(handler()), &Profile::STRICT)
        .expect("it takes none");
}

#[tokio::test]
async fn cr_04_the_flag_is_shown_as_the_profile_shows_it() {
    let input = |flag: Option<bool>| match flag {
        Some(flag) => json!({"hint": "h", "attachments": flag}),
        None => json!({"hint": "h"}),
    };
    for (flag, strict, host, old) in [
        (None, json!(false), json!(null), json!(null)),
        (Some(false), json!(false), json!(null), json!(null)),
        (Some(true), json!(true), json!(true), json!(true)),
    ] {
        let value = json!({"name": "x", "description": "d", "input": input(flag)});
        let desk = Desk::new();
        let definition = CommandDefinition::from_json(&value, Some(handler()), &Profile::STRICT);
        let _x = desk.global(definition.expect("it is sound"));
        let descriptor = desk.registry.get(desk.agent(), "x").expect("it is registered");
        assert_eq!(descriptor.takes_attachments(), flag == Some(true), "always there in Rust");
        let shown = |profile: &Profile, key: &str| {
            descriptor.to_json(profile)["input"].get(key).cloned().unwrap_or_default()
        };
        assert_eq!(shown(&Profile::STRICT, "attachments"), strict, "{flag:?}");
        assert_eq!(shown(&Profile::DSH, "attachments"), host, "{flag:?}");
        assert_eq!(shown(&Profile::DSH_0_1_1, "images"), old, "{flag:?}");
        assert_eq!(shown(&Profile::DSH_0_1_1, "attachments"), json!(null), "{flag:?}");
    }
}

#[tokio::test]
async fn cr_04_images_is_another_name_of_the_flag_for_the_host_alone() {
    let value = json!({"name": "x", "description": "d", "input": {"hint": "h", "images": true}});
    for (profile, takes) in
        [(Profile::STRICT, false), (Profile::DSH, true), (Profile::DSH_0_1_1, true)]
    {
        let desk = Desk::of(Kind::Native, profile, None);
        let definition = CommandDefinition::from_json(&value, Some(handler()), &profile);
        let _x = desk.global(definition.expect("it is sound"));
        let descriptor = desk.registry.get(desk.agent(), "x").expect("it is registered");
        assert_eq!(descriptor.takes_attachments(), takes, "{profile:?}");
    }
}

#[tokio::test]
async fn cr_05_only_false_keeps_the_input_out_of_the_log() {
    for (flag, recorded) in
        [(json!(false), false), (json!(null), true), (json!(0), true), (json!("false"), true)]
    {
        let desk = Desk::new();
        let value = json!({"name": "x", "description": "d", "recordInput": flag});
        let definition = CommandDefinition::from_json(&value, Some(handler()), &Profile::STRICT);
        let _x = desk.global(definition.expect("the flag is not looked at"));
        let _execution = desk.done("/x a").await;
        assert_eq!(desk.log()[0].1.get("args").is_some(), recorded, "{flag}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn cr_06_adapters_see_name_description_and_input() {
    let desk = Desk::new();
    let _x = desk.global(CommandDefinition::new("x", "does x", never()).with_hint("what"));
    let _y = desk.global(CommandDefinition::new("y", "does y", never()));
    let shown: Vec<Value> =
        desk.registry.list(desk.agent()).iter().map(|of| of.to_json(&Profile::STRICT)).collect();
    let x = json!({
        "name": "x",
        "description": "does x",
        "input": {"hint": "what", "attachments": false},
    });
    assert_eq!(shown, [x, json!({"name": "y", "description": "does y"})]);
}
