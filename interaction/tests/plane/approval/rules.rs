//! What the validator says of pairs, before a commit: AA-12 to AA-19, AA-21.

use super::{Stage, append, violation};
use crate::support::end_turn;
use gatelog_interaction::approval::ApprovalOutcome;

const ASKED: &str = "approval/asked";
const DECIDED: &str = "approval/decided";

fn ask(id: &str) -> String {
    format!(r#"{{"id":"{id}","toolName":"t"}}"#)
}

fn decide(id: &str) -> String {
    format!(r#"{{"id":"{id}","outcome":"rejected"}}"#)
}

fn refused(stage: &Stage, kind: &str, data: &str) -> (String, String) {
    let before = stage.world.events("a");
    let said = violation(append(stage.session(), kind, data));
    assert_eq!(stage.world.events("a"), before);
    said
}

fn is(said: (String, String), rule: &str, text: &str) {
    assert_eq!(said, (rule.to_owned(), text.to_owned()));
}

#[tokio::test]
async fn aa_12_a_question_outside_a_turn_is_refused() {
    let stage = Stage::new();
    end_turn(stage.session(), 1);
    let text = "approval/asked appended outside any open turn";
    is(refused(&stage, ASKED, &ask("x")), "approval/asked-outside-turn", text);
}

#[tokio::test]
async fn aa_13_a_question_without_a_tool_is_refused() {
    let stage = Stage::new();
    let said = refused(&stage, ASKED, r#"{"id":"x","toolName":""}"#);
    is(said, "approval/asked-without-tool-name", "approval/asked toolName must be non-empty");
}

#[tokio::test]
async fn aa_14_a_question_that_repeats_an_open_id_is_refused() {
    let stage = Stage::new();
    append(stage.session(), ASKED, &ask("x")).expect("lawful");
    let text = r#"approval/asked repeated open id "x""#;
    is(refused(&stage, ASKED, &ask("x")), "approval/asked-repeats-open-id", text);
}

#[tokio::test]
async fn aa_15_a_decision_outside_a_turn_is_refused() {
    let stage = Stage::new();
    end_turn(stage.session(), 1);
    let text = "approval/decided appended outside any open turn";
    is(refused(&stage, DECIDED, &decide("x")), "approval/decided-outside-turn", text);
}

#[tokio::test]
async fn aa_16_a_decision_without_an_open_question_is_refused() {
    let stage = Stage::new();
    let text = r#"approval/decided has no matching approval/asked for id "x""#;
    is(refused(&stage, DECIDED, &decide("x")), "approval/decided-without-ask", text);
    append(stage.session(), ASKED, &ask("x")).expect("lawful");
    append(stage.session(), DECIDED, &decide("x")).expect("lawful");
    let (rule, _) = refused(&stage, DECIDED, &decide("x"));
    assert!(rule == "approval/decided-without-ask" || rule == "approval/decided-twice", "{rule}");
}

#[tokio::test]
async fn aa_17_an_outcome_outside_the_four_is_refused() {
    let stage = Stage::new();
    append(stage.session(), ASKED, &ask("x")).expect("lawful");
    let said = refused(&stage, DECIDED, r#"{"id":"x","outcome":"allowed-always"}"#);
    let text = r#"approval/decided carries unknown outcome "allowed-always""#;
    is(said, "approval/decided-unknown-outcome", text);
    for outcome in ApprovalOutcome::ALL {
        let id = outcome.word();
        append(stage.session(), ASKED, &ask(id)).expect("lawful");
        let data = format!(r#"{{"id":"{id}","outcome":"{}"}}"#, outcome.word());
        append(stage.session(), DECIDED, &data).expect("one of the four");
    }
}

#[tokio::test]
async fn aa_18_a_policy_outside_the_two_is_refused() {
    let stage = Stage::new();
    let said = refused(&stage, "approval/policy", r#"{"policy":"sometimes"}"#);
    let text = r#"approval/policy carries unknown policy "sometimes""#;
    is(said, "policy/unknown-policy", text);
}

#[tokio::test]
async fn aa_19_the_first_rule_in_order_is_the_one_that_is_said() {
    let stage = Stage::new();
    append(stage.session(), ASKED, &ask("x")).expect("lawful");
    // No tool and a repeated id: the tool is said.
    let (rule, _) = refused(&stage, ASKED, r#"{"id":"x","toolName":""}"#);
    assert_eq!(rule, "approval/asked-without-tool-name");
    // No question and no outcome: the pairing is said.
    let (rule, _) = refused(&stage, DECIDED, r#"{"id":"y","outcome":"nonsense"}"#);
    assert_eq!(rule, "approval/decided-without-ask");
    append(stage.session(), DECIDED, &decide("x")).expect("lawful");
    end_turn(stage.session(), 1);
    // All at once: the turn is said.
    let (rule, _) = refused(&stage, ASKED, r#"{"id":"x","toolName":""}"#);
    assert_eq!(rule, "approval/asked-outside-turn");
    let (rule, _) = refused(&stage, DECIDED, r#"{"id":"y","outcome":"nonsense"}"#);
    assert_eq!(rule, "approval/decided-outside-turn");
}

#[tokio::test]
async fn aa_21_a_batch_that_is_vetoed_at_its_end_leaves_no_trace() {
    use gatelog_engine::backend::Durability;
    use gatelog_engine::rules::Draft;
    let stage = Stage::new();
    let batch = [Draft::new(ASKED, ask("x")), Draft::new(DECIDED, decide("other"))];
    assert!(stage.session().append(batch, Durability::Synced).is_err());
    assert_eq!(stage.audit(), vec![]);
    append(stage.session(), ASKED, &ask("x")).expect("x was never asked");
    append(stage.session(), DECIDED, &decide("x")).expect("and is open now");
}
