use super::super::testing::{faults, messages};
use super::*;

const TURN: &str = r#"turn/start {"turn":1}"#;
const STEP: &str = r#"step/start {"turn":1,"step":1}"#;
const NO_ZONE: &str = "unavailable. Ask the user to clarify otherwise-unqualified dates and times.";

/// A reading of turn 1, step 1, appended at a time in milliseconds.
fn reading(zones: &str, time_ms: &str) -> String {
    let text = format!(
        "Time sampled while preparing turn 1, step 1: 2024-01-01T01:00:00+01:00[Europe/Berlin]\\n\
         Browser time zone for this request: {zones}\\n\
         Elapsed since the preceding model-visible message: unavailable."
    );
    format!(
        r#"{{"type":"user/message","time":{time_ms},"data":{{"id":"m","role":"user",
            "content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"plugin",
            "plugin":"time-context","form":"snapshot","sections":[{{"name":"time-context",
            "text":"{text}"}}]}}}}}}"#
    )
}

fn lawful() -> String {
    reading(NO_ZONE, "1704067200000")
}

fn from_browser(zone: &str) -> String {
    format!(
        r#"user/message+ {{"id":"u","role":"user","content":[],"source":{{"kind":"user",
            "rpcId":"r","clientTimeZone":"{zone}"}}}}"#
    )
}

fn broken(lines: &[&str]) -> Vec<(RuleId, u64)> {
    faults(&mut TimeContext::default(), lines)
}

/// Checks that a changed reading breaks one rule, with one message.
fn case(from: &str, to: &str, rule: RuleId, message: &str) {
    let line = lawful().replace(from, to);
    assert_eq!(broken(&[TURN, STEP, &line]), [(rule, 2)], "{from:?} -> {to:?}");
    assert_eq!(messages(&mut TimeContext::default(), &[TURN, STEP, &line]), [message]);
}

#[test]
fn a_reading_in_its_place_is_lawful() {
    assert_eq!(broken(&[TURN, STEP, &lawful()]), []);
    // The message of another plugin is nobody's reading.
    let other = lawful().replace(r#""plugin":"time-context""#, r#""plugin":"other""#);
    assert_eq!(broken(&[&other]), []);
}

#[test]
fn a_reading_is_one_text_in_the_hosts_form() {
    let one = "time-context messages must contain exactly one text block";
    case(r#"{"type":"text","#, r#"{"type":"text","x":1,"#, NOT_ONE_TEXT, one);
    case(r#""content":[{"#, r#""content":[{},{"#, NOT_ONE_TEXT, one);
    let form = "time-context message does not match the durable reading format";
    case("Time sampled", "Time taken", INVALID_READING, form);
    let positive = "time-context turn and step must be positive safe integers";
    case("turn 1,", "turn 0,", INVALID_READING, positive);
    case("step 1:", "step 9007199254740993:", INVALID_READING, positive);
}

#[test]
fn a_reading_lies_in_the_step_that_it_names_before_the_header() {
    let line = lawful();
    let header = "request/header {}";
    let cases: [(&[&str], &str); 5] = [
        (&[&line], "time-context reading must be appended inside an open turn"),
        (&[TURN, &line], "time-context reading must follow step/start"),
        (&[TURN, STEP, "step/end {}", &line], "time-context reading must follow step/start"),
        (&[TURN, STEP, header, &line], "time-context reading must precede request/header"),
        (
            &[TURN, r#"step/start {"turn":1,"step":2}"#, &line],
            "time-context reading names turn 1/step 1, expected turn 1/step 2",
        ),
    ];
    for (lines, message) in cases {
        assert_eq!(broken(lines), [(WRONG_PLACE, lines.len() as u64 - 1)], "{lines:?}");
        assert_eq!(messages(&mut TimeContext::default(), lines), [message]);
    }
    assert_eq!(broken(&[TURN, header, STEP, &line]), []);
}

#[test]
fn a_source_carries_the_snapshot_and_nothing_else() {
    let message =
        "time-context source must carry only the exact snapshot text, not request authority";
    case(r#""form":"snapshot""#, r#""form":"notice""#, INVALID_SOURCE, message);
    case(r#""form":"snapshot""#, r#""form":"snapshot","rpcId":"r""#, INVALID_SOURCE, message);
    case(r#"[{"name""#, r#"[{},{"name""#, INVALID_SOURCE, message);
    case(r#""name":"time-context""#, r#""name":"time""#, INVALID_SOURCE, message);
}

#[test]
fn the_browser_zones_are_those_of_the_turns_messages() {
    let time = "1704067200000";
    let one = reading(
        "Europe/Berlin. Interpret otherwise-unqualified dates and times in this zone.",
        time,
    );
    let two = reading(
        "mixed [\\\"Asia/Tokyo\\\",\\\"UTC\\\"]. \
         Ask the user to clarify otherwise-unqualified dates and times.",
        time,
    );
    let (berlin, tokyo, utc) =
        (from_browser("Europe/Berlin"), from_browser("Asia/Tokyo"), from_browser("UTC"));
    assert_eq!(broken(&[TURN, &berlin, STEP, &berlin, &one]), []);
    assert_eq!(broken(&[TURN, &utc, &tokyo, STEP, &two]), []);
    assert_eq!(broken(&[&utc, TURN, &berlin, STEP, &one]), []);
    assert_eq!(broken(&[TURN, &utc, STEP, &one]), [(ZONE_DIFFERS, 3)]);
    assert_eq!(broken(&[TURN, &utc.replace("rpcId", "other"), STEP, &lawful()]), []);
    let bad = from_browser("Berlin");
    assert_eq!(broken(&[TURN, &bad, STEP, &lawful()]), [(INVALID_ZONE, 3)]);
    for zone in ["Utc", "Europe/", "/Berlin", "1/2", "Europe//Berlin", "Eu rope/Berlin"] {
        assert!(!is_zone(zone.as_bytes()), "{zone}");
    }
    for zone in ["UTC", "Etc/GMT+1", "America/Argentina/Buenos_Aires"] {
        assert!(is_zone(zone.as_bytes()), "{zone}");
    }
}

#[test]
fn the_first_step_counts_from_a_message_and_others_do_not() {
    case(
        "model-visible message",
        "step context",
        WRONG_BASELINE,
        r#"time-context step 1 uses the wrong elapsed-time baseline "step context""#,
    );
    let second = lawful().replace("step 1:", "step 2:");
    let step = r#"step/start {"turn":1,"step":2}"#;
    assert_eq!(broken(&[TURN, step, &second]), [(WRONG_BASELINE, 2)]);
}

#[test]
fn a_reading_is_not_later_than_its_event() {
    let message = "time-context rendered timestamp must parse and not postdate its durable event";
    case("1704067200000", "1704067199999", LATE_READING, message);
    case("T01:00:00", "T25:00:00", LATE_READING, message);
}
