use super::*;
use crate::companion::testing::{faults, messages};

const TURN: &str = r#"turn/start {"turn":1}"#;
const STEP: &str = r#"step/start {"turn":1,"step":1}"#;
const MESSAGE: &str = r#"assistant/message+ {"turn":1,"step":1,"message":{}}"#;
const CALL: &str = r#"tool/call {"turn":1,"step":1,"callId":"c"}"#;
const RESULT: &str =
    r#"tool/result+ {"turn":1,"step":1,"message":{"source":{"callId":"c"},"content":[{}]}}"#;
const END_STEP: &str = r#"step/end {"turn":1,"step":1}"#;
const END_TURN: &str = r#"turn/end {"turn":1}"#;
const NEXT: &str = r#"turn/start {"turn":2}"#;

fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut Session::default(), lines)
}

fn says(lines: &[&str]) -> Vec<String> {
    messages(&mut Session::default(), lines)
}

#[test]
fn ordinary_turns_are_lawful() {
    let second = r#"step/start {"turn":1,"step":2}"#;
    let end_second = r#"step/end {"turn":1,"step":2}"#;
    let rows = r#"{"type":"text-chunks","seq0":4,"data":{"turn":1,"step":1,"texts":["a","b"]}}"#;
    let todo = "todo/write {}";
    let lines = [
        "session/title null",
        TURN,
        todo,
        STEP,
        rows,
        MESSAGE,
        CALL,
        CALL,
        RESULT,
        END_STEP,
        second,
        end_second,
        END_TURN,
        NEXT,
        r#"step/start {"turn":2,"step":1}"#,
        "session/end-seed {}",
    ];
    assert_eq!(run(&lines), []);
}

#[test]
fn seqs_increase_and_a_row_counts_for_all_its_members() {
    let title = |seq: u64| format!(r#"{{"type":"session/title","seq":{seq},"data":{{}}}}"#);
    assert_eq!(run(&[&title(4), &title(4)]), [(SEQ_ORDER, 4)]);
    assert_eq!(run(&[&title(4), &title(9), &title(10)]), [], "gaps are not this rule's");
    let rows = r#"{"type":"text-chunks","seq0":2,"data":{"turn":1,"step":1,"texts":["a","b"]}}"#;
    assert_eq!(says(&[TURN, STEP, rows, &title(3)]), ["seq must strictly increase: saw 3 after 3"]);
}

#[test]
fn turns_are_numbered_and_never_overlap() {
    assert_eq!(run(&[TURN, NEXT, r#"turn/end {"turn":2}"#]), [(START_WHILE_OPEN, 1)]);
    assert_eq!(says(&[TURN, "turn/start {}"]), ["turn/start undefined while turn 1 is still open"]);
    assert_eq!(
        run(&[NEXT, r#"turn/end {"turn":2}"#, r#"turn/start {"turn":3}"#]),
        [(START_NUMBER, 0)]
    );
    for bad in ["null", "{}", r#"{"turn":"1"}"#, r#"{"turn":1.5}"#, "[]", r#"{"turn":null}"#] {
        let line = format!("turn/start {bad}");
        assert_eq!(run(&[&line, END_TURN, NEXT]), [(START_NUMBER, 0)], "{bad}");
    }
    assert_eq!(
        says(&["turn/start {\"turn\":{}}"]),
        ["turn/start expected turn 1, got [object Object]"]
    );
    assert_eq!(run(&[r#"turn/start {"turn":1.0}"#, r#"turn/end {"turn":1e0}"#]), []);
}

#[test]
fn a_turns_end_names_it_and_follows_its_last_step() {
    assert_eq!(run(&[TURN, END_TURN, END_TURN, NEXT]), [(END_MISMATCH, 2)]);
    assert_eq!(says(&[END_TURN]), ["turn/end 1 does not match open turn null"]);
    assert_eq!(run(&["turn/end null"]), [(END_MISMATCH, 0)]);
    assert_eq!(run(&["turn/end {}"]), [(END_MISMATCH, 0)], "undefined is not null");
    assert_eq!(run(&[TURN, STEP, END_TURN, NEXT]), [(END_STEP_OPEN, 2)]);
}

#[test]
fn a_null_turn_names_the_turn_that_is_not_open() {
    let end = r#"turn/end {"turn":null}"#;
    assert_eq!(run(&[end, NEXT]), [], "and counts one turn");
    let nowhere = [
        r#"assistant/message+ {"turn":null,"step":null,"message":{}}"#,
        r#"tool/call {"turn":null,"step":null,"callId":"c"}"#,
        &RESULT.replace(":1,", ":null,"),
        r#"step/end {"turn":null,"step":null}"#,
        r#"step/start {"turn":null,"step":2}"#,
    ];
    assert_eq!(run(&nowhere), []);
    let opened = [r#"step/start {"turn":null,"step":1}"#, TURN, END_STEP, END_TURN];
    assert_eq!(run(&opened), [], "a turn leaves the step open that stood before it");
    let crossed = [opened[0], TURN, END_TURN];
    assert_eq!(run(&crossed), [(END_STEP_OPEN, 2)]);
}

#[test]
fn steps_are_numbered_in_the_open_turn_and_never_overlap() {
    assert_eq!(run(&[STEP, END_STEP, TURN]), [(STEP_TURN, 0)]);
    assert_eq!(says(&[STEP]), ["step/start in turn 1 but open turn is null"]);
    let second = r#"step/start {"turn":1,"step":2}"#;
    assert_eq!(run(&[TURN, STEP, second]), [(STEP_WHILE_OPEN, 2)]);
    assert_eq!(run(&[TURN, second, r#"step/end {"turn":1,"step":2}"#]), [(STEP_NUMBER, 1)]);
    assert_eq!(says(&[TURN, second]), ["step/start expected step 1 in turn 1, got 2"]);
    assert_eq!(run(&[TURN, "step/start null"]), [(STEP_TURN, 1)]);
    assert_eq!(run(&[TURN, r#"step/start {"turn":1}"#]), [(STEP_NUMBER, 1)]);
}

#[test]
fn what_belongs_to_a_step_names_it() {
    for line in [MESSAGE, CALL, RESULT, END_STEP, r#"assistant/chunk {"turn":1,"step":1}"#] {
        assert_eq!(run(&[TURN, line]), [(EVENT_OUTSIDE_STEP, 1)], "{line}");
    }
    assert_eq!(run(&[TURN, STEP, "tool/call null"]), [(EVENT_OUTSIDE_STEP, 2)]);
    assert_eq!(
        says(&[MESSAGE]),
        ["assistant/message names turn 1/step 1 but open is turn null/step null"]
    );
    let rows = r#"{"type":"text-chunks","seq0":0,"data":{"turn":1,"step":1,"texts":["a","b"]}}"#;
    assert_eq!(
        run(&[rows, r#"assistant/chunk {"turn":1,"step":1}"#, MESSAGE]),
        [(EVENT_OUTSIDE_STEP, 0)]
    );
}

#[test]
fn one_lost_start_is_one_finding() {
    assert_eq!(run(&[STEP, MESSAGE, END_STEP, END_TURN, NEXT]), [(STEP_TURN, 0)], "of a turn");
    assert_eq!(
        run(&[TURN, MESSAGE, CALL, RESULT, END_STEP, END_TURN, NEXT]),
        [(EVENT_OUTSIDE_STEP, 1)]
    );
    let stray = [TURN, END_TURN, MESSAGE, MESSAGE, NEXT, r#"step/start {"turn":2,"step":1}"#];
    assert_eq!(run(&stray), [(EVENT_OUTSIDE_STEP, 2)], "what strays opens nothing");
}

#[test]
fn one_wrong_number_is_one_finding() {
    let lawful =
        [TURN, STEP, MESSAGE, CALL, RESULT, END_STEP, END_TURN, NEXT, r#"turn/end {"turn":2}"#];
    assert_eq!(run(&lawful), []);
    for index in 0..lawful.len() {
        for number in ["turn", "step"] {
            let wrong =
                lawful[index].replace(&format!(r#""{number}":1"#), &format!(r#""{number}":7"#));
            let mut lines = lawful;
            lines[index] = &wrong;
            let expected = usize::from(wrong != lawful[index]);
            assert_eq!(run(&lines).len(), expected, "{wrong}");
        }
    }
}

#[test]
fn one_lost_or_doubled_record_of_a_turn_is_one_finding() {
    let lawful =
        [TURN, "request/header {}", STEP, MESSAGE, END_STEP, "todo/write {}", END_TURN, NEXT];
    for index in [0, 2, 4, 6] {
        let mut lines = lawful.to_vec();
        lines.remove(index);
        assert_eq!(run(&lines).len(), 1, "without {}", lawful[index]);
        let mut lines = lawful.to_vec();
        lines.insert(index, lawful[index]);
        assert_eq!(run(&lines).len(), 1, "{} twice", lawful[index]);
    }
}

#[test]
fn a_replaced_result_lies_in_a_turn() {
    assert_eq!(run(&[TURN, "tool/result~ null"]), []);
    assert_eq!(run(&["tool/result~ null"]), [(REPLACE_OUTSIDE, 0)]);
    assert_eq!(run(&["tool/result null"]), [(REPLACE_OUTSIDE, 0)], "no marker is no append");
}

#[test]
fn a_result_follows_its_call_in_its_step() {
    assert_eq!(run(&[TURN, STEP, RESULT]), [(RESULT_WITHOUT_CALL, 2)]);
    assert_eq!(run(&[TURN, STEP, CALL, RESULT, RESULT]), [(RESULT_WITHOUT_CALL, 4)]);
    let later = [
        TURN,
        STEP,
        CALL,
        END_STEP,
        r#"step/start {"turn":1,"step":2}"#,
        r#"tool/result+ {"turn":1,"step":2,"message":{"source":{"callId":"c"},"content":[{}]}}"#,
    ];
    assert_eq!(run(&later), [(RESULT_WITHOUT_CALL, 5)]);
    assert_eq!(
        says(&[TURN, STEP, RESULT]),
        ["tool/result for c with no prior tool/call in this step"]
    );
}

#[test]
fn a_result_of_crash_recovery_needs_no_call() {
    let result = |failed: &str, code: &str| {
        RESULT
            .replace(r#""message""#, &format!(r#""error":{{"code":"{code}"}},"message""#))
            .replace("[{}]", &format!(r#"[{{"isError":{failed}}}]"#))
    };
    assert_eq!(run(&[TURN, STEP, &result("true", "TOOL_NOT_STARTED")]), []);
    for (failed, code) in [("1", "TOOL_NOT_STARTED"), ("true", "TOOL_OUTCOME_UNKNOWN")] {
        let line = result(failed, code);
        assert_eq!(run(&[TURN, STEP, &line]), [(RESULT_WITHOUT_CALL, 2)], "{failed} {code}");
    }
    for message in ["null", "{}", r#"{"source":{}}"#, r#"{"source":{},"content":[]}"#] {
        let line = format!(r#"tool/result+ {{"turn":1,"step":1,"message":{message}}}"#);
        assert_eq!(run(&[TURN, STEP, CALL, &line]), [(RESULT_WITHOUT_CALL, 3)], "{message}");
    }
}

#[test]
fn execution_facts_lie_in_a_turn() {
    for kind in ["todo/write", "request/header", "request/context"] {
        let line = format!("{kind} null");
        assert_eq!(run(&[TURN, &line]), [], "{kind}");
        assert_eq!(run(&[&line]), [(EVENT_OUTSIDE_TURN, 0)], "{kind}");
    }
}
