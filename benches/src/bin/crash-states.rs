//! Makes every state that a crash may leave, opens it, and crashes that opening, twice over.
//!
//! `crash-states [SEED [ONE_IN [RECOVERIES_ONE_IN]]]`: every workload, the state after the death of
//! the process at every moment, all states that a power cut may leave or one in so many; and of
//! those that a cut leaves of the recovery of these, two deep, all or one in so many: as of the
//! first, if that is not said. Of states with the same names and bytes, while the same is owed, one
//! is opened. It ends with 1 if a state does not open, lost what was promised, or is not what the
//! reference reader makes of it.

use gatelog_benches::progress;
use gatelog_benches::trial::{Enumeration, Tally, workloads};
use rayon::prelude::*;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Choices drawn where a moment has too many units for all subsets.
const DRAWN: usize = 64;

const USAGE: &str =
    "crash-states [SEED [ONE_IN [RECOVERIES_ONE_IN]]]: numbers, the last two above 0";

fn main() -> ExitCode {
    let numbers: Option<Vec<u64>> =
        std::env::args().skip(1).map(|argument| argument.parse().ok()).collect();
    let (seed, stride, recovery_stride) = match numbers.as_deref() {
        Some([]) => (1, 1, 1),
        Some([seed]) => (*seed, 1, 1),
        Some([seed, one_in]) if *one_in > 0 => (*seed, *one_in, *one_in),
        Some([seed, one_in, recoveries]) if *one_in.min(recoveries) > 0 => {
            (*seed, *one_in, *recoveries)
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let enumeration =
        Enumeration { drawn: DRAWN, stride, depth: 2, recovery_stride, repeats: false, seed };
    let (opened, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let start = Instant::now();
    let rows: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| progress::tell(&opened, "states opened", &is_over));
        let all = workloads::all();
        let tried = all.par_iter().with_max_len(1).map(|workload| {
            let tried = enumeration.of(workload, &opened);
            let seconds = start.elapsed().as_secs();
            match &tried {
                Ok(tally) => eprintln!("{seconds} s: {} is done: {tally:?}", workload.name),
                Err(what) => eprintln!("{seconds} s: FAILED: {what}"),
            }
            (workload.name, tried)
        });
        let rows = tried.collect();
        is_over.store(true, Ordering::Relaxed);
        rows
    });
    println!("seed {seed}, one power cut in {stride}, of recoveries one in {recovery_stride}\n");
    print_table(&rows);
    let failures: Vec<_> = rows.iter().filter_map(|(_, tried)| tried.as_ref().err()).collect();
    println!(
        "\n{} states opened in {} s, {} workloads failed",
        opened.into_inner(),
        start.elapsed().as_secs(),
        failures.len()
    );
    for what in &failures {
        println!("{what}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_table(rows: &[(&str, Result<Tally, String>)]) {
    println!(
        "| workload | moments | power cuts | made | opened | cuts of recovery | made | opened | \
         cuts of that recovery | made | opened |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut all = Tally::default();
    for (name, tried) in rows {
        match tried {
            Ok(tally) => {
                print_row(name, tally);
                all = all.and(*tally);
            }
            Err(_) => println!("| {name} | FAILED | | | | | | | | | |"),
        }
    }
    print_row("all", &all);
}

fn print_row(name: &str, tally: &Tally) {
    print!("| {name} | {} |", tally.moments);
    for ((seen, made), opened) in tally.seen.iter().zip(tally.made).zip(tally.opened) {
        print!(" {seen} | {made} | {opened} |");
    }
    println!();
}
