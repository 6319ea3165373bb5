//! Synced appends to one session: batches of several sizes, in memory and on the disk.
//!
//! The unit is a mebibyte of the log: so many appends, and the one rotation that they need, which
//! costs as much as a few hundred of them. A figure of single appends would depend on how many
//! rotations a sample happens to hold.
//!
//! In memory it is what the engine itself takes: encoding, the chain, the group, the zeros of the
//! next segment. On the disk, which is that of the temporary directory (`TMPDIR`), a sync is in
//! every append; beside it is the floor, 4,096 bytes written over zeros and synced, 256 times. The
//! last line is the ratio of the two, taken in turns.
#![expect(missing_docs, reason = "criterion writes the functions of a group")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::trial::workload::{batch, header};
use gatelog_engine::backend::{Backend, Batch, Durability};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::storage::{Create, Disk, Memory, Volume, WriteFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PAYLOAD_BYTES: usize = 300;
const PAGE_BYTES: usize = 4096;
const UNIT_BYTES: usize = 1 << 20;
/// A store is left for a fresh one behind so many units: a run needs bounded room.
const UNITS: usize = 64;
/// How often floor and store take turns.
const TURNS: usize = 25;

/// How many appends of so many events fill a mebibyte.
fn appends(events: usize) -> u64 {
    // A record has some 50 bytes of its own, a frame some 150.
    let frame = 150 + events * (PAYLOAD_BYTES + 50);
    (UNIT_BYTES / frame.next_multiple_of(PAGE_BYTES)) as u64
}

/// A store with one session.
struct Session {
    log: Log,
    dir: PathBuf,
    next_seq: u64,
}

impl Session {
    fn fresh(volume: Arc<dyn Volume>, dir: PathBuf, config: LogConfig) -> Self {
        let log = Log::open(volume, &dir, Arc::new(ThisMachine), config);
        let log = log.unwrap_or_else(|error| panic!("{error}"));
        log.create("a", &header("a"), batch("a", 0, 1, 0, 0), Durability::Synced).expect("room");
        Self { log, dir, next_seq: 1 }
    }

    /// Appends a unit and returns how long that took, without the making of it.
    fn unit(&mut self, events: usize) -> Duration {
        let mut next_batch = || {
            let next = batch("a", self.next_seq, events, PAYLOAD_BYTES, 0);
            self.next_seq += events as u64;
            next
        };
        let batches: Vec<Batch> = (0..appends(events)).map(|_| next_batch()).collect();
        let start = Instant::now();
        for batch in batches {
            self.log.append("a", batch, Durability::Synced).expect("room");
        }
        start.elapsed()
    }
}

/// Sessions one after the other, each in a store of its own.
struct Stores<'a> {
    make: &'a mut dyn FnMut() -> Session,
    leave: &'a dyn Fn(&Path),
    session: Option<(Session, usize)>,
}

impl Stores<'_> {
    fn unit(&mut self, events: usize) -> Duration {
        if self.session.as_ref().is_some_and(|(_, units)| *units == UNITS) {
            self.end();
        }
        let (session, units) = self.session.get_or_insert_with(|| {
            let mut session = (self.make)();
            // The first segment, whose room the store was made with.
            session.unit(events);
            (session, 0)
        });
        *units += 1;
        session.unit(events)
    }

    fn end(&mut self) {
        if let Some((Session { log, dir, .. }, _)) = self.session.take() {
            drop(log);
            (self.leave)(&dir);
        }
    }
}

/// A file of zeros that is written over, page by page.
struct Floor(Arc<dyn WriteFile>);

impl Floor {
    fn new(path: &Path) -> Self {
        let file = Disk.open_write(path, Create::New).expect("a temporary file");
        file.write_at(0, &vec![0; UNIT_BYTES]).expect("room");
        file.sync_data().expect("a disk that syncs");
        Self(file)
    }

    fn unit(&self) -> Duration {
        let (page, start) = ([7; PAGE_BYTES], Instant::now());
        for offset in (0..UNIT_BYTES as u64).step_by(PAGE_BYTES) {
            self.0.write_at(offset, &page).expect("room");
            self.0.sync_data().expect("a disk that syncs");
        }
        start.elapsed()
    }
}

fn append(criterion: &mut Criterion) {
    let root = std::env::temp_dir().join(format!("gatelog-append-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("a temporary folder can be made");
    let mut number = 0;
    let mut on_disk = || {
        number += 1;
        let config = LogConfig::default();
        Session::fresh(Arc::new(Disk), root.join(number.to_string()), config)
    };
    // Nobody else runs, and all segments have the size of a unit.
    let config =
        LogConfig { segment_bytes: 1 << 20, has_housekeeper: false, ..LogConfig::default() };
    let mut in_memory =
        || Session::fresh(Arc::new(Memory::new()), PathBuf::from("/store"), config.clone());
    let remove = |dir: &Path| std::fs::remove_dir_all(dir).expect("it is ours");
    let mut group = criterion.benchmark_group("append");
    group.sample_size(20);
    for events in [1, 16, 128] {
        group.throughput(Throughput::Elements(appends(events)));
        let mut stores = Stores { make: &mut in_memory, leave: &|_| {}, session: None };
        group.bench_function(BenchmarkId::new("memory", events), |bencher| {
            bencher.iter_custom(|count| (0..count).map(|_| stores.unit(events)).sum());
        });
        let mut stores = Stores { make: &mut on_disk, leave: &remove, session: None };
        group.bench_function(BenchmarkId::new("disk", events), |bencher| {
            bencher.iter_custom(|count| (0..count).map(|_| stores.unit(events)).sum());
        });
        stores.end();
    }
    let floor = Floor::new(&root.join("floor"));
    group.throughput(Throughput::Elements((UNIT_BYTES / PAGE_BYTES) as u64));
    group.bench_function("floor", |bencher| {
        bencher.iter_custom(|count| (0..count).map(|_| floor.unit()).sum());
    });
    group.finish();
    let mut stores = Stores { make: &mut on_disk, leave: &remove, session: None };
    // A floor before and one behind each unit of the store: a disk is not the same all the time.
    let mut before = floor.unit();
    let mut ratios = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let (ours, next) = (stores.unit(1), floor.unit());
        ratios.push((before + next).as_secs_f64() / 2.0 / ours.as_secs_f64());
        before = next;
    }
    stores.end();
    ratios.sort_by(f64::total_cmp);
    let (least, median, most) = (ratios[0], ratios[TURNS / 2], ratios[TURNS - 1]);
    println!("appends of one event to the floor: {median:.2} ({least:.2} to {most:.2})");
    let _ = std::fs::remove_dir_all(&root);
}

criterion_group!(benches, append);
criterion_main!(benches);
