use super::super::testing::{faults, messages};
use super::*;

const AFTER: &str = r#"{"id":"a","kind":"after","prompt":"p","afterSeconds":1,
        "scheduledAt":"2024-01-01T00:00:00.000Z"}"#;
const AT: &str = r#"{"id":"a","kind":"at","prompt":"p","scheduledAt":"2024-01-01T00:00:00.000Z"}"#;
const EVERY: &str = r#"{"id":"a","kind":"every","prompt":"p","everySeconds":300,
        "scheduledAt":"2024-01-01T00:00:00.000Z"}"#;

fn create(record: &str) -> String {
    format!(r#"schedule/change {{"version":1,"operation":"create","schedule":{record}}}"#)
}

fn delete(id: &str) -> String {
    format!(r#"schedule/change {{"version":1,"operation":"delete","id":"{id}"}}"#)
}

fn dispatch(id: &str, accepted: Option<&str>) -> String {
    let accepted = accepted.map(|at| format!(r#","acceptedAt":"{at}""#)).unwrap_or_default();
    format!(r#"schedule/change {{"version":1,"operation":"dispatch","id":"{id}"{accepted}}}"#)
}

fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    faults(&mut Schedule::new(None), &lines)
}

fn said(line: &str) -> Vec<String> {
    messages(&mut Schedule::new(None), &[line])
}

#[test]
fn schedules_of_every_kind_come_fire_and_go() {
    let other = |record: &str, id: &str| create(&record.replace(r#""id":"a""#, id));
    let lines = [
        create(AFTER),
        other(AT, r#""id":"b""#),
        other(EVERY, r#""id":"c""#),
        dispatch("a", None),
        delete("b"),
        dispatch("c", Some("2024-01-01T00:00:00.000Z")),
        dispatch("c", Some("2024-01-01T00:05:00.000Z")),
        delete("c"),
    ];
    assert_eq!(broken(&lines), []);
}

#[test]
fn a_payload_has_exactly_its_members() {
    let cases = [
        ("null", "schedule/change payload must be an object"),
        ("{}", "schedule/change version must be 1"),
        (r#"{"version":1}"#, "schedule/change operation must be create, delete, or dispatch"),
        (
            r#"{"version":1,"operation":"create","schedule":{},"x":1}"#,
            "schedule create must contain exactly version, operation, and schedule",
        ),
        (
            r#"{"version":1,"operation":"delete"}"#,
            "schedule delete must contain exactly version, operation, and id",
        ),
        (
            r#"{"version":1,"operation":"dispatch","id":"a","x":1}"#,
            "schedule dispatch must contain id and optional acceptedAt only",
        ),
    ];
    for (data, message) in cases {
        let line = format!("schedule/change {data}");
        assert_eq!(broken(std::slice::from_ref(&line)), [(INVALID_PAYLOAD, 0)], "{data}");
        assert_eq!(said(&line), [message]);
    }
}

#[test]
fn a_record_is_judged_in_the_order_of_its_construction() {
    let cases = [
        ("[]", "schedule record must be an object"),
        (r#"{"kind":"daily"}"#, r#"v1 schedule kind must be "after", "at", or "every""#),
        (
            r#"{"kind":"after"}"#,
            "after schedule must contain exactly id, kind, prompt, afterSeconds, and scheduledAt",
        ),
        (r#"{"kind":"at"}"#, "at schedule must contain exactly id, kind, prompt, and scheduledAt"),
        (
            r#"{"kind":"every"}"#,
            "every schedule must contain exactly id, kind, prompt, everySeconds, and scheduledAt",
        ),
    ];
    for (record, message) in cases {
        assert_eq!(broken(&[create(record)]), [(INVALID_RECORD, 0)], "{record}");
        assert_eq!(said(&create(record)), [message]);
    }
    let changed = [
        (AT, r#""p""#, r#"" p""#, "at prompt must be non-empty and already trimmed"),
        (AFTER, ":1,", ":0,", "afterSeconds must be a positive safe integer"),
        (EVERY, "300", "299", "everySeconds must be a safe integer of at least 300"),
        (EVERY, "300", "9007199254740991", "everySeconds must be a safe integer of at least 300"),
    ];
    for (record, from, to, message) in changed {
        let line = create(&record.replace(from, to));
        assert_eq!(broken(std::slice::from_ref(&line)), [(INVALID_RECORD, 0)], "{line}");
        assert_eq!(said(&line), [message]);
    }
}

#[test]
fn ids_and_instants_are_canonical() {
    assert_eq!(broken(&[delete(" a")]), [(INVALID_ID, 0)]);
    assert_eq!(broken(&[create(&AT.replace(r#""id":"a""#, r#""id":"""#))]), [(INVALID_ID, 0)]);
    let at = |instant: &str| create(&AT.replace("2024-01-01T00:00:00.000Z", instant));
    let line = at("2024-01-01T00:00:00Z");
    assert_eq!(broken(std::slice::from_ref(&line)), [(INVALID_INSTANT, 0)]);
    assert_eq!(
        said(&line),
        ["scheduledAt must be a canonical four-digit-year RFC 3339 UTC instant"]
    );
    assert_eq!(
        said(&at("2023-02-29T00:00:00.000Z")),
        ["scheduledAt is not a real UTC calendar instant"]
    );
    assert_eq!(broken(&[dispatch("a", Some("now"))]), [(INVALID_INSTANT, 0)]);
}

#[test]
fn an_id_is_used_once() {
    let lines = [create(AT), delete("a"), create(EVERY), delete("a")];
    assert_eq!(broken(&lines), [(REUSED_ID, 2)]);
    let two = [create(AT), create(AT)];
    let lines: Vec<&str> = two.iter().map(String::as_str).collect();
    assert_eq!(messages(&mut Schedule::new(None), &lines), [r#"schedule id "a" was reused"#]);
}

#[test]
fn only_active_schedules_are_deleted_or_dispatched() {
    assert_eq!(broken(&[delete("a")]), [(INACTIVE_TARGET, 0)]);
    assert_eq!(said(&delete("a")), [r#"schedule delete targets inactive id "a""#]);
    assert_eq!(said(&dispatch("a", None)), [r#"schedule dispatch targets inactive id "a""#]);
    let twice = [create(AFTER), dispatch("a", None), dispatch("a", None)];
    assert_eq!(broken(&twice), [(INACTIVE_TARGET, 2)]);
}

#[test]
fn a_dispatch_says_when_it_was_accepted_if_its_schedule_repeats() {
    let once = [create(AT), dispatch("a", Some("2024-01-01T00:00:00.000Z")), dispatch("a", None)];
    assert_eq!(broken(&once), [(ACCEPTED_AT, 1), (INACTIVE_TARGET, 2)]);
    let every = [create(EVERY), dispatch("a", None), delete("a")];
    assert_eq!(broken(&every), [(ACCEPTED_AT, 1)]);
}

#[test]
fn a_repeated_schedule_moves_behind_the_moment_of_acceptance() {
    let case = |accepted: &str, next: &str| {
        broken(&[create(EVERY), dispatch("a", Some(accepted)), dispatch("a", Some(next))])
    };
    assert_eq!(case("2024-01-01T00:00:00.000Z", "2024-01-01T00:05:00.000Z"), []);
    assert_eq!(case("2024-01-01T00:00:00.000Z", "2024-01-01T00:04:59.999Z"), [(EARLY_DISPATCH, 2)]);
    assert_eq!(case("2024-01-01T00:14:59.999Z", "2024-01-01T00:15:00.000Z"), []);
    assert_eq!(case("2024-01-01T00:14:59.999Z", "2024-01-01T00:14:59.999Z"), [(EARLY_DISPATCH, 2)]);
    // The occurrence after the last one would be in the year 10000.
    assert_eq!(
        case("9999-12-31T23:59:59.000Z", "9999-12-31T23:59:59.000Z"),
        [(INACTIVE_TARGET, 2)]
    );
}

#[test]
fn a_faulty_record_is_one_finding() {
    let lines = [
        create(&AFTER.replace(":1,", ":0,")),
        dispatch("a", None),
        "schedule/change {\"version\":2,\"operation\":\"delete\",\"id\":\"a\"}".to_owned(),
        delete("a"),
        delete("a"),
    ];
    assert_eq!(broken(&lines), [(INVALID_RECORD, 0), (INVALID_PAYLOAD, 2), (INACTIVE_TARGET, 4)]);
}

#[test]
fn the_parents_events_do_not_count() {
    let lines = [delete("a"), create(AT), delete("a")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(faults(&mut Schedule::new(Some(1)), &lines), []);
    assert_eq!(faults(&mut Schedule::new(Some(3)), &lines), []);
    // Loading seals the log with a fourth event.
    assert_eq!(faults(&mut Schedule::new(Some(4)), &lines), []);
    assert_eq!(faults(&mut Schedule::new(Some(5)), &lines), [(SEED_LENGTH, 3)]);
    let sealed = ["session/end-seed {}"];
    assert_eq!(faults(&mut Schedule::new(Some(1)), &sealed), []);
    assert_eq!(faults(&mut Schedule::new(Some(2)), &sealed), [(SEED_LENGTH, 1)]);
    // An id that the parent used is free.
    let lines = [create(AT), create(AT), delete("a")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(faults(&mut Schedule::new(Some(1)), &lines), []);
}
