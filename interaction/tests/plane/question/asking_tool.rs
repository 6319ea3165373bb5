//! `ask_user_question`: AT-01 to AT-15, S-162, S-163.

use super::{Stage, chosen};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::question::{AskFailure, AskOutput, AskTool};
use serde_json::{Value, json};

fn tool(stage: &Stage) -> AskTool {
    AskTool::new(&stage.questions)
}

fn one() -> Value {
    json!({"questions": [{"id": "q", "question": "?", "options": [{"label": "yes"}]}]})
}

async fn failed(stage: &Stage, arguments: &Value) -> AskFailure {
    let called = tool(stage).call(arguments, Some(stage.live.agent()), None).await;
    called.expect_err("it must fail")
}

#[tokio::test]
async fn at_01_it_asks_the_service_for_the_agent_of_the_call() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let (tool, agent) = (tool(&stage), stage.live.agent().clone());
    let calling = tokio::spawn(async move { tool.call(&one(), Some(&agent), None).await });
    let called = script.called().await;
    assert_eq!(called.ask.agent(), Some(stage.live.agent()));
    called.reply(Ok(vec![chosen("q", &["yes"])]));
    assert!(calling.await.expect("no panic").is_ok());
}

#[test]
fn at_02_the_schema_requires_questions_with_id_and_text() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let schema = runtime.block_on(async { tool(&Stage::new()).schema() });
    assert_eq!(schema["required"], json!(["questions"]));
    let question = &schema["properties"]["questions"]["items"];
    assert_eq!(question["required"], json!(["id", "question"]));
    let members: Vec<_> = question["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(members, ["id", "question", "header", "options", "multi_select"]);
}

#[tokio::test]
async fn at_03_an_option_is_a_label_and_a_description_and_nothing_else() {
    let schema = tool(&Stage::new()).schema();
    let option = &schema["properties"]["questions"]["items"]["properties"]["options"]["items"];
    assert_eq!(option["required"], json!(["label"]));
    let members: Vec<_> = option["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(members, ["label", "description"]);
}

#[tokio::test]
async fn at_04_extra_members_are_tolerated() {
    let arguments = json!({"questions": [{"id": "q", "question": "?", "urgent": true,
        "options": [{"label": "l", "preview": "p"}]}], "more": 1});
    let questions = tool(&Stage::new()).questions(&arguments).expect("tolerated");
    assert_eq!((questions.len(), questions[0].id.as_str()), (1, "q"));
}

#[tokio::test]
async fn at_05_a_recommendation_stands_in_the_label_and_passes_untouched() {
    let label = "Use SQLite (recommended)";
    let arguments =
        json!({"questions": [{"id": "q", "question": "?", "options": [{"label": label}]}]});
    let questions = tool(&Stage::new()).questions(&arguments).expect("lawful");
    assert_eq!(questions[0].options.as_ref().expect("one")[0].label, label);
}

#[tokio::test]
async fn at_06_detail_and_intent_are_not_for_the_model() {
    let arguments = json!({"questions": [{"id": "q", "question": "?", "detail": "d",
        "intent": {"kind": "plan-review", "approve": "x"}}]});
    let questions = tool(&Stage::new()).questions(&arguments).expect("tolerated");
    assert_eq!((&questions[0].detail, &questions[0].intent), (&None, &None));
}

#[tokio::test]
async fn at_07_multi_select_is_mapped_and_what_is_absent_stays_absent() {
    let arguments = json!({"questions": [{"id": "a", "question": "?", "multi_select": true},
                                         {"id": "b", "question": "?"}]});
    let questions = tool(&Stage::new()).questions(&arguments).expect("lawful");
    assert_eq!(questions[0].multi_select, Some(true));
    assert_eq!(
        serde_json::to_value(&questions[1]).expect("JSON"),
        json!({"id": "b", "question": "?"})
    );
}

#[tokio::test]
async fn at_08_the_signal_and_the_agent_of_the_call_are_handed_on() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let cancel = Cancel::new();
    let (tool, signal) = (tool(&stage), cancel.clone());
    let calling = tokio::spawn(async move { tool.call(&one(), None, Some(signal)).await });
    let called = script.called().await;
    assert!(called.ask.cancel().is_some_and(|signal| signal.is_same(&cancel)));
    assert_eq!(called.ask.agent(), None);
    cancel.cancel();
    let failure = calling.await.expect("no panic").expect_err("taken back");
    assert_eq!(failure.code.as_deref(), Some("ASK_ABORTED"));
}

#[test]
fn at_09_the_output_is_one_line_of_json() {
    let output = AskOutput { answers: vec![chosen("q", &["yes"]), super::said("r", "no")] };
    assert_eq!(
        output.text(),
        r#"{"answers":[{"id":"q","selected":["yes"]},{"id":"r","selected":[],"custom":"no"}]}"#
    );
}

#[tokio::test]
async fn at_10_a_failure_of_the_service_has_name_and_code() {
    let stage = Stage::new();
    let failure = failed(&stage, &one()).await;
    assert_eq!(failure.name, "UserQuestionError");
    assert_eq!(failure.code.as_deref(), Some("NO_PROVIDER"));
    assert_eq!(failure.message, "no user-questions answerer accepted the request");
}

#[tokio::test]
async fn at_11_a_child_reads_the_exact_guidance() {
    let stage = Stage::new();
    let child = stage.world.dormant("child");
    let live = stage.world.agents.enter(child, Some(stage.live.agent().clone()));
    let called = tool(&stage).call(&one(), Some(live.agent()), None).await;
    let failure = called.expect_err("it is owned");
    assert_eq!(failure.code.as_deref(), Some("DELEGATED_CALLER"));
    assert_eq!(
        failure.message,
        "human interaction is unavailable while the calling agent is owned by another live agent; \
         include the unresolved question or decision in the child agent's final result"
    );
}

#[tokio::test]
async fn at_12_an_empty_batch_is_refused_by_the_service() {
    let stage = Stage::new();
    let empty = json!({"questions": []});
    assert!(tool(&stage).questions(&empty).is_ok(), "the schema has nothing against it");
    assert_eq!(failed(&stage, &empty).await.code.as_deref(), Some("EMPTY_QUESTIONS"));
}

#[tokio::test]
async fn at_13_behind_the_service_the_tool_fails() {
    let stage = Stage::new();
    let (_guard, _script) = stage.scripted();
    stage.questions.shutdown();
    assert_eq!(failed(&stage, &one()).await.code.as_deref(), Some("NO_PROVIDER"));
}

#[tokio::test(start_paused = true)]
async fn at_14_it_has_no_time_limit() {
    let stage = Stage::new();
    let (_guard, mut script) = stage.scripted();
    let (tool, agent) = (tool(&stage), stage.live.agent().clone());
    let mut calling = tokio::spawn(async move { tool.call(&one(), Some(&agent), None).await });
    let called = script.called().await;
    let week = std::time::Duration::from_secs(7 * 24 * 3600);
    assert!(tokio::time::timeout(week, &mut calling).await.is_err());
    called.reply(Ok(vec![chosen("q", &["yes"])]));
    assert!(calling.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn at_15_without_anybody_it_is_an_ordinary_failure_and_no_hang() {
    for profile in [Profile::STRICT, Profile::DSH] {
        let stage = Stage::of(profile);
        let failure = failed(&stage, &one()).await;
        assert_eq!(failure.code.as_deref(), Some("NO_PROVIDER"));
    }
    let stage = Stage::new();
    let failure = failed(&stage, &json!({"questions": [{"id": "q"}]})).await;
    assert_eq!((failure.name.as_str(), failure.code), ("InvalidArguments", None));
}

#[tokio::test]
async fn s_162_what_a_model_may_not_set_is_dropped_and_labels_stay() {
    let arguments = json!({"questions": [{"id": "q", "question": "?", "detail": "d",
        "options": [{"label": "  A ", "recommended": true}]}]});
    let questions = tool(&Stage::new()).questions(&arguments).expect("tolerated");
    let shown = serde_json::to_value(&questions[0]).expect("JSON");
    assert_eq!(shown, json!({"id": "q", "question": "?", "options": [{"label": "  A "}]}));
}

#[tokio::test]
async fn s_163_without_a_provider_the_tool_fails_and_the_turn_goes_on() {
    let stage = Stage::new();
    crate::support::start_turn(stage.live.agent().session(), 1);
    let failure = failed(&stage, &one()).await;
    assert_eq!(failure.name, "UserQuestionError");
    assert_eq!(failure.code.as_deref(), Some("NO_PROVIDER"));
    crate::support::end_turn(stage.live.agent().session(), 1);
    let rules = gatelog_validator::rule::Profile::Strict;
    assert_eq!(stage.world.errors(rules), Vec::<String>::new());
}

#[tokio::test]
async fn the_description_names_three_occasions_and_the_ids() {
    let stage = Stage::new();
    let tool = tool(&stage);
    let text = tool.description();
    for word in ["confirmed", "choose", "find out", "`id`"] {
        assert!(text.contains(word), "{text}");
    }
    assert_eq!(AskTool::NAME, "ask_user_question");
}
