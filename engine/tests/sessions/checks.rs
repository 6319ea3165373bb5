//! What is asked of a draft before the rules: catalogue, JSON, sizes; and its time.

use crate::toy::{SYNCED, World, draft, facts, header, note, numbers, refusal};
use gatelog_engine::backend::{Limited, Refusal};
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::store::{ID_BYTES_MAX, RECORDS_MAX};
use std::sync::atomic::Ordering;

fn malformed(refusal: Refusal) -> String {
    match refusal {
        Refusal::Malformed { what } => what,
        other => panic!("it was refused as {other:?}"),
    }
}

#[test]
fn an_unregistered_type_is_refused_unless_it_is_ignorable() {
    let world = World::new();
    let session = world.session("s");
    let mut foreign = draft("acme/note");
    let refused = refusal(session.append([note(1), foreign.clone()], SYNCED));
    assert!(matches!(refused, Refusal::Unregistered { kind } if kind == "acme/note"));
    foreign.ignorable = true;
    session.append([foreign], SYNCED).expect("a reader may skip it");
}

#[test]
fn a_draft_stands_where_its_type_stands() {
    let world = World::new();
    let session = world.session("s");
    let said = malformed(refusal(session.append([draft("say")], SYNCED)));
    assert_eq!(said, "say stands on the surface, and has no surfaceOp here");
    let said = malformed(refusal(session.append([draft("open").appended()], SYNCED)));
    assert_eq!(said, "open stands in the log only, and has a surfaceOp here");
    let lawful = [draft("say").appended(), draft("open"), note(1), note(2).appended()];
    session.append(lawful, SYNCED).expect("each stands in its place");
}

#[test]
fn every_text_of_a_draft_is_json() {
    let world = World::new();
    let session = world.session("s");
    let said = malformed(refusal(session.append([note(1), Draft::new("note", "{]")], SYNCED)));
    assert!(said.starts_with("draft 1 (note): its payload is no JSON"), "{said}");
    let mut bad = note(1);
    bad.sources = Some(b"[1,]".to_vec());
    let said = malformed(refusal(session.append([bad], SYNCED)));
    assert!(said.contains("sourceEventSeqs"), "{said}");
    let mut bad = draft("say");
    bad.surface = Some(b"append".to_vec());
    let said = malformed(refusal(session.append([bad], SYNCED)));
    assert!(said.contains("surfaceOp"), "{said}");
    session.append([note(2).citing(&[0])], SYNCED).expect("that is an array");
}

#[test]
fn a_payload_check_speaks_and_may_panic() {
    let world = World::new();
    let session = world.session("s");
    let said = malformed(refusal(session.append([Draft::new("note", r#"{"lie":1}"#)], SYNCED)));
    assert_eq!(said, "note: it lies");
    let refused = refusal(session.append([Draft::new("note", r#"{"panic":1}"#)], SYNCED));
    assert!(matches!(refused, Refusal::Internal { what } if what.contains("a check panics")));
    session.append([note(1)], SYNCED).expect("the gate is usable");
}

#[test]
fn a_rule_refuses_the_whole_batch_and_leaves_no_trace() {
    let world = World::new();
    let session = world.session("s");
    let refused = refusal(session.append([draft("open"), note(1), draft("open")], SYNCED));
    assert!(matches!(refused, Refusal::Violation(violation) if violation.rule == "toy/open"));
    assert_eq!(world.vault.writes(), 1, "nothing reached the backend but the creation");
    let commit = session.append([draft("open"), draft("close")], SYNCED).expect("it is lawful");
    assert_eq!(commit.first_seq, 0, "no seq was used");
    assert!(!facts(&session).is_open);
}

#[test]
fn a_batch_has_at_least_one_event_and_at_most_65536() {
    let world = World::new();
    let session = world.session("s");
    assert!(matches!(refusal(session.append([], SYNCED)), Refusal::Empty));
    let many = |count: usize| (0..count as u64).map(note);
    let refused = refusal(session.append(many(RECORDS_MAX + 1), SYNCED));
    let (bytes, limit) = (65_537, 65_536);
    let what = Limited::Records;
    assert!(matches!(refused, Refusal::TooLarge { what: w, bytes: b, limit: l }
        if (w, b, l) == (what, bytes, limit)));
    for count in [1, RECORDS_MAX - 1, RECORDS_MAX] {
        session.append(many(count), SYNCED).expect("it is within the limit");
    }
    assert_eq!(numbers(&session).len(), 2 * RECORDS_MAX);
}

#[test]
fn a_batch_is_planned_in_steps_that_grow_with_it() {
    let world = World::new();
    let session = world.session("s");
    for count in [32_768_u64, 65_536] {
        let (admits, adopts) = (world.levers.admits.calls(), world.levers.adopts.calls());
        let forks = world.levers.forks.calls();
        session.append((0..count).map(note), SYNCED).expect("it is lawful");
        assert_eq!(world.levers.admits.calls() - admits, count);
        assert_eq!(world.levers.adopts.calls() - adopts, count);
        assert!(world.levers.forks.calls() - forks <= 1);
    }
}

#[test]
fn a_batch_of_too_many_bytes_is_refused_before_any_rule() {
    let world = World::new();
    let session = world.session("s");
    let large = |bytes: usize| Draft::new("note", format!("\"{}\"", "x".repeat(bytes)));
    let before = world.levers.admits.calls();
    let refused = refusal(session.append([large(8 << 20), large(8 << 20)], SYNCED));
    assert!(matches!(refused, Refusal::TooLarge { what: Limited::FrameBytes, .. }));
    assert_eq!(world.levers.admits.calls(), before);
    // Two quotes and the type are six bytes.
    session.append([large((16 << 20) - 6)], SYNCED).expect("it is at the limit");
    refusal(session.append([large((16 << 20) - 5)], SYNCED));
}

#[test]
fn an_id_has_one_byte_to_1024() {
    let world = World::new();
    malformed(refusal(world.store.session("")));
    let long = "é".repeat(ID_BYTES_MAX / 2);
    world.session(&long);
    let refused = refusal(world.store.create(&format!("{long}x"), &header(), |_| Ok(())));
    assert!(matches!(refused, Refusal::TooLarge { what: Limited::IdBytes, bytes: 1025, .. }));
}

#[test]
fn a_header_is_an_object_that_the_rules_know() {
    let world = World::new();
    for json in ["[]", "{", ""] {
        let header = SessionHeader { dialect: 0, json: json.into() };
        malformed(refusal(world.store.create("s", &header, |_| Ok(()))));
    }
    let header = SessionHeader { dialect: 9, json: b"{}".to_vec() };
    let refused = refusal(world.store.create("s", &header, |_| Ok(())));
    assert!(matches!(refused, Refusal::Violation(violation) if violation.rule == "toy/dialect"));
    assert!(!world.vault.has("s"));
}

#[test]
fn a_clock_that_steps_back_an_hour_stands_still() {
    let world = World::new();
    let session = world.session("s");
    world.levers.now_ms.store(7_200_000, Ordering::SeqCst);
    session.append([note(1)], SYNCED).expect("it is lawful");
    world.levers.now_ms.fetch_sub(3_600_000, Ordering::SeqCst);
    session.append([note(2), note(3)], SYNCED).expect("it is lawful");
    world.levers.now_ms.store(7_200_007, Ordering::SeqCst);
    session.append([note(4)], SYNCED).expect("it is lawful");
    assert_eq!(world.vault.times("s"), [7_200_000, 7_200_000, 7_200_000, 7_200_007]);
    // A new writer knows the last event's time from the log.
    let later = World::of(world.vault.next_epoch());
    later.levers.now_ms.store(5, Ordering::SeqCst);
    let session = later.store.session("s").expect("it is there");
    session.append([note(5)], SYNCED).expect("it is lawful");
    assert_eq!(later.vault.times("s").last(), Some(&7_200_007));
}

#[test]
fn a_draft_with_a_time_keeps_it_and_the_next_comes_no_earlier() {
    let world = World::new();
    let session = world.session("s");
    let at = |n, time_ms| Draft { time_ms: Some(time_ms), ..note(n) };
    session.append([at(1, 5), note(2), at(3, 2_000_000), note(4)], SYNCED).expect("lawful");
    assert_eq!(world.vault.times("s"), [5, 1_000_000, 2_000_000, 2_000_000]);
    malformed(refusal(session.append([at(5, 1 << 53)], SYNCED)));
    session.append([at(5, (1 << 53) - 1)], SYNCED).expect("that is a safe integer");
}
