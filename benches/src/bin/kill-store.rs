//! Kills a process that writes a store, again and again, and judges what it left.
//!
//! `kill-store [--count N] [--retries N] [--failures N] [--locks N] [--strace] [--seed N]
//! [--dir DIR]`; 2,000 kills if nothing is asked for.

use gatelog_benches::trial::child::Child;
use gatelog_benches::trial::failing::{self, Failing, Outcome};
use gatelog_benches::trial::kills::Kills;
use gatelog_benches::trial::locks;
use gatelog_benches::trial::repeated::{Repeated, Tried};
use gatelog_benches::trial::retries::{self, Retries};
use gatelog_benches::trial::traced::Traced;
use gatelog_engine::backend::Durability;
use gatelog_engine::storage::sim::Cause;
use rayon::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: kill-store [--count N] [--retries N] [--failures N] [--locks N] \
     [--strace] [--seed N] [--dir DIR]";

/// Of the states that a power cut may leave behind a write that failed, one in so many is opened.
const REPEATED_ONE_IN: usize = 13;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "--child") {
        return child(&arguments[1..]);
    }
    if arguments.first().is_some_and(|first| first == "--client") {
        return client(&arguments[1..]);
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("kill-store: {what}");
            ExitCode::FAILURE
        }
    }
}

fn child(arguments: &[String]) -> ExitCode {
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let (Some(dir), Some(seed), Some(first), Some(batches)) =
        (arguments.first(), number(1), number(2), number(3))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let is_alone = arguments.iter().any(|it| it == "alone");
    let child = Child { dir: PathBuf::from(dir), seed, first, batches, is_alone };
    child.run();
    ExitCode::SUCCESS
}

fn client(arguments: &[String]) -> ExitCode {
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok());
    let (Some(dir), Some(seed), Some(first)) = (arguments.first(), number(1), number(2)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    retries::client(&PathBuf::from(dir), seed, first);
    ExitCode::SUCCESS
}

fn run(arguments: &[String]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut dir = std::env::temp_dir().join(format!("kill-store-{}", std::process::id()));
    let (mut count, mut retries, mut failures, mut locks, mut seed) = (None, None, None, None, 1);
    let mut is_traced = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE);
        let number = |text: &String| text.parse::<u64>().map_err(|_| USAGE.to_owned());
        match word.as_str() {
            "--count" => count = Some(number(value()?)?),
            "--retries" => retries = Some(number(value()?)?),
            "--failures" => failures = Some(number(value()?)?),
            "--locks" => locks = Some(number(value()?)?),
            "--strace" => is_traced = true,
            "--seed" => seed = number(value()?)?,
            "--dir" => dir = PathBuf::from(value()?),
            _ => return Err(USAGE.to_owned()),
        }
    }
    if let Some(count) = retries {
        retry(&Retries { program: program.clone(), dir: dir.clone(), count, seed })?;
    }
    if let Some(count) = failures {
        fail(count, seed)?;
    }
    if let Some(count) = locks {
        let begun = Instant::now();
        let children = locks::reopen(&dir, count)?;
        println!("reopened {count} times while {children} children were spawned: never refused");
        println!("wall                                 {:.1} s", begun.elapsed().as_secs_f64());
    }
    if is_traced {
        let begun = Instant::now();
        let traced = Traced { program: program.clone(), dir: dir.clone(), seed }.run()?;
        println!("runs under strace                    {}", traced.runs);
        println!("  in which a call failed             {}", traced.struck);
        println!("  whose child was poisoned           {}", traced.poisoned);
        println!("wall                                 {:.1} s", begun.elapsed().as_secs_f64());
    }
    let is_default = [retries, failures, locks].iter().all(Option::is_none) && !is_traced;
    match count.or(is_default.then_some(2_000)) {
        Some(count) => kill(&Kills { program, dir, count, seed, lives: 20 }),
        None => Ok(()),
    }
}

fn retry(retries: &Retries) -> Result<(), String> {
    let begun = Instant::now();
    let seen = retries.run()?;
    println!("appends retried                      {}", seen.retried());
    println!("  that were in flight at a kill      {}", seen.in_flight);
    println!("  whose receipt was dropped          {}", seen.dropped);
    println!("  whose receipt was seen             {}", seen.receipted);
    println!("  that a kill had taken, and appended anew {}", seen.anew);
    println!("kills                                {}", seen.kills);
    println!("wall                                 {:.1} s", begun.elapsed().as_secs_f64());
    println!("{} passed, 0 failed", seen.retried());
    Ok(())
}

/// Every kind of call fails, the first time up to the nth; then writes fail at every page of
/// theirs.
fn fail(count: u64, seed: u64) -> Result<(), String> {
    let begun = Instant::now();
    for (call, failure) in failing::kinds() {
        let mut sum = Outcome::default();
        for nth in 1..=count {
            sum.add(Failing { call, failure, nth, seed: seed ^ nth << 8, steps: 40 }.run()?);
        }
        println!("{call:?} {failure:?}: {sum:?}");
    }
    let tried = writes_that_fail(count)?;
    println!("{tried:?}");
    println!("wall                                 {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Writes fail, the first up to the nth, after none, one, two or three of their pages.
fn writes_that_fail(count: u64) -> Result<Tried, String> {
    let of = |nth| {
        let mut tried = Tried::default();
        for page in 0..=3 {
            for class in [Durability::Synced, Durability::Written] {
                let (bytes, drawn, one_in) = (page * 4096, 8, REPEATED_ONE_IN);
                for cause in [Cause::Eio, Cause::NoSpace] {
                    Repeated { nth, bytes, cause, class, drawn, one_in }.run(&mut tried)?;
                }
            }
        }
        eprintln!("write {nth}: {tried:?}");
        Ok::<_, String>(tried)
    };
    let all: Vec<u64> = (1..=count).collect();
    let all: Vec<_> = all.into_par_iter().with_max_len(1).map(of).collect();
    let mut sum = Tried::default();
    for tried in all {
        sum.add(tried?);
    }
    Ok(sum)
}

fn kill(kills: &Kills) -> Result<(), String> {
    let begun = Instant::now();
    let seen = kills.run(&mut |seen| {
        if seen.kills % 100 == 0 {
            eprintln!("{} kills, {:.0} s", seen.kills, begun.elapsed().as_secs_f64());
        }
    })?;
    let tally = seen.batches;
    println!("kills                                {}", seen.kills);
    println!("  before every session was open      {}", seen.in_recovery);
    println!("stores read whole and judged         {}", seen.judged);
    println!("batches issued                       {}", tally.issued);
    println!("  acknowledged Synced                {}", tally.acked[2]);
    println!("  acknowledged Written               {}", tally.acked[1]);
    println!("  acknowledged Buffered              {}", tally.acked[0]);
    println!("    of these lost, as they may be    {}", tally.buffered_lost);
    println!("  refused                            {}", tally.never);
    println!("  in flight                          {}", tally.open);
    println!("    of these there                   {}", tally.open_kept);
    println!("closers                              {}", tally.closers);
    println!("looks beside a writer                {}", seen.looks);
    println!("stores verified beside a writer      {}", seen.checks);
    println!("  that files vanished under          {}", seen.busy);
    println!("looks after a kill                   {}", seen.looks_after);
    println!("  that saw a torn end                {}", seen.torn);
    println!("looks after a reopen and a close     {}", seen.looks_closed);
    println!("wall                                 {:.1} s", begun.elapsed().as_secs_f64());
    println!("{} passed, 0 failed", seen.kills);
    Ok(())
}
