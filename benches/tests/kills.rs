//! Short forms of `cargo run --bin kill-store`: a process that writes a store is killed.

use gatelog_benches::trial::kills::Kills;
use gatelog_benches::trial::retries::Retries;
use gatelog_benches::trial::{child, failing, found, locks, workload};
use gatelog_engine::backend::{Durability, ErrorKind};
use gatelog_engine::log::LogConfig;
use gatelog_engine::storage::Sim;
use std::path::PathBuf;

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_kill-store"))
}

fn fresh(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

#[test]
fn what_was_acknowledged_outlives_the_process() {
    let kills = Kills { program: program(), dir: fresh("kills"), count: 20, seed: 5, lives: 10 };
    let seen = kills.run(&mut |_| ()).unwrap_or_else(|what| panic!("{what}"));
    println!("{seen:?}");
    assert_eq!(seen.kills, 20);
    assert!(seen.judged > 10 && seen.looks > 20 && seen.looks_closed == 2, "{seen:?}");
    let acked = seen.batches.acked;
    assert!(acked.iter().all(|count| *count > 0), "{acked:?}");
    assert!(seen.batches.never > 0 && seen.batches.closers > 0, "{:?}", seen.batches);
}

#[test]
fn a_repeated_append_is_there_once_and_has_its_first_receipt() {
    let retries = Retries { program: program(), dir: fresh("retries"), count: 60, seed: 5 };
    let seen = retries.run().unwrap_or_else(|what| panic!("{what}"));
    println!("{seen:?}");
    assert!(seen.in_flight > 0 && seen.dropped > 0 && seen.receipted > 0, "{seen:?}");
}

#[test]
fn a_store_that_was_closed_opens_again_whatever_children_are_being_spawned() {
    let children = locks::reopen(&fresh("locks"), 500).unwrap_or_else(|what| panic!("{what}"));
    assert!(children > 0);
}

#[test]
fn a_store_can_have_a_path_of_one_name() {
    let dir = fresh("relative");
    std::fs::create_dir_all(&dir).expect("a directory");
    let arguments = ["--child", "store", "1", "1", "5"];
    let mut command = std::process::Command::new(program());
    let output = command.args(arguments).current_dir(&dir).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.ends_with("closed\n"), "{said}");
}

#[test]
fn a_lock_file_that_somebody_removed_lets_no_second_writer_in() {
    let dir = fresh("removed-lock");
    std::fs::create_dir_all(&dir).expect("a directory");
    let store = child::open(&dir).expect("a new store");
    std::fs::remove_file(dir.join("LOCK")).expect("it is there");
    let second = child::open(&dir).expect_err("somebody writes it");
    assert_eq!(second.kind, ErrorKind::Locked, "{second}");
    store.close().expect("a clean end");
    drop(child::open(&dir).expect("nobody writes it"));
}

#[test]
fn a_written_commit_that_is_repeated_as_synced_makes_one_sync() {
    let sim = Sim::new(1);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let store = failing::open(&sim, 1, config).expect("a new store");
    let session = store
        .create("a", &workload::header("a"), |init| {
            for draft in found::drafts(1, 1, 20) {
                init.append(draft);
            }
            Ok(())
        })
        .expect("a session");
    let append = |class| {
        let drafts = found::drafts(2, 2, 40);
        session.append_expecting(1, [7; 16], drafts, class).expect("it is there")
    };
    let first = append(Durability::Written);
    for (class, syncs) in [
        (Durability::Buffered, 0),
        (Durability::Written, 0),
        (Durability::Synced, 1),
        (Durability::Synced, 0),
    ] {
        sim.reset_counts();
        let again = append(class);
        assert_eq!((again.lsn, again.first_seq, again.events), (first.lsn, 1, 2));
        assert_eq!(again.durability, class);
        assert_eq!(sim.counts("*").syncs, syncs, "{class:?}");
        assert_eq!(sim.counts("*.log").bytes_written, 0, "{class:?}");
    }
}

/// Bytes written to a simulated disk by a store of the default sizes.
fn written(sim: &Sim) -> u64 {
    sim.counts("*").bytes_written
}

#[test]
fn a_small_session_costs_two_mebibytes_and_ten_crashes_twelve() {
    let sim = Sim::new(1);
    let open = |sim: &Sim, seed| failing::open(sim, seed, LogConfig::default()).expect("it opens");
    let store = open(&sim, 1);
    let session = store
        .create("a", &workload::header("a"), |init| {
            for draft in found::drafts(1, 1, 20) {
                init.append(draft);
            }
            Ok(())
        })
        .expect("a session");
    session.append(found::drafts(2, 5, 1_024), Durability::Synced).expect("5 KB");
    store.close().expect("a clean end");
    let bytes = written(&sim);
    println!("create, append 5 KB, close: {bytes} bytes");
    assert!(bytes <= 2 << 20, "{bytes}");

    let sim = Sim::new(2);
    for crash in 0..10 {
        let store = open(&sim, crash);
        if crash == 0 {
            store
                .create("a", &workload::header("a"), |init| {
                    for draft in found::drafts(1, 1, 20) {
                        init.append(draft);
                    }
                    Ok(())
                })
                .expect("a session");
        }
        let session = store.session("a").expect("it is there");
        let number = 10 + crash;
        session.append(found::drafts(number, 5, 1_024), Durability::Synced).expect("5 KB");
        sim.kill();
    }
    drop(open(&sim, 11));
    let bytes = written(&sim);
    println!("ten crashes: {bytes} bytes");
    assert!(bytes <= 12 << 20, "{bytes}");
}
