//! What only one of the formats has a place for.

use crate::bench::{BUFFERED, Bench, Opened, SYNCED, WRITTEN, notes, refusal};
use crate::content::read;
use gatelog_engine::backend::{ErrorKind, RecordedRules, Refusal};
use gatelog_engine::rules::Draft;

pub(crate) fn rot_in_what_was_acknowledged_is_refused(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    session.append(notes([1]), SYNCED).expect("lawful");
    let rotten = bench.killed();
    let log = rotten.log_path("a");
    rotten.ground.edit(&log, |bytes| {
        let at = bytes.windows(7).rposition(|part| part == b"{\"n\":1}").expect("it is there");
        bytes[at + 5] ^= 1;
    });
    let before = rotten.ground.bytes();
    let error = rotten.try_open(&opened.setup).map(drop).expect_err("it was acknowledged");
    assert_eq!(error.kind, ErrorKind::Corrupt);
    let after = rotten.ground.bytes();
    assert_eq!(after[&log], before[&log], "nothing was changed");
    // What was never acknowledged is torn, and cut.
    session.append(notes([2]), WRITTEN).expect("lawful");
    let torn = bench.killed();
    torn.ground.edit(&log, |bytes| {
        let at = bytes.windows(7).rposition(|part| part == b"{\"n\":2}").expect("it is there");
        bytes[at + 5] ^= 1;
    });
    assert_eq!(torn.open().numbers("a"), [0, 1]);
    opened
}

pub(crate) fn rot_at_the_end_looks_torn(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let whole = bench.ground.bytes()[&bench.log_path("a")].len();
    session.append(notes([1]), SYNCED).expect("lawful");
    let rotten = bench.killed();
    rotten.ground.edit(rotten.log_path("a"), |bytes| bytes.truncate(whole + 7));
    let there = rotten.open();
    assert_eq!(there.numbers("a"), [0]);
    there.session("a").expect("it is there").append(notes([2]), SYNCED).expect("it goes on");
    assert_eq!(rotten.killed().open().numbers("a"), [0, 2]);
    opened
}

pub(crate) fn lsns_order_commits_across_sessions(bench: &Bench) -> Opened {
    let opened = bench.open();
    let (a, b) = (opened.make("a", &[0]), opened.make("b", &[0]));
    let mut last = 0;
    for n in 1..20 {
        let session = if n % 3 == 0 { &a } else { &b };
        let durability = [BUFFERED, WRITTEN, SYNCED][n as usize % 3];
        let commit = session.append(notes([n]), durability).expect("lawful");
        let lsn = commit.lsn.expect("there is one order");
        assert!(lsn > last, "{lsn} behind {last}");
        last = lsn;
        let event = read(&opened.store, session.id()).pop().expect("it is not empty");
        assert_eq!(event.lsn, commit.lsn);
    }
    opened
}

pub(crate) fn commits_have_no_lsn(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    for durability in [BUFFERED, WRITTEN, SYNCED] {
        assert_eq!(session.append(notes([1]), durability).expect("lawful").lsn, None);
    }
    assert!(read(&opened.store, "a").iter().all(|event| event.lsn.is_none()));
    opened
}

fn rules(version: u32) -> RecordedRules {
    let types = vec![("acme/note".to_owned(), "acme".to_owned(), false)];
    RecordedRules { profile: "suite".to_owned(), version, types }
}

pub(crate) fn rules_are_recorded_once_and_foreign_types_admitted(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let record = |version| {
        let before = bench.ground.bytes();
        opened.backend.record_rules(&rules(version)).expect("nothing fails");
        bench.ground.bytes() != before
    };
    assert_eq!([2, 2, 3, 3, 2].map(record), [true, false, true, false, true]);
    let commit = session.append([Draft::new("acme/note", "1")], SYNCED).expect("it is registered");
    assert_eq!(commit.first_seq, 1);
    assert_eq!(read(&bench.cut().open().store, "a")[1].kind, "acme/note");
    opened
}

pub(crate) fn rules_leave_nothing_and_foreign_types_are_refused_by_name(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let before = bench.ground.bytes();
    opened.backend.record_rules(&rules(2)).expect("nothing is done");
    for durability in [BUFFERED, WRITTEN, SYNCED] {
        let drafts = [notes([1]).remove(0), Draft::new("acme/note", "1")];
        match refusal(session.append(drafts, durability)) {
            Refusal::Unsupported { what } => assert!(what.contains("acme/note"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(bench.ground.bytes(), before);
    let ignorable = Draft { ignorable: true, ..Draft::new("acme/note", "1") };
    session.append([ignorable], SYNCED).expect("a host skips it");
    let event = read(&opened.store, "a").remove(1);
    assert_eq!((&event.kind[..], event.ignorable), ("acme/note", true));
    opened
}

pub(crate) fn a_type_that_nobody_registered_is_refused_unless_ignorable(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let stranger = Draft::new("stranger/thing", "{\"x\":[1,2]}");
    match refusal(session.append([stranger.clone()], SYNCED)) {
        Refusal::Unregistered { kind } => assert_eq!(kind, "stranger/thing"),
        other => panic!("{other:?}"),
    }
    session.append([Draft { ignorable: true, ..stranger }], SYNCED).expect("it may be skipped");
    let event = read(&bench.cut().open().store, "a").remove(1);
    assert_eq!((&event.kind[..], event.ignorable), ("stranger/thing", true));
    opened
}

pub(crate) fn a_newer_generation_ends_the_writing(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let other = opened.make("b", &[0]);
    let newer = "_no-cwd/a/session.v2.jsonl.zstd";
    bench.ground.edit(newer, |bytes| bytes.extend(b"whatever"));
    for durability in [WRITTEN, SYNCED] {
        match refusal(session.append(notes([1]), durability)) {
            Refusal::GenerationMoved { path } => {
                assert_eq!(path, bench.ground.root().join(newer));
            }
            other => panic!("{other:?}"),
        }
    }
    other.append(notes([1]), SYNCED).expect("it is another session's");
    let killed = bench.killed();
    let there = killed.open();
    let refused = refusal(there.session("a").expect("it can be read").append(notes([1]), SYNCED));
    assert!(matches!(refused, Refusal::GenerationMoved { .. }), "{refused:?}");
    there.session("b").expect("it is there").append(notes([2]), SYNCED).expect("it is another's");
    bench.ground.remove(newer);
    opened
}

pub(crate) fn a_file_of_another_store_is_nobodys_generation(bench: &Bench) -> Opened {
    let opened = bench.open();
    let session = opened.make("a", &[0]);
    let other = "session.v2.jsonl.zstd";
    bench.ground.edit(other, |bytes| bytes.extend(b"whatever"));
    session.append(notes([1]), SYNCED).expect("nothing moved");
    assert_eq!(bench.killed().open().numbers("a"), [0, 1]);
    assert_eq!(bench.ground.bytes()[std::path::Path::new(other)], b"whatever");
    opened
}
