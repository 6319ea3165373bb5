//! Damages a raw store in every small way, and tells what became of it.
//!
//! `flip-matrix [SEED [ONE_IN]]`: the whole matrix of the states that a seed makes, or one change
//! in so many. It ends with 1 if anything was lost in silence, if the engine and the reference
//! reader disagree, or if anything is undecidable that a witness beside the segments covers.

use gatelog_benches::progress;
use gatelog_benches::trial::flips::{Kind, Outcomes, Slice, State, run};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().ok());
    let seed = arguments.next().flatten().unwrap_or(1);
    let one_in = arguments.next().flatten().unwrap_or(1).max(1);
    let states = match State::all(seed) {
        Ok(states) => states,
        Err(what) => {
            eprintln!("the states of seed {seed} cannot be made: {what}");
            return ExitCode::FAILURE;
        }
    };
    let slice = Slice { one_in, seed };
    let done = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    let rows = std::thread::scope(|scope| {
        scope.spawn(|| progress::tell(&done, "changes", &is_over));
        let mut rows = Vec::new();
        for state in &states {
            for kind in Kind::ALL {
                let outcomes = run(state, kind, slice, &done);
                eprintln!("{}, {kind:?}: {} done", state.name, outcomes.tried);
                rows.push((state, kind, outcomes));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        rows
    });
    println!("seed {seed}, one change in {one_in}\n");
    print_table(&rows);
    let mut is_good = rows.iter().all(|(state, _, outcomes)| {
        let is_covered = state.name != "crashed";
        outcomes.lost == 0 && outcomes.disagreed == 0 && (outcomes.undecidable == 0 || !is_covered)
    });
    println!();
    for (state, _, outcomes) in rows.iter().filter(|(_, kind, _)| *kind == Kind::Flip) {
        let (bits, found) = (state.unconfirmed_bits().count() as u64, outcomes.undecidable);
        println!("{}: {bits} bits of frames above W, {found} flips undecidable", state.name);
        is_good &= one_in > 1 || bits == found;
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_table(rows: &[(&State, Kind, Outcomes)]) {
    println!(
        "| state | change | tried | refused | refused at a read | harmless | undecidable | taken \
         with its witness | lost in silence | not as the document says |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (state, kind, outcomes) in rows {
        let Outcomes { tried, refused_at_read, harmless, undecidable, .. } = outcomes;
        let taken = outcomes.taken_together;
        let (refused, lost, disagreed) = (outcomes.refused(), outcomes.lost, outcomes.disagreed);
        println!(
            "| {} | {kind:?} | {tried} | {refused} | {refused_at_read} | {harmless} | \
             {undecidable} | {taken} | {lost} | {disagreed} |",
            state.name
        );
    }
    println!("\n| state | refused with | changes |\n|---|---|---|");
    let mut names: Vec<&str> = rows.iter().map(|(state, ..)| state.name).collect();
    names.dedup();
    for name in names {
        let of_state = rows.iter().filter(|(state, ..)| state.name == name);
        let all = of_state.fold(Outcomes::default(), |all, (.., more)| all.and(more.clone()));
        for (rule, count) in &all.refused {
            println!("| {name} | `{rule}` | {count} |");
        }
    }
    for fault in rows.iter().flat_map(|(.., outcomes)| &outcomes.faults) {
        println!("{fault}");
    }
}
