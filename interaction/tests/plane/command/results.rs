//! What scripted handlers return and throw.

use super::support::Desk;
use crate::support::Kind;
use async_trait::async_trait;
use gatelog_interaction::command::{
    CommandError, CommandExecution, CommandInvocation, CommandResult, Dispatch, ScriptFailure,
    ScriptValue, ScriptedHandler, scripted,
};
use gatelog_interaction::profile::Profile;
use serde_json::{Value, json};
use std::sync::Mutex;

/// A script that ends in one way, once.
struct Script(Mutex<Option<Result<Value, ScriptFailure>>>);

#[async_trait]
impl ScriptedHandler for Script {
    async fn run(&self, _: CommandInvocation) -> Result<Value, ScriptFailure> {
        self.0.lock().expect("sound").take().expect("it is run once")
    }
}

/// Runs a script that ends so, with an event at seq 0 that may be cited.
async fn run(
    desk: &Desk,
    ends: Result<Value, ScriptFailure>,
) -> Result<CommandExecution, CommandError> {
    crate::support::start_turn(desk.agent().session(), 1);
    let profile = *desk.world.plane.profile();
    let _x = desk.x(scripted(Script(Mutex::new(Some(ends))), profile));
    match desk.execute("/x").await? {
        Dispatch::Executed(execution) => Ok(execution),
        Dispatch::NotMatched => panic!("the line is a command"),
    }
}

async fn refused(value: Value) -> String {
    let desk = Desk::new();
    let failed = run(&desk, Ok(value)).await.expect_err("the result is none");
    assert!(matches!(failed, CommandError::BadResult(_)), "{failed:?}");
    assert_eq!(desk.error_text(), failed.to_string(), "the log says the same");
    assert_eq!(desk.errors(), Vec::<String>::new());
    failed.to_string()
}

#[tokio::test]
async fn ce_11_a_result_is_stripped_to_what_is_known() {
    let desk = Desk::new();
    let value = json!({"kind": "success", "text": "t", "html": "<b>", "sourceEventSeq": 0});
    let execution = run(&desk, Ok(value)).await.expect("it is a result");
    let expected = CommandResult::Success { text: Some("t".into()), source_event_seq: Some(0) };
    assert_eq!(execution.result, expected);
    let done = &desk.dones()[0];
    let keys: Vec<_> = done.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["commandId", "kind", "text", "sourceEventSeq"]);
}

#[tokio::test]
async fn ce_12_the_untyped_edge_says_what_is_wrong_in_the_hosts_words() {
    let shape = "command \"x\" handler must return a CommandResult";
    for value in [json!(null), json!("ok"), json!(1), json!([]), json!({}), json!({"text": "t"})] {
        assert_eq!(refused(value).await, shape);
    }
    let text = "command \"x\" success text must be a string when supplied";
    for bad in [json!(1), json!(null), json!({})] {
        assert_eq!(refused(json!({"kind": "success", "text": bad})).await, text);
    }
    let error = "command \"x\" error text must be a non-empty string";
    for bad in [json!(" "), json!(""), json!(null), json!(3), json!("\u{feff}")] {
        assert_eq!(refused(json!({"kind": "error", "text": bad})).await, error);
    }
    assert_eq!(refused(json!({"kind": "error"})).await, error);
    for (kind, shown) in
        [(json!("maybe"), "maybe"), (json!(null), "null"), (json!({}), "[object Object]")]
    {
        let text = format!("command \"x\" returned unknown result kind \"{shown}\"");
        assert_eq!(refused(json!({"kind": kind})).await, text);
    }
}

#[tokio::test]
async fn ce_13_a_source_of_an_error_is_dropped() {
    let desk = Desk::new();
    let value = json!({"kind": "error", "text": "no", "sourceEventSeq": 0});
    let execution = run(&desk, Ok(value)).await.expect("it is a result");
    assert_eq!(execution.result, CommandResult::error("no").expect("it says something"));
    assert_eq!(desk.dones()[0].get("sourceEventSeq"), None);
    // Not even a bad one matters there.
    let desk = Desk::new();
    let value = json!({"kind": "error", "text": "no", "sourceEventSeq": -1});
    run(&desk, Ok(value)).await.expect("it is a result");
}

#[tokio::test]
async fn ce_14_a_source_is_a_safe_integer_that_is_not_negative() {
    let text =
        "command \"x\" success sourceEventSeq must be a non-negative safe integer when supplied";
    let minus_zero: Value = serde_json::from_str("-0").expect("JSON");
    for bad in [
        json!(-1),
        json!(0.5),
        json!("0"),
        json!(null),
        json!(9_007_199_254_740_992_u64),
        minus_zero,
    ] {
        let value = json!({"kind": "success", "sourceEventSeq": bad});
        assert_eq!(refused(value).await, text);
    }
    let desk = Desk::new();
    let typed = CommandResult::Success { text: None, source_event_seq: Some(1 << 53) };
    let _x = desk.x(super::support::says(typed));
    let failed = desk.execute("/x").await.expect_err("a double cannot tell it from another");
    assert_eq!(failed.to_string(), text);
    assert_eq!(desk.error_text(), text);
}

#[tokio::test]
async fn ce_14_minus_zero_passed_in_the_old_release() {
    let minus_zero: Value = serde_json::from_str("-0").expect("JSON");
    let value = json!({"kind": "success", "sourceEventSeq": minus_zero});
    for (profile, passes) in
        [(Profile::STRICT, false), (Profile::DSH, false), (Profile::DSH_0_1_1, true)]
    {
        let desk = Desk::of(Kind::Native, profile, None);
        assert_eq!(run(&desk, Ok(value.clone())).await.is_ok(), passes, "{profile:?}");
        let source = desk.dones()[0].get("sourceEventSeq").cloned();
        assert_eq!(source, passes.then(|| json!(0)), "{profile:?}");
    }
}

#[tokio::test]
async fn ce_19_a_value_that_is_no_error_is_wrapped_if_it_came_late() {
    let desk = Desk::new();
    let value = ScriptValue::Json(json!(["a", 1]));
    let late = Err(ScriptFailure::Rejected(value.clone()));
    let failed = run(&desk, late).await.expect_err("the script failed");
    let text = "command handler rejected with a non-Error value: a,1";
    assert_eq!((failed.to_string().as_str(), desk.error_text().as_str()), (text, text));
    let CommandError::Handler(error) = failed else { panic!("the handler's own: {failed:?}") };
    let failure = error.downcast_ref::<ScriptFailure>().expect("the very error");
    assert!(matches!(failure, ScriptFailure::Rejected(kept) if *kept == value), "{failure:?}");

    let desk = Desk::new();
    let thrown = Err(ScriptFailure::Thrown(ScriptValue::Json(json!("plain"))));
    let failed = run(&desk, thrown).await.expect_err("the script failed");
    assert_eq!((failed.to_string().as_str(), desk.error_text().as_str()), ("plain", "plain"));
    desk_is_lawful(&desk);
}

#[tokio::test]
async fn ce_20_a_value_that_cannot_be_shown_has_a_placeholder() {
    let desk = Desk::new();
    let late = Err(ScriptFailure::Rejected(ScriptValue::Opaque));
    run(&desk, late).await.expect_err("the script failed");
    let text = "command handler rejected with a non-Error value: <unrenderable thrown value>";
    assert_eq!(desk.error_text(), text);
    let desk = Desk::new();
    let thrown = Err(ScriptFailure::Thrown(ScriptValue::Opaque));
    run(&desk, thrown).await.expect_err("the script failed");
    assert_eq!(desk.error_text(), "<unrenderable thrown value>");
    desk_is_lawful(&desk);
}

#[tokio::test]
async fn s_132_one_blank_success_and_three_results_that_are_none() {
    for kind in Kind::ALL {
        let desk = Desk::of(kind, Profile::STRICT, None);
        let blank = run(&desk, Ok(json!({"kind": "success", "text": " "}))).await;
        assert_eq!(blank.expect("it is a result").result, CommandResult::text(" "), "{kind:?}");
        desk_is_lawful(&desk);
        for (value, text) in [
            (
                json!({"kind": "error", "text": " "}),
                "command \"x\" error text must be a non-empty string",
            ),
            (json!({"kind": "done"}), "command \"x\" returned unknown result kind \"done\""),
            (
                json!({"kind": "success", "sourceEventSeq": -1}),
                "command \"x\" success sourceEventSeq must be a non-negative safe integer when \
                 supplied",
            ),
        ] {
            let desk = Desk::of(kind, Profile::STRICT, None);
            let failed = run(&desk, Ok(value)).await.expect_err("it is none");
            assert_eq!(failed.to_string(), text, "{kind:?}");
            assert_eq!(desk.error_text(), text, "{kind:?}");
            desk_is_lawful(&desk);
        }
    }
}

fn desk_is_lawful(desk: &Desk) {
    crate::support::end_turn(desk.agent().session(), 1);
    desk.assert_lawful();
}
