//! Other writers: found before we write, whatever they did.

use gatelog_engine::backend::{AppendError, Backend, Durability, ErrorKind, OneWriter, Refusal};
use gatelog_engine::session_files::Encoding;
use gatelog_engine::storage::{Sim, Volume};

use crate::common::{
    append, append_bytes, batch, create, folder, log, notes, open, refusal, title,
};

/// A row that continues a session of one event.
const FOREIGN: &[u8] =
    b"{\"type\":\"plan/mode\",\"seq\":1,\"time\":9,\"data\":{\"active\":true,\"note\":\"f\"}}\n";

fn started(sim: &Sim) -> gatelog_engine::session_files::SessionFiles {
    let store = open(sim, Encoding::Plain);
    create(&store, "a", vec![title("0")]);
    store
}

#[test]
fn each_foreign_write_is_found_before_ours() {
    type Act = fn(&Sim);
    let path = || log("a", Encoding::Plain);
    let acts: [(&str, Act); 5] = [
        ("appended", |sim| append_bytes(&sim.disk(), &log("a", Encoding::Plain), FOREIGN)),
        ("cut", |sim| {
            sim.edit(log("a", Encoding::Plain), |bytes| bytes.truncate(bytes.len() - 5))
                .expect("it is there");
        }),
        ("changed in place", |sim| {
            let file = sim.disk();
            let existing = gatelog_engine::storage::Create::Existing;
            let file = file.open_write(&log("a", Encoding::Plain), existing).expect("there");
            file.write_at(0, b"{").expect("there is room");
        }),
        ("replaced", |sim| {
            let (disk, path) = (sim.disk(), log("a", Encoding::Plain));
            let bytes = sim.image(&path).expect("it is there");
            let new = folder("a").join("new");
            let file = disk.open_write(&new, gatelog_engine::storage::Create::New).expect("new");
            file.write_at(0, &bytes).expect("there is room");
            disk.rename(&new, &path).expect("it is there");
        }),
        ("removed", |sim| sim.disk().remove(&log("a", Encoding::Plain)).expect("it is there")),
    ];
    for (what, act) in acts {
        let sim = Sim::new(1);
        let store = started(&sim);
        act(&sim);
        let before = sim.digest();
        match refusal(append(&store, "a", 1, &["x"])) {
            Refusal::ForeignWrite { path: at } => assert_eq!(at, path(), "{what}"),
            other => panic!("{what}: {other:?}"),
        }
        assert_eq!(sim.digest(), before, "{what}: nothing was written");
    }
}

#[test]
fn a_write_before_our_first_is_found_too() {
    let sim = Sim::new(1);
    drop(started(&sim));
    let store = open(&sim, Encoding::Plain);
    assert_eq!(notes(&store, "a"), ["0"]);
    append_bytes(&sim.disk(), &log("a", Encoding::Plain), FOREIGN);
    let refused = refusal(append(&store, "a", 1, &["x"]));
    assert!(matches!(refused, Refusal::ForeignWrite { .. }), "{refused:?}");
    // Whoever looks again sees what the other wrote, and may go on behind it.
    assert_eq!(store.find("a").expect("readable").expect("there").next_seq, 2);
    append(&store, "a", 2, &["x"]).expect("we have seen it");
    assert_eq!(notes(&store, "a"), ["0", "f", "x"]);
}

#[test]
fn a_newer_generation_ends_our_writing() {
    let sim = Sim::new(1);
    let store = started(&sim);
    let newer = folder("a").join("session.v2.jsonl.zstd");
    sim.put(&newer, b"whatever").expect("there is room");
    for _ in 0..2 {
        match refusal(append(&store, "a", 1, &["x"])) {
            Refusal::GenerationMoved { path } => assert_eq!(path, newer),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(notes(&store, "a"), ["0"]);
}

#[test]
fn a_session_of_a_newer_format_is_neither_read_nor_made_anew() {
    let sim = Sim::new(1);
    let store = started(&sim);
    sim.put(folder("b").join("session.v4.jsonl.zstd"), b"whatever").expect("there is room");
    let error = store.find("b").expect_err("it is of another format");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    let made = store.create("b", &crate::common::header("b"), batch(0, vec![]), Durability::Synced);
    assert!(matches!(refusal(made), Refusal::GenerationMoved { .. }));
}

#[test]
fn what_was_buffered_when_another_wrote_is_rewound_and_told_once() {
    let sim = Sim::new(1);
    let store = started(&sim);
    store.append("a", batch(1, vec![title("b")]), Durability::Buffered).expect("accepted");
    assert_eq!(notes(&store, "a"), ["0", "b"]);
    append_bytes(&sim.disk(), &log("a", Encoding::Plain), FOREIGN);
    let ended = append(&store, "a", 2, &["x"]);
    assert!(matches!(ended, Err(AppendError::Rewound { next_seq: 1 })), "{ended:?}");
    assert_eq!(store.take_rewound("a"), Some(1));
    assert_eq!(store.take_rewound("a"), None);
    assert!(matches!(refusal(append(&store, "a", 1, &["x"])), Refusal::ForeignWrite { .. }));
}

#[test]
fn a_second_store_is_kept_out_by_the_lock() {
    let sim = Sim::new(1);
    let first = started(&sim);
    assert_eq!(first.parts().one_writer, OneWriter::Detected);
    let second = open(&sim, Encoding::Plain);
    let locked = |ended| match ended {
        Err(AppendError::NotWritten(error)) => error.kind == ErrorKind::Locked,
        other => panic!("{other:?}"),
    };
    assert!(locked(append(&second, "a", 1, &["x"])));
    assert_eq!(notes(&second, "a"), ["0"]);
    first.close().expect("nothing waits");
    append(&second, "a", 1, &["x"]).expect("the lock is free");
    assert_eq!(notes(&second, "a"), ["0", "x"]);
}

#[test]
fn a_lock_file_that_was_made_anew_is_noticed() {
    let sim = Sim::new(1);
    let first = started(&sim);
    sim.disk().remove(&folder("a").join("session.lock")).expect("it is there");
    let second = open(&sim, Encoding::Plain);
    // Nothing can help against that but the look before each append.
    append(&second, "a", 1, &["x"]).expect("the name was free");
    assert!(matches!(refusal(append(&first, "a", 1, &["y"])), Refusal::ForeignWrite { .. }));
}

#[test]
fn another_append_in_the_middle_of_ours_poisons() {
    use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
    for fails in [false, true] {
        let sim = Sim::new(1);
        let store = started(&sim);
        // Ours is written. Before it is synced, or can be cut off, somebody writes behind it.
        sim.hold_syncs();
        if fails {
            sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Eio)));
        }
        std::thread::scope(|scope| {
            let appending = scope.spawn(|| append(&store, "a", 1, &["x"]));
            assert!(sim.wait_for_held_syncs(1, std::time::Duration::from_secs(60)));
            append_bytes(&sim.disk(), &log("a", Encoding::Plain), b"{\"other\":1}\n");
            sim.release_syncs();
            let ended = appending.join().expect("no panic");
            assert!(matches!(ended, Err(AppendError::Unknown(_))), "{ended:?}");
        });
        assert_eq!(sim.faults_left(), 0);
        assert!(store.poisoned().is_some());
        assert!(matches!(refusal(append(&store, "a", 1, &["x"])), Refusal::Poisoned));
        let bytes = sim.image(log("a", Encoding::Plain)).expect("it is there");
        assert!(bytes.ends_with(b"{\"other\":1}\n"), "what another wrote is not cut off");
    }
}
