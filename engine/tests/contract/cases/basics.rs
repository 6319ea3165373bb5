//! Creating, appending, reading, listing; what is refused.

use crate::bench::{BUFFERED, Bench, Opened, SYNCED, WRITTEN, notes, refusal};
use crate::content::{read, read_from};
use crate::world::{T0, header, note, start_or_end};
use gatelog_engine::backend::{Commit, ErrorKind, Refusal};
use gatelog_engine::rules::Draft;
use std::ops::ControlFlow;

/// Tells whether a refusal is the one that is meant.
type Is = fn(&Refusal) -> bool;

pub(crate) fn a_session_begins_with_all_that_init_appends(bench: &Bench) -> Opened {
    let opened = bench.open();
    let made = opened.create("a", &header("a"), |init| {
        init.append(start_or_end("turn/start"));
        init.append(Draft::new("user/message", r#"{"text":"hi"}"#).appended());
        init.append(Draft { time_ms: Some(T0 - 5), ..note(2) });
        Ok(())
    });
    made.expect("it is lawful");
    let events = read(&opened.store, "a");
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["turn/start", "user/message", "plan/mode"]);
    assert_eq!(events[1].surface.as_deref(), Some("\"append\""));
    assert_eq!([0, 1, 2].map(|n| events[n].time_ms), [T0, T0, T0 - 5]);
    let again = opened.create("a", &header("a"), |_| Ok(()));
    assert!(matches!(refusal(again), Refusal::Exists));
    let refused = opened.create("b", &header("b"), |init| {
        init.append(note(1));
        init.append(start_or_end("turn/end"));
        Ok(())
    });
    assert!(matches!(refusal(refused), Refusal::Violation(_)));
    let refused = opened.create("c", &header("c"), |_| Err(Refusal::Empty));
    assert!(matches!(refusal(refused), Refusal::Empty));
    assert_eq!(opened.content().keys().collect::<Vec<_>>(), ["a"]);
    opened
}

pub(crate) fn a_session_without_events_is_a_session(bench: &Bench) -> Opened {
    let opened = bench.open();
    opened.make("a", &[]);
    assert_eq!(opened.content()["a"], []);
    let info = &opened.list().expect("it can be listed")[0];
    let given: serde_json::Value = serde_json::from_slice(&header("a").json).expect("JSON");
    let kept: serde_json::Value = serde_json::from_slice(&info.header.json).expect("JSON");
    assert_eq!((&info.id[..], kept, info.last_time_ms), ("a", given, 0));
    opened
}

pub(crate) fn each_class_is_accepted_and_read_at_once(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let mut first_seq = 1;
    for durability in [BUFFERED, WRITTEN, SYNCED, BUFFERED, BUFFERED, SYNCED, WRITTEN, BUFFERED] {
        for events in [1, 3] {
            let numbers = first_seq..first_seq + events;
            let commit = session.append(notes(numbers.clone()), durability).expect("lawful");
            let lsn = commit.lsn;
            assert_eq!(commit, Commit { lsn, first_seq, events, durability });
            first_seq += events;
            assert_eq!(opened.numbers("a"), (0..first_seq).collect::<Vec<_>>());
        }
    }
    opened
}

pub(crate) fn reading_begins_at_any_seq_and_stops_where_it_is_told(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0, 1]);
    opened.make("b", &[7]);
    session.append(notes(2..5), SYNCED).expect("lawful");
    session.append(notes(5..6), WRITTEN).expect("lawful");
    session.append(notes(6..8), BUFFERED).expect("lawful");
    for from in 0..10 {
        let events = read_from(&opened.store, "a", from).expect("it can be read");
        let seqs: Vec<_> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (from..8).collect::<Vec<_>>());
        for stop in from..8 {
            let mut last = None;
            let read = session.read(from, &mut |stored| {
                last = Some(stored.seq);
                // Whoever takes may read the session again.
                let mut again = None;
                let nested = opened.read("a", stored.seq, &mut |stored| {
                    again = Some(stored.seq);
                    ControlFlow::Break(())
                });
                nested.expect("it can be read");
                assert_eq!(again, Some(stored.seq));
                if stored.seq == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            read.expect("it can be read");
            assert_eq!(last, Some(stop));
        }
    }
    opened
}

pub(crate) fn the_list_is_in_the_order_of_ids(bench: &Bench) -> Opened {
    let opened = bench.open();
    let ids = ["b", "a/b", "\u{1F600}", "Z", "aa", "..", "\u{e9}"];
    for (n, id) in (0..).zip(ids) {
        opened.make(id, &[n]);
        opened.session(id).expect("it is live").append(notes([9]), BUFFERED).expect("lawful");
    }
    let mut sorted = ids;
    sorted.sort_unstable();
    let infos = opened.list().expect("it can be listed");
    let listed: Vec<_> = infos.iter().map(|info| (info.id.as_str(), info.next_seq)).collect();
    assert_eq!(listed, sorted.map(|id| (id, 2)));
    opened
}

pub(crate) fn seqs_are_dense_and_time_never_steps_back(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let other = opened.make("b", &[]);
    bench.clock.set(T0 + 1_000);
    session.append(notes([1]), SYNCED).expect("lawful");
    bench.clock.set(T0 - 3_600_000);
    session.append(notes([2, 3]), BUFFERED).expect("lawful");
    // The clock is behind for a session that was later already, and for no other.
    other.append(notes([4]), SYNCED).expect("lawful");
    let own = Draft { time_ms: Some(T0 + 2_000), ..note(5) };
    session.append([own, note(6)], WRITTEN).expect("lawful");
    bench.clock.set(T0 + 3_000);
    session.append(notes([7]), SYNCED).expect("lawful");
    let times: Vec<_> = read(&opened.store, "a").iter().map(|event| event.time_ms - T0).collect();
    assert_eq!(times, [0, 1_000, 1_000, 1_000, 2_000, 2_000, 3_000]);
    assert_eq!(read(&opened.store, "b")[0].time_ms, T0 - 3_600_000);
    // A process that begins with a clock behind goes on where the log is.
    bench.clock.set(T0);
    session.append(notes([8]), SYNCED).expect("lawful");
    let killed = bench.killed();
    let there = killed.open();
    there.session("a").expect("it is there").append(notes([9]), SYNCED).expect("lawful");
    let last = read(&there.store, "a").pop().expect("it is not empty");
    assert_eq!((last.seq, last.time_ms), (8, T0 + 3_000));
    opened
}

pub(crate) fn what_is_refused_leaves_nothing(bench: &Bench) -> Opened {
    let mut opened = bench.open();
    opened.setup.store.batch_bytes_max = 1_000;
    let setup = opened.setup.clone();
    opened.make("a", &[0]);
    opened.close().expect("nothing fails");
    let opened = bench.open_as(&setup);
    let session = opened.session("a").expect("it is there");
    session.append(notes([1]), SYNCED).expect("lawful");
    let before = (bench.ground.bytes(), opened.content());
    let refused: [(Vec<Draft>, Is); 7] = [
        (vec![], |it| matches!(it, Refusal::Empty)),
        (vec![note(2), start_or_end("turn/end")], |it| matches!(it, Refusal::Violation(_))),
        (vec![note(2), Draft::new("plan/mode", "{")], |it| matches!(it, Refusal::Malformed { .. })),
        (vec![note(2).appended()], |it| matches!(it, Refusal::Malformed { .. })),
        (vec![Draft::new("user/message", "{}")], |it| matches!(it, Refusal::Malformed { .. })),
        (vec![note(2), Draft { time_ms: Some(1 << 53), ..note(3) }], |it| {
            matches!(it, Refusal::Malformed { .. })
        }),
        (vec![Draft::new("plan/mode", vec![b'1'; 1_001])], |it| {
            matches!(it, Refusal::TooLarge { .. })
        }),
    ];
    for durability in [BUFFERED, WRITTEN, SYNCED] {
        for (drafts, is) in &refused {
            let refused = refusal(session.append(drafts.clone(), durability));
            assert!(is(&refused), "{drafts:?}: {refused:?}");
        }
        let wrong = refusal(session.append_expecting(9, None, notes([2]), durability));
        assert!(matches!(wrong, Refusal::WrongSeq { expected: 9, actual: 2 }), "{wrong:?}");
    }
    let bad = gatelog_engine::rules::SessionHeader { dialect: 0, json: b"[]".to_vec() };
    let made = opened.create("b", &bad, |_| Ok(()));
    assert!(matches!(refusal(made), Refusal::Malformed { .. }));
    assert!(matches!(
        refusal(opened.create("", &header(""), |_| Ok(()))),
        Refusal::Malformed { .. }
    ));
    assert_eq!((bench.ground.bytes(), opened.content()), before);
    assert_eq!(session.append(notes([2]), SYNCED).expect("lawful").first_seq, 2);
    opened
}

pub(crate) fn a_session_that_is_not_there_is_said_not_to_be(bench: &Bench) -> Opened {
    let opened = bench.open();
    opened.make("a", &[0]);
    for id in ["b", "A", "a/", &"x".repeat(200)] {
        assert!(matches!(refusal(opened.session(id)), Refusal::NoSession));
        let error = read_from(&opened.store, id, 0).expect_err("there is none");
        assert_eq!(error.kind, ErrorKind::NoSession);
        assert_eq!(opened.backend.find(id).expect("it can be looked for"), None);
    }
    opened
}
