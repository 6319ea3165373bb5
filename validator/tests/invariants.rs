//! Sessions from a grammar: each lawful move is admitted, each unlawful one refused by its rule,
//! live and cold; and what the fuzz target `invariants` found once holds now.

#[path = "gate/equal.rs"]
mod equal;
#[path = "gate/mod.rs"]
mod gate;
#[path = "grammar/mod.rs"]
mod grammar;
#[path = "../../fuzz/regressions.rs"]
mod regressions;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use gatelog_engine::rules::Draft;
use gatelog_validator::facts::Facts;
use grammar::{Grammar, Seen, Tape};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_gate_agrees_with_the_grammar(
        tape in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        grammar::check(&tape);
    }
}

#[test]
fn what_was_found_once_holds_now_and_every_rule_of_the_grammar_is_met() {
    let mut seen = Seen::new();
    regressions::replay("invariants", |tape| {
        for (what, times) in grammar::check(tape) {
            *seen.entry(what).or_default() += times;
        }
    });
    let rules = [
        "acme/two-notes",
        "approval/asked-outside-turn",
        "approval/asked-repeats-open-id",
        "approval/asked-without-tool-name",
        "approval/decided-unknown-outcome",
        "approval/decided-without-ask",
        "command/done-invalid-source",
        "command/done-without-run",
        "command/run-repeats-id",
        "step/start-number",
        "step/start-turn-mismatch",
        "step/start-while-open",
        "turn/end-mismatch",
        "turn/end-step-open",
        "turn/start-number",
        "turn/start-while-open",
    ];
    for rule in rules {
        assert!(seen.contains_key(rule), "{rule} is not among {seen:?}");
    }
}

/// Says that a turn may start at any time.
struct Mistaken;

impl Grammar for Mistaken {
    fn lawful(&mut self, _: &Facts, _: &mut Tape<'_>) -> Option<Draft> {
        Some(Draft::new("turn/start", r#"{"turn":1}"#))
    }

    fn unlawful(&mut self, _: &Facts, _: &mut Tape<'_>) -> Option<(Draft, &'static str)> {
        Some((Draft::new("session/end-seed", "{}"), "seed/any"))
    }
}

#[test]
fn a_grammar_and_a_gate_that_differ_are_noticed() {
    let play = |tape: &'static [u8]| {
        std::panic::catch_unwind(|| grammar::check_with(tape, vec![Box::new(Mistaken)], |_| {}))
    };
    assert!(play(&[0, 0]).is_ok(), "the first turn may start");
    assert!(play(&[0, 0, 0, 0]).is_err(), "the second is refused");
    assert!(play(&[0, 3]).is_err(), "what it takes for unlawful is admitted");
}
