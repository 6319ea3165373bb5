use super::super::testing::{faults, messages};
use super::*;

const CREATED: &str = r#"goal/change {"kind":"goal/change","version":1,"operation":"create",
    "goal":{"id":"g","revision":1,"objective":"a \"b\" \ud800","phase":"active","maxGoalRounds":3},
        "roundsStarted":0,"createdAt":1,"updatedAt":1}"#;

/// A message of a round, as the host words it; the objective of [`CREATED`] quoted twice.
fn round(round: &str) -> String {
    let text = format!(
        r#"<goal_round>\nObjective: \"a \\\"b\\\" \\ud800\"\nRound: {round}/3\n\n{INSTRUCTION}"#
    );
    format!(
        r#"user/message+ {{"id":"m","role":"user",
            "content":[{{"type":"text","text":"{text}\n</goal_round>"}}],
            "source":{{"kind":"goal","goalId":"g","revision":1,"round":{round}}}}}"#
    )
}

fn broken(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut GoalRound::default(), lines)
}

#[test]
fn rounds_with_their_prompts_are_lawful() {
    assert_eq!(broken(&[CREATED, &round("1"), &round("2"), &round("3")]), []);
}

#[test]
fn a_prompt_is_compared_to_the_last_letter() {
    let first = round("1");
    for changed in [
        first.replace("Round: 1/3", "Round: 1/4"),
        first.replace("blocker.", "blocker"),
        first.replace(r#"{"type":"text","#, r#"{"type":"text","x":1,"#),
        first.replace("[{", r#"[{"type":"text","text":""},{"#),
    ] {
        assert_eq!(broken(&[CREATED, &changed, &round("2")]), [(PROMPT_DIFFERS, 1)], "{changed}");
    }
    assert_eq!(
        messages(&mut GoalRound::default(), &[CREATED, &first.replace("Round: 1/3", "")]),
        ["goal round 1 content does not match the package-owned continuation prompt"]
    );
}

#[test]
fn a_round_follows_from_the_goal() {
    assert_eq!(broken(&[&round("1")]), [(UNEXPECTED_ROUND, 0)]);
    assert_eq!(broken(&[CREATED, &round("2"), &round("3")]), [(UNEXPECTED_ROUND, 1)]);
    assert_eq!(
        messages(&mut GoalRound::default(), &[CREATED, &round("2")]),
        ["goal round 2 cannot be reconstructed from the preceding durable goal state"]
    );
    // The older form of round 0 is nobody's continuation; nor is what counts as 0 in JavaScript.
    for none in ["0", "-1", "null", "false", "[]"] {
        assert_eq!(broken(&[&round(none)]), [], "{none}");
    }
    for other in ["{}", "true", "[1]", "0.5"] {
        assert_eq!(broken(&[&round(other)]), [(UNEXPECTED_ROUND, 0)], "{other}");
    }
}

#[test]
fn a_broken_prefix_is_told_once() {
    let bad = CREATED.replace(r#""version":1"#, r#""version":9"#);
    let lines = [bad.as_str(), &round("1"), &round("2")];
    assert_eq!(broken(&lines), [(BROKEN_PREFIX, 1)]);
    assert_eq!(
        messages(&mut GoalRound::default(), &lines),
        ["cannot reconstruct the goal before a continuation message: \
          unsupported goal change version 9"]
    );
    // A round of 0 breaks the goal, and is no round.
    assert_eq!(broken(&[CREATED, &round("0"), &round("1"), &round("2")]), [(BROKEN_PREFIX, 2)]);
}
