//! What nobody waits for is done while others append without a pause.

mod slow;

use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::storage::{Memory, Storage, Volume};
use slow::Slow;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const DIR: &str = "/store";

fn batch(first_seq: u64, bytes: usize) -> Batch {
    let draft = Draft::new("trial/event", format!("\"{}\"", "a".repeat(bytes)));
    Batch { first_seq, key: None, rows: vec![Row { time_ms: 1, draft }] }
}

/// Opens a new store with one session, which has one event.
fn store(volume: impl Volume + 'static, config: LogConfig) -> Log {
    let machine = Arc::new(ThisMachine);
    let log = Log::open(Arc::new(volume), Path::new(DIR), machine, config);
    let log = log.expect("a new store");
    let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
    log.create("a", &header, batch(0, 1), Durability::Synced).expect("a session");
    log
}

/// Submits one batch and waits until it is synced.
fn submit(log: &Log, seq: u64, bytes: usize) {
    let (told, tells) = mpsc::channel();
    let done = Box::new(move |ended| told.send(ended).expect("somebody waits"));
    log.submit("a", batch(seq, bytes), Durability::Synced, done);
    tells.recv().expect("it is told").expect("room in memory");
}

/// Every append rang the bell, every bell began the tick anew, and so no tick ever ended.
#[test]
fn a_stream_of_buffered_appends_is_synced_behind_its_interval() {
    let config = LogConfig { sync_interval_ms: 100, ..LogConfig::default() };
    let log = store(Memory::new(), config);
    let begun = Instant::now();
    for seq in 1.. {
        log.append("a", batch(seq, 10), Durability::Buffered).expect("room in memory");
        if log.progress().0 > 1 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", log.progress());
        // Closer together than ticks, and far too few for a full group in the time above.
        thread::sleep(Duration::from_millis(5).min(Duration::from_millis(200 * seq)));
        assert!(seq < 200, "nothing was synced in {:?}", begun.elapsed());
    }
}

/// Submitted appends are led by the very thread that makes spares: it does both.
#[test]
fn a_stream_of_submitted_appends_gets_its_spare_and_does_not_wait_for_it() {
    let memory = Memory::new();
    let log = store(memory.clone(), LogConfig::default());
    let spares = || {
        let entries = memory.list(Path::new(DIR)).expect("our own directory");
        entries.iter().filter(|entry| entry.name.to_string_lossy().starts_with("spare-")).count()
    };
    // The first segment has a mebibyte; no spare is made before it is full.
    let mut seq = 1;
    while seq < 16 {
        submit(&log, seq, 80_000);
        seq += 1;
    }
    let begun = Instant::now();
    while spares() == 0 {
        submit(&log, seq, 10);
        seq += 1;
        assert!(begun.elapsed() < Duration::from_secs(20), "no spare after {seq} appends");
    }
    // It is being made now: four steps, sixteen milliseconds apart.
    let before = seq;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(48) {
        submit(&log, seq, 10);
        seq += 1;
    }
    assert!(seq - before > 20, "{} appends in {:?}", seq - before, begun.elapsed());
}

/// Whoever leads for others led as long as there was work, and among such appends there always is:
/// no tick came, and nothing was synced behind the interval.
#[test]
fn a_stream_of_submitted_appends_that_never_pauses_is_synced_behind_its_interval() {
    let config = LogConfig { idle_watermark_ms: 20, sync_interval_ms: 60, ..LogConfig::default() };
    let log = store(Slow(Memory::new()), config);
    let (told, tells) = mpsc::channel();
    let submit = |seq| {
        let told = told.clone();
        let done = Box::new(move |ended: Result<_, _>| {
            // Nobody listens any more once something was synced.
            let _ = told.send(ended.is_ok());
        });
        log.submit("a", batch(seq, 10), Durability::Written, done);
    };
    (1..4).for_each(submit);
    // Half of the first segment: its rotation, which syncs, is far.
    for seq in 4..130 {
        assert!(tells.recv().expect("it is told"), "room in memory");
        submit(seq);
        if log.progress().0 > 1 {
            return;
        }
    }
    panic!("nothing was synced: {:?}", log.progress());
}
