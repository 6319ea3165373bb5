//! Replay keeps within its bound of memory, whatever the number of threads, and a leak is seen.

#![cfg(target_os = "linux")]

use gatelog_benches::trial::replayed::{Ground, Leak, Source};
use std::path::PathBuf;

fn ground(name: &str, sessions: u64, large: u64) -> Ground {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    Ground { dir, sessions, large, session_bytes: 64 << 10, large_bytes: 16 << 20 }
}

/// Replays in so many threads, and returns how many bytes that took beyond the bound.
fn beyond(ground: &Ground, source: Source, threads: usize, leak: Leak, bound: u64) -> i64 {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_replay-memory"));
    let cost = ground.spawn(&program, source, threads, leak);
    let cost = cost.unwrap_or_else(|what| panic!("{what}"));
    println!("{source:?}, {threads} threads, leak {leak:?}: {cost:?} of {bound}");
    assert_eq!(cost.sessions, ground.sessions);
    cost.peak_bytes.cast_signed() - bound.cast_signed()
}

#[test]
fn a_thousand_sessions_with_a_large_frame_are_replayed_within_the_bound() {
    let ground = ground("replay-memory", 1_000, 1);
    let held = ground.make().expect("room on the disk");
    assert!(held.frame_bytes >= 16 << 20 && held.events > 100_000, "{held:?}");
    for source in [Source::Store, Source::Files] {
        for threads in [1, 2, 8] {
            let over = beyond(&ground, source, threads, Leak::No, held.bound(threads));
            assert!(over <= 0, "{source:?}, {threads} threads: {over} bytes too many");
        }
        let over = beyond(&ground, source, 2, Leak::Events, held.bound(2));
        assert!(over > 0, "{source:?}: a leak of every event goes unnoticed");
    }
    std::fs::remove_dir_all(&ground.dir).expect("our own directory");
}

#[test]
fn a_large_frame_in_each_of_eight_threads_is_in_memory_once() {
    let ground = ground("replay-memory-large", 64, 8);
    let held = ground.make().expect("room on the disk");
    let over = beyond(&ground, Source::Store, 8, Leak::No, held.bound(8));
    assert!(over <= 0, "{over} bytes too many");
    std::fs::remove_dir_all(&ground.dir).expect("our own directory");
}
