//! Three readers of one store that share no code which finds the end of a log: the log itself, the
//! verifier, and the reference reader. Where the document speaks of a rare case, all three do as it
//! says.

use gatelog_benches::trial::reference::{self, Depth, Reading, Verdict};
use gatelog_benches::trial::{FixedMachine, found, verified, workload};
use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::log::{Log, LogConfig, LookedEnd, look};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::storage::{Sim, Volume};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FIRST: &str = "00000000000000000001.log";

fn dir() -> &'static Path {
    Path::new(workload::DIR)
}

fn path(name: &str) -> PathBuf {
    dir().join(name)
}

fn opened(sim: &Sim, seed: u64) -> Log {
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let machine = Arc::new(FixedMachine::new(seed));
    Log::open(Arc::new(sim.disk()), dir(), machine, config).expect("it opens")
}

fn batch(first_seq: u64) -> Batch {
    let row = |draft| Row { time_ms: 1_000, draft };
    Batch {
        first_seq,
        key: None,
        rows: found::drafts(first_seq, 1, 50).into_iter().map(row).collect(),
    }
}

/// A store of one session with so many groups of one frame.
fn written(seed: u64, groups: u64) -> (Sim, Log) {
    let sim = Sim::new(seed);
    let log = opened(&sim, seed);
    let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
    log.create("a", &header, batch(0), Durability::Synced).expect("it is created");
    for seq in 1..groups {
        log.append("a", batch(seq), Durability::Synced).expect("it is appended");
    }
    (sim, log)
}

/// What is said of a store: by the document, by the log as a reader and a writer, by the verifier.
struct Said {
    document: Reading,
    frames: u64,
    /// The rule by which the log refuses it.
    refused: Option<&'static str>,
    /// Without what is said of frames that are not confirmed yet.
    verified: Vec<&'static str>,
}

fn said(sim: &Sim) -> Said {
    let document = reference::read(
        &reference::load(&sim.disk(), dir()).expect("it can be read"),
        Depth::Whole,
    );
    let looked = look(Arc::new(sim.disk()), dir()).expect("it can be read");
    let checked = verified::verify_on(&sim.disk(), dir()).expect("it can be read");
    assert_eq!(looked.frames, document.frames.len() as u64);
    let refused = looked.refused.as_ref().and_then(|error| error.rule);
    assert_eq!(refused.is_some(), looked.end == LookedEnd::Refused, "{looked:?}");
    let writer = Log::open(
        Arc::new(sim.clone().disk()),
        dir(),
        Arc::new(FixedMachine::new(9)),
        LogConfig { has_housekeeper: false, ..LogConfig::default() },
    );
    assert_eq!(writer.err().and_then(|error| error.rule), refused);
    if let Verdict::Corrupt(rule) = document.verdict {
        assert_eq!(refused, Some(rule));
    } else {
        assert_eq!(refused, None, "{:?} by {}", document.verdict, document.row);
    }
    let verified = checked.findings.iter().map(|finding| finding.rule);
    let verified = verified.filter(|rule| *rule != "log/unconfirmed").collect();
    Said { document, frames: looked.frames, refused, verified }
}

/// Puts a sum over the bytes before it into the four bytes at an offset.
fn sum(bytes: &mut [u8], at: usize) {
    let sum = crc32fast::hash(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_valid_frame_in_padding_that_does_not_follow_hides_no_group() {
    let (sim, log) = written(1, 4);
    sim.kill();
    drop(log);
    let whole = said(&sim);
    let frames = whole.document.frames.clone();
    let (first, third) = (&frames[0], &frames[2]);
    let padding = (first.offset + first.bytes) as usize;
    assert!(padding + third.bytes as usize <= frames[1].offset as usize, "it fits there");
    sim.edit(path(FIRST), |bytes| {
        // The third frame once more, as it would be right behind the first.
        let from = third.offset as usize;
        bytes.copy_within(from..from + third.bytes as usize, padding);
        bytes[padding + 16..padding + 24].copy_from_slice(&(padding as u64).to_le_bytes());
        sum(&mut bytes[padding..], 108);
    })
    .expect("it is there");
    let said = said(&sim);
    assert_eq!(said.document.frames, frames);
    assert_eq!((said.document.verdict, said.refused), (Verdict::Clean, None));
    assert_eq!(said.verified, ["segment/padding"]);
}

#[test]
fn a_spare_is_the_first_segment_of_a_store_only_if_it_has_the_stores_id() {
    let renamed = |from: &Sim, witnesses: &[&str]| {
        let (sim, log) = written(1, 1);
        sim.kill();
        drop(log);
        let segment = from.image(path(FIRST)).expect("it is there");
        for name in [FIRST, "STORE", "DURABLE"] {
            if !witnesses.contains(&name) {
                sim.remove(&path(name)).expect("it goes");
            }
        }
        sim.put(path("spare-0"), &segment).expect("it is put");
        said(&sim)
    };
    let (own, log) = written(1, 1);
    own.kill();
    drop(log);
    let (other, log) = written(2, 1);
    other.kill();
    drop(log);
    for witnesses in [&["STORE", "DURABLE"][..], &["STORE"], &["DURABLE"], &[]] {
        let said = renamed(&own, witnesses);
        assert_eq!((said.document.verdict, said.frames), (Verdict::Clean, 1), "{witnesses:?}");
    }
    for witnesses in [&["STORE", "DURABLE"][..], &["STORE"], &["DURABLE"]] {
        let said = renamed(&other, witnesses);
        assert_eq!(said.document.row, "F3", "{witnesses:?}");
        assert!(said.verified.contains(&"segment/missing"), "{:?}", said.verified);
    }
    assert_eq!(renamed(&other, &[]).frames, 1, "nothing says whose it is");
}

#[test]
fn the_table_that_a_segment_names_may_be_that_of_a_clean_stop() {
    let (sim, log) = written(1, 3);
    log.close().expect("it closes");
    drop(log);
    // Something behind the end, so that the next open begins another segment.
    sim.edit(path(FIRST), |bytes| *bytes.last_mut().expect("a byte") = 1).expect("it is there");
    let log = opened(&sim, 3);
    sim.kill();
    drop(log);
    let frames = said(&sim).document.frames;
    let stop = frames.last().expect("a frame");
    assert_eq!((stop.kind, stop.segment), (4, 1));
    let next = path(&format!("{:020}.log", stop.lsn + 1));
    for (table, verified) in [(stop.offset, &[][..]), (stop.offset - 4096, &["segment/table"])] {
        sim.edit(&next, |bytes| {
            bytes[152..160].copy_from_slice(&table.to_le_bytes());
            sum(bytes, 4092);
        })
        .expect("it is there");
        let said = said(&sim);
        assert_eq!((said.document.verdict, &*said.verified), (Verdict::Clean, verified));
        let open = reference::load(&sim.disk(), dir()).expect("it can be read");
        assert_eq!(reference::read(&open, Depth::Open).verdict, Verdict::Clean);
    }
}
