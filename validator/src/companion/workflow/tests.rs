use super::super::testing::{faults, messages};
use super::*;

const RUN: &str = r#"tool-workflow/run-start {"runId":"r","name":"n"}"#;
const DONE: &str = r#"tool-workflow/run-end {"runId":"r","stopReason":"completed"}"#;

fn start(member: &str) -> String {
    format!(r#"tool-workflow/agent-start {{"runId":"r","seq":{member},"label":"","childId":"c"}}"#)
}

fn end(member: &str) -> String {
    format!(r#"tool-workflow/agent-end {{"runId":"r","seq":{member},"outcome":"failed"}}"#)
}

fn broken(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut Workflow::default(), lines)
}

fn said(lines: &[&str]) -> String {
    messages(&mut Workflow::default(), lines).pop().unwrap_or_default()
}

#[test]
fn a_run_with_its_members_is_lawful() {
    assert_eq!(broken(&[RUN, &start("1"), &start("2"), &end("2"), &end("1"), DONE]), []);
    assert_eq!(broken(&["other/event null", RUN, DONE]), []);
}

#[test]
fn a_record_is_sound_by_itself() {
    let cases = [
        ("tool-workflow/run-start []", "tool-workflow/run-start data must be a JSON object"),
        (
            r#"tool-workflow/run-end {"runId":""}"#,
            "tool-workflow/run-end runId must be a non-empty string",
        ),
        (
            r#"tool-workflow/run-start {"runId":"q","name":""}"#,
            "tool-workflow/run-start name must be a non-empty string",
        ),
        (
            r#"tool-workflow/agent-start {"runId":"r","seq":0}"#,
            "tool-workflow member seq must be a positive safe integer",
        ),
        (
            r#"tool-workflow/agent-start {"runId":"r","seq":1}"#,
            "tool-workflow/agent-start label must be a string",
        ),
        (
            r#"tool-workflow/agent-start {"runId":"r","seq":1,"label":"","phase":null}"#,
            "tool-workflow/agent-start phase must be a string when present",
        ),
        (
            r#"tool-workflow/agent-start {"runId":"r","seq":1,"label":"","phase":""}"#,
            "tool-workflow/agent-start childId must be a non-empty string",
        ),
        (
            r#"tool-workflow/agent-end {"runId":"r","seq":1}"#,
            "tool-workflow/agent-end outcome undefined is invalid",
        ),
        (
            r#"tool-workflow/run-end {"runId":"r","stopReason":"failed"}"#,
            "tool-workflow/run-end stopReason failed is invalid",
        ),
    ];
    for (line, message) in cases {
        assert_eq!(broken(&[RUN, line]), [(INVALID_PAYLOAD, 1)], "{line}");
        assert_eq!(said(&[RUN, line]), message);
    }
}

#[test]
fn a_run_starts_once_and_before_its_records() {
    assert_eq!(broken(&[RUN, DONE, RUN, DONE]), [(REPEATED_RUN, 2)]);
    assert_eq!(said(&[RUN, RUN]), "tool-workflow/run-start repeats run r");
    assert_eq!(broken(&[&start("1"), &end("1"), DONE]), [(UNKNOWN_RUN, 0)]);
    assert_eq!(
        said(&[DONE]),
        "tool-workflow/run-end has no matching tool-workflow/run-start for run r"
    );
}

#[test]
fn nothing_follows_the_end_of_a_run() {
    assert_eq!(broken(&[RUN, DONE, &start("1"), &end("1"), DONE]), [(ENDED_RUN, 2)]);
    assert_eq!(
        said(&[RUN, DONE, &end("1")]),
        "tool-workflow/agent-end appears after tool-workflow/run-end for run r"
    );
}

#[test]
fn a_member_starts_and_ends_once() {
    assert_eq!(broken(&[RUN, &start("1"), &start("1.0"), &end("1"), DONE]), [(REPEATED_MEMBER, 2)]);
    assert_eq!(
        said(&[RUN, &start("1"), &start("1")]),
        "tool-workflow/agent-start repeats member seq 1 in run r"
    );
    assert_eq!(broken(&[RUN, &end("1"), DONE]), [(UNKNOWN_MEMBER, 1)]);
    assert_eq!(
        said(&[RUN, &end("1")]),
        "tool-workflow/agent-end has no matching member seq 1 in run r"
    );
    assert_eq!(broken(&[RUN, &start("1"), &end("1"), &end("1"), DONE]), [(ENDED_MEMBER, 3)]);
    assert_eq!(
        said(&[RUN, &start("1"), &end("1"), &end("1")]),
        "tool-workflow/agent-end repeats member seq 1 in run r"
    );
}

#[test]
fn a_run_ends_with_all_its_members() {
    let lines = [RUN, &start("3"), &start("1"), &start("2"), &end("1"), DONE];
    assert_eq!(broken(&lines), [(OPEN_MEMBERS, 5)]);
    assert_eq!(said(&lines), "tool-workflow/run-end leaves member seq 3, 2 open in run r");
}

#[test]
fn an_unknown_type_of_the_family_is_named() {
    let line = r#"tool-workflow/pause {"runId":"r"}"#;
    assert_eq!(broken(&[RUN, line, DONE]), [(UNKNOWN_TYPE, 1)]);
    assert_eq!(said(&[line]), "unknown tool-workflow event type tool-workflow/pause");
}
