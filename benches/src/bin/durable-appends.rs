//! Durable appends a second, beside what the disk can do.
//!
//! `durable-appends DIR [SECONDS]` writes to a fresh directory below `DIR` and prints, for one
//! session and for 1,000 sessions, how many synced appends were acknowledged a second and how many
//! syncs each of them took; and the floor: 4,096 bytes written over zeros and synced, one after the
//! other. Floor and store take turns, and the ratio is that of neighbours: its median over the
//! rounds is to be trusted, also on a machine that does other work.

use gatelog_benches::trial::workload::{batch, header};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::storage::{Create, Disk, Volume, WriteFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: usize = 64;
const SESSIONS: usize = 1_000;
const PAYLOAD_BYTES: usize = 300;
const FLOOR_BYTES: u64 = 64 << 20;
const ROUNDS: u32 = 8;

/// One measurement: what was done, in how long, with how many syncs.
struct Measured {
    done: u64,
    took: Duration,
}

impl Measured {
    /// Adds some up.
    fn of(all: &[Measured]) -> Self {
        let (done, took) = (all.iter().map(|it| it.done), all.iter().map(|it| it.took));
        Self { done: done.sum(), took: took.sum() }
    }

    fn a_second(&self) -> f64 {
        self.done as f64 / self.took.as_secs_f64()
    }
}

/// A file of zeros that is written over, 4,096 bytes and a sync at a time.
struct Floor {
    file: Arc<dyn WriteFile>,
    next: u64,
}

impl Floor {
    fn new(dir: &Path) -> std::io::Result<Self> {
        let file = Disk.open_write(&dir.join("floor"), Create::New)?;
        let zeros = vec![0; 1 << 20];
        for step in 0..FLOOR_BYTES >> 20 {
            file.write_at(step << 20, &zeros)?;
        }
        file.sync_data()?;
        Ok(Self { file, next: 0 })
    }

    fn run(&mut self, time: Duration) -> std::io::Result<Measured> {
        let page = [7; 4096];
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < time {
            self.file.write_at(self.next, &page)?;
            self.file.sync_data()?;
            self.next = (self.next + 4096) % FLOOR_BYTES;
            done += 1;
        }
        Ok(Measured { done, took: start.elapsed() })
    }
}

fn open(dir: &Path, name: &str) -> Log {
    let (disk, machine) = (Arc::new(Disk), Arc::new(ThisMachine));
    let log = Log::open(disk, &dir.join(name), machine, LogConfig::default());
    log.unwrap_or_else(|error| panic!("{error}"))
}

/// One thread, one session.
struct Alone {
    log: Log,
    next_seq: u64,
    syncs: u64,
}

impl Alone {
    fn new(dir: &Path) -> Self {
        let log = open(dir, "alone");
        let first = batch("a", 0, 1, PAYLOAD_BYTES, 0);
        log.create("a", &header("a"), first, Durability::Synced).expect("room on the disk");
        let syncs = log.syncs();
        Self { log, next_seq: 1, syncs }
    }

    fn run(&mut self, time: Duration) -> Measured {
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < time {
            let next = batch("a", self.next_seq, 1, PAYLOAD_BYTES, done);
            self.log.append("a", next, Durability::Synced).expect("room on the disk");
            self.next_seq += 1;
            done += 1;
        }
        Measured { done, took: start.elapsed() }
    }

    fn syncs_each(&self) -> f64 {
        (self.log.syncs() - self.syncs) as f64 / (self.next_seq - 1) as f64
    }
}

/// Waits until nothing is made in a directory any more, such as the spare of a store at rest.
fn settle(dir: &Path) -> std::io::Result<()> {
    let bytes = || -> std::io::Result<u64> {
        let sizes = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.metadata()?.len()));
        sizes.sum()
    };
    let mut before = bytes()?;
    loop {
        std::thread::sleep(Duration::from_millis(150));
        let now = bytes()?;
        if now == before {
            return Ok(());
        }
        before = now;
    }
}

/// The median of some ratios, with the least and the greatest.
fn spread(mut ratios: Vec<f64>) -> (f64, f64, f64) {
    ratios.sort_by(f64::total_cmp);
    (ratios[ratios.len() / 2], ratios[0], ratios[ratios.len() - 1])
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
    let failed = |error| -> ! { panic!("{}: {error}", dir.display()) };
    let mut floor = Floor::new(&dir).unwrap_or_else(|error| failed(error));
    let mut alone = Alone::new(&dir);
    // A floor before and one behind each slice of the store: a disk is not the same all the time.
    let slice = time / ROUNDS;
    let mut floors = vec![floor.run(slice).unwrap_or_else(|error| failed(error))];
    let (mut ours, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let one = alone.run(slice);
        settle(&dir.join("alone")).unwrap_or_else(|error| failed(error));
        let next = floor.run(slice).unwrap_or_else(|error| failed(error));
        let before = floors.last().map_or(0.0, Measured::a_second);
        ratios.push(one.a_second() * 2.0 / (before + next.a_second()));
        ours.push(one);
        floors.push(next);
    }
    let (floor, one) = (Measured::of(&floors), Measured::of(&ours));
    println!("floor, 4,096 bytes each      {:>9.0} a second", floor.a_second());
    let (median, least, most) = spread(ratios);
    println!(
        "one session                  {:>9.0} a second  {median:.2} of the floor  \
         {:.3} syncs each  ({least:.2} to {most:.2} in {ROUNDS} rounds)",
        one.a_second(),
        alone.syncs_each()
    );
    drop(alone);
    let (many, syncs) = together(&dir, time);
    println!(
        "1,000 sessions, {THREADS} at a time  {:>9.0} a second  {:.2} of the floor  \
         {syncs:.3} syncs each",
        many.a_second(),
        many.a_second() / floor.a_second()
    );
}
