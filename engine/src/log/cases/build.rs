//! Writes segments byte by byte with the codecs, and judges what comes out.

use crate::backend::{Batch, Error, ErrorKind, Row};
use crate::log::body::{encode_create, encode_data, encode_table, encode_watermark};
use crate::log::chain::{Digest, SessionKey, StoreId};
use crate::log::durable::Durable;
use crate::log::encoded::{Encoded, Stamp};
use crate::log::frame::Kind;
use crate::log::judgement::Judgement;
use crate::log::name;
use crate::log::opened::Opened;
use crate::log::reader::LogReader;
use crate::log::recovery::Recovery;
use crate::log::segment_header::{Begin, SegmentHeader};
use crate::log::superblock::{STORE_BYTES, Slot, Stop};
use crate::log::tail::Verdict;
use crate::log::tally::Tally;
use crate::machine::{Holder, Machine};
use crate::rules::{Draft, SessionHeader};
use crate::storage::{Sim, Storage};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const STORE_ID: StoreId = *b"a store of tests";

/// Bytes of every segment here.
pub(crate) const SEGMENT_BYTES: u64 = 32 << 10;

const PAGE: u64 = 4096;

pub(crate) fn dir() -> &'static Path {
    Path::new("/store")
}

/// A machine whose chance is a count, and whose clock stands.
pub(crate) struct Fixed(AtomicU64);

impl Fixed {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(1000))
    }
}

impl Machine for Fixed {
    fn now_ms(&self) -> u64 {
        1_700_000_000_000
    }

    fn random(&self, buffer: &mut [u8]) {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let hash = blake3::hash(&count.to_le_bytes());
        buffer.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    }

    fn holder(&self) -> Holder {
        Holder::default()
    }
}

/// A segment as it is written.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) header: SegmentHeader,
    pub(crate) bytes: Vec<u8>,
    /// Behind the last frame.
    pub(crate) end: u64,
    pub(crate) next_lsn: u64,
    pub(crate) last_lsn: u64,
    pub(crate) digest: Digest,
    pub(crate) tally: Tally,
    /// The offset of the frame that ends it.
    pub(crate) table_offset: u64,
    /// Of the one session that is written here.
    next_seq: u64,
    session_lsn: u64,
}

impl Written {
    pub(crate) fn first() -> Self {
        let header = SegmentHeader {
            store_id: STORE_ID,
            segment_id: 11,
            epoch: 1,
            first_lsn: 1,
            segment_bytes: SEGMENT_BYTES,
            prev_first_lsn: 0,
            prev_segment_id: 0,
            prev_end_offset: 0,
            prev_last_lsn: 0,
            prev_digest: Digest::before_first(&STORE_ID),
            durable_lsn: 0,
            begin: Begin::First,
            cut_bytes: 0,
            cut_crc: 0,
            created_ms: 0,
            prev_table_offset: 0,
        };
        Self::of(header, 0, 0)
    }

    /// The segment behind this one.
    pub(crate) fn next(&self, begin: Begin) -> Self {
        let header = SegmentHeader {
            segment_id: self.header.segment_id + 1,
            first_lsn: self.next_lsn.max(self.header.first_lsn + 1),
            prev_first_lsn: self.header.first_lsn,
            prev_segment_id: self.header.segment_id,
            prev_end_offset: self.end,
            prev_last_lsn: self.last_lsn,
            prev_digest: self.digest,
            durable_lsn: self.last_lsn,
            begin,
            prev_table_offset: if begin == Begin::Rotated { self.table_offset } else { 0 },
            ..self.header.clone()
        };
        Self::of(header, self.next_seq, self.session_lsn)
    }

    pub(crate) fn of(header: SegmentHeader, next_seq: u64, session_lsn: u64) -> Self {
        let mut bytes = header.encode().to_vec();
        bytes.resize(header.segment_bytes as usize, 0);
        Self {
            bytes,
            end: PAGE,
            next_lsn: header.first_lsn,
            last_lsn: header.prev_last_lsn,
            digest: header.prev_digest,
            tally: Tally::default(),
            table_offset: 0,
            next_seq,
            session_lsn,
            header,
        }
    }

    /// Writes a frame right behind the last one.
    pub(crate) fn frame(&mut self, mut encoded: Encoded, durable_lsn: u64) -> u64 {
        let is_of_store = encoded.kind.is_of_store();
        let key = SessionKey::of(&STORE_ID, "one");
        let stamp = Stamp {
            segment_id: self.header.segment_id,
            offset: self.end,
            lsn: self.next_lsn,
            durable_lsn,
            session: if is_of_store { SessionKey::STORE } else { key },
            session_prev_lsn: if is_of_store { 0 } else { self.session_lsn },
            prev: self.digest,
            epoch: self.header.epoch,
        };
        let head = encoded.stamp(&stamp);
        let frame = crate::log::frame::Frame { head, body: encoded.body() };
        self.tally.take(&frame);
        self.digest = head.digest(encoded.body_hash);
        if head.kind.has_table() {
            self.table_offset = self.end;
        }
        let bytes = encoded.bytes();
        self.bytes[self.end as usize..][..bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len() as u64;
        self.last_lsn = head.lsn;
        self.next_lsn = head.lsn + 1;
        if !is_of_store {
            self.session_lsn = head.lsn;
            self.next_seq += u64::from(head.record_count);
        }
        head.offset
    }

    /// Goes to the place of the next group.
    pub(crate) fn align(&mut self) {
        self.end = self.end.next_multiple_of(PAGE);
    }

    /// Encodes the session's next batch.
    pub(crate) fn batch(&self, payload: &[u8]) -> Encoded {
        let draft = Draft::new("test/event", payload);
        let rows = vec![Row { time_ms: 5, draft }];
        let batch = Batch { first_seq: self.next_seq, key: None, rows };
        if self.next_seq > 0 {
            return encode_data(&batch, SEGMENT_BYTES).expect("a batch");
        }
        let header = SessionHeader { dialect: 0, json: b"{}".to_vec() };
        encode_create("one", &header, &batch, SEGMENT_BYTES).expect("a first batch")
    }

    /// Writes a group of so many frames of one session, and returns where it starts.
    pub(crate) fn group(&mut self, frames: usize, durable_lsn: u64) -> u64 {
        self.align();
        let start = self.end;
        for _ in 0..frames {
            let payload = format!("\"payload of {:0300}\"", self.next_lsn);
            let encoded = self.batch(payload.as_bytes());
            self.frame(encoded, durable_lsn);
        }
        start
    }

    /// Writes groups of one frame, each synced before the next.
    pub(crate) fn groups(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.group(1, self.last_lsn);
        }
        self
    }

    pub(crate) fn watermark(&mut self) -> u64 {
        self.align();
        self.frame(encode_watermark(), self.last_lsn)
    }

    /// Ends the segment with its session table.
    pub(crate) fn table(mut self, kind: Kind) -> Self {
        self.align();
        let rows: Vec<_> = self.tally.sessions.values().map(|seen| seen.row.clone()).collect();
        self.frame(encode_table(kind, &rows), self.last_lsn);
        self
    }

    pub(crate) fn name(&self) -> String {
        name::segment(self.header.first_lsn)
    }

    pub(crate) fn slot(&self, durable_lsn: u64) -> Slot {
        Slot {
            store_id: STORE_ID,
            slot_seq: 6,
            epoch: self.header.epoch,
            active_first_lsn: self.header.first_lsn,
            active_segment_id: self.header.segment_id,
            durable_lsn,
            stop: Stop::Open,
            device: 0,
            inode: 0,
        }
    }

    pub(crate) fn clean_slot(&self) -> Slot {
        let stop = Stop::Clean { end_offset: self.end, end_digest: self.digest };
        Slot { stop, ..self.slot(self.last_lsn) }
    }

    pub(crate) fn durable(&self, durable_lsn: u64) -> Durable {
        Durable {
            epoch: self.header.epoch,
            segment_id: self.header.segment_id,
            durable_lsn,
            end_offset: self.end,
            store_id: STORE_ID,
            counter: 1,
        }
    }
}

/// A store on a simulated disk.
pub(crate) struct Built(pub(crate) Sim);

impl Built {
    pub(crate) fn new() -> Self {
        let sim = Sim::new(7);
        sim.put_dir(dir()).expect("a directory");
        Self(sim)
    }

    /// A store whose last segment is the last of these, with a `STORE` that is open.
    pub(crate) fn of(segments: &[&Written]) -> Self {
        let mut built = Self::new();
        for segment in segments {
            built = built.with(&segment.name(), &segment.bytes);
        }
        match segments.last() {
            Some(last) => built.store(&last.slot(last.header.prev_last_lsn)),
            None => built,
        }
    }

    pub(crate) fn with(self, name: &str, bytes: &[u8]) -> Self {
        self.0.put(dir().join(name), bytes).expect("a file");
        self
    }

    pub(crate) fn store(self, slot: &Slot) -> Self {
        let mut bytes = vec![0; STORE_BYTES];
        bytes[slot.offset() as usize..][..4096].copy_from_slice(&slot.encode());
        self.with("STORE", &bytes)
    }

    pub(crate) fn durable(self, durable: &Durable) -> Self {
        self.with("DURABLE", &durable.encode())
    }

    pub(crate) fn read(&self) -> Result<LogReader, Error> {
        LogReader::open(Arc::new(self.0.disk()), dir())
    }

    pub(crate) fn open(&self) -> Result<Opened, Error> {
        recover(&self.0)
    }

    /// The bytes of every segment.
    fn segments(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let logs = self.0.files().into_iter();
        let logs = logs.filter(|path| path.extension().is_some_and(|it| it == "log"));
        logs.map(|path| (path.clone(), self.0.image(&path).expect("a file"))).collect()
    }

    /// Asserts which row decides, what a reader says, and that it changed nothing; then that a
    /// writer decides by the same row, and changes no byte of a segment that was there. `kept` is
    /// where the log ends.
    pub(crate) fn decides(&self, row: &str, verdict: Verdict, kept: Option<u64>) -> Decided {
        let (digest, operations) = (self.0.digest(), self.0.operations());
        let reader = self.read().expect("a reader");
        assert_eq!(self.0.operations(), operations, "a reader changed something");
        assert_eq!(self.0.digest(), digest, "a reader changed something");
        let judgement = reader.judgement().clone();
        let ruling = judgement.ruling;
        assert_eq!((ruling.row, ruling.verdict), (row, verdict), "{:?}", judgement.refusal);
        let end = judgement.last.as_ref().map(|last| last.walked.end_offset);
        assert_eq!(end, kept);
        let lsns = lsns(&reader);
        let before = self.segments();
        let apart = Self(self.0.clone());
        let opened = match apart.open() {
            Ok(opened) => {
                assert!(judgement.refusal.is_none(), "a refused store was opened");
                assert_eq!(opened.ruling.row, row);
                let after = apart.segments();
                for segment in &before {
                    let is_kept = after.contains(segment);
                    let empty = judgement.empties.contains(&segment.0);
                    assert!(is_kept || empty, "{} changed", segment.0.display());
                }
                assert!(apart.0.unsynced().is_empty(), "{:?}", apart.0.unsynced());
                let again = apart.read().expect("a reader");
                assert!(again.error().is_none(), "{:?}", again.error());
                assert_eq!(self::lsns(&again), lsns, "a reader saw what a writer does not keep");
                assert_eq!(opened.durable_lsn, lsns.last().copied().unwrap_or(0));
                Ok(opened)
            }
            Err(error) => {
                assert_eq!(self.0.digest(), apart.0.digest(), "a refusal changed something");
                Err(error)
            }
        };
        Decided { judgement, opened, lsns, after: apart }
    }

    /// Asserts that the store is refused, by which row and rule.
    pub(crate) fn refused(&self, row: &str, rule: &'static str, kept: Option<u64>) -> Decided {
        let decided = self.decides(row, Verdict::Corrupt(rule), kept);
        let error = decided.opened.as_ref().err().expect("refused");
        assert_eq!((error.kind, error.rule), (ErrorKind::Corrupt, Some(rule)), "{error}");
        decided
    }
}

/// What was decided.
pub(crate) struct Decided {
    pub(crate) judgement: Judgement,
    pub(crate) opened: Result<Opened, Error>,
    /// Of the frames that a reader sees.
    pub(crate) lsns: Vec<u64>,
    /// The disk after the writer's open.
    pub(crate) after: Built,
}

impl Decided {
    pub(crate) fn opened(&self) -> &Opened {
        self.opened.as_ref().unwrap_or_else(|error| panic!("not opened: {error}"))
    }

    pub(crate) fn has_note(&self, rule: &str) -> bool {
        self.judgement.notes.iter().any(|note| note.rule == rule)
    }
}

pub(crate) fn lsns(reader: &LogReader) -> Vec<u64> {
    let mut lsns = Vec::new();
    reader.frames(&mut |_, frame, _| lsns.push(frame.head.lsn)).expect("readable");
    lsns
}

/// Opens the store on a disk for writing.
pub(crate) fn recover(sim: &Sim) -> Result<Opened, Error> {
    let (disk, machine) = (sim.disk(), Fixed::new());
    let names = disk.list(dir()).map_or(0, |names| names.len() as u64);
    // Ids must not repeat over the opens of one store.
    machine.0.fetch_add(sim.operations() * 16 + names, Ordering::Relaxed);
    let recovery = Recovery {
        volume: &disk,
        machine: &machine,
        dir: dir(),
        segment_bytes: SEGMENT_BYTES,
        may_create: true,
    };
    recovery.open()
}
