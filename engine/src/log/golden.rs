//! Golden bytes: each structure as it was written down by hand from `docs/format.md`, field by
//! field, with sums from other programs. A byte on the disk may never change; these say so.

use super::body::{self, Body};
use super::chain::{Digest, SessionKey, StoreId, body_hash};
use super::durable::Durable;
use super::encoded::{Encoded, Stamp};
use super::envelope::Envelopes;
use super::frame::{Frame, FrameHead, Kind, read_frame};
use super::limit::{FRAME_BYTES_DEFAULT_MAX, FRAME_HEADER_BYTES};
use super::segment_header::{Begin, SegmentHeader};
use super::superblock::{self, Slot, Stop};
use super::table::{CREATED, DELETED, SessionRow};
use crate::backend::{Batch, RecordedRules, Row};
use crate::rules::{Draft, SessionHeader};

const STORE_ID: StoreId = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const PREV: Digest = Digest([
    0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
]);
const SEGMENT_ID: u64 = 0x1122_3344_5566_7788;
const TIME_MS: u64 = 1_700_000_000_000;

/// Reads a golden file: bytes in hex, `byte x count` for many equal ones, and a remark behind `;`.
pub(super) fn golden(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let byte = |word| u8::from_str_radix(word, 16).expect("the word is a byte");
        match words[..] {
            [word, "x", count] => {
                let count = count.parse().expect("the last word is a number");
                bytes.extend(std::iter::repeat_n(byte(word), count));
            }
            _ => bytes.extend(words.into_iter().map(byte)),
        }
    }
    bytes
}

/// Returns the first golden bytes that differ, with their offset.
fn assert_same(bytes: &[u8], golden: &[u8]) {
    let differs = bytes.iter().zip(golden).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the first byte that differs");
    assert_eq!(bytes.len(), golden.len(), "the length");
}

fn session() -> SessionKey {
    SessionKey::of(&STORE_ID, "s-1")
}

fn stamp(offset: u64, lsn: u64, durable_lsn: u64, session: SessionKey, prev: u64) -> Stamp {
    Stamp {
        segment_id: SEGMENT_ID,
        offset,
        lsn,
        durable_lsn,
        session,
        session_prev_lsn: prev,
        prev: PREV,
        epoch: 3,
    }
}

/// Encodes a frame, compares it with its golden bytes, and returns it as it is read from them.
fn check<'a>(mut encoded: Encoded, stamp: &Stamp, golden: &'a [u8]) -> (Frame<'a>, Body<'a>) {
    let head = encoded.stamp(stamp);
    assert_same(encoded.bytes(), golden);
    let (front, rest) = golden.split_first_chunk::<FRAME_HEADER_BYTES>().expect("a header");
    assert_eq!(FrameHead::parse(front), Ok(head));
    let frame = read_frame(head, rest).expect("the golden frame is valid");
    let body = body::decode(&frame).expect("the golden frame is well formed");
    (frame, body)
}

#[test]
fn a_segment_header_is_these_bytes() {
    let golden = golden(include_str!("golden/segment-header.hex"));
    let header = SegmentHeader {
        store_id: STORE_ID,
        segment_id: SEGMENT_ID,
        epoch: 3,
        first_lsn: 100,
        segment_bytes: 2 << 20,
        prev_first_lsn: 1,
        prev_segment_id: 0x0102_0304_0506_0708,
        prev_end_offset: 1_040_560,
        prev_last_lsn: 98,
        prev_digest: Digest([
            0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad,
            0xae, 0xaf,
        ]),
        durable_lsn: 98,
        begin: Begin::TornCut,
        cut_bytes: 801,
        cut_crc: 0xDEAD_BEEF,
        created_ms: TIME_MS,
        prev_table_offset: 0,
    };
    assert_same(&header.encode(), &golden);
    assert_eq!(SegmentHeader::parse(&golden), Ok(header));
}

#[test]
fn a_data_frame_is_these_bytes() {
    let golden = golden(include_str!("golden/data.hex"));
    let mut loud = Draft::new("a\"\u{1}é", "[1, 2]").citing(&[5]).appended();
    loud.ignorable = true;
    let key = std::array::from_fn(|index| 0xC0 + index as u8);
    let rows = vec![
        Row { time_ms: TIME_MS, draft: Draft::new("turn/start", "{\"turn\":1}") },
        Row { time_ms: TIME_MS + 1, draft: loud },
    ];
    let batch = Batch { first_seq: 6, key: Some(key), rows };
    let encoded = body::encode_data(&batch, FRAME_BYTES_DEFAULT_MAX).expect("it fits");
    let (frame, body) = check(encoded, &stamp(8192, 101, 98, session(), 100), &golden);
    let Body::Data(records) = body else { panic!("{body:?}") };
    assert_eq!((records.key, records.count()), (Some(key), 2));
    let mut envelopes = Envelopes::default();
    for (record, row) in records.iter().zip(&batch.rows) {
        let envelope = envelopes.read(record.envelope).expect("the envelope has its form");
        assert_eq!(record.time_ms, row.time_ms);
        assert_eq!(record.payload, row.draft.data);
        assert_eq!(envelope.kind, row.draft.kind);
        assert_eq!(envelope.sources, row.draft.sources.as_deref());
        assert_eq!(envelope.surface, row.draft.surface.as_deref());
        assert_eq!(envelope.ignorable, row.draft.ignorable);
    }
    // Computed by another implementation of BLAKE3.
    let digest = frame.head.digest(body_hash(frame.body));
    assert_eq!(format!("{:?}", session()), "0a03d8683c7a683187463cd76230327f");
    assert_eq!(format!("{:?}", body_hash(frame.body)), "9a6d5d7371f9c2119a98b70989675fc3");
    assert_eq!(format!("{digest:?}"), "0dd35314350f611dac7bfbf9d2bde293");
    let first = Digest::before_first(&STORE_ID);
    assert_eq!(format!("{first:?}"), "a6a492965517a830cb75fdb713465aa4");
}

#[test]
fn a_create_frame_is_these_bytes() {
    let golden = golden(include_str!("golden/create.hex"));
    let header = SessionHeader { dialect: 4, json: b"{\"v\":0}".to_vec() };
    let batch = Batch { first_seq: 0, key: None, rows: Vec::new() };
    let encoded = body::encode_create("s-1", &header, &batch, 4096).expect("it fits");
    let (_, body) = check(encoded, &stamp(4096, 100, 98, session(), 0), &golden);
    let Body::Create(created) = body else { panic!("{body:?}") };
    assert_eq!((created.id, created.dialect), ("s-1", 4));
    assert_eq!((created.header, created.records.count()), (&header.json[..], 0));
}

#[test]
fn a_watermark_is_these_bytes() {
    let golden = golden(include_str!("golden/watermark.hex"));
    let stamp = stamp(12288, 102, 101, SessionKey::STORE, 0);
    let (_, body) = check(body::encode_watermark(), &stamp, &golden);
    assert!(matches!(body, Body::Watermark));
}

#[test]
fn a_delete_frame_is_these_bytes() {
    let golden = golden(include_str!("golden/delete.hex"));
    let encoded = body::encode_delete(session(), 8);
    let (_, body) = check(encoded, &stamp(16384, 103, 102, session(), 101), &golden);
    assert!(matches!(body, Body::Delete { last_seq: 7 }));
}

#[test]
fn a_frame_of_rules_is_these_bytes() {
    let golden = golden(include_str!("golden/rules.hex"));
    let types = vec![("acme/note".into(), "acme".into(), true), ("x".into(), "y".into(), false)];
    let rules = RecordedRules { profile: "strict".into(), version: 2, types };
    let encoded = body::encode_rules(&rules, 4096).expect("it fits");
    let stamp = stamp(20480, 104, 103, SessionKey::STORE, 0);
    let (_, body) = check(encoded, &stamp, &golden);
    assert!(matches!(body, Body::Rules(read) if read == rules));
}

#[test]
fn a_rotate_frame_with_its_table_is_these_bytes() {
    let golden = golden(include_str!("golden/rotate.hex"));
    let gone = SessionRow {
        key: session(),
        first_seq: 0,
        last_seq: 7,
        first_lsn: 100,
        last_lsn: 103,
        last_time_ms: TIME_MS + 1,
        frame_count: 3,
        flags: CREATED | DELETED,
        id: None,
    };
    let quiet = SessionRow {
        key: SessionKey([0xFF; 16]),
        first_seq: 12,
        last_seq: 11,
        first_lsn: 104,
        last_lsn: 104,
        last_time_ms: 0,
        frame_count: 1,
        flags: CREATED,
        id: Some("zz".into()),
    };
    let encoded = body::encode_table(Kind::Rotate, &[quiet.clone(), gone.clone()]);
    let stamp = stamp(24576, 105, 104, SessionKey::STORE, 0);
    let (_, body) = check(encoded, &stamp, &golden);
    let Body::Table(table) = body else { panic!("{body:?}") };
    let rows: Vec<_> = table.rows().collect();
    assert_eq!(rows, [Ok(gone.clone()), Ok(quiet.clone())]);
    assert_eq!(table.find(gone.key), Ok(Some(gone)));
    assert_eq!(table.find(quiet.key), Ok(Some(quiet)));
    assert_eq!(table.find(SessionKey([0x80; 16])), Ok(None));
}

#[test]
fn the_slots_of_store_are_these_bytes() {
    let open = golden(include_str!("golden/store-open.hex"));
    let clean = golden(include_str!("golden/store-clean.hex"));
    let slot = Slot {
        store_id: STORE_ID,
        slot_seq: 6,
        epoch: 3,
        active_first_lsn: 100,
        active_segment_id: SEGMENT_ID,
        durable_lsn: 105,
        stop: Stop::Open,
        device: 0xFD02,
        inode: 123_456_789,
    };
    let end = Stop::Clean { end_offset: 28_808, end_digest: PREV };
    let stopped = Slot { slot_seq: 7, stop: end, ..slot };
    assert_same(&slot.encode(), &open);
    assert_same(&stopped.encode(), &clean);
    let store = [open, clean].concat();
    assert_eq!(superblock::read(&store), [Ok(slot), Ok(stopped)]);
    assert_eq!(superblock::newest(&store), Some(stopped));
    assert_eq!(superblock::newest(&store[..4096]), Some(slot));
}

#[test]
fn the_durable_record_is_these_bytes() {
    let golden = golden(include_str!("golden/durable.hex"));
    let durable = Durable {
        epoch: 3,
        segment_id: SEGMENT_ID,
        durable_lsn: 105,
        end_offset: 28_808,
        store_id: STORE_ID,
        counter: 10,
    };
    assert_same(&durable.encode(), &golden);
    assert_eq!(Durable::parse(&golden), Ok(durable));
}
