//! A session log of any bytes, plain or compressed, of any format; or one told from a tape.
//!
//! Nothing panics; a report does not contradict itself; one thread and three give the same, and the
//! strict profile changes nothing of what the host does (looked at for every fourth length); and of
//! a log of format 0, plain or in frames that only store, the answer is that of the naive twin.
//! Whatever this finds goes to `fuzz/regressions/dsh_read`, named for its symptom;
//! `validator/tests/dsh_regressions.rs` replays it.

#![no_main]

#[path = "../../validator/tests/fuzzed/mod.rs"]
mod fuzzed;
#[path = "../../validator/tests/support/mod.rs"]
mod support;
#[path = "../../validator/tests/twin/mod.rs"]
mod twin;

use libfuzzer_sys::fuzz_target;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Returns a pool of one thread or of three, made once.
fn pool(threads: usize) -> &'static ThreadPool {
    static POOLS: [OnceLock<ThreadPool>; 2] = [const { OnceLock::new() }; 2];
    POOLS[usize::from(threads > 1)].get_or_init(|| {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        builder.build().expect("a system that starts threads")
    })
}

fuzz_target!(|input: &[u8]| {
    fuzzed::check(input, input.len() % 4 == 0, &|threads, run| pool(threads).install(run));
});
