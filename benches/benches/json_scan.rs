//! How many bytes a second the scanner takes, on the three kinds of line that logs are made of, and
//! on a log that has all of them.
//!
//! `cargo bench -p gatelog-benches --bench json_scan` prints the throughput of each. The texts are
//! made here, from a fixed seed: what real logs look like, none of their content.

#![expect(missing_docs, reason = "criterion makes public functions and gives them none")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gatelog_benches::{Encoding, Random, log};
use gatelog_engine::json::{Push, Scanner, Tape};

/// Bytes of each text: more than the caches hold.
const TEXT_BYTES: usize = 8 << 20;

/// What a model's answer is cut into.
const TOKENS: [&str; 24] = [
    "Hel",
    "lo",
    " world",
    ",",
    " the",
    " function",
    "\\n",
    " returns",
    " a",
    " `Result`",
    "\\n\\n",
    "##",
    " \\\"quoted\\\"",
    " of",
    " errors",
    "é",
    " 世界",
    ".",
    " implementation",
    "(",
    "self",
    ")",
    " is",
    " so",
];

fn token(random: &mut Random) -> &'static str {
    TOKENS[random.below(TOKENS.len() as u64) as usize]
}

/// Makes lines until there is enough text; `line` gets the number of the next event.
fn lines(mut line: impl FnMut(&mut Random, &mut u64) -> String) -> String {
    let (mut random, mut seq, mut text) = (Random::new(1), 1, String::new());
    while text.len() < TEXT_BYTES {
        text.push_str(&line(&mut random, &mut seq));
        text.push('\n');
    }
    text
}

/// Rows that hold a run of chunks each.
fn packed_rows() -> String {
    lines(|random, seq| {
        let count = 3 + random.below(120);
        let gaps: Vec<_> = (1..count).map(|_| random.below(40).to_string()).collect();
        let texts: Vec<_> = (0..count).map(|_| format!("\"{}\"", token(random))).collect();
        let (seq0, time0) = (*seq, 1_790_000_000_000 + *seq * 17);
        *seq += count;
        let (dt, texts) = (gaps.join(","), texts.join(","));
        format!(
            "{{\"type\":\"text-chunks\",\"seq0\":{seq0},\"time0\":{time0},\"data\":{{\"turn\":3,\
             \"step\":1,\"index\":0,\"dt\":[{dt}],\"texts\":[{texts}]}}}}"
        )
    })
}

/// One chunk a line.
fn loose_events() -> String {
    lines(|random, seq| {
        let (token, time) = (token(random), 1_790_000_000_000 + *seq * 17);
        *seq += 1;
        format!(
            "{{\"type\":\"assistant/chunk\",\"seq\":{seq},\"time\":{time},\"data\":{{\"turn\":3,\
             \"step\":1,\"chunk\":{{\"type\":\"text-delta\",\"index\":0,\"text\":\"{token}\"}}}}}}"
        )
    })
}

/// Results of tools: some KB of program text or listing each, escaped.
fn tool_results() -> String {
    lines(|random, seq| {
        let (mut text, mut column) = (String::new(), 0);
        for _ in 0..500 + random.below(4_000) {
            text.push_str(token(random));
            column += 1;
            if random.below(60) < column {
                text.push_str("\\n    ");
                column = 0;
            }
        }
        let time = 1_790_000_000_000 + *seq * 17;
        *seq += 1;
        format!(
            "{{\"type\":\"tool/result\",\"seq\":{seq},\"time\":{time},\"data\":{{\"turn\":3,\
             \"step\":1,\"message\":{{\"role\":\"tool\",\"id\":\"m-{seq}\",\
             \"callId\":\"call_{seq}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\
             \"isError\":false}}}},\"sourceEventSeqs\":[{seq}],\"surfaceOp\":\"append\"}}"
        )
    })
}

fn scan(criterion: &mut Criterion) {
    let (whole, _) = log(1, TEXT_BYTES, Encoding::Plain);
    let mixes = [
        ("packed", packed_rows()),
        ("loose", loose_events()),
        ("tool-results", tool_results()),
        ("log", String::from_utf8(whole).expect("a log in plain text")),
    ];
    let mut group = criterion.benchmark_group("json_scan");
    for (name, text) in &mixes {
        group.throughput(Throughput::Bytes(text.len() as u64));
        let lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        group.bench_function(format!("scanner/{name}"), |bencher| {
            let (mut scanner, mut tape) = (Scanner::new(), Tape::new());
            bencher.iter(|| {
                for line in &lines {
                    tape.clear();
                    let root = scanner.scan(black_box(line), &mut tape).expect("a sound line");
                    black_box(root);
                }
            });
        });
        group.bench_function(format!("push/{name}"), |bencher| {
            bencher.iter(|| {
                for line in &lines {
                    let mut push = Push::new();
                    push.push(black_box(line));
                    black_box(push.finish().expect("a sound line"));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scan);
criterion_main!(benches);
