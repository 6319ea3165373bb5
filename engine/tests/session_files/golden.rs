//! The bytes are those that the host's writer would leave.

use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::rules::Draft;
use gatelog_engine::session_files::Encoding;
use gatelog_engine::storage::{Sim, Storage, Volume};

use crate::common::{
    T0, append, batch, create, events, folder, header_of, log, names, open, texts,
};

const HEADER: &str = "{\"type\":\"session\",\"version\":0,\"id\":\"a\",\"createdAt\":1750000000000,\
                      \"cwd\":\"/srv/proj\",\"delegationDepth\":0}\n";

fn chunk(time_ms: u64, step: u64, chunk: &str) -> Draft {
    let data = format!(r#"{{"turn":1,"step":{step},"chunk":{{{chunk}}}}}"#);
    Draft { time_ms: Some(time_ms), ..Draft::new("assistant/chunk", data) }
}

#[test]
fn a_log_is_a_header_frame_and_a_frame_for_each_durable_batch() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Zstd);
    let message = r#"{ "role":"user","id":"m1", "content":[],"source":{"kind":"user"} }"#;
    create(&store, "a", vec![Draft::new("turn/start", "{\"turn\": 1}")]);
    let replace = Draft {
        surface: Some(br#"{"op":"replace", "start":1,"end":1}"#.to_vec()),
        ..Draft::new("user/message", message).citing(&[1])
    };
    let skipped = Draft { ignorable: true, ..Draft::new("acme/n\u{e9}w \"x\"\n", "[1.50, 1E3]") };
    let drafts = vec![Draft::new("user/message", message).appended(), replace, skipped];
    store.append("a", batch(1, drafts), Durability::Synced).expect("all is well");
    let bytes = sim.image(log("a", Encoding::Zstd)).expect("the log is there");
    let printed = r#"{"role":"user","id":"m1","content":[],"source":{"kind":"user"}}"#;
    let at = |seq: u64| T0 + seq;
    assert_eq!(
        texts(&bytes),
        [
            HEADER.to_owned(),
            format!(
                "{{\"type\":\"turn/start\",\"seq\":0,\"time\":{},\"data\":{{\"turn\":1}}}}\n",
                at(0)
            ),
            format!(
                "{{\"type\":\"user/message\",\"seq\":1,\"time\":{},\"data\":{printed},\
             \"surfaceOp\":\"append\"}}\n\
             {{\"type\":\"user/message\",\"seq\":2,\"time\":{},\"data\":{printed},\
             \"sourceEventSeqs\":[1],\"surfaceOp\":{{\"op\":\"replace\",\"start\":1,\"end\":1}}}}\n\
             {{\"type\":\"acme/n\u{e9}w \\\"x\\\"\\n\",\"seq\":3,\"time\":{},\"data\":[1.5,1000],\
             \"ignorable\":true}}\n",
                at(1),
                at(2),
                at(3)
            ),
        ]
    );
    assert_eq!(names(&*sim, &folder("a")), ["session.jsonl.zstd", "session.lock"]);
}

#[test]
fn a_plain_log_is_the_same_text() {
    let (zstd, plain) = (Sim::new(1), Sim::new(1));
    for (sim, encoding) in [(&zstd, Encoding::Zstd), (&plain, Encoding::Plain)] {
        let store = open(sim, encoding);
        create(&store, "a", Vec::new());
        append(&store, "a", 0, &["x", "y"]).expect("all is well");
        append(&store, "a", 2, &["z"]).expect("all is well");
    }
    let text = |sim: &Sim, encoding| texts(&sim.image(log("a", encoding)).expect("it is there"));
    let plain = text(&plain, Encoding::Plain);
    assert_eq!([text(&zstd, Encoding::Zstd).concat()], plain[..]);
    assert!(plain[0].starts_with(HEADER) && plain[0].lines().count() == 4);
}

#[test]
fn runs_of_three_chunks_are_packed_and_shorter_ones_are_not() {
    let text = |at: u64, step, word: &str| {
        chunk(T0 + at, step, &format!(r#""type":"text-delta","index":0,"text":"{word}""#))
    };
    let call = |at: u64, name: &str| {
        let id = r#""type":"tool-call-delta","index":1,"id":"c""#;
        chunk(T0 + at, 1, &format!(r#"{id},{name}"argumentsDelta":"{{""#))
    };
    let extra = chunk(T0, 1, r#""type":"text-delta","index":0,"text":"x","more":1"#);
    let drafts = vec![
        text(0, 1, "a"),
        text(5, 1, "b"),
        text(3, 1, "c\\u0041"),
        text(9, 2, "d"),
        text(9, 2, "e"),
        call(9, ""),
        call(9, ""),
        call(10, r#""name":"ls","#),
        call(11, r#""name":"ls","#),
        call(11, r#""name":"ls","#),
        extra.clone(),
        extra.clone(),
        extra,
    ];
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    create(&store, "a", drafts.clone());
    let texts = texts(&sim.image(log("a", Encoding::Plain)).expect("it is there"));
    let lines: Vec<&str> = texts[0].lines().skip(1).collect();
    assert_eq!(lines.len(), 9);
    assert_eq!(
        lines[0],
        "{\"type\":\"text-chunks\",\"seq0\":0,\"time0\":1750000000000,\"data\":{\"turn\":1,\
         \"step\":1,\"index\":0,\"dt\":[5,-2],\"texts\":[\"a\",\"b\",\"cA\"]}}"
    );
    assert!(lines[1].contains("\"seq\":3,") && lines[2].contains("\"seq\":4,"));
    assert!(lines[3].contains("\"seq\":5,") && lines[4].contains("\"seq\":6,"));
    assert_eq!(
        lines[5],
        "{\"type\":\"tool-call-chunks\",\"seq0\":7,\"time0\":1750000000010,\"data\":{\"turn\":1,\
         \"step\":1,\"index\":1,\"dt\":[1,0],\"id\":\"c\",\"name\":\"ls\",\
         \"args\":[\"{\",\"{\",\"{\"]}}"
    );
    // The host sees the same events again, each spelt as it was given.
    let events = events(&store, "a");
    assert_eq!(events.len(), drafts.len());
    let given = drafts.iter().map(|draft| String::from_utf8(draft.data.clone()).expect("UTF-8"));
    let given = given.map(|data| data.replace("\\u0041", "A"));
    assert!(events.iter().map(|event| event.data.clone()).eq(given));
    let times = drafts.iter().map(|draft| draft.time_ms);
    assert!(events.iter().map(|event| Some(event.time_ms)).eq(times));
}

#[test]
fn a_run_that_two_batches_share_makes_two_rows() {
    let run = |first: u64| {
        let one = |at| chunk(T0 + at, 1, r#""type":"reasoning-delta","index":0,"text":"r""#);
        batch(first, (0..3).map(|place| one(first + place)).collect())
    };
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Zstd);
    store.create("a", &crate::common::header("a"), run(0), Durability::Synced).expect("created");
    store.append("a", run(3), Durability::Synced).expect("appended");
    let texts = texts(&sim.image(log("a", Encoding::Zstd)).expect("it is there"));
    assert_eq!(texts.len(), 3);
    assert!(texts[1].starts_with("{\"type\":\"reasoning-chunks\",\"seq0\":0,"));
    assert!(texts[2].starts_with("{\"type\":\"reasoning-chunks\",\"seq0\":3,"));
    // Buffered events join the next batch, and so its run.
    store.append("a", run(6), Durability::Buffered).expect("buffered");
    store.append("a", run(9), Durability::Synced).expect("appended");
    let texts = crate::common::texts(&sim.image(log("a", Encoding::Zstd)).expect("it is there"));
    assert_eq!(texts.len(), 4);
    assert!(texts[3].contains("\"dt\":[1,1,1,1,1]"), "{}", texts[3]);
}

#[test]
fn a_header_is_put_into_the_order_of_the_host() {
    let given = r#"{"agentPreset":"code","seedLength":2,"origin":"subagent","parentSession":"p",
        "cwd":"/","createdAt":1,"id":"a\u002fb","version":0,"type":"session"}"#;
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Plain);
    let none = batch(0, Vec::new());
    store.create("a/b", &header_of(given), none, Durability::Synced).expect("created");
    let path = "/srv/sessions/--root--/a~002Fb/session.jsonl";
    let bytes = sim.image(path).expect("it is there");
    let expected = "{\"type\":\"session\",\"version\":0,\"id\":\"a/b\",\"createdAt\":1,\
        \"cwd\":\"/\",\"parentSession\":\"p\",\"seedLength\":2,\"origin\":\"subagent\",\
        \"delegationDepth\":0,\"agentPreset\":\"code\"}\n";
    assert_eq!(String::from_utf8(bytes).expect("UTF-8"), expected);
    let found = store.find("a/b").expect("readable").expect("it is there");
    assert_eq!((found.next_seq, found.header.json.as_slice()), (0, expected.trim_end().as_bytes()));
}

#[test]
fn folders_belong_to_their_owner_and_the_temporary_file_is_gone() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Zstd);
    create(&store, "a", Vec::new());
    assert_eq!(sim.disk().link_count(&log("a", Encoding::Zstd)).expect("it is there"), 1);
    let listed: Vec<String> = names(&*sim, std::path::Path::new("/srv/sessions"));
    assert_eq!(listed, ["--srv-proj--"]);
    assert!(sim.disk().stat(&folder("a")).is_ok());
}
