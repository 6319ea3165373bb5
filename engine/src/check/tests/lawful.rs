//! Stores that nothing is wrong with.

use super::*;
use crate::storage::Disk;
use std::sync::atomic::AtomicBool;

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

#[test]
fn a_verify_loop_beside_four_threads_that_append_finds_nothing() {
    let dir = std::env::temp_dir().join(format!("gatelog-check-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&dir));
    std::fs::create_dir_all(&dir).expect("it is made");
    let log = open_on(Arc::new(Disk), &dir).expect("the store opens");
    let is_done = AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let (log, id) = (&log, format!("s{number}"));
                scope.spawn(move || {
                    create(log, &id);
                    for seq in 1..60 {
                        append(log, &id, seq, 1);
                    }
                })
            })
            .collect();
        let looker = scope.spawn(|| {
            let mut looks = 0;
            while !is_done.load(Ordering::Relaxed) {
                let check = verify(&Disk, &dir).expect("it can be read");
                let said = rules(&check);
                assert!(said.iter().all(|rule| *rule == "log/live-writer"), "{:?}", check.findings);
                for session in &check.sessions {
                    assert_eq!(session.findings, []);
                    assert_eq!(session.sink.events.len() as u64, session.events);
                }
                looks += 1;
            }
            looks
        });
        writers.into_iter().for_each(|writer| writer.join().expect("it wrote"));
        is_done.store(true, Ordering::Relaxed);
        looker.join().expect("it found nothing")
    });
    log.close().expect("it closes");
    let check = verify(&Disk, &dir).expect("it can be read");
    assert_eq!((rules(&check), check.sessions.len()), (vec![], 4));
    assert!(check.sessions.iter().all(|session| session.events == 60));
    assert!(looks > 0 && check.segments > 2);
    std::fs::remove_dir_all(&dir).expect("it goes");
}
