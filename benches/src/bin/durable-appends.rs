//! Durable appends a second, beside what the disk can do.
//!
//! `durable-appends DIR [SECONDS]` writes to a fresh directory below `DIR` and prints, for one
//! session and for 1,000 sessions, how many synced appends were acknowledged a second and how many
//! syncs each of them took; and the floor: 4,096 bytes written over zeros and synced, one after the
//! other. Each figure is from this run.

use gatelog_benches::trial::workload::{batch, header};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::storage::{Create, Disk, Volume};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: usize = 64;
const SESSIONS: usize = 1_000;
const PAYLOAD_BYTES: usize = 300;

/// One measurement: what was done, in how long, with how many syncs.
struct Measured {
    done: u64,
    took: Duration,
}

impl Measured {
    fn a_second(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64()
    }
}

/// Writes 4,096 bytes over zeros and syncs, one after the other.
fn floor(dir: &Path, time: Duration) -> std::io::Result<Measured> {
    let file = Disk.open_write(&dir.join("floor"), Create::New)?;
    let bytes = 64 << 20;
    let zeros = vec![0; 1 << 20];
    for step in 0..64 {
        file.write_at(step << 20, &zeros)?;
    }
    file.sync_data()?;
    let page = [7; 4096];
    let start = Instant::now();
    let mut done = 0;
    while start.elapsed() < time && (done + 1) * 4096 <= bytes {
        file.write_at(done * 4096, &page)?;
        file.sync_data()?;
        done += 1;
    }
    Ok(Measured { done, took: start.elapsed() })
}

fn open(dir: &Path, name: &str) -> Log {
    let (disk, machine) = (Arc::new(Disk), Arc::new(ThisMachine));
    let log = Log::open(disk, &dir.join(name), machine, LogConfig::default());
    log.unwrap_or_else(|error| panic!("{error}"))
}

/// One thread, one session.
fn alone(dir: &Path, time: Duration) -> (Measured, f64) {
    let log = open(dir, "alone");
    let first = batch("a", 0, 1, PAYLOAD_BYTES, 0);
    log.create("a", &header("a"), first, Durability::Synced).expect("room on the disk");
    let (start, syncs) = (Instant::now(), log.syncs());
    let mut done = 0;
    while start.elapsed() < time {
        let next = batch("a", done + 1, 1, PAYLOAD_BYTES, done);
        log.append("a", next, Durability::Synced).expect("room on the disk");
        done += 1;
    }
    let took = start.elapsed();
    (Measured { done, took }, (log.syncs() - syncs) as f64 / done as f64)
}

/// Many threads, 1,000 sessions, one append of each thread on its way.
fn together(dir: &Path, time: Duration) -> (Measured, f64) {
    let log = open(dir, "together");
    let name = |number: usize| format!("s{number}");
    for number in 0..SESSIONS {
        let id = name(number);
        log.create(&id, &header(&id), batch(&id, 0, 1, PAYLOAD_BYTES, 0), Durability::Written)
            .expect("room on the disk");
    }
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let (start, syncs) = (Instant::now(), log.syncs());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (log, stop, done) = (&log, &stop, &done);
            scope.spawn(move || {
                let mine: Vec<_> = (thread..SESSIONS).step_by(THREADS).map(name).collect();
                for seq in 1.. {
                    for id in &mine {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        log.append(id, batch(id, seq, 1, PAYLOAD_BYTES, seq), Durability::Synced)
                            .expect("room on the disk");
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        std::thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
    });
    let (done, took) = (done.into_inner(), start.elapsed());
    (Measured { done, took }, (log.syncs() - syncs) as f64 / done as f64)
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let Some(parent) = arguments.next().map(PathBuf::from) else {
        eprintln!("durable-appends DIR [SECONDS]: name a directory on the disk to be measured");
        std::process::exit(2);
    };
    let seconds = arguments.next().and_then(|it| it.to_str()?.parse().ok()).unwrap_or(5);
    let time = Duration::from_secs(seconds);
    let dir = parent.join(format!("durable-appends-{}", std::process::id()));
    Disk.create_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let floor = floor(&dir, time).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    println!("floor, 4,096 bytes each      {:>9.0} a second", floor.a_second());
    let (one, syncs) = alone(&dir, time);
    println!(
        "one session                  {:>9.0} a second  {:.2} of the floor  {syncs:.3} syncs each",
        one.a_second(),
        one.a_second() / floor.a_second()
    );
    let (many, syncs) = together(&dir, time);
    println!(
        "1,000 sessions, {THREADS} at a time  {:>9.0} a second  {:.2} of the floor  \
         {syncs:.3} syncs each",
        many.a_second(),
        many.a_second() / floor.a_second()
    );
}
