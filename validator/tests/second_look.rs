//! A file whose end looks torn is looked at twice; a long one is read again then.

use gatelog_engine::dsh::discover::{Options as Finding, Target, discover};
use gatelog_engine::storage::Memory;
use gatelog_validator::report::{Report, Verdict};
use gatelog_validator::verify::{Options, look};

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\
    \"cwd\":\"/p\",\"delegationDepth\":0}\n";

/// A log of so many events whose last record was cut.
fn torn(events: u64) -> String {
    let event = |seq| {
        format!("{{\"type\":\"x/y\",\"seq\":{seq},\"time\":1,\"ignorable\":true,\"data\":{{}}}}\n")
    };
    let events: Vec<String> = (0..events).map(event).collect();
    HEADER.to_owned() + &events.concat() + "{\"type\":\"x"
}

fn target(storage: &Memory) -> Target {
    let discovery = discover(storage, "/l/session.jsonl".as_ref(), &Finding { base: "/".into() });
    discovery.targets.into_iter().next().expect("a file is a target")
}

/// Looks at one state of a file, and again at another.
fn look_twice(first: &Memory, second: &Memory) -> Report {
    let look = look(first, &target(first), &Options::default(), &|_| {});
    assert!(look.due().is_some());
    look.report(second)
}

fn log(text: &str) -> Memory {
    Memory::new().file("/l/session.jsonl", text)
}

#[test]
fn a_long_file_at_rest_is_torn_like_a_short_one() {
    for events in [3, 3000] {
        let storage = log(&torn(events));
        let report = look_twice(&storage, &storage);
        assert_eq!((report.verdict, report.events), (Verdict::Torn, events));
        assert_eq!(report.findings[0].rule, "tail/partial-line");
    }
}

#[test]
fn a_file_that_somebody_writes_is_told_as_it_was_seen() {
    for events in [3, 3000] {
        let first = log(&torn(events));
        let second = log(&(torn(events) + "/y\",\"seq\":"));
        let report = look_twice(&first, &second);
        assert_eq!((report.verdict, report.events), (Verdict::Sound, events));
        assert_eq!(report.findings[0].rule, "tail/live-writer");
    }
}

#[test]
fn a_long_file_that_is_gone_at_the_second_look_is_unreadable() {
    let report = look_twice(&log(&torn(3000)), &Memory::new().directory("/l"));
    assert_eq!(report.verdict, Verdict::Unreadable);
    // A short one was seen whole.
    let report = look_twice(&log(&torn(3)), &Memory::new().directory("/l"));
    assert_eq!(report.verdict, Verdict::Torn);
}

#[test]
fn a_long_file_that_is_short_at_the_second_look_is_judged_as_it_is() {
    let report = look_twice(&log(&torn(3000)), &log(&torn(2)));
    assert_eq!((report.verdict, report.events), (Verdict::Sound, 2));
    assert_eq!(report.findings[0].rule, "tail/live-writer");
}
