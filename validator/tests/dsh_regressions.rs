//! Every input that once set the fuzz target `dsh_read` off, and seeds of its kind, is judged
//! again. The files are under `fuzz/regressions/dsh_read`, named for what they show.

#[path = "fuzzed/mod.rs"]
mod fuzzed;
#[path = "../../fuzz/regressions.rs"]
mod regressions;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

#[test]
fn what_was_found_once_holds_now() {
    regressions::replay("dsh_read", |input| fuzzed::check(input, true, &|_, run| run()));
}
