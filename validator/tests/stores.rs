//! Stores before `verify_store`: what the gate let in is sound, what a raw writer forced in is
//! found, and a foreign type is opaque where the log says whose it is.

#[path = "gate/mod.rs"]
mod gate;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use gatelog_engine::backend::{Backend as _, Batch, Durability, RecordedRules, Row};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, Placement, RuleSet as _, SessionHeader, TypeEntry};
use gatelog_engine::storage::{Memory, Sim, Volume};
use gatelog_engine::store::Store;
use gatelog_validator::report::{Encoding, Finding, HostAct, Report, Verdict};
use gatelog_validator::rule::{Profile, Severity};
use gatelog_validator::standard::Standard;
use gatelog_validator::store::{StoreOptions, StoreReport, verify_store};
use gatelog_validator::verify::Options;
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/s";

fn header(id: &str) -> SessionHeader {
    let front = r#"{"type":"session","version":0,"createdAt":1,"cwd":"/p","delegationDepth":0"#;
    let json = format!(r#"{front},"id":"{id}"}}"#);
    SessionHeader { dialect: 0, json: json.into_bytes() }
}

fn draft(kind: &str, data: &str) -> Draft {
    Draft::new(kind, data)
}

/// A turn without anything in it.
fn turn() -> Vec<Draft> {
    vec![
        draft("turn/start", r#"{"turn":1}"#),
        draft("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
    ]
}

/// A store that a raw writer fills: no rule speaks.
struct Raw {
    sim: Sim,
    log: Log,
}

impl Raw {
    fn new() -> Self {
        let sim = Sim::new(5);
        let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
        let volume: Arc<dyn Volume> = Arc::new(sim.disk());
        let log = Log::open(volume, Path::new(DIR), Arc::new(ThisMachine), config);
        Self { log: log.expect("it opens"), sim }
    }

    fn record(&self, kind: &str) {
        let types = vec![(kind.to_owned(), "acme".to_owned(), false)];
        let rules = RecordedRules { profile: "strict".into(), version: 1, types };
        self.log.record_rules(&rules).expect("they are recorded");
    }

    fn session(&self, id: &str, drafts: Vec<Draft>) {
        let row = |(time_ms, draft)| Row { time_ms, draft };
        let rows = (1_000..).zip(drafts).map(row).collect();
        let batch = Batch { first_seq: 0, key: None, rows };
        self.log.create(id, &header(id), batch, Durability::Synced).expect("it is created");
    }

    fn verify(self, options: &StoreOptions) -> (StoreReport, Vec<Report>) {
        self.log.close().expect("it closes");
        let before = self.sim.digest();
        let verified = verify_store(&self.sim.disk(), Path::new(DIR), options, &|_| {});
        assert_eq!(self.sim.digest(), before, "a reader changed the disk");
        verified
    }

    /// Verifies a store of one session; returns its verdict, and what is said of it.
    fn said(self, options: &StoreOptions) -> (Verdict, Vec<(&'static str, Severity)>) {
        let (store, sessions) = self.verify(options);
        assert_eq!((store.verdict, &*store.findings), (Verdict::Sound, &[][..]));
        let [session] = &*sessions else { panic!("one session") };
        let said = session.findings.iter().map(|finding| (finding.rule, finding.severity));
        (session.verdict, said.collect())
    }
}

fn strict() -> StoreOptions {
    StoreOptions::default()
}

fn host() -> StoreOptions {
    StoreOptions { profile: Profile::Host, ..StoreOptions::default() }
}

#[test]
fn what_a_gate_let_in_is_sound_and_a_foreign_type_is_a_note() {
    let dir = std::env::temp_dir().join(format!("gatelog-stores-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&dir));
    let note = || TypeEntry { owner: "acme".into(), placement: Placement::LogOnly, check: None };
    let rules = Standard::new(Profile::Strict).with_type("acme/note", note());
    let store = Store::open(&dir, Arc::new(rules.expect("nobody owns it"))).expect("it opens");
    for id in ["a", "b"] {
        let session = store.create(id, &header(id), |_| Ok(())).expect("it is created");
        session.append(turn(), Durability::Synced).expect("it is lawful");
        session.append(vec![draft("acme/note", "{}")], Durability::Synced).expect("it is known");
    }
    store.close().expect("it closes");
    let disk = gatelog_engine::storage::Disk;
    let (store, sessions) = verify_store(&disk, &dir, &strict(), &|_| {});
    std::fs::remove_dir_all(&dir).expect("it goes");
    assert_eq!((store.verdict, store.sessions, &*store.findings), (Verdict::Sound, 2, &[][..]));
    assert_eq!((store.durable_lsn, store.unconfirmed), (store.last_lsn, 0));
    for (session, id) in sessions.iter().zip(["a", "b"]) {
        assert_eq!(session.session.as_deref(), Some(id));
        assert_eq!((session.events, session.closers, session.version), (3, 0, Some(0)));
        assert_eq!((session.host, session.encoding), (HostAct::None, Encoding::Native));
        let [note] = &*session.findings else { panic!("{:?}", session.findings) };
        assert_eq!((note.rule, note.severity), ("envelope/foreign-type", Severity::Note));
        assert_eq!((note.place.seq, note.place.segment), (Some(2), Some(1)));
    }
}

#[test]
fn a_type_that_no_rules_frame_before_it_names_is_the_finding() {
    let of = |recorded: &str| {
        let raw = Raw::new();
        raw.record(recorded);
        raw.session("a", vec![draft("acme/note", "{}"), draft("acme/note", "{}")]);
        raw.said(&strict())
    };
    let note = ("envelope/foreign-type", Severity::Note);
    assert_eq!(of("acme/note"), (Verdict::Sound, vec![note]));
    let unknown = ("envelope/unknown-type", Severity::Error);
    assert_eq!(of("acme/other"), (Verdict::Unsupported, vec![unknown, unknown]));
    let late = Raw::new();
    late.session("a", vec![draft("acme/note", "{}")]);
    late.record("acme/note");
    assert_eq!(late.said(&strict()), (Verdict::Unsupported, vec![unknown]));
}

#[test]
fn the_extras_of_the_strict_profile_are_errors_and_the_profile_can_be_chosen() {
    let of = |options: &StoreOptions| {
        let raw = Raw::new();
        let data = r#"{"policy":"ask","source":"robot"}"#;
        raw.session("a", vec![draft("approval/policy", data)]);
        raw.said(options)
    };
    let extra = ("policy/unknown-source", Severity::Error);
    assert_eq!(of(&strict()), (Verdict::Violation, vec![extra]));
    assert_eq!(of(&host()), (Verdict::Sound, vec![]));
}

#[test]
fn what_the_host_refuses_is_found_in_a_store() {
    let raw = Raw::new();
    raw.session("a", vec![draft("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#)]);
    let (verdict, said) = raw.said(&host());
    assert_eq!((verdict, said[0]), (Verdict::Violation, ("turn/end-mismatch", Severity::Error)));
    let raw = Raw::new();
    raw.session("a", vec![draft("turn/start", "{")]);
    let (verdict, said) = raw.said(&host());
    assert_eq!((verdict, said[0]), (Verdict::Corrupt, ("json/malformed", Severity::Error)));
}

/// Half a preset, an approval that nobody decides, a step that no gate lets in, and the end of the
/// turn, at which the approval should have been decided.
fn broken_twice() -> Vec<Draft> {
    vec![
        draft("permission/preset", r#"{"preset":"workspace-write"}"#),
        draft("sandbox/mode", r#"{"mode":"read-only"}"#),
        draft("turn/start", r#"{"turn":1}"#),
        draft("approval/asked", r#"{"id":"q","toolName":"t"}"#),
        draft("step/start", r#"{"turn":2,"step":0}"#),
        draft("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#),
    ]
}

/// What is broken there in the order in which a reader meets it, the matters of an end behind the
/// others; and the seq that each points to.
const IN_ORDER: [(&str, Option<u64>); 4] = [
    ("step/start-turn-mismatch", Some(4)),
    ("turn/end-step-open", Some(5)),
    ("approval/undecided-at-turn-end", Some(3)),
    ("permission/triple-mismatch", Some(1)),
];

fn told(report: &Report) -> Vec<(&'static str, Option<u64>)> {
    let told = report.findings.iter().map(|finding| (finding.rule, finding.place.seq));
    told.filter(|(rule, _)| *rule != "identity/not-checked").collect()
}

#[test]
fn what_a_gate_refuses_comes_before_what_followed_from_it_whatever_that_points_to() {
    let raw = Raw::new();
    raw.session("a", broken_twice());
    let (_, sessions) = raw.verify(&strict());
    assert_eq!(told(&sessions[0]), IN_ORDER);
}

#[test]
fn reports_are_the_same_where_only_one_session_has_room_at_once() {
    let of = |states_bytes_max| {
        let raw = Raw::new();
        raw.session("c", broken_twice());
        raw.session("b", turn());
        raw.session("a", turn()[..1].to_vec());
        raw.session("d", refused(1234));
        let mut options = strict();
        options.check.states_bytes_max = states_bytes_max;
        let (store, sessions) = raw.verify(&options);
        assert_eq!(store.sessions, 4);
        let of = |it: &Report| (it.session.clone(), it.verdict, it.closers, it.findings.clone());
        sessions.iter().map(of).collect::<Vec<_>>()
    };
    let all = of(usize::MAX);
    assert!(all[0].2 > 0 && all[2].3.len() == 4 && all[3].3.len() == 1001, "{all:?}");
    assert_eq!(of(0), all);
}

#[test]
fn the_report_on_a_file_has_the_order_of_that_on_a_store() {
    let storage = Memory::new().file("/log", gate::file(&broken_twice()));
    let options = Options { profile: Profile::Strict, ..Options::default() };
    assert_eq!(told(&support::report_on(&storage, Some(0), false, &options)), IN_ORDER);
}

/// So many events that the loader refuses, each for one reason.
fn refused(count: usize) -> Vec<Draft> {
    (0..count).map(|_| draft("acme/note", "{}")).collect()
}

/// Returns what is said of the findings that a report does not list, and how many it lists.
fn listed(report: &Report) -> (usize, Option<&str>) {
    let is_of = |rule| move |finding: &&Finding| finding.rule == rule;
    let listed = report.findings.iter().filter(is_of("envelope/unknown-type")).count();
    let more = report.findings.iter().find(is_of("limit/findings"));
    (listed, more.map(|finding| &*finding.message))
}

#[test]
fn what_the_loader_refuses_beyond_what_is_listed_is_counted() {
    for (count, more) in [(1000, None), (1234, Some("234 further finding(s) are not listed"))] {
        let storage = Memory::new().file("/log", gate::file(&refused(count)));
        let report = support::report_on(&storage, Some(0), false, &Options::default());
        assert_eq!(listed(&report), (1000, more));
        let raw = Raw::new();
        raw.session("a", refused(count));
        let (_, sessions) = raw.verify(&host());
        assert_eq!(listed(&sessions[0]), (1000, more));
    }
}

#[test]
fn a_session_that_ends_in_a_turn_says_what_will_close_it() {
    let raw = Raw::new();
    raw.session("a", turn()[..1].to_vec());
    let (_, sessions) = raw.verify(&strict());
    assert_eq!(sessions[0].verdict, Verdict::Sound);
    assert!(sessions[0].closers > 0);
    assert_eq!(sessions[0].findings[0].rule, "turn/open-at-end");
}

#[test]
fn a_header_that_no_rule_set_takes_is_said_and_its_events_are_not_judged() {
    let raw = Raw::new();
    let later = SessionHeader { dialect: 3, ..header("a") };
    let batch = Batch { first_seq: 0, key: None, rows: Vec::new() };
    raw.log.create("a", &later, batch, Durability::Synced).expect("it is created");
    let unknown = ("header/version", Severity::Error);
    assert_eq!(raw.said(&strict()), (Verdict::Unsupported, vec![unknown]));
}

#[test]
fn a_store_that_cannot_be_read_is_unreadable() {
    let sim = Sim::new(1);
    let (store, sessions) = verify_store(&sim.disk(), Path::new("/none"), &strict(), &|_| {});
    assert_eq!((store.verdict, sessions.len()), (Verdict::Unreadable, 0));
    assert_eq!(store.findings[0].rule, "limit/unreadable");
    assert_eq!(Standard::new(Profile::Strict).profile(), "strict");
}
