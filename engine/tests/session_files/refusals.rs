//! What has no place in the format is refused by name, and nothing is written.

use gatelog_engine::backend::{Backend, Durability, ErrorKind, Limited, Refusal};
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::session_files::{Encoding, FilesConfig};
use gatelog_engine::storage::Sim;

use crate::common::{
    ROOT, append, batch, config, create, header, header_of, open, refusal, title, try_open,
};

fn unsupported(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::Unsupported { what } => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn types_and_placements_beyond_the_format_are_refused_by_name() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    create(&store, "a", Vec::new());
    let ignorable = |draft: Draft| Draft { ignorable: true, ..draft };
    let refused = [
        (Draft::new("acme/note", "1"), "acme/note"),
        (ignorable(Draft::new("acme/note", "1").appended()), "acme/note"),
        (ignorable(Draft::new("acme/note", "1").citing(&[0])), "acme/note"),
        (Draft::new("assistant/attempt", "{}"), "assistant/attempt"),
        (ignorable(Draft::new("mode/set", "{}")), "mode/set"),
        (ignorable(Draft::new("request/header-delta", "{}")), "request/header-delta"),
        (ignorable(Draft::new("steering/message", "{}")), "steering/message"),
        (ignorable(Draft::new("text-chunks", "{}")), "text-chunks"),
        (Draft::new("turn/start", "{}").appended(), "turn/start"),
        (Draft::new("turn/start", "{}").citing(&[0]), "turn/start"),
        (Draft::new("user/message", "{}"), "user/message"),
        (ignorable(Draft::new("x".repeat(5000), "1")), "xxx"),
    ];
    let before = sim.digest();
    for (draft, name) in refused {
        let ended = store.append("a", batch(0, vec![title("0"), draft]), Durability::Synced);
        let refused = refusal(ended);
        assert!(unsupported(&refused).contains(name), "{refused:?}");
    }
    assert_eq!(sim.digest(), before);
    let draft = ignorable(Draft::new("acme/note", "1"));
    store.append("a", batch(0, vec![draft]), Durability::Synced).expect("an ignorable draft");
}

#[test]
fn values_that_the_host_cannot_keep_are_refused() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    create(&store, "a", Vec::new());
    let refused: [&[u8]; 16] = [
        b"",
        b"{",
        b"1 2",
        b"NaN",
        b"-0",
        b"[-0.0]",
        b"{\"a\":{\"b\":-0}}",
        b"[1,-0,2]",
        b"1e400",
        b"-1e400",
        b"1e-400",
        b"9007199254740993",
        b"-12345678901234567",
        b"{\"a\":1,\"a\":1}",
        b"\"\xFF\"",
        b"[1,,2]",
    ];
    for data in refused {
        let draft = Draft::new("plan/mode", data);
        let refused = refusal(store.append("a", batch(0, vec![draft]), Durability::Synced));
        assert!(matches!(refused, Refusal::Malformed { .. }), "{data:?}: {refused:?}");
    }
    let surface = Draft { surface: Some(b"{".to_vec()), ..Draft::new("user/message", "{}") };
    let refused = refusal(store.append("a", batch(0, vec![surface]), Durability::Synced));
    assert!(matches!(refused, Refusal::Malformed { .. }), "{refused:?}");
    let late = Draft { time_ms: Some(1 << 53), ..title("0") };
    let refused = refusal(store.append("a", batch(0, vec![late]), Durability::Synced));
    assert!(matches!(refused, Refusal::Malformed { .. }), "{refused:?}");
    let kept = [
        "0",
        "1e3",
        "123456789012345680000",
        "9223372036854775808",
        "0.1",
        "9007199254740992",
        "1e21",
        "0e5",
        "\"\\ud800\"",
        "[[],{}]",
    ];
    let drafts = kept.map(|data| Draft::new("plan/mode", data)).to_vec();
    store.append("a", batch(0, drafts), Durability::Synced).expect("values of the host's");
}

#[test]
fn headers_that_the_host_would_not_read_are_refused() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    let make = |id: &str, header: &SessionHeader| {
        refusal(store.create(id, header, batch(0, vec![]), Durability::Synced))
    };
    let other = SessionHeader { dialect: 4, ..header("a") };
    assert!(unsupported(&make("a", &other)).contains("format 4"));
    let with = |more: &str| {
        let json = String::from_utf8(header("a").json).expect("UTF-8");
        header_of(&json.replace("\"delegationDepth\":0", more))
    };
    assert!(unsupported(&make("a", &with("\"isSeeded\":true"))).contains("isSeeded"));
    assert!(unsupported(&make("a", &with("\"sandboxMode\":1"))).contains("sandboxMode"));
    let malformed = [
        header("b"),
        header_of("[]"),
        header_of("{"),
        header_of(r#"{"type":"session","version":0,"id":"a"}"#),
        header_of(r#"{"type":"session","version":1,"id":"a","createdAt":1}"#),
        header_of(r#"{"type":"session","version":0,"id":"a","createdAt":-1}"#),
        header_of(r#"{"type":"session","version":0,"id":"a","createdAt":1,"cwd":"x"}"#),
        header_of(r#"{"type":"session","version":0,"id":"a","createdAt":1,"cwd":null}"#),
        with("\"origin\":\"main\""),
        with("\"seedLength\":1.5"),
        with("\"parentSession\":null"),
        with("\"agentPreset\":1"),
    ];
    for header in malformed {
        let refused = make("a", &header);
        let shown = String::from_utf8_lossy(&header.json).into_owned();
        assert!(matches!(refused, Refusal::Malformed { .. }), "{shown}: {refused:?}");
    }
    assert_eq!(sim.files(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn ids_are_encoded_before_they_meet_the_disk_or_refused() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    let make = |id: &str| {
        let json = format!(
            r#"{{"type":"session","version":0,"id":{},"createdAt":1,"delegationDepth":0}}"#,
            serde_json::to_string(id).expect("a string")
        );
        store.create(id, &header_of(&json), batch(0, vec![]), Durability::Synced)
    };
    assert!(matches!(refusal(make("")), Refusal::Malformed { .. }));
    let long = "/".repeat(52);
    match refusal(make(&long)) {
        Refusal::TooLarge { what: Limited::IdBytes, bytes: 260, limit: 255 } => {}
        other => panic!("{other:?}"),
    }
    for id in ["..", ".", "../../etc", "a/b", "\u{1F600}", "~", "x y", "session.jsonl"] {
        make(id).unwrap_or_else(|error| panic!("{id}: {error:?}"));
        assert_eq!(store.find(id).expect("readable").expect("it is there").id, id);
    }
    for path in sim.files() {
        assert!(path.starts_with(format!("{ROOT}/_no-cwd")), "{}", path.display());
    }
    let sessions = store.sessions().expect("readable");
    let ids: Vec<&str> = sessions.iter().map(|info| info.id.as_str()).collect();
    assert_eq!(ids, [".", "..", "../../etc", "a/b", "session.jsonl", "x y", "~", "\u{1F600}"]);
}

#[test]
fn batches_out_of_order_and_sessions_that_are_there_or_not_are_refused() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Zstd);
    create(&store, "a", vec![title("0")]);
    let again = store.create("a", &header("a"), batch(0, vec![]), Durability::Synced);
    assert!(matches!(refusal(again), Refusal::Exists));
    // In another project it is the same id.
    let json = String::from_utf8(header("a").json).expect("UTF-8").replace("/srv/proj", "/srv");
    let again = store.create("a", &header_of(&json), batch(0, vec![]), Durability::Synced);
    assert!(matches!(refusal(again), Refusal::Exists));
    assert!(matches!(refusal(append(&store, "b", 0, &["x"])), Refusal::NoSession));
    assert!(matches!(
        refusal(append(&store, "a", 2, &["x"])),
        Refusal::WrongSeq { expected: 2, actual: 1 }
    ));
    assert!(matches!(refusal(append(&store, "a", 1, &[])), Refusal::Empty));
    assert!(matches!(refusal(append(&store, "a", (1 << 53) - 1, &["x", "y"])), Refusal::Full));
    let late = store.create("c", &header("c"), batch(1, vec![title("1")]), Durability::Synced);
    assert!(matches!(refusal(late), Refusal::WrongSeq { expected: 1, actual: 0 }));
    assert_eq!(store.find("b").expect("readable"), None);
    let missing = crate::common::read(&store, "b", 0).expect_err("there is none");
    assert_eq!(missing.kind, ErrorKind::NoSession);
}

#[test]
fn without_leave_the_store_is_for_reading() {
    let sim = Sim::new(1);
    create(&open(&sim, Encoding::Zstd), "a", vec![title("0")]);
    let before = sim.digest();
    let store = try_open(&sim, FilesConfig::new(0)).expect("for reading");
    let refused = refusal(append(&store, "a", 1, &["x"]));
    assert!(unsupported(&refused).contains("allow_unlocked"));
    let made = store.create("b", &header("b"), batch(0, vec![]), Durability::Synced);
    assert!(unsupported(&refusal(made)).contains("allow_unlocked"));
    assert_eq!(crate::common::notes(&store, "a"), ["0"]);
    assert_eq!(store.sessions().expect("readable").len(), 1);
    assert_eq!(sim.digest(), before);
}

#[test]
fn a_root_that_the_host_refuses_whole_is_refused() {
    let sim = Sim::new(1);
    create(&open(&sim, Encoding::Zstd), "a", vec![title("0")]);
    let refused = |config| try_open(&sim, config).expect_err("refused").kind;
    assert_eq!(refused(config(Encoding::Plain)), ErrorKind::Config);
    assert_eq!(refused(FilesConfig::new(4)), ErrorKind::Unsupported);
    let unbounded = FilesConfig { buffer_ms_max: 1001, ..config(Encoding::Zstd) };
    assert_eq!(refused(unbounded), ErrorKind::Config);
    let mixed = format!("{ROOT}/--x--/b/session.jsonl");
    sim.put(&mixed, b"{}\n").expect("there is room");
    assert_eq!(refused(config(Encoding::Zstd)), ErrorKind::Config);
}
