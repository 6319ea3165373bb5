//! A grammar of sessions with a state: moves that a companion must admit, and moves that it must
//! refuse, each with the rule that it breaks.
//!
//! The author of a companion adds one file here with a [`Grammar`] of its own and names it in
//! [`all`]; what it says is then tried between the moves of all others, live and cold.

#![allow(dead_code, unreachable_pub, reason = "each of those who include it uses a part")]

mod approvals;
mod commands;
mod notes;
mod turns;

use crate::equal::{cold, facts};
use crate::gate::{header, with_event};
use gatelog_engine::companion::Violation;
use gatelog_engine::rules::{Draft, Judge, RuleSet};
use gatelog_validator::facts::Facts;
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::Standard;
use std::collections::BTreeMap;

/// As many moves as a tape may choose.
const MOVES_MAX: usize = 400;

/// What one companion has to say of sessions.
pub trait Grammar {
    /// Brings along what the companion needs: itself, and types of its own.
    fn join(&self, rules: Standard) -> Standard {
        rules
    }

    /// A move that is lawful where the session stands, if there is one.
    fn lawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<Draft>;

    /// A move that breaks one rule and no other one, and the id of that rule.
    fn unlawful(&mut self, facts: &Facts, tape: &mut Tape<'_>) -> Option<(Draft, &'static str)>;

    /// Is told of each event that is in the log now, its own and those of others.
    fn apply(&mut self, _: &Draft, _seq: u64) {}
}

/// Returns the grammar of every companion that has one.
fn all() -> Vec<Box<dyn Grammar>> {
    vec![
        Box::new(turns::Turns::default()),
        Box::new(approvals::Approvals::default()),
        Box::new(commands::Commands::default()),
        Box::new(notes::Notes::default()),
    ]
}

/// Choices, one byte each; an empty tape chooses the first of everything.
pub struct Tape<'t>(&'t [u8]);

impl Tape<'_> {
    /// Chooses a number below `count`.
    pub fn pick(&mut self, count: usize) -> usize {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        usize::from(*first) % count.max(1)
    }
}

/// How often each was seen: lawful moves by type, unlawful ones by rule.
pub type Seen = BTreeMap<String, usize>;

/// Plays the session of a tape and checks each move, live and cold.
///
/// # Panics
///
/// If a lawful move is refused or found fault with, or an unlawful one is admitted, refused by
/// another rule, or not the first thing that is found cold.
pub fn check(tape: &[u8]) -> Seen {
    check_with(tape, all(), |_| {})
}

/// The same with grammars of the caller's; each admitted draft is shown.
pub fn check_with(
    tape: &[u8],
    mut grammars: Vec<Box<dyn Grammar>>,
    mut show: impl FnMut(&Draft),
) -> Seen {
    let rules = grammars.iter().fold(Standard::new(Profile::Strict), |rules, it| it.join(rules));
    let judge = || rules.judge("s", &header()).expect("the header is lawful");
    let mut live = judge();
    let mut log = Vec::new();
    let mut seen = Seen::new();
    let mut tape = Tape(tape);
    let mut moves = 0;
    while !tape.0.is_empty() && moves < MOVES_MAX {
        moves += 1;
        let seq = log.len() as u64;
        let at = tape.pick(grammars.len());
        if tape.pick(4) == 3 {
            let Some((draft, rule)) = grammars[at].unlawful(facts(&*live), &mut tape) else {
                continue;
            };
            check_refused(&*live, &draft, seq, rule);
            *seen.entry(rule.to_owned()).or_default() += 1;
            continue;
        }
        let Some(draft) = grammars[at].lawful(facts(&*live), &mut tape) else { continue };
        let mut ahead = live.fork();
        let admitted = with_event(&draft, seq, |event| ahead.admit(event));
        assert_eq!(admitted, Ok(()), "{draft:?} is lawful after {log:#?}");
        assert_eq!(found(&mut *live, &draft, seq), [], "{draft:?} was admitted");
        for grammar in &mut grammars {
            grammar.apply(&draft, seq);
        }
        *seen.entry(draft.kind.clone()).or_default() += 1;
        show(&draft);
        log.push(draft);
    }
    assert_eq!(cold(&mut *judge(), &log, 0, Profile::Strict), []);
    seen
}

fn found(judge: &mut dyn Judge, draft: &Draft, seq: u64) -> Vec<Violation> {
    cold(judge, std::slice::from_ref(draft), seq, Profile::Strict)
}

/// An unlawful move is refused by its rule, and forced in it is the first thing that is found.
fn check_refused(live: &dyn Judge, draft: &Draft, seq: u64, rule: &str) {
    let refused = with_event(draft, seq, |event| live.fork().admit(event));
    let violation = refused.expect_err("an unlawful move was admitted");
    assert_eq!(violation.rule, rule, "{draft:?}: {violation:?}");
    let found = found(&mut *live.fork(), draft, seq);
    assert_eq!(found.first(), Some(&violation), "{draft:?}");
}
