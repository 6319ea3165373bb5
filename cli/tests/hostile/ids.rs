//! Ids and numbers as long as a line: they are remembered in brief.

use crate::common::{event, header};
use crate::texts::{Fill, MIB, Part, hand_made, log_of, text};
use crate::watch::{BASE_MIB, watch_log};

const GIANT: u64 = 300_000_000;

/// The parts of a record in which `@` stands for an id of a mebibyte that starts with a number.
fn row(row: &str, number: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    for (at, piece) in row.split('@').enumerate() {
        if at > 0 {
            parts.extend([text(format!("\"{number}-")), Fill(b'a', MIB), text("\"")]);
        }
        parts.push(text(piece));
    }
    parts
}

fn opening() -> Vec<Part> {
    vec![
        text(event("turn/start", 0, "{\"turn\":1}")),
        text(event("step/start", 1, "{\"turn\":1,\"step\":1}")),
    ]
}

fn message(seq: u64) -> String {
    let data = "{\"turn\":1,\"step\":1,\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
        \"source\":{\"kind\":\"model\",\"provider\":\"p\",\"model\":\"m\"},\
        \"content\":[{\"type\":\"tool-call\",\"id\":@,\"name\":\"t\",\"arguments\":\"{}\"}]}}";
    event("assistant/message", seq, data).replacen('{', "{\"surfaceOp\":\"append\",", 1)
}

fn call(seq: u64) -> String {
    event("tool/call", seq, "{\"turn\":1,\"step\":1,\"callId\":@,\"name\":\"t\",\"args\":{}}")
}

fn result(seq: u64, op: &str) -> String {
    let data = "{\"turn\":1,\"step\":1,\"message\":{\"id\":@,\"role\":\"user\",\
        \"source\":{\"kind\":\"tool\",\"callId\":@},\"content\":[{\"type\":\"tool-result\",\
        \"toolCallId\":@,\"content\":[],\"isError\":false}]}}";
    event("tool/result", seq, data).replacen('{', &format!("{{\"surfaceOp\":{op},"), 1)
}

#[test]
fn open_calls_and_results_cost_nothing_for_the_length_of_their_ids() {
    let (mut open, mut closed) = (opening(), opening());
    for number in 0..200 {
        let seq = 2 + 2 * number;
        open.extend(row(&message(seq), number));
        open.extend(row(&call(seq + 1), number));
        let seq = 2 + 3 * number;
        closed.extend(row(&message(seq), number));
        closed.extend(row(&call(seq + 1), number));
        closed.extend(row(&result(seq + 2, "\"append\""), number));
    }
    let run = watch_log("200 open calls with ids of 1 MiB", &log_of(&open), 1024);
    let run = run.is("sound", 0, "turn/open-at-end").within(BASE_MIB).in_seconds(20.0);
    assert_eq!(run.report["closers"], 202);
    let run = watch_log("200 results with ids of 1 MiB", &log_of(&closed), 1024);
    let run = run.is("sound", 0, "turn/open-at-end").within(BASE_MIB).in_seconds(20.0);
    assert_eq!(run.report["closers"], 2);
}

#[test]
fn long_ids_are_told_apart_and_found_again() {
    let rewrite = |id| {
        let op = "{\"op\":\"replace\",\"start\":4,\"end\":4},\"sourceEventSeqs\":[4]";
        let mut parts = opening();
        parts.extend(row(&message(2), 1));
        parts.extend(row(&call(3), 1));
        parts.extend(row(&result(4, "\"append\""), 1));
        parts.extend(row(&result(5, op), id));
        watch_log("a result rewritten", &log_of(&parts), 1024)
    };
    rewrite(1).is("sound", 0, "turn/open-at-end");
    rewrite(2).is("violation", 1, "surface/result-rewrite");
    let mut parts = opening();
    parts.extend(row(&message(2), 1));
    parts.extend(row(&call(3), 1));
    parts.extend(row(&result(4, "\"append\""), 2));
    let run = watch_log("a result of another call", &log_of(&parts), 1024);
    run.is("violation", 1, "tool/result-without-call");
}

#[test]
fn a_header_or_a_turn_of_one_long_string_costs_at_most_twice_its_length() {
    let within = 2 * GIANT / MIB + BASE_MIB;
    for spelled in ["", "\\n", "ä"] {
        for key in ["id", "cwd", "agentPreset", "x"] {
            let header = header("s");
            let (before, value) = match key {
                "id" => header.split_once("\"id\":\"s").expect("it has one"),
                "cwd" => header.split_once("\"cwd\":\"/p").expect("it has one"),
                _ => header.split_once('{').expect("it is an object"),
            };
            let (open, close) = if matches!(key, "id" | "cwd") {
                (format!("{before}\"{key}\":\"/{spelled}"), value.to_owned())
            } else {
                (format!("{before}{{\"{key}\":\"{spelled}"), format!("\",{value}"))
            };
            let header = hand_made(&[text(open), Fill(b'a', GIANT), text(close)]);
            let log = [header, hand_made(&[text(event("turn/start", 0, "{\"turn\":1}"))])];
            let name = format!("a header whose {key} is long, with {spelled:?}");
            let run = watch_log(&name, &log.concat(), 2048);
            run.is("sound", 0, "turn/open-at-end").within(within).in_seconds(20.0);
        }
        let turn = [
            text(format!(
                "{{\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{{\"turn\":\"{spelled}"
            )),
            Fill(b'a', GIANT),
            text("\"}}\n"),
        ];
        let run = watch_log(&format!("a long turn, with {spelled:?}"), &log_of(&turn), 2048);
        run.is("violation", 1, "turn/start-number").within(within).in_seconds(60.0);
    }
}
