//! What the store of session files writes, the verifier finds sound.

use std::sync::Arc;

use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::dsh::discover::{self, discover};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::session_files::{Encoding, FilesConfig, SessionFiles};
use gatelog_engine::storage::{Sim, Storage};
use gatelog_validator::report::{HostAct, Report, Verdict};
use gatelog_validator::verify::{Options, verify};

const ROOT: &str = "/sessions";
const HEADER: &str = r#"{"type":"session","version":0,"id":"a/b","createdAt":1750000000000,
    "cwd":"/srv/proj","delegationDepth":0}"#;

fn open(sim: &Sim, encoding: Encoding) -> SessionFiles {
    let config = FilesConfig { encoding, allow_unlocked: true, ..FilesConfig::new(0) };
    let opened = SessionFiles::open(Arc::new(sim.disk()), ROOT, Arc::new(ThisMachine), config);
    opened.expect("the root can be opened")
}

/// A turn with a streamed answer, a call and its result.
fn turn() -> Vec<Draft> {
    let chunk = |text: &str| {
        let chunk = format!(r#"{{"type":"text-delta","index":0,"text":"{text}"}}"#);
        Draft::new("assistant/chunk", format!(r#"{{"turn":1,"step":1,"chunk":{chunk}}}"#))
    };
    let user = r#"{"id":"m1","role":"user","source":{"kind":"user"},"content":[]}"#;
    let answer = r#"{"turn":1,"step":1,"message":{"id":"m2","role":"assistant","content":[
        {"type":"tool-call","id":"c1","name":"ls","arguments":"{}"}],
        "source":{"kind":"model","provider":"p","model":"m"}}}"#;
    let result = r#"{"turn":1,"step":1,"message":{"id":"m3","role":"user",
        "source":{"kind":"tool","callId":"c1"},"content":[{"type":"tool-result",
        "toolCallId":"c1","isError":false,"content":[]}]}}"#;
    vec![
        Draft::new("turn/start", r#"{"turn":1}"#),
        Draft::new("user/message", user).appended(),
        Draft::new("step/start", r#"{"turn":1,"step":1}"#),
        chunk("a"),
        chunk("b"),
        chunk("c"),
        Draft::new("assistant/message", answer).appended(),
        Draft::new("tool/call", r#"{"turn":1,"step":1,"callId":"c1","name":"ls","input":{}}"#),
        Draft::new("tool/result", result).appended().citing(&[7]),
        Draft::new("step/end", r#"{"turn":1,"step":1}"#),
        Draft::new("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
        Draft { ignorable: true, ..Draft::new("acme/note", "[1]") },
    ]
}

fn write(store: &SessionFiles, drafts: &[Draft], batch_rows: usize) {
    let header = SessionHeader { dialect: 0, json: HEADER.as_bytes().to_vec() };
    for (place, rows) in drafts.chunks(batch_rows).enumerate() {
        let first_seq = (place * batch_rows) as u64;
        let time_ms = 1_750_000_000_000 + first_seq;
        let row = |draft: &Draft| Row { time_ms, draft: draft.clone() };
        let batch = Batch { first_seq, key: None, rows: rows.iter().map(row).collect() };
        let done = match place {
            0 => store.create("a/b", &header, batch, Durability::Synced),
            _ => store.append("a/b", batch, Durability::Synced),
        };
        done.expect("nothing fails");
    }
}

fn reports(sim: &Sim) -> Vec<Report> {
    let disk = sim.disk();
    let found = discover(&disk, ROOT.as_ref(), &discover::Options { base: "/".into() });
    assert_eq!(found.faults, []);
    let judge = |target| verify(&disk as &dyn Storage, target, &Options::default(), &|_| {});
    found.targets.iter().map(judge).collect()
}

#[test]
fn every_prefix_of_a_written_turn_is_sound() {
    let drafts = turn();
    for encoding in [Encoding::Zstd, Encoding::Plain] {
        for batch_rows in [1, 3, drafts.len()] {
            for events in 1..=drafts.len() {
                let sim = Sim::new(1);
                write(&open(&sim, encoding), &drafts[..events], batch_rows);
                let reports = reports(&sim);
                assert_eq!(reports.len(), 1);
                let report = &reports[0];
                let notes =
                    report.findings.iter().filter(|it| it.rule != "vocabulary/unknown-ignorable");
                let graver: Vec<_> = notes.map(|it| (it.rule, &it.message)).collect();
                assert_eq!(
                    (report.verdict, report.events),
                    (Verdict::Sound, events as u64),
                    "{graver:?}"
                );
                let closed = events >= 11;
                let host = if closed { HostAct::Loads } else { HostAct::Repairs };
                assert_eq!(report.host, host, "{events} events: {graver:?}");
            }
        }
    }
}

#[test]
fn a_cut_log_that_was_continued_is_sound_again() {
    let drafts = turn();
    let path = "/sessions/--srv-proj--/a~002Fb/session.jsonl.zstd";
    let sim = Sim::new(1);
    write(&open(&sim, Encoding::Zstd), &drafts, 4);
    let bytes = sim.image(path).expect("it is there").len();
    for cut in [1, 5, 20] {
        let sim = sim.clone();
        sim.edit(path, |image| image.truncate(bytes - cut)).expect("it is there");
        assert_eq!(reports(&sim)[0].verdict, Verdict::Torn);
        let store = open(&sim, Encoding::Zstd);
        let info = store.find("a/b").expect("readable").expect("it is there");
        let rest = drafts[info.next_seq as usize..].to_vec();
        let row = |draft| Row { time_ms: info.last_time_ms, draft };
        let mut rows: Vec<Row> = rest.into_iter().map(row).collect();
        rows.push(row(Draft::new("plan/mode", r#"{"active":true}"#)));
        let batch = Batch { first_seq: info.next_seq, key: None, rows };
        store.append("a/b", batch, Durability::Synced).expect("the end is cut");
        let report = &reports(&sim)[0];
        assert_eq!((report.verdict, report.events), (Verdict::Sound, 13), "{:?}", report.findings);
    }
}
