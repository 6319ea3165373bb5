//! Whatever is written is read again: by the store, and by the reader of session files.

use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::dsh::header::Header;
use gatelog_engine::dsh::read::{self, HeaderSink};
use gatelog_engine::dsh::record::{Record, RecordSink};
use gatelog_engine::json::Document;
use gatelog_engine::rules::Draft;
use gatelog_engine::session_files::Encoding;
use gatelog_engine::storage::{Sim, Storage};
use proptest::prelude::*;

use crate::common::{T0, batch, create, events, log, open};

/// JSON texts in spellings that are not the host's.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-z \u{e9}\u{1F600}]{0,6}".prop_map(|text| format!("\"{text}\"")),
        proptest::sample::select(vec![
            "null",
            "true",
            "0",
            "-1.50",
            "1e3",
            "1E-7",
            "1e21",
            "123456789012345680000",
            r#""\u0041\/""#,
            r#""\ud83d\ude00\ud800""#,
            r#""\u0000\t\u001f\u007f""#,
            r#""\\\"""#,
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ {} ]", items.join(" , "))),
            proptest::collection::btree_map("[a-c0-9]{1,2}|__proto__", inner, 0..4).prop_map(
                |members| {
                    let member = |(key, value)| format!("\"{key}\" :\n{value}");
                    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
                }
            ),
        ]
    })
}

fn chunk() -> impl Strategy<Value = String> {
    let deltas = proptest::sample::select(vec![
        r#""type":"text-delta","index":0,"text":"a""#,
        r#""text":"b","index":0,"type":"text-delta""#,
        r#""type":"reasoning-delta","index":0.0,"text":"c""#,
        r#""type":"tool-call-delta","index":1,"id":"i","argumentsDelta":"{""#,
        r#""type":"tool-call-delta","index":1,"id":"i","name":"n","argumentsDelta":"}""#,
        r#""type":"tool-call-delta","index":1,"id":"i","name":null,"argumentsDelta":"}""#,
        r#""type":"block-start","index":0"#,
    ]);
    (1..3_u8, deltas)
        .prop_map(|(step, delta)| format!(r#"{{"turn":1,"step":{step},"chunk":{{{delta}}}}}"#))
}

fn draft() -> impl Strategy<Value = Draft> {
    prop_oneof![
        6 => chunk().prop_map(|data| Draft::new("assistant/chunk", data)),
        2 => json().prop_map(|data| Draft::new("plan/mode", data)),
        1 => json().prop_map(|data| Draft::new("user/message", data).appended().citing(&[0, 1])),
        1 => ("[a-z\"\\\\\n\u{e9}]{1,5}", json()).prop_map(|(kind, data)| Draft {
            ignorable: true,
            ..Draft::new(format!("acme/{kind}"), data)
        }),
    ]
}

/// What a reader says of a log, each event by itself.
#[derive(Default)]
struct Read(Vec<(u64, f64, String, String)>);

impl RecordSink for Read {
    fn record(&mut self, record: &Record<'_>) {
        assert!(record.lawful && !record.opaque);
        let event = &record.event;
        let (kind, data) = (event.kind.to_owned(), event.data.to_json());
        self.0.push((event.seq, event.time_ms, kind, data));
    }
}

impl HeaderSink for Read {
    fn header(&mut self, _: &Header) {}
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn what_is_written_is_read_again(
        batches in proptest::collection::vec(
            (proptest::collection::vec((draft(), 0..3_u64), 1..12), 0..3_u8), 1..5),
        is_plain in any::<bool>(),
    ) {
        let encoding = if is_plain { Encoding::Plain } else { Encoding::Zstd };
        let sim = Sim::new(1);
        let store = open(&sim, encoding);
        create(&store, "a", Vec::new());
        let (mut expected, mut time_ms) = (Vec::new(), T0);
        for (drafts, class) in batches {
            let first_seq = expected.len() as u64;
            let mut timed = Vec::new();
            for (draft, later) in drafts {
                time_ms += later;
                timed.push(Draft { time_ms: Some(time_ms), ..draft });
            }
            expected.extend(timed.iter().cloned());
            let class = [Durability::Buffered, Durability::Written, Durability::Synced]
                [usize::from(class)];
            let commit = store.append("a", batch(first_seq, timed), class).expect("nothing fails");
            prop_assert_eq!((commit.first_seq, commit.durability), (first_seq, class));
        }
        let live = events(&store, "a");
        store.close().expect("nothing fails");
        let next = open(&sim, encoding);
        let read_again = events(&next, "a");
        prop_assert_eq!(live.len(), expected.len());
        for (place, draft) in expected.iter().enumerate() {
            let printed = |text: &[u8]| {
                Document::parse(text.to_vec()).expect("JSON").root().to_json()
            };
            for event in [&live[place], &read_again[place]] {
                prop_assert_eq!(event.seq, place as u64);
                prop_assert_eq!(Some(event.time_ms), draft.time_ms);
                prop_assert_eq!(&event.kind, &draft.kind);
                // A packed row gives its chunks the host's order of keys.
                let same = Document::parse(event.data.clone()).expect("JSON");
                let given = Document::parse(draft.data.clone()).expect("JSON");
                prop_assert!(same.root().same(&given.root()));
                prop_assert_eq!(&event.sources, &draft.sources.as_deref().map(printed));
                prop_assert_eq!(&event.surface, &draft.surface.as_deref().map(printed));
                prop_assert_eq!(event.ignorable, draft.ignorable);
            }
        }
        // And by the reader alone.
        let path = log("a", encoding);
        let file = sim.disk().open(&path).expect("it is there");
        let bytes = file.stat().expect("it is open").bytes;
        let options = read::Options {
            zstd: !is_plain, generation: Some(0), frame_bytes_max: 1 << 30, reads: |_| true,
            wanted: Vec::new(),
        };
        let mut sink = Read::default();
        let reading = read::read(&*file, bytes, &options, &mut sink).expect("readable");
        prop_assert_eq!((reading.fault, reading.torn), (None, None));
        prop_assert_eq!(reading.events, expected.len() as u64);
    }
}
