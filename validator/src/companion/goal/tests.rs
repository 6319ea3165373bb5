use super::super::testing::{faults, messages};
use super::*;
use gatelog_engine::companion::RuleId;

/// A snapshot: operation, revision, phase, rounds started and time of update.
fn snapshot(operation: &str, revision: u32, phase: &str, rounds: u32, updated: u32) -> String {
    let reason = match phase {
        "blocked" => r#","blockedReason":{"code":"no-key","message":"m"}"#,
        _ => "",
    };
    format!(
        r#"goal/change {{"kind":"goal/change","version":1,"operation":"{operation}",
            "goal":{{"id":"g","revision":{revision},"objective":"o","phase":"{phase}",
            "maxGoalRounds":2{reason}}},"roundsStarted":{rounds},"createdAt":1,
            "updatedAt":{updated}}}"#
    )
}

fn clear(revision: u32, cleared: u32) -> String {
    format!(
        r#"goal/change {{"kind":"goal/change","version":1,"operation":"clear",
            "cleared":{{"id":"g","revision":{revision}}},"clearedAt":{cleared}}}"#
    )
}

fn round(revision: u32, round: u32) -> String {
    format!(
        r#"user/message+ {{"id":"m","role":"user","content":[],"source":{{"kind":"goal",
            "goalId":"g","revision":{revision},"round":{round}}}}}"#
    )
}

fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    faults(&mut GoalStream::default(), &lines)
}

fn last_message(lines: &[String]) -> String {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    messages(&mut GoalStream::default(), &lines).pop().unwrap_or_default()
}

fn created() -> String {
    snapshot("create", 1, "active", 0, 1)
}

#[test]
fn a_goal_lives_through_all_its_operations() {
    let lines = [
        created(),
        round(1, 1),
        snapshot("pause", 2, "paused", 1, 2),
        snapshot("edit", 3, "paused", 1, 2).replace(r#""o""#, r#""other""#),
        snapshot("resume", 4, "active", 1, 3).replace(r#""o""#, r#""other""#),
        snapshot("block", 5, "blocked", 1, 3).replace(r#""o""#, r#""other""#),
        snapshot("edit", 6, "blocked", 1, 3),
        snapshot("resume", 7, "active", 1, 3),
        round(7, 2),
        snapshot("complete", 8, "complete", 2, 9),
        created().replace(r#""g""#, r#""h""#),
        clear(2, 1).replace(r#""g""#, r#""h""#),
        created().replace(r#""g""#, r#""i""#),
    ];
    assert_eq!(broken(&lines), []);
}

#[test]
fn a_change_is_read_strictly() {
    let made = created();
    let wiped = clear(2, 5);
    let blocked = snapshot("block", 2, "blocked", 0, 1);
    let cases: [(&str, &str, &str, &str); 24] = [
        (
            &made,
            r#""kind":"goal/change""#,
            r#""kind":"x""#,
            "goal change at session event 0 has an invalid kind",
        ),
        (&made, r#""version":1"#, r#""version":2"#, "unsupported goal change version 2"),
        (&made, "create", "grow", "goal change operation is invalid"),
        (
            &made,
            r#""createdAt":1,"#,
            "",
            "goal snapshot change must have exactly \
             createdAt,goal,kind,operation,roundsStarted,updatedAt,version fields",
        ),
        (
            &made,
            r#""createdAt":1"#,
            r#""createdAt":-1"#,
            "goal change createdAt must be a non-negative safe integer",
        ),
        (
            &made,
            r#""updatedAt":1"#,
            r#""updatedAt":0.5"#,
            "goal change updatedAt must be a non-negative safe integer",
        ),
        (
            &made,
            r#""updatedAt":1"#,
            r#""updatedAt":0"#,
            "goal change updatedAt cannot precede createdAt",
        ),
        (
            &made,
            r#""goal":{"#,
            r#""goal":[],"goal2":{"#,
            "goal snapshot change must have exactly \
             createdAt,goal,kind,operation,roundsStarted,updatedAt,version fields",
        ),
        (&made, r#""g""#, r#""""#, "goal change goal.id must be a non-empty string"),
        (&made, r#""o""#, r#""o ""#, "goal change goal.objective must be non-empty and normalized"),
        (&made, "active", "lost", "goal change goal.phase is invalid"),
        (
            &made,
            r#""maxGoalRounds":2"#,
            r#""maxGoalRounds":2,"x":1"#,
            "goal change goal for phase active must have exactly \
             id,maxGoalRounds,objective,phase,revision fields",
        ),
        (
            &made,
            r#""revision":1"#,
            r#""revision":0"#,
            "goal change goal.revision must be a positive safe integer",
        ),
        (
            &made,
            r#""maxGoalRounds":2"#,
            r#""maxGoalRounds":"2""#,
            "goal change goal.maxGoalRounds must be a positive safe integer",
        ),
        (
            &made,
            r#""roundsStarted":0"#,
            r#""roundsStarted":null"#,
            "goal change roundsStarted must be a non-negative safe integer",
        ),
        (
            &blocked,
            r#""message":"m""#,
            r#""note":"m""#,
            "goal change goal.blockedReason must have exactly code and message fields",
        ),
        (
            &blocked,
            "no-key",
            "No-key",
            "goal change goal.blockedReason.code must be lower-kebab-case",
        ),
        (
            &blocked,
            r#""m""#,
            r#""""#,
            "goal change goal.blockedReason.message must be non-empty and normalized",
        ),
        (
            &blocked,
            r#","blockedReason":{"code":"no-key","message":"m"}"#,
            "",
            "goal change goal for phase blocked must have exactly \
             blockedReason,id,maxGoalRounds,objective,phase,revision fields",
        ),
        (
            &wiped,
            r#""clearedAt":5"#,
            r#""clearedAt":5,"x":1"#,
            "goal clear change must have exactly cleared,clearedAt,kind,operation,version fields",
        ),
        (
            &wiped,
            r#""revision":2"#,
            r#""rev":2"#,
            "goal clear tombstone must have exactly id and revision fields",
        ),
        (&wiped, r#""g""#, r#""""#, "goal clear tombstone id must be a non-empty string"),
        (
            &wiped,
            r#""revision":2"#,
            r#""revision":-2"#,
            "goal change cleared.revision must be a positive safe integer",
        ),
        (
            &wiped,
            r#""clearedAt":5"#,
            r#""clearedAt":-5"#,
            "goal change clearedAt must be a non-negative safe integer",
        ),
    ];
    for (line, from, to, inner) in cases {
        let line = line.replace(from, to);
        assert_eq!(broken(std::slice::from_ref(&line)), [(INVALID_CHANGE, 0)], "{line}");
        let message = format!("session event 0 violates the durable goal stream: {inner}");
        assert_eq!(last_message(&[line]), message);
    }
    assert_eq!(broken(&["goal/change null".to_owned()]), [(INVALID_CHANGE, 0)]);
}

#[test]
fn a_creation_is_fresh() {
    let lines = [created(), snapshot("create", 1, "active", 0, 1).replace(r#""g""#, r#""h""#)];
    assert_eq!(broken(&lines), [(CREATE_NOT_FRESH, 1)]);
    let again = [created(), clear(2, 1), created()];
    assert_eq!(broken(&again), [(CREATE_NOT_FRESH, 2)]);
    for line in [
        snapshot("create", 2, "active", 0, 1),
        snapshot("create", 1, "paused", 0, 1),
        snapshot("create", 1, "active", 1, 1),
    ] {
        assert_eq!(broken(&[line]), [(CREATE_NOT_FRESH, 0)]);
    }
}

#[test]
fn a_change_follows_from_the_goal_before_it() {
    let cases: [(String, RuleId, &str); 11] = [
        (
            clear(3, 1),
            REVISION_NOT_NEXT,
            "goal clear must advance the current goal by one revision",
        ),
        (clear(2, 0), EARLY_CLEAR, "goal clear timestamp cannot precede the current goal update"),
        (
            snapshot("pause", 3, "paused", 0, 1),
            REVISION_NOT_NEXT,
            "goal pause must advance the current goal by one revision",
        ),
        (
            snapshot("pause", 2, "paused", 1, 1),
            COUNTERS_CHANGED,
            "goal pause does not preserve the current counters and timestamps",
        ),
        (
            snapshot("pause", 2, "active", 0, 1),
            INVALID_TRANSITION,
            "goal pause has an invalid phase transition",
        ),
        (
            snapshot("edit", 2, "paused", 0, 1),
            INVALID_TRANSITION,
            "goal edit cannot change phase or blocked reason",
        ),
        (
            snapshot("pause", 2, "paused", 0, 1).replace(r#""o""#, r#""x""#),
            DEFINITION_CHANGED,
            "goal pause cannot change objective or maxGoalRounds",
        ),
        (
            snapshot("block", 2, "paused", 0, 1),
            INVALID_TRANSITION,
            "goal block has an invalid phase transition",
        ),
        (
            snapshot("complete", 2, "active", 0, 1),
            INVALID_TRANSITION,
            "goal complete has an invalid phase transition",
        ),
        (
            snapshot("resume", 2, "paused", 0, 1),
            INVALID_TRANSITION,
            "goal resume has an invalid phase transition or exhausted round budget",
        ),
        (
            round(1, 2),
            ROUND_NOT_NEXT,
            "goal round at session event 1 is not the next admitted round of the active goal",
        ),
    ];
    for (line, rule, inner) in cases {
        let lines = [created(), line];
        assert_eq!(broken(&lines), [(rule, 1)], "{}", lines[1]);
        let message = format!("session event 1 violates the durable goal stream: {inner}");
        assert_eq!(last_message(&lines), message);
    }
    for (line, word) in [(snapshot("pause", 2, "paused", 0, 1), "pause"), (clear(2, 1), "clear")] {
        let lines = [line];
        assert_eq!(broken(&lines), [(NO_CURRENT_GOAL, 0)]);
        assert!(last_message(&lines).ends_with(&format!("goal {word} requires a current goal")));
    }
}

#[test]
fn rounds_are_admitted_one_by_one_up_to_the_limit() {
    let lines = [created(), round(1, 1), round(1, 2), round(1, 3)];
    assert_eq!(broken(&lines), [(ROUND_NOT_NEXT, 3)]);
    let paused = [created(), snapshot("pause", 2, "paused", 0, 1), round(2, 1)];
    assert_eq!(broken(&paused), [(ROUND_NOT_NEXT, 2)]);
    assert_eq!(broken(&[round(1, 1)]), [(ROUND_NOT_NEXT, 0)]);
    assert_eq!(broken(&[created(), round(1, 0)]), [(INVALID_SOURCE, 1)]);
    let exhausted = [created(), round(1, 1), round(1, 2), snapshot("resume", 2, "active", 2, 1)];
    assert_eq!(broken(&exhausted), [(INVALID_TRANSITION, 3)]);
    // A replacement on the surface counts like any other message.
    let replaced = [created(), round(1, 1), round(1, 1).replace('+', "~")];
    assert_eq!(broken(&replaced), [(ROUND_NOT_NEXT, 2)]);
}

#[test]
fn one_fault_is_one_finding() {
    let unreadable = [
        created(),
        snapshot("pause", 2, "paused", 0, 1).replace(r#""version":1"#, r#""version":9"#),
        round(2, 1),
        snapshot("resume", 3, "active", 1, 4),
        round(3, 2),
        round(3, 3),
    ];
    assert_eq!(broken(&unreadable), [(INVALID_CHANGE, 1), (ROUND_NOT_NEXT, 5)]);
    let gap = [created(), snapshot("edit", 3, "active", 0, 1), snapshot("edit", 4, "active", 0, 1)];
    assert_eq!(broken(&gap), [(REVISION_NOT_NEXT, 1)]);
}
