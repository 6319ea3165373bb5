//! Values that are deep, wide or many, and words that are long.

use crate::common::{event, header};
use crate::texts::{MIB, log_of, long_line};
use crate::watch::{BASE_MIB, watch_log, watch_plain};

#[test]
fn nesting_of_any_depth_is_judged_without_a_stack() {
    for depth in [100_000, 2_000_000] {
        let array = "[".repeat(depth) + &"]".repeat(depth);
        let object = "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
        let opaque = |seq, data: &str| {
            format!(
                "{{\"type\":\"x/y\",\"seq\":{seq},\"time\":1,\"ignorable\":true,\"data\":{data}}}\n"
            )
        };
        let message = |seq, content: &str| {
            format!(
                "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
                 \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[{content}]}},\
                 \"surfaceOp\":\"append\"}}\n"
            )
        };
        let odd = |key: &str, value: &str| format!("{{\"type\":\"x\",\"{key}\":{value}}}\n");
        let start = |turn: &str| event("turn/start", 0, &format!("{{\"turn\":{turn}}}"));
        let cases = [
            ("payloads that nobody reads", opaque(0, &array) + &opaque(1, &object), "sound", 0),
            ("messages", start("1") + &message(1, &array) + &message(2, &object), "sound", 0),
            ("a seq", odd("seq", &array), "torn", 0),
            ("a seq of objects", odd("seq", &object), "torn", 0),
            ("a type", odd("type", &array), "torn", 0),
            ("a turn, printed in the closer", start(&array), "violation", 1),
        ];
        for (what, rows, verdict, code) in cases {
            let run = watch_plain(&format!("depth {depth}: {what}"), header("s") + &rows, 1024);
            run.is(verdict, code, "")
                .within(BASE_MIB + 25 * depth as u64 * 8 / MIB)
                .in_seconds(10.0);
        }
        let deep = header("s").replacen('{', &format!("{{\"x\":{object},"), 1);
        let run = watch_plain(&format!("depth {depth}: the header"), deep + &start("1"), 1024);
        run.is("sound", 0, "turn/open-at-end").in_seconds(10.0);
    }
}

#[test]
fn wide_and_dense_values_are_judged_in_little_more_than_their_own_memory() {
    let members: Vec<String> = (0..1_000_000).map(|at| format!("\"k{at}\":1")).collect();
    let wide = members.join(",");
    let same = vec!["\"k\":1"; 1_000_000].join(",");
    let dense = format!("[{}{{}}]", "{},".repeat(1_000_000));
    let opaque = |data: &str| {
        format!("{{\"type\":\"x/y\",\"seq\":0,\"time\":1,\"ignorable\":true,\"data\":{data}}}\n")
    };
    let old = format!("{{{wide},\"content\":[],\"source\":{{\"kind\":\"user\"}}}}");
    let old = event("user/message", 0, &old).replacen('{', "{\"surfaceOp\":\"append\",", 1);
    let result = |seq, op: &str| {
        event(
            "tool/result",
            seq,
            &format!(
                "{{\"meta\":{{{wide}}},\"message\":{{\"id\":\"r\",\"role\":\"user\",\
                 \"source\":{{\"kind\":\"tool\",\"callId\":\"c\"}},\
                 \"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"c\",\"content\":[]}}]}}}}"
            ),
        )
        .replacen('{', &format!("{{{op},"), 1)
    };
    let rewritten = result(0, "\"surfaceOp\":\"append\"")
        + &result(
            1,
            "\"sourceEventSeqs\":[0],\"surfaceOp\":{\"op\":\"replace\",\"start\":0,\"end\":0}",
        );
    let end = |data: String| event("turn/end", 0, &data);
    for (name, rows, verdict, code) in [
        ("1,000,000 members, no rule reads them", opaque(&format!("{{{wide}}}")), "sound", 0),
        ("1,000,000 members of one key", opaque(&format!("{{{same}}}")), "sound", 0),
        ("1,000,000 members of an old message", old, "sound", 0),
        ("1,000,000 members of a turn/end", end(format!("{{{wide}}}")), "violation", 1),
        ("1,000,000 members, compared", rewritten, "violation", 1),
        ("1,000,000 members of an envelope", format!("{{{wide}}}\n"), "torn", 0),
        ("1,000,000 empty objects in a list", opaque(&dense), "sound", 0),
    ] {
        let run = watch_plain(name, header("s") + &rows, 2048);
        run.is(verdict, code, "").within(400).in_seconds(10.0);
    }
    let many = header("s") + &format!("{dense}\n").repeat(10);
    let run = watch_plain("10 lines of 1,000,000 empty objects", many, 2048);
    run.is("torn", 0, "").within(500).in_seconds(10.0);
}

#[test]
fn packed_rows_and_sources_by_the_million_are_judged_in_seconds() {
    let row = |seq: usize, members: usize| {
        let (gaps, texts) = (vec!["0"; members - 1].join(","), vec!["\"a\""; members].join(","));
        format!(
            "{{\"type\":\"text-chunks\",\"seq0\":{seq},\"time0\":1,\"data\":{{\"turn\":1,\
             \"step\":1,\"index\":0,\"dt\":[{gaps}],\"texts\":[{texts}]}}}}\n"
        )
    };
    let rows: String = (0..100_000).map(|at| row(3 * at, 3)).collect();
    let run = watch_plain("100,000 packed rows", header("s") + &rows, 1024);
    let run = run.is("violation", 1, "step/event-outside").within(BASE_MIB).in_seconds(10.0);
    assert_eq!(run.report["events"], 300_000);
    // The host loads them both: the reader has nothing against chunks outside a step.
    assert_eq!(run.report["host"], "loads");
    let mut sources: Vec<String> = (0..1_000_000).map(|seq| seq.to_string()).collect();
    let message = |seq: u64, sources: &[String]| {
        let data = "{\"id\":\"m\",\"role\":\"user\",\"source\":{\"kind\":\"user\"},\"content\":[]}";
        let more =
            format!("{{\"surfaceOp\":\"append\",\"sourceEventSeqs\":[{}],", sources.join(","));
        event("user/message", seq, data).replacen('{', &more, 1)
    };
    let sorted = message(1_000_000, &sources);
    sources.reverse();
    let log = header("s") + &row(0, 1_000_000) + &sorted + &message(1_000_001, &sources);
    let run = watch_plain("1,000,000 sources, twice", log, 1024);
    let run = run.is("violation", 1, "step/event-outside").within(300).in_seconds(10.0);
    assert_eq!((&run.report["host"], &run.report["events"]), (&"loads".into(), &1_000_002.into()));
}

#[test]
fn replacements_by_the_hundred_thousand_are_judged_in_seconds() {
    let message = |seq: usize, op: &str| {
        format!(
            "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
             \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[]}},{op}}}\n"
        )
    };
    let count = 100_000;
    let mut log = header("s");
    (0..count).for_each(|seq| log += &message(seq, "\"surfaceOp\":\"append\""));
    for seq in count..2 * count {
        let node = seq - 1;
        let op = format!(
            "\"sourceEventSeqs\":[{node}],\"surfaceOp\":{{\"op\":\"replace\",\"start\":{node},\
             \"end\":{node}}}"
        );
        log += &message(seq, &op);
    }
    let run = watch_plain("100,000 replacements of the last message", log, 1024);
    run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn words_of_a_mebibyte_are_not_repeated_in_every_message() {
    let unknown =
        |seq: usize| format!("{{\"type\":\"zz\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n");
    let rows: String = (0..2000).map(unknown).collect();
    let log = header(&"a".repeat(1 << 20)) + &rows;
    let run = watch_plain("an id of 1 MiB, 2,000 refusals", log, 2048);
    run.is("unsupported", 1, "envelope/unknown-type").within(BASE_MIB).in_seconds(10.0);
    let line = |seq: usize| {
        let after = format!("\",\"seq\":{seq},\"time\":1,\"data\":{{}}}}\n");
        long_line("{\"type\":\"", MIB, &after)
    };
    let log = log_of(&(0..900).flat_map(line).collect::<Vec<_>>());
    let run = watch_log("types of 1 MiB, 900 refusals", &log, 2048);
    run.is("unsupported", 1, "envelope/unknown-type").within(BASE_MIB).in_seconds(10.0);
}
