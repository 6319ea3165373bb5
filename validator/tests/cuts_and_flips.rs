//! Small logs cut at every byte, and with every bit turned over.

#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use gatelog_validator::report::{HostAct, Verdict};
use support::{answer, check_consistent, report};
use twin::container;

/// A lawful log of format 0 with a bit of everything in it.
const LOG: &str = concat!(
    r#"{"type":"session","version":0,"id":"s","createdAt":1,"cwd":"/p","delegationDepth":0}"#,
    "\n",
    r#"{"type":"turn/start","seq":0,"time":5,"data":{"turn":1}}"#,
    "\n",
    r#"{"type":"step/start","seq":1,"time":5,"data":{"turn":1,"step":1}}"#,
    "\n",
    r#"{"type":"user/message","seq":2,"time":5,"data":{"id":"m","role":"user","content":[],"#,
    r#""source":{"kind":"user"}},"surfaceOp":"append"}"#,
    "\n",
    r#"{"type":"text-chunks","seq0":3,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1,0],"#,
    r#""texts":["a","\u00e9","c"]}}"#,
    "\n",
    r#"{"type":"assistant/message","seq":6,"time":9,"data":{"turn":1,"step":1,"message":{"#,
    r#""id":"a","role":"assistant","content":[{"type":"tool-call","id":"c","name":"t"}],"#,
    r#""source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}"#,
    "\n",
    r#"{"type":"tool/call","seq":7,"time":9,"data":{"turn":1,"step":1,"callId":"c","name":"t"}}"#,
    "\n",
    r#"{"type":"tool/result","seq":8,"time":9,"data":{"turn":1,"step":1,"message":{"id":"r","#,
    r#""role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","#,
    r#""toolCallId":"c","content":[]}]}},"sourceEventSeqs":[7],"surfaceOp":"append"}"#,
    "\n",
    r#"{"type":"tool/result","seq":9,"time":9,"data":{"turn":1,"step":1,"message":{"id":"r","#,
    r#""role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","#,
    r#""toolCallId":"c","content":[1]}]}},"sourceEventSeqs":[8],"#,
    r#""surfaceOp":{"op":"replace","start":8,"end":8}}"#,
    "\n",
    r#"{"type":"x/y","seq":10,"time":9,"data":null,"ignorable":true}"#,
    "\n",
    r#"{"type":"step/end","seq":11,"time":9,"data":{"turn":1,"step":1}}"#,
    "\n",
    r#"{"type":"turn/end","seq":12,"time":9,"data":{"turn":1,"reason":{"kind":"completed"}}}"#,
    "\n",
    r#"{"type":"turn/start","seq":13,"time":9,"data":{"turn":2}}"#,
    "\n",
);

/// The ends of all lines of the log, the header's first.
fn line_ends() -> Vec<usize> {
    LOG.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect()
}

/// The log in stored frames of a few lines each; with it where the frames end.
fn stored() -> (Vec<u8>, Vec<usize>) {
    let (mut log, mut ends) = (Vec::new(), Vec::new());
    let mut start = 0;
    for end in line_ends().into_iter().step_by(3).chain([LOG.len()]) {
        log.extend(container::frame(&LOG.as_bytes()[start..end], 50, true));
        ends.push(log.len());
        start = end;
    }
    (log, ends)
}

/// A compressed log of the fixtures, as the host frames them, and where its frames end.
fn compressed() -> (Vec<u8>, Vec<usize>) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../fixtures/demo/--home-ann-shop--/77a0b9e4-login-form/session.jsonl.zstd"
    );
    let log = std::fs::read(path).expect("the fixture is there");
    let ends = container::ends(&log);
    (log, ends)
}

/// Cuts a log at every byte; `ends` are where what is kept may end, the header's end first.
fn cut_everywhere(log: &[u8], zstd: bool, ends: &[usize]) {
    let whole = report(log, zstd);
    assert_eq!(whole.verdict, Verdict::Sound, "{whole:?}");
    let mut before = 0;
    for cut in 0..log.len() {
        let report = report(&log[..cut], zstd);
        check_consistent(&report);
        if cut < ends[0] {
            let is_refused = report.host == HostAct::Refuses && report.verdict == Verdict::Corrupt;
            assert!(is_refused && report.events == 0, "{cut}: {report:?}");
            continue;
        }
        let kept = ends.iter().rfind(|end| **end <= cut).expect("at least the header");
        assert_eq!(report.lost.bytes, (cut - kept) as u64, "{cut}: {report:?}");
        let expected = if cut == *kept { Verdict::Sound } else { Verdict::Torn };
        assert_eq!(report.verdict, expected, "{cut}: {report:?}");
        assert!(
            report.lost.lines <= 1,
            "at most the partial one gives no event: {cut}: \
            {report:?}"
        );
        assert!(report.events >= before && report.events <= whole.events, "{cut}: {report:?}");
        before = report.events;
    }
}

#[test]
fn a_plain_log_cut_anywhere_is_torn_and_keeps_its_whole_lines() {
    cut_everywhere(LOG.as_bytes(), false, &line_ends());
    for cut in 0..LOG.len() {
        let log = &LOG.as_bytes()[..cut];
        assert_eq!(answer(&report(log, false)), twin::judge(log), "{cut}");
    }
}

#[test]
fn a_stored_log_cut_anywhere_is_torn_and_keeps_its_whole_frames() {
    let (log, ends) = stored();
    cut_everywhere(&log, true, &ends);
    for cut in 0..log.len() {
        let expected = container::judge(&log[..cut]).expect("frames that store");
        assert_eq!(answer(&report(&log[..cut], true)), expected, "{cut}");
    }
}

#[test]
fn a_compressed_log_cut_anywhere_is_torn_and_keeps_its_whole_frames() {
    let (log, ends) = compressed();
    assert!(ends.len() > 2 && ends.last() == Some(&log.len()), "{ends:?}");
    cut_everywhere(&log, true, &ends);
}

#[test]
fn a_plain_log_with_any_bit_turned_is_what_the_twin_says() {
    for at in 0..LOG.len() {
        for bit in 0..8 {
            let mut log = LOG.as_bytes().to_vec();
            log[at] ^= 1 << bit;
            let report = report(&log, false);
            check_consistent(&report);
            assert_eq!(answer(&report), twin::judge(&log), "byte {at}, bit {bit}: {report:?}");
        }
    }
}

#[test]
fn a_plain_log_with_any_byte_replaced_is_what_the_twin_says() {
    for at in 0..LOG.len() {
        for byte in *b"\0\n\r \"{}[],:-0\\\x80\xFF" {
            let mut log = LOG.as_bytes().to_vec();
            log[at] = byte;
            let report = report(&log, false);
            check_consistent(&report);
            assert_eq!(answer(&report), twin::judge(&log), "byte {at} is {byte}: {report:?}");
        }
    }
}

#[test]
fn a_plain_log_without_any_one_byte_is_what_the_twin_says() {
    for at in 0..LOG.len() {
        let log = [&LOG.as_bytes()[..at], &LOG.as_bytes()[at + 1..]].concat();
        let report = report(&log, false);
        check_consistent(&report);
        assert_eq!(answer(&report), twin::judge(&log), "without byte {at}: {report:?}");
    }
}

#[test]
fn a_stored_log_with_any_bit_turned_is_what_the_twin_says_where_it_has_a_word() {
    let (log, _) = stored();
    let mut said = 0;
    for at in 0..log.len() {
        for bit in 0..8 {
            let mut log = log.clone();
            log[at] ^= 1 << bit;
            let report = report(&log, true);
            check_consistent(&report);
            if let Some(expected) = container::judge(&log) {
                said += 1;
                assert_eq!(answer(&report), expected, "byte {at}, bit {bit}: {report:?}");
            }
        }
    }
    // A checksum is all that most changes of the text break, and the twin does not say what
    // follows.
    assert!(said > 500, "{said}");
}

#[test]
fn a_compressed_log_with_any_bit_turned_is_refused_or_torn() {
    let (log, ends) = compressed();
    let whole = report(&log, true);
    let mut harmless = 0;
    for at in 0..log.len() {
        let mut log = log.clone();
        log[at] ^= 1 << (at % 8);
        let report = report(&log, true);
        check_consistent(&report);
        assert!(report.events <= whole.events, "byte {at}: {report:?}");
        // A checksum is of the text: the window that a frame asks for may change and nothing else.
        if report.verdict == Verdict::Sound {
            harmless += 1;
            assert_eq!(report.events, whole.events, "byte {at}: {report:?}");
        } else if at < ends[0] {
            assert_eq!(report.host, HostAct::Refuses, "the header's frame: byte {at}: {report:?}");
        }
    }
    assert!(harmless < log.len() / 50, "{harmless} of {} bytes", log.len());
}
