//! Ends that a crash tore: cut in place before the first append, and what can be read is kept.

use gatelog_engine::backend::{Backend, Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::session_files::Encoding;
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};

use crate::common::{
    T0, append, batch, create, events, header, log, notes, open, read, refusal, texts, title,
};

/// A session of three batches, and where in the log the last one begins.
fn started(encoding: Encoding) -> (Sim, usize) {
    let sim = Sim::new(1);
    let store = open(&sim, encoding);
    create(&store, "a", vec![title("0")]);
    append(&store, "a", 1, &["1"]).expect("nothing fails");
    let whole = sim.image(log("a", encoding)).expect("it is there").len();
    // Compressed text does not shrink to nothing, so that a cut frame still gives some of it.
    let notes: Vec<String> = (2..3000_u64).map(|n| format!("{:x}", n * n * 7_919)).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
    append(&store, "a", 2, &notes).expect("nothing fails");
    (sim, whole)
}

#[test]
fn every_cut_of_the_last_batch_is_continued() {
    for encoding in [Encoding::Zstd, Encoding::Plain] {
        let (sim, whole) = started(encoding);
        let bytes = sim.image(log("a", encoding)).expect("it is there");
        let all = notes(&open(&sim, encoding), "a");
        let mut recovered_some = false;
        let cuts = (whole..whole + 8).chain((whole..bytes.len()).step_by(bytes.len() / 13));
        for cut in cuts.chain(bytes.len() - 4..bytes.len()) {
            let sim = sim.clone();
            sim.edit(log("a", encoding), |bytes| bytes.truncate(cut)).expect("it is there");
            let store = open(&sim, encoding);
            let info = store.find("a").expect("a torn end is no damage").expect("it is there");
            let kept = notes(&store, "a");
            let recovered = kept.len() - 2;
            assert_eq!((info.next_seq, &all[..kept.len()]), (kept.len() as u64, &kept[..]));
            let is_frame = encoding == Encoding::Zstd && cut > whole;
            assert_eq!(info.unconfirmed, if is_frame { recovered as u64 } else { 0 }, "{cut}");
            // Looking changes nothing.
            assert_eq!(sim.image(log("a", encoding)).expect("there").len(), cut);
            append(&store, "a", info.next_seq, &["new"]).expect("the end is cut");
            let mut expected = kept.clone();
            expected.push("new".to_owned());
            assert_eq!(notes(&store, "a"), expected, "{cut}");
            assert_eq!(notes(&open(&sim, encoding), "a"), expected, "{cut}");
            let frames = texts(&sim.image(log("a", encoding)).expect("it is there"));
            if encoding == Encoding::Zstd {
                assert_eq!(frames.len(), 4, "what was recovered and what is new are one frame");
            }
            recovered_some |= is_frame && recovered > 0 && recovered < 2998;
        }
        assert!(recovered_some || encoding == Encoding::Plain);
    }
}

#[test]
fn recovered_rows_are_packed_again_as_the_host_packs_them() {
    let sim = Sim::new(1);
    let store = open(&sim, Encoding::Zstd);
    create(&store, "a", Vec::new());
    let chunk = |n: u64| {
        let data = format!(
            r#"{{"turn":1,"step":1,"chunk":{{"type":"text-delta","index":0,"text":"{n}"}}}}"#
        );
        Draft { time_ms: Some(T0 + n * n), ..Draft::new("assistant/chunk", data) }
    };
    let drafts = (0..5).map(chunk).chain([title("t")]).collect();
    store.append("a", batch(0, drafts), Durability::Synced).expect("nothing fails");
    let before = events(&store, "a");
    // Only the checksum of the last frame is cut: all that it holds can be read.
    sim.edit(log("a", Encoding::Zstd), |bytes| bytes.truncate(bytes.len() - 2)).expect("there");
    drop(store);
    let store = open(&sim, Encoding::Zstd);
    let info = store.find("a").expect("readable").expect("there");
    assert_eq!((info.next_seq, info.unconfirmed), (6, 6));
    assert!(events(&store, "a").iter().all(|event| !event.confirmed));
    store.append("a", batch(6, vec![chunk(9)]), Durability::Synced).expect("nothing fails");
    let frames = texts(&sim.image(log("a", Encoding::Zstd)).expect("it is there"));
    assert_eq!(frames[1].lines().count(), 3);
    assert!(frames[1].contains("\"dt\":[1,3,5,7]"), "{}", frames[1]);
    let after = events(&store, "a");
    let same = |event: &crate::common::Owned| (event.seq, event.time_ms, event.data.clone());
    assert!(before.iter().map(same).eq(after.iter().take(6).map(same)));
    assert!(after.iter().all(|event| event.confirmed));
}

#[test]
fn a_process_that_dies_in_a_write_leaves_a_session_that_goes_on() {
    for encoding in [Encoding::Zstd, Encoding::Plain] {
        for taken in [0, 1, 3, 4, 20, 60, 100_000] {
            let sim = Sim::new(1);
            let store = open(&sim, encoding);
            create(&store, "a", vec![title("0")]);
            sim.fail(Fault::new(Call::Write, Failure::ShortError(taken, Cause::Killed)));
            append(&store, "a", 1, &["x", "y"]).expect_err("the process dies");
            drop(store);
            let store = open(&sim, encoding);
            let kept = notes(&store, "a");
            assert!(["0", "x", "y"].iter().zip(&kept).all(|(a, b)| a == b), "{kept:?}");
            append(&store, "a", kept.len() as u64, &["z"]).expect("the lock is free");
            let expected: Vec<_> = kept.iter().map(String::as_str).chain(["z"]).collect();
            assert_eq!(notes(&open(&sim, encoding), "a"), expected);
        }
    }
}

#[test]
fn a_cut_that_fails_is_tried_again() {
    let (sim, whole) = started(Encoding::Plain);
    sim.edit(log("a", Encoding::Plain), |bytes| bytes.truncate(whole + 9)).expect("there");
    let store = open(&sim, Encoding::Plain);
    sim.fail(Fault::new(Call::SetLen, Failure::Error(Cause::Eio)));
    append(&store, "a", 2, &["x"]).expect_err("the cut fails");
    assert_eq!(sim.image(log("a", Encoding::Plain)).expect("it is there").len(), whole + 9);
    append(&store, "a", 2, &["x"]).expect("the disk is well");
    assert_eq!(notes(&open(&sim, Encoding::Plain), "a"), ["0", "1", "x"]);
}

#[test]
fn damage_that_was_committed_is_refused_and_left_as_it_is() {
    let (sim, whole) = started(Encoding::Zstd);
    sim.flip(log("a", Encoding::Zstd), whole as u64 - 1, 0).expect("it is there");
    let store = open(&sim, Encoding::Zstd);
    let error = store.find("a").expect_err("a frame is damaged");
    assert_eq!(error.kind, gatelog_engine::backend::ErrorKind::Corrupt);
    read(&store, "a", 0).expect_err("a frame is damaged");
    let before = sim.image(log("a", Encoding::Zstd)).expect("it is there");
    let refused = refusal(append(&store, "a", 2, &["x"]));
    assert!(matches!(refused, Refusal::Damaged { .. }), "{refused:?}");
    assert_eq!(sim.image(log("a", Encoding::Zstd)).expect("it is there"), before);
    // It hides no other.
    store.create("b", &header("b"), batch(0, vec![]), Durability::Synced).expect("created");
    let sessions = store.sessions().expect("readable");
    assert_eq!(sessions.into_iter().map(|info| info.id).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_log_that_was_moved_is_refused() {
    let (sim, _) = started(Encoding::Plain);
    let bytes = sim.image(log("a", Encoding::Plain)).expect("it is there");
    sim.put(log("b", Encoding::Plain), &bytes).expect("there is room");
    let store = open(&sim, Encoding::Plain);
    let error = store.find("b").expect_err("its header names another session");
    assert!(error.message.contains("does not match header id"), "{error}");
}
