//! Sessions from a grammar with a state, one file a companion: each lawful move is admitted, each
//! unlawful one refused by its rule, live and cold. `docs/testing.md` tells how the author of a
//! companion adds a file. Whatever this finds goes to `fuzz/regressions/invariants`, named for its
//! symptom; `validator/tests/invariants.rs` replays it.

#![no_main]

#[path = "../../validator/tests/gate/equal.rs"]
mod equal;
#[path = "../../validator/tests/gate/mod.rs"]
mod gate;
#[path = "../../validator/tests/grammar/mod.rs"]
mod grammar;
#[path = "../../validator/tests/support/mod.rs"]
mod support;
#[path = "../../validator/tests/twin/mod.rs"]
mod twin;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|tape: &[u8]| {
    grammar::check(tape);
});
