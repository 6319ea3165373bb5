//! What is done to a store, told from a tape: appends of every class, failures of the disk, deaths,
//! reopens; then a slice of the states that a crash may leave is opened and held against the
//! ledger and the reference reader. Whatever this finds goes to `fuzz/regressions/store_ops`, named
//! for its symptom; `benches/tests/taped.rs` replays it.

#![no_main]

use gatelog_benches::trial::taped;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|tape: &[u8]| {
    if let Err(what) = taped::check(tape) {
        panic!("{what}");
    }
});
