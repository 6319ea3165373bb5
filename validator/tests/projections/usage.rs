//! Usage is counted once, whatever forks, streams and retries repeat.

use super::{Draft, Folding, Value, all, header, shown, with_event};
use gatelog_engine::rules::SessionHeader;

fn header_of_fork(inherited: u64) -> SessionHeader {
    let json = super::gate::HEADER.replace('}', &format!(",\"seedLength\":{inherited}}}"));
    SessionHeader { json: json.into(), ..header() }
}

/// Returns requests, input and output that are counted.
fn counted(header: &SessionHeader, log: &[Draft]) -> (u64, u64, u64) {
    let mut folding = Folding::new(header, all(header));
    for (seq, draft) in (0..).zip(log) {
        with_event(draft, seq, |event| folding.take(event));
    }
    let view = &shown(&folding.views())[6];
    let count = |value: &Value| value.as_u64().expect("a count");
    (count(&view["requests"]), count(&view["tokens"]["input"]), count(&view["tokens"]["output"]))
}

fn message(input: u64) -> Draft {
    let source = r#"{"kind":"model","provider":"p","model":"m"}"#;
    let data = format!(
        r#"{{"message":{{"source":{source}}},"usage":{{"inputTokens":{input},"outputTokens":1}}}}"#
    );
    Draft::new("assistant/message", data).appended()
}

fn streamed(input: u64) -> Draft {
    let usage = format!(r#"{{"inputTokens":{input},"outputTokens":1}}"#);
    Draft::new("assistant/chunk", format!(r#"{{"chunk":{{"type":"usage","usage":{usage}}}}}"#))
}

fn plain(kind: &str) -> Draft {
    Draft::new(kind, "{}")
}

#[test]
fn a_message_and_its_stream_are_one_request() {
    assert_eq!(counted(&header(), &[streamed(5), message(7)]), (1, 7, 1));
    let silent = Draft::new("assistant/message", r#"{"message":{}}"#).appended();
    assert_eq!(counted(&header(), &[streamed(5), silent]), (1, 5, 1));
    assert_eq!(counted(&header(), &[streamed(5)]), (1, 5, 1), "it is under way");
    assert_eq!(counted(&header(), &[streamed(5), plain("step/end"), message(7)]), (2, 12, 2));
}

#[test]
fn of_a_retried_request_the_last_attempt_counts() {
    assert_eq!(counted(&header(), &[streamed(5), plain("llm/retry"), message(7)]), (1, 7, 1));
}

#[test]
fn what_was_inherited_was_used_elsewhere() {
    let log = [message(7), message(9)];
    assert_eq!(counted(&header(), &log), (2, 16, 2));
    assert_eq!(counted(&header_of_fork(1), &log), (1, 9, 1));
}

#[test]
fn a_message_that_replaces_another_was_not_asked_for_again() {
    let op = br#"{"op":"replace","start":0,"end":0}"#.to_vec();
    let replaced = Draft { surface: Some(op), ..message(9) };
    assert_eq!(counted(&header(), &[message(7), replaced]), (1, 7, 1));
    let summary = Draft::new("compaction/summary", r#"{"usage":{"inputTokens":2}}"#);
    assert_eq!(counted(&header(), &[message(7), summary]), (2, 9, 1));
}
