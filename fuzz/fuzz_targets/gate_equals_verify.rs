//! A session told from a tape, to a gate: what it admits, cold verification finds sound, and what
//! it refuses is what cold verification finds first. Whatever this finds goes to
//! `fuzz/regressions/gate_equals_verify`, named for its symptom;
//! `validator/tests/live_equals_cold.rs` replays it.

#![no_main]

#[path = "../../validator/tests/gate/equal.rs"]
mod equal;
#[path = "../../validator/tests/gate/mod.rs"]
mod gate;
#[path = "../../validator/tests/support/mod.rs"]
mod support;
#[path = "../../validator/tests/twin/mod.rs"]
mod twin;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|tape: &[u8]| equal::check_tape(tape));
