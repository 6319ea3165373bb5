//! What is done to a store, told from a tape, in one of two ways, by the tape's length: the first
//! takes ten times as long, and gets about half of the time.
//!
//! To the log: appends of every class, failures of the disk, deaths, reopens; then a slice of the
//! states that a crash may leave is opened and held against the ledger and the reference reader.
//! Or to sessions through their gates, with appends that expect a seq, are repeated or refused,
//! held after each step against a model of vectors. Whatever this finds goes to
//! `fuzz/regressions/store_ops`, named for its symptom; `benches/tests/taped.rs` and
//! `engine/tests/contract/drawn.rs` replay it, each in its own way.

#![no_main]
#![allow(dead_code, unused_imports, reason = "the contract suite uses the rest of it")]

#[path = "../../engine/tests/contract/bench.rs"]
mod bench;
#[path = "../../engine/tests/contract/content.rs"]
mod content;
#[path = "../../engine/tests/contract/ground.rs"]
mod ground;
#[path = "../../engine/tests/contract/property/mod.rs"]
mod property;
#[path = "../../engine/tests/contract/tap.rs"]
mod tap;
#[path = "../../engine/tests/contract/world.rs"]
mod world;

use gatelog_benches::trial::taped;
use libfuzzer_sys::fuzz_target;

/// Which lengths of 16 are for the log. Not that of round ones, of which a fuzzer makes most.
const LOG: usize = 7;

fuzz_target!(|tape: &[u8]| {
    if tape.len() % 16 == LOG {
        if let Err(what) = taped::check(tape) {
            panic!("{what}");
        }
    } else {
        property::check_tape(tape);
    }
});
