use super::*;
use crate::companion::testing::{faults, messages};

const TURN: &str = r#"turn/start {"turn":1}"#;
const END_TURN: &str = r#"turn/end {"turn":1}"#;
const START: &str = r#"compaction/start {"compactionId":"k","turn":1}"#;
const ALONE: &str = r#"compaction/start {"compactionId":"k","turn":null}"#;
const SUMMARY: &str = concat!(
    r#"compaction/summary {"compactionId":"k","shadowedSeqs":[3,9,7],"#,
    r#""shadowedRange":{"start":3,"end":7},"shadowedTokenCount":-0}"#
);
const CHECKPOINT: &str =
    r#"user/message~ {"source":{"kind":"plugin","plugin":"compact","compactionId":"k"}}"#;
const END: &str = r#"compaction/end {"compactionId":"k","turn":1}"#;
const END_ALONE: &str = r#"compaction/end {"compactionId":"k","turn":null}"#;
const SEED: &str = "session/end-seed {}";

fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut Compaction::new(Profile::Host), lines)
}

fn summary(member: &str, value: &str) -> String {
    let mut line = SUMMARY.to_owned();
    line.truncate(line.len() - 1);
    format!(r#"{line},"{member}":{value}}}"#)
}

#[test]
fn a_whole_compaction_is_lawful_in_a_turn_and_between_turns() {
    assert_eq!(run(&[TURN, START, SUMMARY, CHECKPOINT, END, END_TURN]), []);
    assert_eq!(run(&[ALONE, SUMMARY, CHECKPOINT, END_ALONE, TURN, START]), []);
    let failed = r#"compaction/end {"compactionId":"k","turn":1,"error":null}"#;
    assert_eq!(run(&[TURN, START, failed]), [], "a null error is an error");
    let other = r#"user/message+ {"source":{"kind":"plugin","plugin":"compact"}}"#;
    assert_eq!(run(&[other]), [], "what is appended is no checkpoint");
    assert_eq!(run(&[r#"user/message~ {"source":{"kind":"user"}}"#]), []);
}

#[test]
fn a_turn_boundary_inside_is_found_when_the_compaction_goes_on() {
    let crossing = [TURN, START, SUMMARY, END_TURN, r#"turn/start {"turn":2}"#, END];
    assert_eq!(run(&crossing), [(TURN_BOUNDARY, 3)]);
    let restarted = [TURN, START, END_TURN, ALONE];
    assert_eq!(run(&restarted), [(TURN_BOUNDARY, 2)]);
    assert_eq!(
        messages(&mut Compaction::new(Profile::Host), &restarted),
        ["turn/end cannot cross an open compaction for turn 1"]
    );
    let alone = [ALONE, TURN, END_TURN, END_ALONE];
    assert_eq!(
        messages(&mut Compaction::new(Profile::Host), &alone),
        ["turn/start cannot cross an open standalone compaction"]
    );
}

#[test]
fn an_orphan_may_be_crossed() {
    assert_eq!(run(&[TURN, START, END_TURN, SEED]), []);
    assert_eq!(run(&[TURN, START, END_TURN, SEED, END]), [(WITHOUT_START, 4)]);
    assert_eq!(run(&[TURN, START, END_TURN]), [], "the host's load ends it with a seed");
    let summed = [TURN, START, END_TURN, SUMMARY, SEED];
    assert_eq!(run(&summed), [(OUTSIDE_ITS_TURN, 3)], "only the boundary is let pass");
}

#[test]
fn a_gate_judges_the_boundary_at_once() {
    let mut live = Compaction::new(Profile::Host).live();
    assert_eq!(faults(&mut live, &[TURN, START, END_TURN]), [(TURN_BOUNDARY, 2)]);
}

#[test]
fn every_record_has_ids() {
    for id in [r#""""#, "null", "1", "{}"] {
        let line = format!(r#"compaction/start {{"compactionId":{id},"turn":null}}"#);
        assert_eq!(run(&[&line]), [(INVALID_ID, 0)], "{id}");
    }
    assert_eq!(run(&["compaction/start null"]), [(INVALID_ID, 0)]);
    assert_eq!(run(&["compaction/summary {}"]), [(INVALID_ID, 0)]);
    assert_eq!(run(&["compaction/end 5"]), [(INVALID_ID, 0)]);
    let checkpoint = r#"user/message~ {"source":{"kind":"plugin","plugin":"compact"}}"#;
    assert_eq!(run(&[checkpoint]), [(INVALID_ID, 0)]);
    let command = r#"compaction/start {"compactionId":"k","sourceCommandId":null,"turn":null}"#;
    assert_eq!(run(&[command]), [(INVALID_COMMAND_ID, 0)]);
}

#[test]
fn one_compaction_at_a_time_in_the_open_turn() {
    assert_eq!(run(&[TURN, START, START]), [(START_WHILE_OPEN, 2)]);
    assert_eq!(run(&[TURN, ALONE]), [(START_OWNER, 1)]);
    assert_eq!(run(&[START]), [(START_OWNER, 0)]);
    let wrong = r#"compaction/start {"compactionId":"k","turn":2}"#;
    let whole = [TURN, wrong, SUMMARY, END, START, SUMMARY, END, END_TURN];
    assert_eq!(run(&whole), [(START_OWNER, 1)], "one wrong number is one finding");
    let lost = [START, SUMMARY, CHECKPOINT, END, END_TURN, ALONE];
    assert_eq!(run(&lost), [(START_OWNER, 0)], "and so is one lost turn/start");
    assert_eq!(
        messages(&mut Compaction::new(Profile::Host), &[TURN, wrong]),
        ["compaction/start names turn 2 but open turn is 1"]
    );
    assert_eq!(run(&[r#"compaction/start {"compactionId":"k"}"#]), [(START_OWNER, 0)]);
    let nameless = ["turn/start {}", r#"compaction/start {"compactionId":"k"}"#];
    assert_eq!(run(&nameless), [], "undefined is undefined");
}

#[test]
fn records_belong_to_the_open_compaction() {
    assert_eq!(
        run(&[TURN, SUMMARY, CHECKPOINT, END]),
        [(WITHOUT_START, 1)],
        "one fault, one finding"
    );
    assert_eq!(run(&[CHECKPOINT]), [(WITHOUT_START, 0)]);
    assert_eq!(run(&[END]), [(WITHOUT_START, 0)]);
    let other = r#"compaction/end {"compactionId":"j","turn":1}"#;
    assert_eq!(run(&[TURN, START, SUMMARY, other, END_TURN]), [(ID_MISMATCH, 3)]);
    let command = r#"compaction/end {"compactionId":"k","turn":1,"sourceCommandId":"c"}"#;
    let lines = [TURN, START, SUMMARY, command];
    assert_eq!(run(&lines), [(COMMAND_ID_MISMATCH, 3)]);
    assert_eq!(
        messages(&mut Compaction::new(Profile::Host), &lines),
        ["compaction/end sourceCommandId c does not match compaction/start sourceCommandId \
             undefined"]
    );
}

#[test]
fn a_summary_says_what_it_replaces() {
    assert_eq!(run(&[TURN, START, SUMMARY, SUMMARY, END]), [(REPEATED_SUMMARY, 3)]);
    for (member, value, rule) in [
        ("shadowedSeqs", "[]", EMPTY_SUMMARY),
        ("shadowedSeqs", "null", EMPTY_SUMMARY),
        ("shadowedSeqs", "[3]", RANGE_MISMATCH),
        ("shadowedSeqs", "[4,7]", RANGE_MISMATCH),
        ("shadowedSeqs", "5", RANGE_MISMATCH),
        ("shadowedRange", "null", RANGE_MISMATCH),
        ("shadowedRange", "{}", RANGE_MISMATCH),
        ("shadowedTokenCount", "-1", TOKEN_COUNT),
        ("shadowedTokenCount", "1.5", TOKEN_COUNT),
        ("shadowedTokenCount", r#""1""#, TOKEN_COUNT),
    ] {
        let line = summary(member, value);
        assert_eq!(run(&[TURN, START, &line, END]), [(rule, 2)], "{member} {value}");
    }
}

#[test]
fn an_end_agrees_with_its_start_and_has_a_summary() {
    assert_eq!(run(&[TURN, START, END]), [(END_WITHOUT_SUMMARY, 2)]);
    assert_eq!(run(&[TURN, START, SUMMARY, END_ALONE]), [(END_OWNER, 3)]);
}

#[test]
fn strict_reports_a_compaction_that_never_ended() {
    let mut strict = Compaction::new(Profile::Strict);
    assert_eq!(faults(&mut strict, &[TURN, START, SUMMARY]), [(NEVER_ENDED, 1)]);
    let mut strict = Compaction::new(Profile::Strict);
    assert_eq!(faults(&mut strict, &[TURN, START, SEED]), []);
}
