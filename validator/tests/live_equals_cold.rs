//! What the gate admits, verification finds sound; what it refuses is what verification finds
//! first. And what closes a session is lawful.

#[path = "gate/equal.rs"]
mod equal;
#[path = "gate/mod.rs"]
mod gate;
#[path = "../../fuzz/regressions.rs"]
mod regressions;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use equal::{check, cold, facts, judge, note, rules};
use gate::{header, with_event};
use gatelog_engine::rules::{Draft, Placement, RuleSet, TypeEntry};
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::{NotRegistered, Standard};
use proptest::prelude::*;

/// How many cases run: 300, or what `PROPTEST_CASES` says.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn what_the_strict_gate_admits_is_sound_and_what_it_refuses_is_found_first(
        tape in proptest::collection::vec(any::<u8>(), 0..500),
    ) {
        check(&tape, Profile::Strict);
    }

    #[test]
    fn what_the_hosts_gate_admits_is_sound_and_what_it_refuses_is_found_first(
        tape in proptest::collection::vec(any::<u8>(), 0..500),
    ) {
        check(&tape, Profile::Host);
    }
}

#[test]
fn what_the_fuzz_target_found_once_holds_now() {
    regressions::replay("gate_equals_verify", equal::check_tape);
}

/// Appends drafts until one is refused; returns how many were not, and the rule that spoke.
fn admitted(profile: Profile, drafts: &[Draft]) -> (usize, Option<&'static str>) {
    let mut live = judge(profile);
    for (seq, draft) in (0..).zip(drafts) {
        if let Err(violation) = with_event(draft, seq, |event| live.admit(event)) {
            return (seq as usize, Some(violation.rule));
        }
    }
    (drafts.len(), None)
}

fn turn() -> Draft {
    Draft::new("turn/start", r#"{"turn":1}"#)
}

fn asked(id: &str) -> Draft {
    Draft::new("approval/asked", format!(r#"{{"id":"{id}","toolName":"t"}}"#))
}

#[test]
fn the_extras_of_the_strict_profile_refuse_and_those_of_the_end_do_not() {
    let end = Draft::new("turn/end", r#"{"turn":1,"reason":{"kind":"completed"}}"#);
    let left = [turn(), asked("a"), end];
    assert_eq!(admitted(Profile::Host, &left), (3, None));
    assert_eq!(admitted(Profile::Strict, &left), (2, Some("approval/undecided-at-turn-end")));
    assert_eq!(admitted(Profile::Strict, &left[..2]), (2, None), "asked is the last event");
    let lenient = Standard::new(Profile::Strict).with_extras_as_warnings();
    let mut live = lenient.judge("s", &header()).expect("the header is lawful");
    for (seq, draft) in (0..).zip(&left) {
        assert_eq!(with_event(draft, seq, |event| live.admit(event)), Ok(()));
    }
    let preset = Draft::new("permission/preset", r#"{"preset":"danger-full-access"}"#);
    let mode = Draft::new("sandbox/mode", r#"{"mode":"read-only"}"#);
    assert_eq!(admitted(Profile::Strict, &[mode, preset, turn()]), (3, None), "it is of an end");
}

#[test]
fn a_type_is_admitted_if_it_is_registered_or_ignorable() {
    let unheard = Draft::new("acme/unheard", "{}");
    let ignorable = Draft { ignorable: true, ..unheard.clone() };
    let noted = Draft::new("acme/note", "{}");
    assert_eq!(admitted(Profile::Strict, &[unheard]), (0, Some("envelope/unknown-type")));
    let both = [ignorable, noted.clone(), noted.clone()];
    assert_eq!(admitted(Profile::Strict, &both), (2, Some("acme/two-notes")));
    let on_surface = [noted.appended()];
    assert_eq!(admitted(Profile::Strict, &on_surface), (0, Some("surface/not-eligible")));
    let owned = rules(Profile::Host).with_type("acme/note", note()).err();
    assert!(matches!(owned, Some(NotRegistered::Owned(owned)) if owned.owner == "acme"));
    let entry = TypeEntry { placement: Placement::Surface, ..note() };
    let on_surface = rules(Profile::Host).with_type("acme/message", entry).err();
    assert!(matches!(on_surface, Some(NotRegistered::NoMessage { .. })));
}

#[test]
fn a_session_that_died_is_closed_in_the_hosts_words() {
    let message = [
        r#"{"turn":1,"step":1,"message":{"id":"a","role":"assistant","#,
        r#""content":[{"type":"tool-call","id":"c","name":"t"}],"#,
        r#""source":{"kind":"model","provider":"p","model":"m"}}}"#,
    ]
    .concat();
    let call = r#"{"turn":1,"step":1,"callId":"c","name":"t","arguments":""}"#;
    let log = [
        turn(),
        Draft::new("step/start", r#"{"turn":1,"step":1}"#),
        Draft::new("assistant/message", message).appended(),
        Draft::new("tool/call", call),
        asked("b"),
        asked("a"),
        Draft::new("compaction/start", r#"{"compactionId":"z","turn":1}"#),
    ];
    for profile in [Profile::Host, Profile::Strict] {
        let mut live = judge(profile);
        assert_eq!(cold(&mut *live, &log, 0, profile), []);
        let closers = live.closers();
        let shown: Vec<_> = closers
            .iter()
            .map(|closer| {
                let data = String::from_utf8_lossy(&closer.data);
                let end = data.char_indices().nth(70).map_or(data.len(), |(at, _)| at);
                format!("{} {} {:?}", closer.kind, &data[..end], closer.time_ms)
            })
            .collect();
        let first = if profile == Profile::Strict { 10 } else { 7 };
        let id = format!("interrupted-tool-result-c-{first}");
        let mut expected = vec![
            format!(
                "tool/result {} Some(1006)",
                &format!(r#"{{"turn":1,"step":1,"message":{{"id":"{id}","role":"user","#)[..70]
            ),
            r#"step/end {"turn":1,"step":1} Some(1006)"#.to_owned(),
            r#"turn/end {"turn":1,"reason":{"kind":"interrupted"}} Some(1006)"#.to_owned(),
        ];
        if profile == Profile::Strict {
            let acts = [
                r#"approval/decided {"id":"b","outcome":"cancelled"} Some(1006)"#,
                r#"approval/decided {"id":"a","outcome":"cancelled"} Some(1006)"#,
                r#"compaction/end {"compactionId":"z","turn":1,"error":"interrupted"} Some(1006)"#,
            ];
            expected.splice(..0, acts.map(str::to_owned));
        }
        assert_eq!(shown, expected);
        let result = &closers[closers.len() - 3];
        assert_eq!(result.sources.as_deref(), Some(b"[3]".as_slice()));
        assert_eq!(result.surface.as_deref(), Some(b"\"append\"".as_slice()));
        assert!(live.state_bytes() > 0);
    }
}

#[test]
fn facts_say_where_the_session_stands() {
    let log = [
        Draft::new("permission/preset", r#"{"preset":"workspace-write"}"#),
        Draft::new("sandbox/mode", r#"{"mode":"workspace-write"}"#),
        Draft::new("approval/policy", r#"{"policy":"ask"}"#),
        Draft::new("session/end-seed", "{}"),
        turn(),
        Draft::new("step/start", r#"{"turn":1,"step":1}"#),
        asked("a"),
    ];
    let mut live = judge(Profile::Strict);
    assert_eq!(cold(&mut *live, &log, 0, Profile::Strict), []);
    let facts = facts(&*live);
    let word = |said: &Option<gatelog_validator::facts::Said>| {
        said.as_ref().map(|said| (said.word.clone(), said.seq))
    };
    assert_eq!(word(&facts.preset), Some(("workspace-write".to_owned(), 0)));
    assert_eq!(word(&facts.mode), Some(("workspace-write".to_owned(), 1)));
    assert_eq!(word(&facts.policy), Some(("ask".to_owned(), 2)));
    let turn = facts.turn.expect("a turn is open");
    assert_eq!((turn.number, turn.seq, turn.step), (1, 4, Some(1)));
    assert!(facts.seeded && facts.asks().len() == 1 && facts.asks()[0].is_of_open_turn);
}

#[test]
fn a_header_that_breaks_a_rule_makes_no_judge() {
    let verdict = |dialect, json: &str| {
        let header = gatelog_engine::rules::SessionHeader { dialect, json: json.into() };
        Standard::new(Profile::Host).judge("s", &header).err().map(|violation| violation.rule)
    };
    assert_eq!(verdict(0, gate::HEADER), None);
    assert_eq!(verdict(4, gate::HEADER), Some("header/version"));
    assert_eq!(verdict(0, "{}"), Some("header/shape"));
    let other = gate::HEADER.replace("\"s\"", "\"t\"");
    assert_eq!(verdict(0, &other), Some("identity/other-id"));
    let elsewhere = gate::HEADER.replace("\"/p\"", "\"p\"");
    assert_eq!(verdict(0, &elsewhere), Some("header/cwd"));
}
