//! Verification against bare decoding: what a log costs with all that is asked of it, in two
//! threads, and what libzstd alone takes for its frames in one.
//!
//! `cargo bench --bench verify_speed [-- MEGABYTES [ROUNDS]]`; 100 MB and 7 rounds by default. The
//! two are timed in turn, so that a machine that slows down slows both.

use gatelog_benches::{Encoding, log};
use gatelog_engine::dsh::discover::{Options as Place, discover};
use gatelog_engine::storage::Disk;
use gatelog_validator::report::Verdict;
use gatelog_validator::verify::{Options, verify};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zstd_safe::{DCtx, InBuffer, OutBuffer};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut number = |default: usize| {
        arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(default)
    };
    let (megabytes, rounds) = (number(100), number(7));
    let (bytes, text_bytes) = log(1, megabytes * 1_000_000, Encoding::Zstd);
    let root = std::env::temp_dir().join(format!("gatelog-verify-speed-{}", std::process::id()));
    let dir = root.join("_no-cwd/bench");
    std::fs::create_dir_all(&dir).expect("a temporary folder can be made");
    let path = dir.join("session.jsonl.zstd");
    std::fs::write(&path, &bytes).expect("the log can be written");
    let (mut decoding, mut verifying) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        decoding.push(decode(&bytes, text_bytes));
        verifying.push(verification(&path, 2));
    }
    let _ = std::fs::remove_dir_all(&root);
    let (decoding, verifying) = (Spread::of(decoding), Spread::of(verifying));
    println!("{} bytes on disk, {text_bytes} bytes of text, {rounds} rounds", bytes.len());
    println!("libzstd alone, 1 thread     {decoding}");
    println!("verification, 2 threads     {verifying}");
    println!("verification / libzstd      {:.2} (medians)", verifying.median / decoding.median);
}

/// Decodes every frame with libzstd and nothing else; gives seconds.
fn decode(bytes: &[u8], text_bytes: u64) -> f64 {
    let started = Instant::now();
    let mut context = DCtx::create();
    let mut out: Vec<u8> = Vec::with_capacity(1 << 20);
    let (mut at, mut total) = (0, 0u64);
    while at < bytes.len() {
        let mut input = InBuffer::around(&bytes[at..]);
        loop {
            out.clear();
            let mut output = OutBuffer::around(&mut out);
            let hint = context.decompress_stream(&mut output, &mut input).expect("it decodes");
            total += output.pos() as u64;
            if hint == 0 {
                break;
            }
        }
        at += input.pos();
    }
    assert_eq!(total, text_bytes);
    started.elapsed().as_secs_f64()
}

/// Verifies the log with all companions; gives seconds.
fn verification(path: &Path, threads: usize) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.expect("threads can be had");
    let started = Instant::now();
    let found = discover(&Disk, path, &Place { base: PathBuf::from("/") });
    let report = pool.install(|| verify(&Disk, &found.targets[0], &Options::default(), &|_| {}));
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!(report.verdict, Verdict::Sound, "{:?}", report.findings);
    seconds
}

/// The least, the middle and the greatest of some figures.
struct Spread {
    least: f64,
    median: f64,
    greatest: f64,
}

impl Spread {
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        let least = figures.first().copied().unwrap_or(0.0);
        let greatest = figures.last().copied().unwrap_or(0.0);
        Self { least, median: figures.get(figures.len() / 2).copied().unwrap_or(0.0), greatest }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { least, median, greatest } = self;
        write!(
            formatter,
            "{least:.3} s / {median:.3} s / {greatest:.3} s (least, median, greatest)"
        )
    }
}
