use super::*;
use crate::companion::testing::{faults, messages};
use gatelog_engine::companion::RuleId;

const TURN: &str = r#"turn/start {"turn":1}"#;
const END_TURN: &str = r#"turn/end {"turn":1}"#;
const CALL: &str = r#"tool/call {"callId":"c"}"#;
const ASKED: &str = r#"approval/asked {"id":"a","toolName":"t","callId":"c"}"#;
const ALLOWED: &str = r#"approval/decided {"id":"a","outcome":"allowed-once"}"#;
const REJECTED: &str = r#"approval/decided {"id":"a","outcome":"rejected"}"#;
const DONE: &str = r#"tool/result+ {"message":{"source":{"callId":"c"},"content":[{}]}}"#;
const FAILED: &str =
    r#"tool/result+ {"message":{"source":{"callId":"c"},"content":[{"isError":true}]}}"#;

fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut StrictApproval::default(), lines)
}

#[test]
fn a_question_that_is_decided_in_its_turn_is_lawful() {
    assert_eq!(run(&[TURN, CALL, ASKED, ALLOWED, DONE, END_TURN]), []);
    assert_eq!(run(&[TURN, CALL, ASKED, REJECTED, FAILED, END_TURN]), []);
    assert_eq!(run(&["approval/decided null", "tool/result null", "turn/end null"]), []);
}

#[test]
fn ids_are_used_once() {
    assert_eq!(run(&[TURN, ASKED, ALLOWED, ASKED, ALLOWED]), [(REPEATED_ID, 3)]);
    assert_eq!(run(&[TURN, ASKED, ASKED, ALLOWED]), [], "the host's rule speaks of an open id");
    assert_eq!(
        run(&[TURN, r#"approval/asked {"id":""}"#, r#"approval/decided {"id":""}"#]),
        [(INVALID_ID, 1)]
    );
    assert_eq!(run(&["approval/asked null", "approval/decided null"]), [(INVALID_ID, 0)]);
}

#[test]
fn early_late_and_second_decisions_each_have_their_rule() {
    assert_eq!(run(&[TURN, ALLOWED]), [], "the host's rule speaks of a ghost");
    assert_eq!(run(&[TURN, ALLOWED, ASKED, REJECTED]), [(DECIDED_BEFORE_ASK, 2)]);
    assert_eq!(run(&[TURN, ASKED, ALLOWED, REJECTED]), [(DECIDED_TWICE, 3)]);
    let later = [TURN, ASKED, END_TURN, r#"turn/start {"turn":2}"#, ALLOWED];
    assert_eq!(run(&later), [(UNDECIDED_AT_TURN_END, 1), (LATER_TURN, 4)]);
}

#[test]
fn what_was_not_allowed_did_not_run() {
    for outcome in ["rejected", "cancelled", "unavailable", "maybe"] {
        let decided = format!(r#"approval/decided {{"id":"a","outcome":"{outcome}"}}"#);
        assert_eq!(
            run(&[TURN, CALL, ASKED, &decided, DONE]),
            [(RAN_WITHOUT_GRANT, 4)],
            "{outcome}"
        );
    }
    assert_eq!(
        messages(&mut StrictApproval::default(), &[TURN, CALL, ASKED, REJECTED, DONE]),
        [r#"call "c" succeeded although its approval of seq 2 ended in rejected"#]
    );
    let v4 = r#"tool/result+ {"message":{"source":{"callId":"c"},"isError":true,"content":[]}}"#;
    assert_eq!(run(&[TURN, CALL, ASKED, REJECTED, v4]), [], "format 4 says it failed");
    let second = [
        r#"approval/asked {"id":"b","callId":"c"}"#,
        r#"approval/decided {"id":"b","outcome":"allowed-once"}"#,
    ];
    assert_eq!(run(&[TURN, CALL, ASKED, REJECTED, second[0], second[1], DONE]), [], "asked again");
    assert_eq!(
        run(&[TURN, CALL, second[0], second[1], ASKED, REJECTED, DONE]),
        [],
        "one grant is enough"
    );
    assert_eq!(run(&[TURN, CALL, ASKED, REJECTED, FAILED, CALL, DONE]), [], "a new call");
    let rewrite = r#"tool/result~ {"message":{"source":{"callId":"c"},"content":[{}]}}"#;
    assert_eq!(run(&[TURN, CALL, ASKED, REJECTED, rewrite]), []);
}

#[test]
fn open_questions_are_found_once() {
    assert_eq!(run(&[TURN, ASKED, END_TURN]), [(UNDECIDED_AT_TURN_END, 1)]);
    assert_eq!(
        run(&[TURN, ASKED, END_TURN, r#"turn/start {"turn":2}"#, r#"turn/end {"turn":2}"#]),
        [(UNDECIDED_AT_TURN_END, 1)]
    );
    assert_eq!(run(&[TURN, ASKED, r#"turn/start {"turn":2}"#]), [(UNDECIDED_AT_TURN_END, 1)]);
    assert_eq!(run(&[TURN, ASKED]), [(UNDECIDED_AT_END, 1)]);
    let two = [TURN, ASKED, r#"approval/asked {"id":"b"}"#, END_TURN];
    assert_eq!(
        messages(&mut StrictApproval::default(), &two),
        ["2 approvals are undecided at turn/end, the first \"a\" of seq 1"]
    );
}

#[test]
fn many_cancelled_questions_are_noted_once_a_turn() {
    let mut lines = vec![TURN.to_owned()];
    for index in 0..12 {
        lines.push(format!(r#"approval/asked {{"id":"{index}"}}"#));
        lines.push(format!(r#"approval/decided {{"id":"{index}","outcome":"cancelled"}}"#));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(run(&lines), [(MANY_CANCELLED, 20)]);
    assert_eq!(run(&lines[..19]), []);
}
