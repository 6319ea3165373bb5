//! Stores that nothing is wrong with.

use super::*;

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
