//! What replay costs in memory, beside its bound.
//!
//! `replay-memory DIR [SESSIONS [LARGE [LARGE_MIB]]]` writes sessions below `DIR`, so many of
//! which have a frame of so many MiB (1,000, 1 and 16 if nothing else is said), replays them in 1,
//! 2 and 8 threads, each time in a process of its own, and prints the most memory that it had.

use gatelog_benches::trial::replayed::{Ground, Leak, Source};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: replay-memory DIR [SESSIONS [LARGE [LARGE_MIB]]]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.as_slice() {
        [first, rest @ ..] if first == "--child" => child(rest),
        [dir, rest @ ..] => run(dir, rest),
        [] => Err(USAGE.into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("replay-memory: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Replays, and says how much memory that took and how many sessions there were.
fn child(arguments: &[String]) -> Result<(), String> {
    let [dir, sessions, threads, source, leak] = arguments else { return Err(USAGE.into()) };
    let number = |text: &String| text.parse::<u64>().map_err(|_| USAGE.to_owned());
    let source = if source == "Store" { Source::Store } else { Source::Files };
    let leak = if leak == "Events" { Leak::Events } else { Leak::No };
    let ground = Ground {
        dir: PathBuf::from(dir),
        sessions: number(sessions)?,
        large: 0,
        session_bytes: 0,
        large_bytes: 0,
    };
    let cost = ground.replay(source, number(threads)? as usize, leak)?;
    println!("{} {}", cost.peak_bytes, cost.sessions);
    Ok(())
}

fn run(parent: &str, arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => text.parse::<u64>().map_err(|_| USAGE.to_owned()),
        None => Ok(default),
    };
    let dir = PathBuf::from(parent).join(format!("replay-memory-{}", std::process::id()));
    let (sessions, large) = (number(0, 1_000)?, number(1, 1)?);
    let large_bytes = (number(2, 16)? as usize) << 20;
    let ground = Ground { dir, sessions, large, session_bytes: 64 << 10, large_bytes };
    let held = ground.make()?;
    println!("{sessions} sessions, {} events", held.events);
    println!("largest frame {:.1} MiB", mib(held.frame_bytes));
    println!("states of all {:.1} MiB", mib(held.states.iter().sum()));
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut broken = 0;
    for source in [Source::Store, Source::Files] {
        for (threads, leak) in [(1, Leak::No), (2, Leak::No), (8, Leak::No), (2, Leak::Events)] {
            let cost = ground.spawn(&program, source, threads, leak)?;
            let bound = held.bound(threads);
            println!(
                "{source:?}, {threads} threads, leak {leak:?}: {:.1} MiB of {:.1}",
                mib(cost.peak_bytes),
                mib(bound)
            );
            broken += u64::from((cost.peak_bytes > bound) != (leak == Leak::Events));
        }
    }
    let _ = std::fs::remove_dir_all(&ground.dir);
    println!("{} passed, {broken} failed", 8 - broken);
    if broken == 0 { Ok(()) } else { Err("a bound is broken, or a leak is not seen".into()) }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
