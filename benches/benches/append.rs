//! Synced appends to one session: batches of several sizes, in memory and on the disk.
//!
//! In memory it is what the engine itself takes: encoding, the chain, the group. On the disk, which
//! is that of the temporary directory (`TMPDIR`), a sync is in every append.
#![expect(missing_docs, reason = "criterion writes the functions of a group")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::trial::workload::{batch, header};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::storage::{Disk, Memory, Volume};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PAYLOAD_BYTES: usize = 300;
/// A store is left for a fresh one behind so many bytes of payload: a run needs bounded room.
const STORE_BYTES: usize = 16 << 20;

/// A store with one session.
struct Session {
    log: Log,
    dir: PathBuf,
    next_seq: u64,
    bytes: usize,
}

impl Session {
    fn fresh(volume: Arc<dyn Volume>, dir: PathBuf) -> Self {
        let log = Log::open(volume, &dir, Arc::new(ThisMachine), LogConfig::default());
        let log = log.unwrap_or_else(|error| panic!("{error}"));
        log.create("a", &header("a"), batch("a", 0, 1, 0, 0), Durability::Synced).expect("room");
        Self { log, dir, next_seq: 1, bytes: 0 }
    }

    /// Appends one batch and returns how long that took, without the making of it.
    fn append(&mut self, events: usize) -> Duration {
        let next = batch("a", self.next_seq, events, PAYLOAD_BYTES, 0);
        let start = Instant::now();
        let commit = self.log.append("a", next, Durability::Synced);
        let took = start.elapsed();
        assert_eq!(commit.expect("room").events, events as u64);
        self.next_seq += events as u64;
        self.bytes += events * PAYLOAD_BYTES;
        took
    }
}

/// Times batches of one size; `make` gives a fresh store, and `leave` takes its directory away.
fn time(
    iterations: u64,
    events: usize,
    make: &mut dyn FnMut() -> Session,
    leave: &dyn Fn(&Path),
) -> Duration {
    let mut session = make();
    let mut took = Duration::ZERO;
    for _ in 0..iterations {
        if session.bytes >= STORE_BYTES {
            let next = make();
            let Session { log, dir, .. } = std::mem::replace(&mut session, next);
            drop(log);
            leave(&dir);
        }
        took += session.append(events);
    }
    let Session { log, dir, .. } = session;
    drop(log);
    leave(&dir);
    took
}

fn append(criterion: &mut Criterion) {
    let root = std::env::temp_dir().join(format!("gatelog-append-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("a temporary folder can be made");
    let mut number = 0;
    let mut on_disk = || {
        number += 1;
        Session::fresh(Arc::new(Disk), root.join(number.to_string()))
    };
    let mut in_memory = || Session::fresh(Arc::new(Memory::new()), PathBuf::from("/store"));
    let mut group = criterion.benchmark_group("append");
    for events in [1, 16, 128] {
        group.throughput(Throughput::Elements(events as u64));
        group.bench_function(BenchmarkId::new("memory", events), |bencher| {
            bencher.iter_custom(|count| time(count, events, &mut in_memory, &|_| {}));
        });
        let leave = |dir: &Path| std::fs::remove_dir_all(dir).expect("it is ours");
        group.bench_function(BenchmarkId::new("disk", events), |bencher| {
            bencher.iter_custom(|count| time(count, events, &mut on_disk, &leave));
        });
    }
    group.finish();
    let _ = std::fs::remove_dir_all(&root);
}

criterion_group!(benches, append);
criterion_main!(benches);
