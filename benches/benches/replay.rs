//! All projections over 1,000 generated sessions: in one thread, in two, and from checkpoints. The
//! last lines are ratios of runs that took turns, which hold on a machine with other work as well.
#![expect(missing_docs, reason = "criterion writes the functions of a group")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::log;
use gatelog_engine::dsh::discover::{Alone, Placement, Target};
use gatelog_engine::dsh::name::{Encoding, Generation};
use gatelog_engine::event::Event;
use gatelog_engine::replay::{
    Checkpoint, EventSource, Folding, LogFiles, Projected, Replay, SessionSink, fold, replay,
};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::{Kind, Memory};
use gatelog_validator::projection::Installation;
use std::ops::ControlFlow;
use std::time::Instant;

const SESSIONS: u64 = 1_000;
/// Each session has at least so many bytes on disk.
const SESSION_BYTES: usize = 8 << 10;
/// How often runs that are compared take turns.
const TURNS: usize = 7;

fn all(header: &SessionHeader) -> Vec<Box<dyn Projected>> {
    Installation::default().all(header)
}

fn target(path: &str) -> Target {
    Target {
        path: path.into(),
        generation: Some(Generation { number: 0, encoding: Encoding::Zstd }),
        encoding: Some(Encoding::Zstd),
        placement: Placement::Alone(Alone::Name),
        kind: Kind::Regular,
        hidden_by: None,
    }
}

/// Folds a session as it is read.
#[derive(Default)]
struct ToItsEnd(Option<Folding>);

impl SessionSink for ToItsEnd {
    fn header(&mut self, header: &SessionHeader) {
        self.0 = Some(Folding::new(header, all(header)));
    }

    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.0.as_mut().expect("the header comes first").take(event);
        ControlFlow::Continue(())
    }
}

/// The checkpoints of a session at its end.
fn checkpoints(source: &dyn EventSource, name: &str) -> Vec<Checkpoint> {
    let mut sink = ToItsEnd::default();
    source.read(name, &mut sink).expect("the session can be read");
    sink.0.expect("it has a header").checkpoints()
}

/// Replays everything, and returns how many events that were.
fn events(source: &dyn EventSource, threads: usize) -> u64 {
    let (mut sessions, mut events) = (0, 0);
    replay(source, &all, Replay { threads, at: None }, &mut |_, folded| {
        sessions += 1;
        events += folded.expect("the session can be read").next_seq;
        ControlFlow::Continue(())
    })
    .expect("the names can be read");
    assert_eq!(sessions, SESSIONS);
    events
}

fn replays(criterion: &mut Criterion) {
    let name = |seed: u64| format!("/s{seed:04}");
    let (mut memory, mut bytes) = (Memory::new(), 0);
    for seed in 0..SESSIONS {
        let (file, _) = log(seed, SESSION_BYTES, gatelog_benches::Encoding::Zstd);
        bytes += file.len();
        memory = memory.file(name(seed), file);
    }
    let targets = (0..SESSIONS).map(|seed| target(&name(seed))).collect();
    let source = LogFiles::new(&memory, targets, 1 << 20);
    let total = events(&source, 2);
    println!("{SESSIONS} sessions, {bytes} bytes on disk, {total} events");
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10).throughput(Throughput::Elements(total));
    for threads in [1, 2] {
        let name = format!("{SESSIONS} sessions, {threads} threads");
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(events(&source, threads), total));
        });
    }
    let names = source.names().expect("they are in memory");
    let kept: Vec<_> = names.iter().map(|name| checkpoints(&source, name)).collect();
    let from_checkpoints = || {
        for (name, kept) in names.iter().zip(&kept) {
            let folded = fold(&source, name, &all, None, kept).expect("it can be read");
            assert!(folded.unfit.is_empty(), "{name}: {:?}", folded.unfit);
        }
    };
    group.bench_function(format!("{SESSIONS} sessions, checkpoints, 1 thread"), |bencher| {
        bencher.iter(from_checkpoints);
    });
    group.finish();
    let took = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    let (mut two, mut kept) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let one = took(&|| assert_eq!(events(&source, 1), total));
        two.push(one / took(&|| assert_eq!(events(&source, 2), total)));
        kept.push(one / took(&from_checkpoints));
    }
    for (what, ratios) in [("two threads", &mut two), ("checkpoints", &mut kept)] {
        ratios.sort_by(f64::total_cmp);
        let (least, median, most) = (ratios[0], ratios[TURNS / 2], ratios[TURNS - 1]);
        println!("{what}: {median:.2} times as fast as one thread ({least:.2} to {most:.2})");
    }
}

criterion_group!(benches, replays);
criterion_main!(benches);
