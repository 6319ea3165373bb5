//! The structural walk over a log's frames, in bytes on disk a second.
#![expect(missing_docs, reason = "criterion writes the functions of a group")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::{Encoding, log};
use gatelog_engine::dsh::frame::Walk;
use gatelog_engine::storage::{Memory, Storage as _};
use std::path::Path;

fn frame_walk(criterion: &mut Criterion) {
    let (bytes, _) = log(1, 8 << 20, Encoding::Zstd);
    let length = bytes.len() as u64;
    let path = Path::new("/log");
    let file = Memory::new().file(path, bytes).open(path).expect("the file is there");
    let mut group = criterion.benchmark_group("frame_walk");
    group.throughput(Throughput::Bytes(length));
    group.bench_function("8 MiB of frames", |bencher| {
        bencher.iter(|| {
            let mut walk = Walk::new(&*file, length);
            while walk.next_frame().expect("memory can be read").is_some() {}
            assert_eq!(walk.complete_bytes, length);
            walk.frames
        });
    });
    group.finish();
}

criterion_group!(benches, frame_walk);
criterion_main!(benches);
