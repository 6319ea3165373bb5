//! Stores that nothing is wrong with.

use super::forge::{Forge, key};
use super::*;
use crate::log::body;

#[test]
fn a_store_that_was_closed_has_no_finding_and_gives_every_event_in_order() {
    let check = checked(&closed());
    assert_eq!(check.findings, []);
    assert!(check.is_whole && !check.is_torn && !check.is_live);
    assert_eq!((check.last_lsn, check.unconfirmed), (check.durable_lsn, 0));
    assert!(check.segments > 2, "the store never rotated: {}", check.segments);
    let ids: Vec<_> = check.sessions.iter().map(|session| &*session.id).collect();
    assert_eq!(ids, ["one", "two"]);
    for (session, events) in check.sessions.iter().zip([14, 7]) {
        assert_eq!((session.events, session.dialect), (events, 0));
        assert_eq!(session.findings, []);
        let kept = &session.sink;
        let expected = (0..events).map(|seq| (seq, "a/b".into(), seq.to_string().into_bytes()));
        assert_eq!(kept.events, expected.collect::<Vec<_>>());
        assert_eq!((kept.profile.as_deref(), kept.malformed), (Some("strict"), 0));
    }
}

#[test]
fn a_store_that_was_killed_and_opened_again_has_no_finding() {
    let sim = crashed();
    assert_eq!(rules(&checked(&sim)), [] as [&str; 0]);
    let log = open(&sim);
    let check = checked(&sim);
    assert!(check.is_live, "the lock is held");
    assert_eq!(rules(&check), [] as [&str; 0]);
    log.close().expect("it closes");
    assert_eq!(rules(&checked(&sim)), [] as [&str; 0]);
}

#[test]
fn a_session_that_was_written_and_never_synced_is_unconfirmed() {
    let sim = Sim::new(1);
    let log = open(&sim);
    create(&log, "one");
    log.append("one", batch(1, 1), Durability::Written).expect("it is appended");
    let live = checked(&sim);
    assert_eq!((live.unconfirmed, rules(&live)), (1, vec![]));
    sim.kill();
    let check = checked(&sim);
    assert_eq!((check.unconfirmed, rules(&check)), (1, vec!["log/unconfirmed"]));
    assert_eq!(check.sessions[0].events, 2);
}

#[test]
fn there_is_no_store_where_there_is_none() {
    let sim = Sim::new(1);
    sim.put_dir(DIR).expect("it is made");
    let error = verify(&sim.disk(), Path::new(DIR)).expect_err("nothing is there");
    assert_eq!(error.kind, crate::backend::ErrorKind::NotAStore);
    assert!(!super::super::is_store(&sim.disk(), Path::new(DIR)));
    assert!(super::super::is_store(&closed().disk(), Path::new(DIR)));
    sim.put(FIRST, b"some log").expect("it is put");
    assert!(!super::super::is_store(&sim.disk(), Path::new(DIR)));
}

/// Counts how many sinks it made.
#[derive(Default)]
struct Counting(AtomicU64);

impl Sinks for Counting {
    type Sink = Kept;

    fn session(&self, _: &str, _: &SessionHeader) -> Kept {
        self.0.fetch_add(1, Ordering::Relaxed);
        Kept::default()
    }
}

#[test]
fn sessions_that_have_no_room_at_once_are_judged_all_the_same() {
    let mut forge = Forge::new(|header| header.segment_bytes = 256 << 10);
    forge.create("c").create("a").create("gone").create("b");
    let mut before = [1, 2, 4];
    for seq in 2..14 {
        for (id, lsn) in ["c", "a", "b"].into_iter().zip(&mut before) {
            let this = forge.stamp.lsn;
            forge.data(id, *lsn, seq);
            *lsn = this;
        }
    }
    forge.put(key("gone"), 3, body::encode_delete(key("gone"), 2)).create("last");
    let sim = Sim::new(3);
    sim.put(FIRST, &forge.into_bytes()).expect("it is put");
    let of = |states_bytes_max| {
        let sinks = Counting::default();
        let settings = Settings { states_bytes_max, ..Settings::default() };
        let read = AtomicU64::new(0);
        let progress = |bytes| {
            read.fetch_add(bytes, Ordering::Relaxed);
        };
        let check = check(&sim.disk(), Path::new(DIR), &sinks, settings, &progress);
        let check = check.expect("it can be read");
        let sessions: Vec<_> = check.sessions.into_iter().collect();
        (sessions, check.findings, read.into_inner(), sinks.0.into_inner())
    };
    let (all, findings, read, made) = of(usize::MAX);
    assert_eq!(made, 5);
    let ids: Vec<_> = all.iter().map(|session| (&*session.id, session.sink.ended)).collect();
    assert_eq!(ids, [("a", Some(14)), ("b", Some(14)), ("c", Some(14)), ("last", Some(2))]);
    // One at a time; two, of which one grows out of the room; and three.
    for (states_bytes_max, expected) in [(0, 4), (1_020, 5), (2_050, 5)] {
        let (some, said, read_of_some, made) = of(states_bytes_max);
        assert_eq!((said, read_of_some, made), (findings.clone(), read, expected));
        assert_eq!(some.len(), all.len());
        for (one, other) in some.iter().zip(&all) {
            let facts = |it: &SessionCheck<Kept>| (it.id.clone(), it.events, it.bytes, it.dropped);
            assert_eq!((facts(one), &one.findings), (facts(other), &other.findings));
            assert_eq!(one.sink, other.sink);
        }
    }
}
