use super::super::testing::{faults, messages, violations};
use super::*;

fn member(id: &str, name: &str, phase: &str) -> String {
    format!(
        r#"team/member {{"version":1,"teamId":"s","member":{{"id":"{id}","name":"{name}",
            "description":"","provider":"p","context":"fresh","phase":"{phase}"}}}}"#
    )
}

fn task(id: &str, revision: u32, status: &str, blockers: &str) -> String {
    format!(
        r#"team/task {{"version":1,"teamId":"s","task":{{"id":"{id}","revision":{revision},
            "subject":"","description":"","status":"{status}","blockedBy":[{blockers}],
            "writeScopes":[]}}}}"#
    )
}

fn queued(id: &str) -> String {
    format!(
        r#"team/message/queued {{"version":1,"teamId":"s","message":{{"id":"{id}","senderId":"s",
            "senderName":"","targetId":"t","delivery":"quiet","content":[]}}}}"#
    )
}

fn delivered(id: &str, target: &str) -> String {
    format!(
        r#"team/message/delivered {{"version":1,"teamId":"s","messageId":"{id}",
            "targetId":"{target}"}}"#
    )
}

fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    faults(&mut Team::new(b"s"), &lines)
}

/// Checks that the last line breaks one rule, with one inner message.
fn case(lines: &[String], rule: RuleId, inner: &str) {
    let at = lines.len() - 1;
    assert_eq!(broken(lines), [(rule, at as u64)], "{lines:?}");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(
        messages(&mut Team::new(b"s"), &lines),
        [format!("session event {at} violates the Agent Teams stream: {inner}")]
    );
}

#[test]
fn a_team_at_work_is_lawful() {
    let lines = [
        member("a", "A", "provisioning"),
        member("a", "A", "active"),
        member("b", "B", "provisioning"),
        member("b", "B", "failed"),
        task("task-1", 1, "pending", ""),
        task("task-2", 1, "pending", r#""task-1""#),
        task("task-1", 2, "completed", ""),
        queued("m"),
        delivered("m", "t"),
    ];
    assert_eq!(broken(&lines), []);
}

#[test]
fn a_record_is_sound_and_of_this_team() {
    let invalid = "persisted Agent Teams team/task payload is invalid";
    let good = task("task-1", 1, "pending", "");
    for (from, to) in [
        (r#""subject":"","#, ""),
        (r#""subject":"""#, r#""subject":"","x":1"#),
        ("pending", "started"),
        (r#""revision":1"#, r#""revision":0"#),
        ("task-1", "task-9007199254740993"),
        (r#""blockedBy":[]"#, r#""blockedBy":[1]"#),
        (r#""teamId":"s""#, r#""teamId":"""#),
        (r#""version":1"#, r#""version":"1""#),
    ] {
        case(&[good.replace(from, to)], INVALID_PAYLOAD, invalid);
    }
    let newer = good.replace(r#""version":1"#, r#""version":2"#);
    case(
        std::slice::from_ref(&newer),
        UNSUPPORTED_VERSION,
        "unsupported Agent Teams event version 2",
    );
    // What a fork copied along of another team is left alone, if it is well formed.
    assert_eq!(broken(&[newer.replace(r#""s""#, r#""o""#)]), []);
    assert_eq!(broken(&[task("t", 5, "pending", r#""x""#).replace(r#""s""#, r#""o""#)]), []);
    assert_eq!(broken(&["team/message/delivered null".to_owned()]), [(INVALID_PAYLOAD, 0)]);
}

#[test]
fn members_keep_their_identity_and_settle_once() {
    let a = || member("a", "A", "provisioning");
    case(&[member("a", "A", "active")], NOT_PROVISIONED, r#"teammate "A" must begin provisioning"#);
    case(
        &[a(), member("b", "A", "provisioning")],
        REUSED_NAME,
        r#"teammate name "A" is reused by another member"#,
    );
    case(
        &[a(), member("a", "B", "active")],
        CHANGED_IDENTITY,
        r#"teammate "a" changed immutable identity fields"#,
    );
    case(
        &[a(), member("a", "A", "active"), member("a", "A", "failed")],
        INVALID_TRANSITION,
        r#"teammate "A" has an invalid active -> failed transition"#,
    );
    case(
        &[a(), a()],
        INVALID_TRANSITION,
        r#"teammate "A" has an invalid provisioning -> provisioning transition"#,
    );
}

#[test]
fn the_revisions_of_a_task_have_no_gap() {
    let one = || task("x", 1, "pending", "");
    case(
        &[task("x", 2, "pending", "")],
        REVISION_NOT_NEXT,
        r#"team task "x" must begin at revision 1"#,
    );
    case(
        &[one(), task("x", 3, "pending", "")],
        REVISION_NOT_NEXT,
        r#"team task "x" revision is not contiguous"#,
    );
    let gap = [one(), task("x", 3, "pending", ""), task("x", 4, "pending", "")];
    assert_eq!(broken(&gap), [(REVISION_NOT_NEXT, 1)]);
}

#[test]
fn tasks_wait_for_tasks_that_are_there_and_not_in_a_circle() {
    let x = || task("x", 1, "pending", "");
    let y = || task("y", 1, "pending", r#""x""#);
    case(
        &[task("x", 1, "pending", r#""x""#)],
        INVALID_GRAPH,
        r#"team task "x" cannot block itself"#,
    );
    case(
        &[x(), task("y", 1, "pending", r#""x","x""#)],
        INVALID_GRAPH,
        r#"team task "y" repeats blocker "x""#,
    );
    case(&[y()], INVALID_GRAPH, r#"blocker task "x" for "y" is missing or deleted"#);
    case(
        &[x(), y(), task("x", 2, "deleted", "")],
        INVALID_GRAPH,
        r#"blocker task "x" for "y" is missing or deleted"#,
    );
    case(
        &[x(), y(), task("x", 2, "pending", r#""y""#)],
        INVALID_GRAPH,
        r#"task dependency cycle includes "x""#,
    );
    // One fault is one finding: later tasks are not held to the circle.
    let lines = [x(), y(), task("x", 2, "pending", r#""y""#), task("z", 1, "pending", r#""y""#)];
    assert_eq!(broken(&lines), [(INVALID_GRAPH, 2)]);
    let deleted = [x(), y(), task("x", 2, "deleted", ""), task("z", 1, "pending", "")];
    assert_eq!(broken(&deleted), [(INVALID_GRAPH, 2)]);
    // A deleted task waits for nothing.
    let gone = [x(), y(), task("y", 2, "deleted", r#""x""#), task("x", 2, "deleted", "")];
    assert_eq!(broken(&gone), []);
}

#[test]
fn a_message_is_queued_and_delivered_once() {
    case(&[queued("m"), queued("m")], QUEUED_TWICE, r#"team message "m" was queued twice"#);
    case(
        &[delivered("m", "t")],
        DELIVERED_UNQUEUED,
        r#"team message "m" was delivered before queueing"#,
    );
    case(&[queued("m"), delivered("m", "u")], CHANGED_TARGET, r#"team message "m" target changed"#);
    case(
        &[queued("m"), delivered("m", "t"), delivered("m", "t")],
        DELIVERED_TWICE,
        r#"team message "m" was delivered twice"#,
    );
}

#[test]
fn a_graph_made_to_be_slow_is_given_up_and_said_so() {
    let blockers: Vec<_> = (0..2_000).map(|index| format!("\"t{index}\"")).collect();
    let blockers = blockers.join(",");
    let mut lines: Vec<_> =
        (0..2_000).map(|index| task(&format!("t{index}"), 1, "pending", "")).collect();
    lines.extend((1..3_000).map(|revision| task("last", revision, "pending", &blockers)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = violations(&mut Team::new(b"s"), &lines);
    let found: Vec<_> = found.into_iter().map(|(fault, _)| fault.rule).collect();
    assert_eq!(found, [GRAPH_NOT_CHECKED]);
}
