//! Reader and loader are held equal to their naive twin, on logs that are lawful, odd or broken.

#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use proptest::prelude::*;
use support::{answer, report};
use twin::Act;
use twin::container;
use twin::story::{Choices, framed, tell};

/// The twin's word is the report's, on a plain log.
fn check_plain(log: &[u8]) {
    let shown = || String::from_utf8_lossy(log).into_owned();
    assert_eq!(answer(&report(log, false)), twin::judge(log), "{}", shown());
}

/// The same on a compressed one, where the twin has a word.
fn check_framed(log: &[u8]) {
    if let Some(expected) = container::judge(log) {
        assert_eq!(answer(&report(log, true)), expected, "{log:?}");
    }
}

/// How many cases run: 3,000, or what `PROPTEST_CASES` says.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(3000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_plain_log_has_the_answer_of_the_twin(
        tape in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        check_plain(&tell(&mut Choices::new(&tape)));
    }

    #[test]
    fn a_compressed_log_has_the_answer_of_the_twin(
        tape in proptest::collection::vec(any::<u8>(), 0..600),
        frames in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let text = tell(&mut Choices::new(&tape));
        check_framed(&framed(&text, &mut Choices::new(&frames)));
    }
}

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\
    \"delegationDepth\":0}\n";

/// Returns an event of a type, with more members if there are any.
fn row(kind: &str, seq: usize, data: &str, more: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"seq\":{seq},\"time\":1,\"data\":{data}{more}}}\n")
}

fn user(seq: usize, op: &str) -> String {
    let data = r#"{"id":"m","role":"user","content":[],"source":{"kind":"user"}}"#;
    row("user/message", seq, data, &format!(",{op}"))
}

/// Corners that a story comes to seldom or never, with what the host does.
#[test]
fn corners_have_the_answer_of_the_twin() {
    use Act::{Loads, Refuses, Repairs};
    let append = "\"surfaceOp\":\"append\"";
    let three = user(0, append) + &user(1, append) + &user(2, append);
    let replace = |start: &str, end: &str, sources: &str| {
        let op = format!("{{\"op\":\"replace\",\"start\":{start},\"end\":{end}}}");
        three.clone() + &user(3, &format!("\"surfaceOp\":{op},\"sourceEventSeqs\":{sources}"))
    };
    let start = |data: &str| row("turn/start", 0, data, "");
    let end = |reason: &str| row("turn/end", 0, &format!("{{\"turn\":1,\"reason\":{reason}}}"), "");
    let packed = |time0: &str, gap: &str| {
        format!(
            "{{\"type\":\"text-chunks\",\"seq0\":0,\"time0\":{time0},\"data\":{{\"turn\":1,\
             \"step\":1,\"index\":0,\"dt\":[{gap}],\"texts\":[\"a\",\"b\"]}}}}\n"
        )
    };
    let odd_seq = |seq: &str| format!("{{\"type\":\"x\",\"seq\":{seq}}}\n");
    let old = |start: &str| {
        let op = format!("\"surfaceOp\":{{\"op\":\"replace\",\"start\":{start},\"end\":{start}}}");
        let data = r#"{"callId":"c","content":[],"isError":false}"#;
        let first = row("tool/result", 0, data, ",\"surfaceOp\":\"append\"");
        let again = row("tool/result", 1, data, &format!(",{op},\"sourceEventSeqs\":[0]"));
        first + &again
    };
    let call = |id: &str| {
        let data = format!(
            "{{\"message\":{{\"id\":\"a\",\"role\":\"assistant\",\
             \"content\":[{{\"type\":\"tool-call\",\"id\":{id}}}],\"source\":{{\"kind\":\"model\",\
             \"provider\":\"p\",\"model\":\"m\"}}}}}}"
        );
        start("{\"turn\":1}") + &row("assistant/message", 1, &data, ",\"surfaceOp\":\"append\"")
    };
    let cases = [
        (replace("0", "2", "[2,1,0]"), Loads),
        (replace("2", "0", "[0,1,2]"), Refuses),
        (replace("-0", "1.0", "[1,-0]"), Loads),
        (replace("0", "2", "[0,1]"), Refuses),
        (start("{\"turn\":null}"), Loads),
        (start("{}"), Repairs),
        (start("[]"), Repairs),
        (start("null"), Refuses),
        (start("{\"turn\":1}") + &row("step/start", 1, "{\"step\":null}", ""), Repairs),
        (packed("9007199254740991", "0"), Loads),
        (packed("9007199254740991", "1"), Repairs),
        (packed("-9007199254740991", "-1"), Repairs),
        (end(r#"{"kind":"error","step":0,"message":""}"#), Loads),
        (end(r#"{"kind":"error","step":-1,"message":""}"#), Refuses),
        (end(r#"{"kind":"error","message":""}"#), Refuses),
        (odd_seq("[{\"toString\":1}]"), Refuses),
        (odd_seq("[[{\"toString\":null}]]"), Refuses),
        (odd_seq("[{\"x\":{\"toString\":1}}]"), Repairs),
        (odd_seq("[null,[],{}]"), Repairs),
        (old("0"), Loads),
        (old("-0"), Loads),
        (old("1"), Refuses),
        (old("0.5"), Refuses),
        (row("request/header", 0, "null", ""), Refuses),
        (row("request/header", 0, "5", ""), Refuses),
        (call("\"c\""), Repairs),
        (call("\"\""), Refuses),
        (call("{}"), Refuses),
        (call("{}") + &row("turn/end", 2, r#"{"turn":1,"reason":{"kind":"x"}}"#, ""), Loads),
    ];
    for (rows, act) in cases {
        let log = HEADER.to_owned() + &rows;
        check_plain(log.as_bytes());
        assert_eq!(twin::judge(log.as_bytes()).host, act, "{log}");
        let framed =
            [HEADER, &rows].map(|text| container::frame(text.as_bytes(), 9, true)).concat();
        check_framed(&framed);
    }
    let [header, empty] = [HEADER, ""].map(|text| container::frame(text.as_bytes(), 9, true));
    for frames in [&[&empty, &header], &[&header, &empty]] {
        check_framed(&frames.map(Vec::as_slice).concat());
    }
}

/// The generator is worth something: each answer is given often, and logs have a length.
#[test]
fn stories_end_in_all_ways() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    let mut counts = [0usize; 3];
    let mut events = 0;
    for round in 0..1000 {
        let tape: Vec<u8> = (0..round % 600).map(|_| next()).collect();
        let answer = twin::judge(&tell(&mut Choices::new(&tape)));
        counts[answer.host as usize] += 1;
        events += answer.events;
    }
    println!("loads, repairs, refuses: {counts:?}; {events} events");
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    assert!(events > 3000, "{events}");
}

#[test]
fn the_hash_of_the_frames_is_the_one_that_libzstd_checks() {
    for bytes in [0, 1, 3, 4, 7, 8, 11, 31, 32, 33, 63, 64, 100, 1000] {
        let mut text = vec![b' '; bytes];
        text.push(b'\n');
        let header = container::frame(
            b"{\"type\":\"session\",\"version\":0,\"id\":\"s\",\
            \"createdAt\":1,\"delegationDepth\":0}\n",
            9,
            true,
        );
        let log = [header, container::frame(&text, 9, true)].concat();
        // The frame decodes: its blank line is what is found.
        let report = report(&log, true);
        assert_eq!(report.findings[0].rule, "line/blank", "{bytes}: {report:?}");
    }
}
