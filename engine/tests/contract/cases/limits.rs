//! Each limit one below, at it, and one above.

use crate::bench::{Bench, Kind, Opened, SYNCED, Setup, notes, refusal};
use crate::world::{header, note, sized};
use gatelog_engine::backend::{AppendError, Batch, Commit, Limited, Refusal, Row};
use gatelog_engine::rules::SessionHeader;
use gatelog_engine::store::{RECORDS_MAX, StoreConfig};

/// Bytes of a row in a native frame with one event of `plan/mode`, the payload apart: the frame's
/// header, the row's front, and its envelope.
const FRAME_BYTES: usize = 112 + 16 + "{\"type\":\"plan/mode\"}".len();

/// One behind the last seq.
const END: u64 = 1 << 53;

/// What was too large, and the limit.
fn too_large<T>(result: Result<T, AppendError>) -> (Limited, u64, u64) {
    match refusal(result) {
        Refusal::TooLarge { what, bytes, limit } => (what, bytes, limit),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn records_of_a_batch(bench: &Bench) -> Opened {
    let setup = Setup { segment_bytes: 64 << 20, ..Setup::default() };
    let opened = bench.open_as(&setup);
    let session = opened.make("a", &[]);
    let batch = |count: usize| vec![note(1); count];
    let over = session.append(batch(RECORDS_MAX + 1), SYNCED);
    let max = RECORDS_MAX as u64;
    assert_eq!(too_large(over), (Limited::Records, max + 1, max));
    // The backend has the same limit for those who come without the session layer.
    let rows = vec![Row { time_ms: 1, draft: note(1) }; RECORDS_MAX + 1];
    let direct = Batch { first_seq: 0, key: None, rows };
    if bench.kind == Kind::Native {
        assert_eq!(too_large(opened.backend.append("a", direct, SYNCED)).0, Limited::Records);
    }
    let mut first_seq = 0;
    for count in [1, RECORDS_MAX - 1, RECORDS_MAX] {
        let commit = session.append(batch(count), SYNCED).expect("it is within");
        assert_eq!((commit.first_seq, commit.events), (first_seq, count as u64));
        first_seq += count as u64;
    }
    opened
}

pub(crate) fn bytes_of_an_id(bench: &Bench) -> Opened {
    let opened = bench.open();
    let max = match bench.kind {
        Kind::Native => 1_024,
        // A name in a directory.
        Kind::FilesZstd | Kind::FilesPlain => 255,
    };
    for bytes in [1, max - 1, max] {
        let session = opened.make(&"i".repeat(bytes), &[0]);
        session.append(notes([1]), SYNCED).expect("lawful");
    }
    for bytes in [max + 1, 1_025, 5_000] {
        let id = "i".repeat(bytes);
        let before = bench.ground.bytes();
        let (what, asked, limit) = too_large(opened.create(&id, &header(&id), |_| Ok(())));
        let limit_of_all = if bytes > 1_024 { 1_024 } else { max as u64 };
        assert_eq!((what, asked, limit), (Limited::IdBytes, bytes as u64, limit_of_all));
        assert_eq!(bench.ground.bytes(), before);
    }
    assert_eq!(opened.content().len(), 3);
    opened
}

pub(crate) fn bytes_of_a_batch(bench: &Bench) -> Opened {
    let store = StoreConfig { batch_bytes_max: 1_000, ..StoreConfig::default() };
    let opened = bench.open_as(&Setup { store, ..Setup::default() });
    let session = opened.make("a", &[]);
    // Two drafts; the names of their types count.
    let fits = 1_000 - 2 * "plan/mode".len() - 300;
    for bytes in [fits - 1, fits] {
        session.append([sized(300), sized(bytes)], SYNCED).expect("it is within");
    }
    let over = session.append([sized(300), sized(fits + 1)], SYNCED);
    assert_eq!(too_large(over), (Limited::FrameBytes, 1_001, 1_000));
    opened
}

pub(crate) fn bytes_of_a_frame(bench: &Bench) -> Opened {
    let setup = Setup { segment_bytes: 64 << 10, ..Setup::default() };
    let opened = bench.open_as(&setup);
    let session = opened.make("a", &[]);
    // A quarter of a segment, as one frame.
    let fits = (16 << 10) - FRAME_BYTES;
    for bytes in [fits - 1, fits] {
        session.append([sized(bytes)], SYNCED).expect("it is within");
    }
    let over = session.append([sized(fits + 1)], SYNCED);
    match bench.kind {
        Kind::Native => {
            let (what, bytes, limit) = too_large(over);
            assert_eq!((what, limit), (Limited::FrameBytes, 16 << 10));
            assert!(bytes > limit, "{bytes}");
        }
        // There is no segment; the limit is that of the session layer.
        Kind::FilesZstd | Kind::FilesPlain => assert_eq!(over.expect("within").first_seq, 2),
    }
    let first_seq = session.append(notes([1]), SYNCED).expect("lawful").first_seq;
    assert_eq!(first_seq, if bench.kind == Kind::Native { 2 } else { 3 });
    opened
}

pub(crate) fn bytes_of_a_header(bench: &Bench) -> Opened {
    let opened = bench.open_as(&Setup { segment_bytes: 64 << 20, ..Setup::default() });
    let header = |id: &str, bytes: usize| {
        let text = String::from_utf8(header(id).json).expect("UTF-8");
        let text = text.replace('}', ",\"agentPreset\":\"\"}");
        let json = text.replace("\"\"}", &format!("\"{}\"}}", "p".repeat(bytes - text.len())));
        assert_eq!(json.len(), bytes);
        SessionHeader { dialect: 0, json: json.into_bytes() }
    };
    let max = 1 << 20;
    for (id, bytes) in [("a", max - 1), ("b", max)] {
        opened.create(id, &header(id, bytes), |_| Ok(())).expect("it is within");
    }
    let over = opened.create("c", &header("c", max + 1), |_| Ok(()));
    match bench.kind {
        Kind::Native => {
            let (limit, over) = (max as u64, too_large(over));
            assert_eq!(over, (Limited::HeaderBytes, limit + 1, limit));
        }
        Kind::FilesZstd | Kind::FilesPlain => drop(over.expect("the host has no such limit")),
    }
    opened
}

/// The last seq is 2⁵³ − 1. No session gets there in a test, so the backend is asked what it says
/// of batches that are at the wrong place, but not beyond the end, and of those beyond.
pub(crate) fn the_greatest_seq(bench: &Bench) -> Opened {
    let opened = bench.open();
    opened.make("a", &[0]);
    let ask = |first_seq: u64, count: usize| -> Result<Commit, AppendError> {
        let rows = vec![Row { time_ms: 1, draft: note(1) }; count];
        opened.backend.append("a", Batch { first_seq, key: None, rows }, SYNCED)
    };
    for (first_seq, count) in [(END - 2, 1), (END - 1, 1), (END - 2, 2), (END - 3, 2)] {
        match refusal(ask(first_seq, count)) {
            Refusal::WrongSeq { actual: 1, .. } => {}
            other => panic!("{count} from {first_seq}: {other:?}"),
        }
    }
    for (first_seq, count) in [(END, 1), (END - 1, 2), (END - 2, 3), (u64::MAX, 1), (u64::MAX, 2)] {
        match refusal(ask(first_seq, count)) {
            Refusal::Full => {}
            other => panic!("{count} from {first_seq}: {other:?}"),
        }
    }
    opened
}
