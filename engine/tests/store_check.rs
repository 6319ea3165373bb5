//! The verifier of stores beside threads that write one.

use gatelog_engine::backend::{Backend as _, Batch, Durability, Error, RecordedRules, Row, Stored};
use gatelog_engine::check::{SessionSink, Settings, Sinks, StoreCheck, check};
use gatelog_engine::event::Place;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::storage::Disk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts the events of a session, which come in order.
#[derive(Default)]
struct Counted(u64);

impl SessionSink for Counted {
    fn event(&mut self, stored: &Stored<'_>, _: Place, _: Option<&RecordedRules>) {
        assert_eq!(stored.seq, self.0);
        self.0 += 1;
    }

    fn malformed(&mut self, what: &str, place: Place) {
        panic!("{what} at {place:?}");
    }

    fn end(&mut self, _: u64, _: bool) {}

    fn state_bytes(&self) -> usize {
        0
    }
}

struct Count;

impl Sinks for Count {
    type Sink = Counted;

    fn session(&self, _: &str, _: &SessionHeader) -> Counted {
        Counted::default()
    }
}

fn verify(dir: &Path) -> Result<StoreCheck<Counted>, Error> {
    check(&Disk, dir, &Count, Settings::default(), &|_| {})
}

fn batch(seq: u64) -> Batch {
    let row = Row { time_ms: 1_000 + seq, draft: Draft::new("a/b", "1") };
    Batch { first_seq: seq, key: None, rows: vec![row] }
}

fn create(log: &Log, id: &str) {
    let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
    log.create(id, &header, batch(0), Durability::Synced).expect("it is created");
}

fn append(log: &Log, id: &str, seq: u64) {
    log.append(id, batch(seq), Durability::Synced).expect("it is appended");
}

fn rules(check: &StoreCheck<Counted>) -> Vec<&'static str> {
    check.findings.iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_verify_loop_beside_four_threads_that_append_finds_nothing() {
    let dir = std::env::temp_dir().join(format!("gatelog-check-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&dir));
    std::fs::create_dir_all(&dir).expect("it is made");
    let config = LogConfig { segment_bytes: 16 << 10, ..LogConfig::default() };
    let log =
        Log::open(Arc::new(Disk), &dir, Arc::new(ThisMachine), config).expect("the store opens");
    let is_done = AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|number| {
                let (log, id) = (&log, format!("s{number}"));
                scope.spawn(move || {
                    create(log, &id);
                    for seq in 1..60 {
                        append(log, &id, seq);
                    }
                })
            })
            .collect();
        let looker = scope.spawn(|| {
            let mut looks = 0;
            while !is_done.load(Ordering::Relaxed) {
                let check = verify(&dir).expect("it can be read");
                let said = rules(&check);
                assert!(said.iter().all(|rule| *rule == "log/live-writer"), "{:?}", check.findings);
                for session in &check.sessions {
                    assert_eq!(session.findings, []);
                    assert_eq!(session.sink.0, session.events);
                }
                looks += 1;
            }
            looks
        });
        for writer in writers {
            writer.join().expect("it wrote");
        }
        is_done.store(true, Ordering::Relaxed);
        looker.join().expect("it found nothing")
    });
    log.close().expect("it closes");
    let check = verify(&dir).expect("it can be read");
    assert_eq!((rules(&check), check.sessions.len()), (vec![], 4));
    assert!(check.sessions.iter().all(|session| session.events == 60));
    assert!(looks > 0 && check.segments > 2);
    std::fs::remove_dir_all(&dir).expect("it goes");
}
