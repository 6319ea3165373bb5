//! The fold of the loader and of all companions over a log, in bytes of text a second.
//!
//! A plain log is read in one thread: what it costs beyond the scan of its lines is the fold.
#![expect(missing_docs, reason = "criterion writes the functions of a group")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::{Encoding, log};
use gatelog_engine::companion::Companion;
use gatelog_engine::event::{Event, Place};
use gatelog_engine::json::Document;
use gatelog_validator::companion::{Settings, companions};

fn documents() -> Vec<Document> {
    let (bytes, _) = log(1, 4 << 20, Encoding::Plain);
    let lines = bytes.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    lines.map(|line| Document::parse(line.to_vec()).expect("the log is JSON")).collect()
}

fn fold(companion: &mut dyn Companion, documents: &[Document], kinds: &[&str]) -> usize {
    let mut faults = 0;
    for (seq, document) in (0..).zip(documents) {
        let root = document.root();
        let Some(kind) = root.get("type").and_then(|kind| kind.as_text()) else { continue };
        let kind = kind.to_lossy();
        if !kinds.contains(&kind.as_ref()) {
            continue;
        }
        let Some(data) = root.get("data") else { continue };
        let event = Event {
            seq,
            members: 1,
            time_ms: 0.0,
            last_time_ms: 0.0,
            kind: &kind,
            data,
            packed: false,
            ignorable: false,
            sources: root.get("sourceEventSeqs"),
            surface: root.get("surfaceOp"),
            place: Place::default(),
        };
        faults += usize::from(companion.plan(&event).is_err());
        companion.apply(&event);
    }
    faults
}

fn companion_fold(criterion: &mut Criterion) {
    let documents = documents();
    let kinds = ["turn/start", "turn/end", "step/start", "step/end", "tool/call", "tool/result"];
    let events = documents.len() as u64;
    let mut group = criterion.benchmark_group("companion_fold");
    group.throughput(Throughput::Elements(events));
    group.bench_function("session", |bencher| {
        bencher.iter(|| {
            // The first companion is the host's own, of turns, steps and tools.
            let mut session = companions(&Settings::default()).swap_remove(0);
            let faults = fold(&mut *session, &documents, &kinds);
            assert_eq!(faults, 0, "the log is lawful");
        });
    });
    group.finish();
}

criterion_group!(benches, companion_fold);
criterion_main!(benches);
