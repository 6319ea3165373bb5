use super::super::testing::{faults, messages};
use super::*;

const TURN: &str = r#"turn/start {"turn":1}"#;
const STEP: &str = r#"step/start {"turn":1,"step":1}"#;
const HEADER: &str = r#"request/header {"header":{"config":{"provider":"p","model":"m"}}}"#;
const OPEN: [&str; 3] = [TURN, STEP, HEADER];

fn retry(id: &str, number: u32) -> String {
    format!(
        r#"llm/retry {{"retryId":"{id}","turn":1,"step":1,"provider":"p",
            "mode":"normal","policyKey":"k","retry":{number},"maxRetries":3,"delayMs":0,
            "failure":{{"message":"m","code":"c"}}}}"#
    )
}

fn started(id: &str, number: u32) -> String {
    format!(r#"llm/retry-started {{"retryId":"{id}","turn":1,"step":1,"retry":{number}}}"#)
}

fn after_open(lines: &[String]) -> Vec<&str> {
    OPEN.into_iter().chain(lines.iter().map(String::as_str)).collect()
}

fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
    faults(&mut Retry::default(), &after_open(lines))
}

fn said(lines: &[String]) -> String {
    messages(&mut Retry::default(), &after_open(lines)).pop().unwrap_or_default()
}

#[test]
fn retries_are_scheduled_and_start() {
    let always = retry("b", 1)
        .replace(r#""mode":"normal","policyKey":"k""#, r#""mode":"always","policyKey":"l""#)
        .replace(r#""maxRetries":3,"#, "");
    let lines = [retry("a", 1), started("a", 1), retry("a", 2), started("a", 2), always];
    assert_eq!(broken(&lines), []);
}

#[test]
fn a_retry_is_sound_by_itself() {
    let cases: [(&str, &str, RuleId, &str); 17] = [
        (
            r#""retryId":"a""#,
            r#""retryId":1"#,
            INVALID_PAYLOAD,
            "llm/retry retryId must be a non-empty string",
        ),
        (
            r#"{"message":"m","code":"c"}"#,
            "null",
            INVALID_FAILURE,
            "llm/retry failure must be an object",
        ),
        (
            r#"{"message":"m","code":"c"}"#,
            "[]",
            INVALID_FAILURE,
            "llm/retry failure.message must be a non-empty string",
        ),
        (
            r#","code":"c""#,
            "",
            INVALID_FAILURE,
            "llm/retry failure.code must be a non-empty string",
        ),
        (
            r#""code":"c""#,
            r#""code":"c","status":99"#,
            INVALID_FAILURE,
            "llm/retry failure.status must be an integer from 100 through 599 when present",
        ),
        (
            r#""code":"c""#,
            r#""code":"c","status":null"#,
            INVALID_FAILURE,
            "llm/retry failure.status must be an integer from 100 through 599 when present",
        ),
        (
            r#""code":"c""#,
            r#""code":"c","providerRetryAfterMs":0"#,
            INVALID_FAILURE,
            "llm/retry failure.providerRetryAfterMs must be a positive finite number when present",
        ),
        (
            r#""code":"c""#,
            r#""code":"c","requestId":"""#,
            INVALID_FAILURE,
            "llm/retry failure.requestId must be a non-empty string when present",
        ),
        (
            r#""retry":1"#,
            r#""retry":0"#,
            INVALID_PAYLOAD,
            "llm/retry retry must be a positive safe integer",
        ),
        (
            r#""provider":"p""#,
            r#""provider":"""#,
            INVALID_PAYLOAD,
            "llm/retry provider must be a non-empty string",
        ),
        (
            r#""policyKey":"k""#,
            r#""policyKey":null"#,
            INVALID_PAYLOAD,
            "llm/retry policyKey must be a non-empty string",
        ),
        (
            r#""maxRetries":3"#,
            r#""maxRetries":0"#,
            INVALID_LIMIT,
            "llm/retry retry 1 must not exceed a positive safe maxRetries 0",
        ),
        (
            r#""maxRetries":3,"#,
            "",
            INVALID_LIMIT,
            "llm/retry retry 1 must not exceed a positive safe maxRetries undefined",
        ),
        ("normal", "always", INVALID_LIMIT, "llm/retry always mode must omit maxRetries"),
        ("normal", "never", INVALID_LIMIT, "llm/retry mode must be normal or always, got never"),
        (
            r#""delayMs":0"#,
            r#""delayMs":2147483648"#,
            INVALID_PAYLOAD,
            "llm/retry delayMs must be a finite number within 0..2147483647",
        ),
        (
            r#""delayMs":0"#,
            r#""delayMs":-1"#,
            INVALID_PAYLOAD,
            "llm/retry delayMs must be a finite number within 0..2147483647",
        ),
    ];
    for (from, to, rule, message) in cases {
        let line = retry("a", 1).replace(from, to);
        assert_eq!(broken(std::slice::from_ref(&line)), [(rule, 3)], "{line}");
        assert_eq!(said(&[line]), message);
    }
    assert_eq!(broken(&["llm/retry null".to_owned()]), [(INVALID_PAYLOAD, 3)]);
    assert_eq!(broken(&["llm/retry-started null".to_owned()]), [(INVALID_PAYLOAD, 3)]);
    assert_eq!(broken(&["llm/retry-started {}".to_owned()]), [(INVALID_PAYLOAD, 3)]);
}

#[test]
fn a_retry_lies_in_the_turn_and_step_that_it_names() {
    let case = |lines: &[&str], rule: RuleId, message: &str| {
        let at = lines.len() as u64 - 1;
        assert_eq!(faults(&mut Retry::default(), lines), [(rule, at)], "{lines:?}");
        assert_eq!(messages(&mut Retry::default(), lines), [message]);
    };
    let line = retry("a", 1);
    case(&[&line], OUTSIDE_TURN, "llm/retry must be appended inside an open turn");
    case(
        &[r#"turn/start {"turn":2}"#, &line],
        OUTSIDE_TURN,
        "llm/retry names turn 1, but the open turn is 2",
    );
    case(&[TURN, HEADER, &line], OUTSIDE_STEP, "llm/retry must be appended inside an open step");
    case(
        &[TURN, r#"step/start {"turn":1,"step":2}"#, &line],
        OUTSIDE_STEP,
        "llm/retry names turn 1/step 1, but the open step is 1/2",
    );
    case(
        &[TURN, STEP, &line],
        WRONG_PROVIDER,
        "llm/retry provider p does not match the failed request provider undefined",
    );
    case(
        &[TURN, STEP, &HEADER.replace("\"p\"", "\"q\""), &line],
        WRONG_PROVIDER,
        "llm/retry provider p does not match the failed request provider q",
    );
    // A step that outlives its turn has no provider.
    case(
        &[TURN, STEP, HEADER, "turn/end null", TURN, &line],
        WRONG_PROVIDER,
        "llm/retry provider p does not match the failed request provider undefined",
    );
    // A header stays in force over turns.
    let later = [HEADER, TURN, STEP, &line];
    assert_eq!(faults(&mut Retry::default(), &later), []);
}

#[test]
fn the_retries_of_a_chain_count_from_one_under_one_id() {
    assert_eq!(broken(&[retry("a", 2), retry("a", 3)]), [(NOT_NEXT, 3)]);
    assert_eq!(said(&[retry("a", 2)]), "llm/retry retry 2 must equal provider policy retry 1");
    assert_eq!(broken(&[retry("a", 1), retry("a", 1)]), [(NOT_NEXT, 4)]);
    assert_eq!(broken(&[retry("a", 1), retry("b", 2), retry("b", 3)]), [(CHANGED_ID, 4)]);
    assert_eq!(
        said(&[retry("a", 1), retry("b", 2)]),
        "llm/retry must preserve retryId across one provider-policy chain"
    );
    let other = retry("a", 1).replace(r#""k""#, r#""l""#);
    assert_eq!(broken(&[retry("a", 1), other.clone()]), [(REUSED_ID, 4)]);
    assert_eq!(
        said(&[retry("a", 1), other]),
        r#"llm/retry retryId "a" is already owned by another chain"#
    );
}

#[test]
fn a_scheduled_retry_starts_once_where_it_was_scheduled() {
    assert_eq!(broken(&[started("a", 1)]), [(STARTED_UNSCHEDULED, 3)]);
    assert_eq!(broken(&[retry("a", 1), started("a", 2)]), [(STARTED_UNSCHEDULED, 4)]);
    let elsewhere = started("a", 1).replace(r#""step":1"#, r#""step":2"#);
    assert_eq!(broken(&[retry("a", 1), elsewhere]), [(STARTED_ELSEWHERE, 4)]);
    let twice = [retry("a", 1), started("a", 1), started("a", 1)];
    assert_eq!(broken(&twice), [(STARTED_TWICE, 5)]);
    assert_eq!(said(&twice), "llm/retry-started repeats one scheduled attempt");
}
