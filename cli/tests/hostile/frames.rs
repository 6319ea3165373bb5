//! Frames that expand beyond measure, and frames beyond number.

use crate::common::{event, frame, header};
use crate::texts::{Fill, MIB, hand_made, log_of, long_line, text};
use crate::watch::{BASE_MIB, watch_log};

#[test]
fn a_frame_of_256_mib_is_judged_in_the_memory_of_any_other() {
    let letters = [Fill(b'a', 256 * MIB)];
    let first = hand_made(&letters);
    assert!((8100..8300).contains(&first.len()), "{}", first.len());
    let run = watch_log("256 MiB of letters, first frame", &first, 1024);
    run.is("corrupt", 1, "container/first-frame-open").within(BASE_MIB).in_seconds(10.0);
    let run = watch_log("256 MiB of letters, later frame", &log_of(&letters), 1024);
    run.is("corrupt", 1, "container/split-record").within(BASE_MIB).in_seconds(10.0);
    let run = watch_log("256 MiB of NULs, later frame", &log_of(&[Fill(0, 256 * MIB)]), 1024);
    run.is("corrupt", 1, "container/split-record").within(BASE_MIB).in_seconds(10.0);
    let run =
        watch_log("256 MiB of NULs on a line", &log_of(&[Fill(0, 256 * MIB), text("\n")]), 1024);
    run.is("corrupt", 1, "line/nul-run").within(BASE_MIB).in_seconds(10.0);
    let mut torn = log_of(&letters);
    torn.truncate(torn.len() - 2);
    let run = watch_log("256 MiB of letters, torn frame", &torn, 1024);
    run.is("torn", 0, "tail/torn-frame").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn a_frame_of_4_gib_is_stopped_at_the_limit_and_the_limit_is_named() {
    let bomb = [Fill(b'a', 4096 * MIB)];
    let mut torn = log_of(&bomb);
    torn.truncate(torn.len() - 2);
    for (name, log) in [
        ("4 GiB of letters, first frame", hand_made(&bomb)),
        ("4 GiB of letters, later frame", log_of(&bomb)),
        ("4 GiB of letters, torn frame", torn),
    ] {
        let run = watch_log(name, &log, 1024);
        let run = run.is("unreadable", 2, "limit/frame").within(BASE_MIB).in_seconds(15.0);
        let message = run.finding("limit/frame").expect("just seen")["message"].to_string();
        let is_named = message.contains("1073741824") && message.contains("--max-frame-bytes");
        assert!(is_named, "{message}");
    }
}

fn feeds(bytes: u64) -> Vec<u8> {
    log_of(&[Fill(b'\n', bytes)])
}

#[test]
fn a_frame_of_line_feeds_is_judged_in_seconds() {
    let run = watch_log("32 MiB of line feeds, one frame", &feeds(32 * MIB), 1024);
    run.is("corrupt", 1, "line/blank").within(BASE_MIB).in_seconds(10.0);
}

#[test]
fn frames_of_short_lines_cost_no_more_than_their_text() {
    for (name, unit, rule) in [
        ("12 frames of 4 MiB of line feeds", "\n", "line/blank"),
        ("48 frames of 1 MiB of `0` lines", "0\n", "envelope/not-an-event"),
        ("48 frames of 1 MiB of `{}` lines", "{}\n", "envelope/not-an-event"),
        ("48 frames of 1 MiB of `[[],[]]` lines", "[[],[],[],[],[],[]]\n", "envelope/not-an-event"),
    ] {
        let frames = match unit {
            "\n" => hand_made(&[Fill(b'\n', 4 * MIB)]).repeat(12),
            _ => frame(&unit.repeat(MIB as usize / unit.len())).repeat(48),
        };
        let log = [hand_made(&[text(header("s"))]), frames].concat();
        let run = watch_log(name, &log, 4096);
        run.is("corrupt", 1, rule).within(400).in_seconds(30.0);
    }
}

#[test]
fn a_lawful_log_of_200_mib_from_a_few_kilobytes_is_sound_in_flat_memory() {
    let start = event("turn/start", 0, "{\"turn\":1}");
    let end = |seq| event("turn/end", seq, "{\"turn\":1,\"reason\":{\"kind\":\"completed\"}}");
    let message = |seq, bytes| {
        let before = format!(
            "{{\"type\":\"user/message\",\"seq\":{seq},\"time\":1,\"data\":{{\"id\":\"m\",\
             \"role\":\"user\",\"source\":{{\"kind\":\"user\"}},\"content\":[{{\"type\":\"text\",\
             \"text\":\""
        );
        long_line(&before, bytes, "\"}]},\"surfaceOp\":\"append\"}\n")
    };
    let mut parts = vec![text(&start)];
    parts.extend((0..100).flat_map(|at| message(1 + at, 2 * MIB)));
    parts.push(text(end(101)));
    let log = log_of(&parts);
    assert!(log.len() < 35_000, "{}", log.len());
    let run = watch_log("200 MiB of messages, one frame", &log, 1024);
    let run = run.is("sound", 0, "").within(BASE_MIB).in_seconds(15.0);
    assert_eq!(run.report["events"], 102);
    let mut log = [hand_made(&[text(header("s"))]), hand_made(&[text(&start)])].concat();
    (0..50).for_each(|at| log.extend(hand_made(&message(1 + at, 4 * MIB - 4096))));
    log.extend(hand_made(&[text(end(51))]));
    assert!(log.len() < 23_000, "{}", log.len());
    let run = watch_log("200 MiB of messages, 50 frames", &log, 2048);
    let run = run.is("sound", 0, "").within(300).in_seconds(15.0);
    assert_eq!(run.report["events"], 52);
}

#[test]
fn many_small_frames_are_cheap() {
    let mut log = frame(&header("s"));
    for at in 0..10_000 {
        log.extend(frame(&event("turn/start", 2 * at, &format!("{{\"turn\":{}}}", at + 1))));
        let data = format!("{{\"turn\":{},\"reason\":{{\"kind\":\"completed\"}}}}", at + 1);
        log.extend(frame(&event("turn/end", 2 * at + 1, &data)));
    }
    let run = watch_log("20,000 frames of one event", &log, 1024);
    let run = run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
    assert_eq!(run.report["events"], 20_000);
    let log = [hand_made(&[text(header("s"))]), hand_made(&[text("")]).repeat(1_000_000)].concat();
    let run = watch_log("1,000,000 empty frames", &log, 1024);
    run.is("sound", 0, "").within(BASE_MIB).in_seconds(10.0);
}
