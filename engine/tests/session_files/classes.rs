//! What an acknowledgement means: buffered, written, synced; raising, closing, submitting.

use std::ops::ControlFlow;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use gatelog_engine::backend::{
    AfterFailedWrite, Backend, Commit, Durability, Keys, RecordedRules, Refusal,
};
use gatelog_engine::session_files::{Encoding, FilesConfig};
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};

use crate::common::{
    append, batch, config, create, events, log, notes, open, refusal, title, try_open,
};

/// A store whose buffered events wait for as long as they may.
fn patient(sim: &Sim) -> gatelog_engine::session_files::SessionFiles {
    let config = FilesConfig { buffer_ms_max: 1000, ..config(Encoding::Plain) };
    let store = try_open(sim, config).expect("the root can be opened");
    create(&store, "a", vec![title("0")]);
    store
}

#[test]
fn the_parts_are_those_of_format_0() {
    let parts = patient(&Sim::new(1)).parts();
    assert!(!parts.order_across_sessions && !parts.records_rules && parts.generations);
    assert_eq!(parts.keys, Keys::WithExpectedSeq);
    assert_eq!(parts.after_failed_write, AfterFailedWrite::CutBack);
}

#[test]
fn buffered_events_are_read_at_once_and_written_with_the_next_batch() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    let before = sim.image(log("a", Encoding::Plain)).expect("it is there");
    let one = |seq, note| batch(seq, vec![title(note)]);
    let commit = store.append("a", one(1, "b"), Durability::Buffered).expect("accepted");
    let durability = Durability::Buffered;
    assert_eq!(commit, Commit { lsn: None, first_seq: 1, events: 1, durability });
    store.append("a", one(2, "c"), Durability::Buffered).expect("accepted");
    assert_eq!(sim.image(log("a", Encoding::Plain)).expect("it is there"), before);
    assert_eq!(notes(&store, "a"), ["0", "b", "c"]);
    let info = store.find("a").expect("readable").expect("it is there");
    assert_eq!((info.next_seq, info.unconfirmed, info.last_epoch), (3, 2, None));
    assert_eq!(events(&store, "a").iter().filter(|event| event.confirmed).count(), 1);
    append(&store, "a", 3, &["d"]).expect("nothing fails");
    assert_eq!(notes(&open(&sim, Encoding::Plain), "a"), ["0", "b", "c", "d"]);
    assert!(events(&store, "a").iter().all(|event| event.confirmed));
}

#[test]
fn a_failed_write_keeps_what_was_buffered() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    let buffered = batch(1, vec![title("b")]);
    store.append("a", buffered, Durability::Buffered).expect("accepted");
    sim.fail(Fault::new(Call::Write, Failure::Error(Cause::NoSpace)));
    append(&store, "a", 2, &["x"]).expect_err("there is no room");
    assert_eq!(notes(&store, "a"), ["0", "b"]);
    append(&store, "a", 2, &["y"]).expect("there is room");
    assert_eq!(notes(&open(&sim, Encoding::Plain), "a"), ["0", "b", "y"]);
}

#[test]
fn raising_writes_or_syncs_all_that_was_accepted() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    let one = |seq, note| batch(seq, vec![title(note)]);
    store.append("a", one(1, "b"), Durability::Buffered).expect("accepted");
    store.raise("a", Durability::Buffered).expect("nothing to do");
    store.raise("a", Durability::Written).expect("nothing fails");
    assert!(!sim.unsynced().is_empty());
    assert_eq!(notes(&open(&sim, Encoding::Plain), "a"), ["0", "b"]);
    store.raise("a", Durability::Synced).expect("nothing fails");
    let cut = sim.power_cut(|_| false);
    assert_eq!(notes(&open(&cut, Encoding::Plain), "a"), ["0", "b"]);
    store.raise("none", Durability::Synced).expect("there is nothing to raise");
}

#[test]
fn closing_writes_what_was_buffered_and_ends_the_writing() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    store.append("a", batch(1, vec![title("b")]), Durability::Buffered).expect("accepted");
    store.append("a", batch(2, vec![title("c")]), Durability::Buffered).expect("accepted");
    store.close().expect("nothing fails");
    let cut = sim.power_cut(|_| false);
    assert_eq!(notes(&open(&cut, Encoding::Plain), "a"), ["0", "b", "c"]);
    assert!(matches!(refusal(append(&store, "a", 3, &["x"])), Refusal::ReadOnly));
    let (tell, told) = channel();
    let done = Box::new(move |ended| tell.send(ended).expect("somebody listens"));
    store.submit("a", batch(3, vec![title("x")]), Durability::Synced, done);
    let ended = told.recv().expect("it is told all the same");
    assert!(matches!(refusal(ended), Refusal::ReadOnly));
    store.close().expect("it is closed already");
}

#[test]
fn what_is_buffered_is_synced_before_long() {
    let sim = Sim::new(1);
    let config = FilesConfig { buffer_ms_max: 1, ..config(Encoding::Plain) };
    let store = try_open(&sim, config).expect("the root can be opened");
    create(&store, "a", Vec::new());
    store.append("a", batch(0, vec![title("b")]), Durability::Buffered).expect("accepted");
    let patience = Instant::now() + Duration::from_secs(60);
    while store.find("a").expect("readable").expect("there").unconfirmed > 0 {
        assert!(Instant::now() < patience, "nobody syncs");
        std::thread::sleep(Duration::from_millis(1));
    }
    let cut = sim.power_cut(|_| false);
    assert_eq!(notes(&open(&cut, Encoding::Plain), "a"), ["b"]);
}

#[test]
fn submitted_batches_are_written_in_order_and_each_is_told_once() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    let (tell, told) = channel();
    for seq in 1..20 {
        let tell = tell.clone();
        let done = Box::new(move |ended: Result<Commit, _>| {
            tell.send(ended.map(|commit| commit.first_seq)).expect("somebody listens");
            assert_ne!(seq, 7, "whoever is told may panic");
        });
        store.submit("a", batch(seq, vec![title("s")]), Durability::Synced, done);
    }
    drop(tell);
    let told: Vec<u64> = told.iter().map(|ended| ended.expect("nothing fails")).collect();
    assert_eq!(told, (1..20).collect::<Vec<_>>());
    assert_eq!(events(&store, "a").len(), 20);
}

#[test]
fn reading_begins_and_stops_where_it_is_told() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    append(&store, "a", 1, &["1", "2", "3"]).expect("nothing fails");
    store.append("a", batch(4, vec![title("4"), title("5")]), Durability::Buffered).expect("ok");
    for from in 0..8 {
        let seqs: Vec<u64> = crate::common::read(&store, "a", from)
            .expect("readable")
            .into_iter()
            .map(|event| event.seq)
            .collect();
        assert_eq!(seqs, (from..6).collect::<Vec<_>>());
        for stop in from..6 {
            let mut last = None;
            let read = store.read("a", from, &mut |stored| {
                last = Some(stored.seq);
                // Whoever takes may ask for the session again.
                assert!(store.find("a").is_ok());
                if stored.seq == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            read.expect("readable");
            assert_eq!(last, Some(stop));
        }
    }
}

#[test]
fn rules_are_taken_and_not_recorded_and_the_epoch_is_one() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    let before = sim.digest();
    let rules = RecordedRules { profile: "host".to_owned(), version: 1, types: Vec::new() };
    store.record_rules(&rules).expect("nothing is done");
    assert_eq!((store.epoch(), sim.digest()), (1, before));
}

#[test]
fn reopening_forgets_what_waited_and_tells_of_it() {
    let sim = Sim::new(1);
    let store = patient(&sim);
    store.append("a", batch(1, vec![title("b")]), Durability::Buffered).expect("accepted");
    store.reopen().expect("the root can be listed");
    assert_eq!(store.take_rewound("a"), Some(1));
    assert_eq!(notes(&store, "a"), ["0"]);
    append(&store, "a", 1, &["x"]).expect("the lock is free");
}

#[test]
fn idle_logs_beyond_a_number_are_let_go_and_taken_up_again() {
    let sim = Sim::new(1);
    let config = FilesConfig { buffer_ms_max: 1000, ..config(Encoding::Plain) };
    let store = try_open(&sim, config).expect("the root can be opened");
    let id = |n: usize| format!("s{n}");
    create(&store, &id(0), Vec::new());
    store.append(&id(0), batch(0, vec![title("b")]), Durability::Buffered).expect("accepted");
    for n in 1..300 {
        create(&store, &id(n), Vec::new());
    }
    let other = open(&sim, Encoding::Plain);
    let is_held = |n: usize| append(&other, &id(n), 0, &["other"]).is_err();
    // The oldest has something that waits; the next ones have not; the last ones are not old.
    assert_eq!([0, 1, 40, 299].map(is_held), [true, false, false, true]);
    other.close().expect("nothing waits");
    append(&store, &id(0), 1, &["x"]).expect("it is ours");
    append(&store, &id(2), 0, &["x"]).expect("it is as we left it");
    let foreign = refusal(append(&store, &id(1), 0, &["x"]));
    assert!(matches!(foreign, Refusal::ForeignWrite { .. }), "{foreign:?}");
}

#[test]
fn idle_logs_that_were_found_are_let_go_as_well() {
    let sim = Sim::new(1);
    let id = |n: usize| format!("s{n}");
    let made = open(&sim, Encoding::Plain);
    for n in 0..300 {
        create(&made, &id(n), Vec::new());
    }
    made.close().expect("nothing waits");
    let store = open(&sim, Encoding::Plain);
    for n in 0..300 {
        append(&store, &id(n), 0, &["x"]).expect("it is free");
    }
    let other = open(&sim, Encoding::Plain);
    let is_held = |n: usize| append(&other, &id(n), 1, &["other"]).is_err();
    assert_eq!([0, 40, 299].map(is_held), [false, false, true]);
}

#[test]
fn buffered_batches_may_be_submitted() {
    let sim = Sim::new(1);
    let config = FilesConfig { buffer_ms_max: 1, ..config(Encoding::Plain) };
    let store = try_open(&sim, config).expect("the root can be opened");
    create(&store, "a", Vec::new());
    let (tell, told) = channel();
    let done = Box::new(move |ended: Result<Commit, _>| {
        tell.send(ended.map(|commit| commit.durability)).expect("somebody listens");
    });
    store.submit("a", batch(0, vec![title("b")]), Durability::Buffered, done);
    assert_eq!(told.recv().expect("told").expect("accepted"), Durability::Buffered);
    let patience = Instant::now() + Duration::from_secs(60);
    while store.find("a").expect("readable").expect("there").unconfirmed > 0 {
        assert!(Instant::now() < patience, "nobody syncs");
        std::thread::sleep(Duration::from_millis(1));
    }
}
