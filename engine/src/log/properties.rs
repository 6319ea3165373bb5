//! Properties of the codecs: what was written is read, nothing else is, and no bytes panic.

use super::body::{self, Body};
use super::chain::{Digest, SessionKey};
use super::durable::Durable;
use super::encoded::Stamp;
use super::envelope::{self, Envelopes};
use super::frame::{FrameHead, Kind, read_frame};
use super::limit::{FRAME_BYTES_MAX, FRAME_HEADER_BYTES, LSN_MAX, SEQ_MAX};
use super::segment_header::{Begin, SegmentHeader};
use super::superblock::{self, Slot, Stop};
use super::table::{self, SessionRow, Table};
use crate::backend::{Batch, RecordedRules, Row};
use crate::rules::{Draft, SessionHeader};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 16]>().prop_map(Digest)
}

fn end_offset() -> impl Strategy<Value = u64> {
    (512_u64..1 << 20).prop_map(|units| units * 8)
}

prop_compose! {
    fn frame_head()(
        kind in select(&Kind::ALL[..]), has_key: bool, segment_id: u64, offset: u64,
        lsn in 1..=LSN_MAX, durable in any::<prop::sample::Index>(), session: [u8; 16],
        first_seq: u64, record_count: u32, body_bytes in 0..=super::limit::BODY_BYTES_MAX,
        (session_prev_lsn, body_crc, epoch) in any::<(u64, u32, u32)>(), prev in digest(),
    ) -> FrameHead {
        let durable_lsn = durable.index(lsn as usize) as u64;
        let session = SessionKey(session);
        FrameHead {
            kind, has_key, segment_id, offset, lsn, durable_lsn, session, first_seq, record_count,
            body_bytes, session_prev_lsn, prev, body_crc, epoch,
        }
    }
}

prop_compose! {
    pub(super) fn segment_header()(
        store_id: [u8; 16], segment_id in 1..=u64::MAX, epoch: u32, power in 14..=30_u32,
        [prev_first, prev_last] in [1..1_000_000_u64, 0..1_000_000], skipped in 1..9_u64,
        prev_segment_id in 1..=u64::MAX, prev_end_offset in end_offset(), prev_digest in digest(),
        begin in select(vec![Begin::Rotated, Begin::TornCut, Begin::FailedWrite, Begin::Unclean]),
        cut: u16, cut_crc in 1_u32.., (created_ms, has_table) in any::<(u64, bool)>(),
    ) -> SegmentHeader {
        let cut_bytes = if begin == Begin::Rotated { 0 } else { u64::from(cut) };
        SegmentHeader {
            store_id, segment_id, epoch, first_lsn: prev_first.max(prev_last) + skipped,
            segment_bytes: 1 << power, prev_first_lsn: prev_first, prev_segment_id,
            prev_end_offset, prev_last_lsn: prev_last, prev_digest, durable_lsn: prev_last, begin,
            cut_bytes, cut_crc: if cut_bytes == 0 { 0 } else { cut_crc }, created_ms,
            prev_table_offset: if has_table && prev_end_offset > 4096 { 4096 } else { 0 },
        }
    }
}

prop_compose! {
    pub(super) fn slot()(
        (store_id, slot_seq, epoch) in any::<([u8; 16], u64, u32)>(),
        active_first_lsn in 1..=LSN_MAX, active_segment_id in 1..=u64::MAX,
        durable_lsn in 0..=LSN_MAX, clean: bool, end_offset in end_offset(), end_digest in digest(),
        (device, inode) in any::<(u64, u64)>(),
    ) -> Slot {
        let stop = if clean { Stop::Clean { end_offset, end_digest } } else { Stop::Open };
        Slot {
            store_id, slot_seq, epoch, active_first_lsn, active_segment_id, durable_lsn, stop,
            device, inode,
        }
    }
}

prop_compose! {
    fn durable()(
        epoch: u32, segment_id in 1..=u64::MAX, durable_lsn in 0..=LSN_MAX,
        end_offset in end_offset(), store_id: [u8; 16], counter: u64,
    ) -> Durable {
        Durable { epoch, segment_id, durable_lsn, end_offset, store_id, counter }
    }
}

fn json() -> impl Strategy<Value = Vec<u8>> {
    const VALUES: [&str; 6] =
        ["1", " [1,[2,3]]\n", "\"append\"", "{\"type\":\"x\", \"a\":[{}]}", "null", "\"é\""];
    select(&VALUES[..]).prop_map(|value| value.as_bytes().to_vec())
}

prop_compose! {
    fn draft()(
        kind in "[a-z/]{1,8}|\\PC{0,6}|[\\x00-\\x1f\"\\\\]{0,4}", data: Vec<u8>,
        sources in option::of(json()), surface in option::of(json()), ignorable: bool,
    ) -> Draft {
        Draft { kind, data, sources, surface, ignorable, time_ms: None }
    }
}

prop_compose! {
    fn batch(count: std::ops::Range<usize>)(
        key: Option<[u8; 16]>, first_seq in 0..=SEQ_MAX - 64,
        rows in vec((0..=SEQ_MAX, draft()), count),
    ) -> Batch {
        let rows = rows.into_iter().map(|(time_ms, draft)| Row { time_ms, draft }).collect();
        Batch { first_seq, key, rows }
    }
}

prop_compose! {
    fn session_row()(
        first_seq in 0..1_000_u64, events in 0..9_u64, first_lsn in 1..1_000_u64,
        frames in 0..9_u32, id in option::of("[a-zé]{1,9}"), flags in 0..8_u32,
    ) -> SessionRow {
        SessionRow {
            key: SessionKey::STORE,
            first_seq,
            last_seq: (first_seq + events).wrapping_sub(1),
            first_lsn,
            last_lsn: first_lsn + u64::from(frames),
            last_time_ms: first_lsn * 1_000,
            frame_count: frames + 1,
            flags,
            id,
        }
    }
}

fn session_rows() -> impl Strategy<Value = Vec<SessionRow>> {
    btree_map(1..=u128::MAX, session_row(), 0..140).prop_map(|rows| {
        let keyed = |(key, row)| SessionRow { key: SessionKey(u128::to_be_bytes(key)), ..row };
        rows.into_iter().map(keyed).collect()
    })
}

/// Reads a stamped frame back from its bytes and checks what each step gives.
fn read_back(bytes: &[u8], check: impl FnOnce(Body<'_>)) {
    let (front, rest) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>().expect("a header");
    let head = FrameHead::parse(front).expect("the header was encoded");
    assert_eq!(bytes.len() as u64, head.frame_bytes());
    let frame = read_frame(head, rest).expect("the frame was encoded");
    check(body::decode(&frame).expect("the body was encoded"));
}

pub(super) fn stamp(session: SessionKey, session_prev_lsn: u64) -> Stamp {
    let prev = Digest([7; 16]);
    let (segment_id, offset, lsn, durable_lsn, epoch) = (9, 4096, 12, 11, 1);
    Stamp { segment_id, offset, lsn, durable_lsn, session, session_prev_lsn, prev, epoch }
}

/// Checks that no single bit of some bytes can flip without being refused.
pub(super) fn every_flip_is_refused<F>(bytes: &[u8], mut is_refused: F)
where
    F: FnMut(&[u8]) -> bool,
{
    let mut flipped = bytes.to_vec();
    for bit in 0..bytes.len() * 8 {
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(is_refused(&flipped), "bit {bit}");
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
}

proptest! {
    #[test]
    fn headers_are_read_as_they_were_written(
        head in frame_head(), segment in segment_header(), slot in slot(), durable in durable(),
    ) {
        prop_assert_eq!(FrameHead::parse(&head.encode()), Ok(head));
        prop_assert_eq!(SegmentHeader::parse(&segment.encode()), Ok(segment));
        prop_assert_eq!(Slot::parse(&slot.encode()), Ok(slot));
        prop_assert_eq!(Durable::parse(&durable.encode()), Ok(durable));
        let mut store = vec![0; superblock::STORE_BYTES];
        store[slot.offset() as usize..][..4096].copy_from_slice(&slot.encode());
        prop_assert_eq!(superblock::newest(&store), Some(slot));
        store.rotate_left(4096);
        prop_assert_eq!(superblock::newest(&store), None);
    }

    #[test]
    fn a_frame_head_with_a_flipped_bit_is_refused(head in frame_head()) {
        every_flip_is_refused(&head.encode(), |bytes| {
            FrameHead::parse(bytes.first_chunk().expect("112 bytes")).is_err()
        });
    }

    #[test]
    fn a_durable_record_with_a_flipped_bit_is_refused(durable in durable()) {
        every_flip_is_refused(&durable.encode(), |bytes| Durable::parse(bytes).is_err());
    }

    #[test]
    fn batches_are_read_as_they_were_written(batch in batch(1..9), session in 1..=u128::MAX) {
        let mut encoded = body::encode_data(&batch, FRAME_BYTES_MAX).expect("it fits");
        let head = encoded.stamp(&stamp(SessionKey(session.to_be_bytes()), 3));
        prop_assert_eq!(head.first_seq, batch.first_seq);
        read_back(encoded.bytes(), |body| {
            let Body::Data(records) = body else { panic!("{body:?}") };
            assert_eq!(records.key, batch.key);
            assert_eq!(records.count() as usize, batch.rows.len());
            let mut envelopes = Envelopes::default();
            for (record, row) in records.iter().zip(&batch.rows) {
                let trimmed = |json: &Option<Vec<u8>>| {
                    json.as_ref().map(|json| json.trim_ascii().to_vec())
                };
                let envelope = envelopes.read(record.envelope).expect("it was written");
                assert_eq!(record.time_ms, row.time_ms);
                assert_eq!(record.payload, row.draft.data);
                assert_eq!(envelope.kind, row.draft.kind.as_str());
                assert_eq!(envelope.sources.map(<[u8]>::to_vec), trimmed(&row.draft.sources));
                assert_eq!(envelope.surface.map(<[u8]>::to_vec), trimmed(&row.draft.surface));
                assert_eq!(envelope.ignorable, row.draft.ignorable);
            }
        });
    }

    #[test]
    fn an_envelope_is_json_and_has_one_form(draft in draft(), at in any::<prop::sample::Index>()) {
        let mut text = Vec::new();
        envelope::write(&mut text, &draft);
        prop_assert_eq!(text.len(), envelope::bytes_of(&draft));
        let value: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        prop_assert_eq!(value["type"].as_str(), Some(draft.kind.as_str()));
        // What has a blank more, anywhere, is another value or no envelope.
        let mut spaced = text.clone();
        spaced.insert(at.index(text.len()), b' ');
        let mut envelopes = Envelopes::default();
        let read = envelopes.read(&text).expect("it was written");
        if let Ok(other) = envelopes.read(&spaced) {
            prop_assert_ne!(other, read);
        }
    }

    #[test]
    fn creations_and_rules_are_read_as_they_were_written(
        id in "\\PC{1,40}", dialect: u32, json: Vec<u8>, mut batch in batch(0..3),
        profile in "[a-z]{0,9}", version: u32,
        types in vec(("\\PC{0,9}", "[a-z]{0,9}", any::<bool>()), 0..5),
    ) {
        batch.first_seq = 0;
        let header = SessionHeader { dialect, json };
        let mut encoded =
            body::encode_create(&id, &header, &batch, FRAME_BYTES_MAX).expect("it fits");
        encoded.stamp(&stamp(SessionKey([1; 16]), 0));
        read_back(encoded.bytes(), |body| {
            let Body::Create(created) = body else { panic!("{body:?}") };
            assert_eq!((created.id, created.dialect), (&*id, dialect));
            assert_eq!(created.header, header.json);
            assert_eq!(created.records.count() as usize, batch.rows.len());
        });
        let rules = RecordedRules { profile, version, types };
        let mut encoded = body::encode_rules(&rules, FRAME_BYTES_MAX).expect("it fits");
        encoded.stamp(&stamp(SessionKey::STORE, 0));
        read_back(encoded.bytes(), |body| {
            assert!(matches!(body, Body::Rules(read) if read == rules));
        });
    }

    #[test]
    fn a_table_finds_every_row_and_no_other(rows in session_rows(), missing: [u8; 16]) {
        let bytes = table::encode(&rows);
        let ids = rows.iter().filter_map(|row| row.id.as_ref()).map(String::len).sum();
        prop_assert_eq!(bytes.len() as u64, table::bytes_for(rows.len(), ids));
        let parsed = Table::parse(&bytes).expect("it was encoded");
        let read: Vec<_> = parsed.rows().map(|row| row.expect("it was encoded")).collect();
        prop_assert_eq!(&read, &rows);
        for row in &rows {
            prop_assert_eq!(table::find(&bytes, row.key), Ok(Some(row.clone())));
        }
        let there = rows.iter().find(|row| row.key.0 == missing).cloned();
        prop_assert_eq!(table::find(&bytes, SessionKey(missing)), Ok(there));
    }

    #[test]
    fn no_bytes_panic(mut bytes in vec(any::<u8>(), 0..5000), head in frame_head()) {
        let _ = SegmentHeader::parse(&bytes);
        let _ = superblock::read(&bytes);
        let _ = Durable::parse(&bytes);
        let _ = Envelopes::default().read(&bytes);
        let _ = bytes.first_chunk().map(FrameHead::parse);
        // As a body whose sums hold, under every kind: counts and lengths in it are any.
        bytes.truncate(bytes.len() / 8 * 8);
        let body_bytes = bytes.len() as u32;
        for kind in Kind::ALL {
            let body_crc = super::frame::body_crc(&bytes);
            let head = FrameHead { kind, body_bytes, body_crc, ..head };
            let frame = read_frame(head, &bytes).expect("the sums hold");
            let _ = body::decode(&frame);
        }
        let _ = Table::parse(&bytes).map(|table| table.rows().count());
    }

    #[test]
    fn no_body_panics_when_its_parts_are_any(
        batch in batch(0..3), rows in session_rows(), at in any::<prop::sample::Index>(), byte: u8,
    ) {
        let header = SessionHeader { dialect: 0, json: Vec::new() };
        let rules = RecordedRules {
            profile: "p".into(), version: 1, types: vec![("a".into(), "b".into(), true); 3],
        };
        let encoded = [
            body::encode_create("id", &header, &batch, FRAME_BYTES_MAX).expect("it fits"),
            body::encode_rules(&rules, FRAME_BYTES_MAX).expect("it fits"),
            body::encode_table(Kind::Close, &rows),
            body::encode_delete(SessionKey([1; 16]), 0),
        ];
        for mut encoded in encoded {
            let session = if encoded.kind.is_of_store() { [0; 16] } else { [1; 16] };
            let mut head = encoded.stamp(&stamp(SessionKey(session), 0));
            let mut body = encoded.bytes()[FRAME_HEADER_BYTES..].to_vec();
            let at = at.index(head.body_bytes as usize);
            body[at] = byte;
            head.body_crc = super::frame::body_crc(&body);
            let frame = read_frame(head, &body).expect("the sums hold");
            match body::decode(&frame) {
                Ok(Body::Create(created)) => {
                    let count = created.records.iter().count();
                    prop_assert_eq!(count, created.records.count() as usize);
                }
                Ok(Body::Table(table)) => prop_assert!(table.rows().count() <= rows.len()),
                _ => (),
            }
        }
    }
}
