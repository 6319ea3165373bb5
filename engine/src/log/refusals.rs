//! What the codecs refuse: flipped bits, limits by one, other forms of the same meaning.

use super::body::{self, BodyFault};
use super::chain::{Digest, SessionKey};
use super::crc::crc;
use super::envelope::Envelopes;
use super::frame::{FrameHead, HeadFault, Kind, body_crc, frame_bytes, read_frame};
use super::limit::{FRAME_BYTES_MAX, FRAME_HEADER_BYTES, LSN_MAX, RECORDS_MAX, SEQ_MAX};
use super::properties::{every_flip_is_refused, segment_header, slot, stamp};
use super::segment_header::SegmentHeader;
use super::superblock::Slot;
use super::table::{self, SessionRow};
use crate::backend::{Batch, Limited, Refusal, Row};
use crate::rules::{Draft, SessionHeader};
use proptest::strategy::{Strategy, ValueTree};

#[test]
fn a_page_of_a_header_with_a_flipped_bit_is_refused() {
    let (mut runner, bits) = (proptest::test_runner::TestRunner::deterministic(), 4096 * 8);
    let segment = segment_header().new_tree(&mut runner).expect("a header").current();
    let slot = slot().new_tree(&mut runner).expect("a slot").current();
    let (segment, slot) = (segment.encode(), slot.encode());
    assert_eq!(segment.len() * 8, bits);
    every_flip_is_refused(&segment, |bytes| SegmentHeader::parse(bytes).is_err());
    every_flip_is_refused(&slot, |bytes| {
        Slot::parse(bytes.first_chunk().expect("4,096 bytes")).is_err()
    });
    let rows = vec![SessionRow {
        key: SessionKey([3; 16]),
        first_lsn: 1,
        last_lsn: 1,
        frame_count: 1,
        last_seq: u64::MAX,
        ..SessionRow::default()
    }];
    every_flip_is_refused(&table::encode(&rows), |bytes| {
        table::find(bytes, SessionKey([3; 16])) != Ok(Some(rows[0].clone()))
    });
}

#[test]
fn a_frame_with_a_flipped_bit_is_refused() {
    let draft = Draft::new("turn/start", "{}").appended();
    let batch = Batch { first_seq: 0, key: None, rows: vec![Row { time_ms: 1, draft }] };
    let mut encoded = body::encode_data(&batch, 4096).expect("it fits");
    encoded.stamp(&stamp(SessionKey([1; 16]), 3));
    assert!(encoded.bytes().len() > encoded.body().len() + FRAME_HEADER_BYTES, "it has padding");
    every_flip_is_refused(encoded.bytes(), |bytes| {
        let (front, rest) = bytes.split_first_chunk().expect("a header");
        FrameHead::parse(front).ok().and_then(|head| read_frame(head, rest).ok()).is_none()
    });
}

#[test]
fn a_header_whose_sum_was_made_right_says_which_field_is_wrong() {
    let good = {
        let mut encoded = body::encode_watermark();
        encoded.stamp(&stamp(SessionKey::STORE, 0)).encode()
    };
    let fault = |offset: usize, bytes: &[u8]| {
        let mut head = good;
        head[offset..offset + bytes.len()].copy_from_slice(bytes);
        let sum = crc(&head[..108]);
        head[108..].copy_from_slice(&sum.to_le_bytes());
        FrameHead::parse(&head).err()
    };
    assert_eq!(fault(0, b"GLF2"), Some(HeadFault::Magic));
    assert_eq!(fault(4, &[0]), Some(HeadFault::Kind(0)));
    assert_eq!(fault(4, &[9]), Some(HeadFault::Kind(9)));
    assert_eq!(fault(5, &[2]), Some(HeadFault::Flags));
    assert_eq!(fault(6, &[113]), Some(HeadFault::HeaderBytes));
    assert_eq!(fault(24, &[0; 8]), Some(HeadFault::Lsn));
    assert_eq!(fault(24, &(LSN_MAX + 1).to_le_bytes()), Some(HeadFault::Lsn));
    assert_eq!(fault(32, &12_u64.to_le_bytes()), Some(HeadFault::DurableLsn));
    assert_eq!(fault(68, &u32::MAX.to_le_bytes()), Some(HeadFault::BodyBytes));
    assert_eq!(fault(104, &[1]), Some(HeadFault::Zeros));
    assert_eq!(fault(40, &[0]), None);
}

#[test]
fn limits_hold_at_one_less_none_and_one_more() {
    let row = |data: usize| Row { time_ms: 0, draft: Draft::new("t", vec![b'1'; data]) };
    let batch = |rows| Batch { first_seq: 0, key: None, rows };
    // Header 112, front of the record 16, envelope 12: so many bytes are left for a payload.
    let data = |bytes| body::encode_data(&batch(vec![row(bytes)]), 4096).map(|e| e.frame_bytes());
    assert_eq!(data(4096 - 140 - 8).ok(), Some(4088));
    assert_eq!(data(4096 - 140).ok(), Some(4096));
    let Err(Refusal::TooLarge { what, bytes, limit }) = data(4096 - 139) else { panic!() };
    assert_eq!((what, bytes, limit), (Limited::FrameBytes, 4104, 4096));

    let many = |count| body::encode_data(&batch(vec![row(0); count]), FRAME_BYTES_MAX);
    assert!(matches!(many(0), Err(Refusal::Empty)));
    assert_eq!(many(65_536).map(|e| e.record_count).ok(), Some(65_536));
    let too_many = many(65_537);
    assert!(matches!(too_many, Err(Refusal::TooLarge { what: Limited::Records, .. })));

    let create = |id: usize, json: usize| {
        let header = SessionHeader { dialect: 0, json: vec![b' '; json] };
        body::encode_create(&"i".repeat(id), &header, &batch(Vec::new()), FRAME_BYTES_MAX)
    };
    assert!(matches!(create(0, 0), Err(Refusal::Malformed { .. })));
    assert!(create(1, 0).is_ok() && create(1024, 1 << 20).is_ok());
    let long = create(1025, 0);
    assert!(matches!(long, Err(Refusal::TooLarge { what: Limited::IdBytes, .. })));
    let large = create(1, (1 << 20) + 1);
    assert!(matches!(large, Err(Refusal::TooLarge { what: Limited::HeaderBytes, .. })));

    let at = |first_seq| {
        let batch = Batch { first_seq, key: None, rows: vec![row(0)] };
        body::encode_data(&batch, 4096)
    };
    assert!(at(SEQ_MAX).is_ok());
    assert!(matches!(at(SEQ_MAX + 1), Err(Refusal::Full)));
    let late = Batch { rows: vec![Row { time_ms: SEQ_MAX + 1, ..row(0) }], ..batch(Vec::new()) };
    assert!(matches!(body::encode_data(&late, 4096), Err(Refusal::Malformed { .. })));
}

#[test]
fn a_draft_that_would_make_another_envelope_is_refused() {
    for (sources, surface) in [
        (Some("[1"), None),
        (Some(""), None),
        (Some("1,\"ignorable\":true"), None),
        (Some("1},{"), None),
        (None, Some("\"append\",\"surfaceOp\":1")),
        (None, Some("\"\u{1}\"")),
    ] {
        let mut draft = Draft::new("t", "1");
        draft.sources = sources.map(|text| text.as_bytes().to_vec());
        draft.surface = surface.map(|text| text.as_bytes().to_vec());
        let batch = Batch { first_seq: 0, key: None, rows: vec![Row { time_ms: 0, draft }] };
        let encoded = body::encode_data(&batch, 4096);
        assert!(matches!(encoded, Err(Refusal::Malformed { .. })), "{sources:?} {surface:?}");
    }
}

#[test]
fn an_envelope_of_another_form_is_refused() {
    let mut envelopes = Envelopes::default();
    for text in [
        "",
        "{}",
        "[]",
        "\"type\"",
        "{\"type\":1}",
        "{\"type\":\"a\"} ",
        " {\"type\":\"a\"}",
        "{ \"type\":\"a\"}",
        "{\"type\": \"a\"}",
        "{\"type\":\"a\",\"type\":\"a\"}",
        "{\"type\":\"\\u0061\"}",
        "{\"type\":\"\\/\"}",
        "{\"type\":\"\\u001F\"}",
        "{\"type\":\"\\ud800\"}",
        "{\"\\u0074ype\":\"a\"}",
        "{\"type\":\"a\",\"ignorable\":false}",
        "{\"type\":\"a\",\"ignorable\":true,\"ignorable\":true}",
        "{\"type\":\"a\",\"ignorable\":true,\"surfaceOp\":1}",
        "{\"type\":\"a\",\"surfaceOp\":1,\"sourceEventSeqs\":1}",
        "{\"type\":\"a\",\"surfaceOp\":1,\"surfaceOp\":1}",
        "{\"surfaceOp\":1,\"type\":\"a\"}",
        "{\"type\":\"a\",\"data\":1}",
        "{\"type\":\"a\"}}",
        "{\"type\":\"a\u{1}\"}",
    ] {
        assert!(envelopes.read(text.as_bytes()).is_err(), "{text}");
    }
    assert!(envelopes.read(b"{\"type\":\"\xFF\"}").is_err());
    assert!(envelopes.read(b"{\"type\":\"\\u001f\"}").is_ok());
}

#[test]
fn a_frame_whose_header_does_not_go_with_its_kind_is_ill_formed() {
    let (own, session) = (SessionKey::STORE, SessionKey([1; 16]));
    let judge = |kind: Kind, change: fn(&mut FrameHead), body: &[u8]| {
        let mut padded = body.to_vec();
        padded.resize(frame_bytes(body.len() as u32) as usize - FRAME_HEADER_BYTES, 0);
        let is_first = matches!(kind, Kind::Create | Kind::Fork) || kind.is_of_store();
        let mut head = FrameHead {
            kind,
            has_key: false,
            segment_id: 9,
            offset: 4096,
            lsn: 12,
            durable_lsn: 11,
            session: if kind.is_of_store() { own } else { session },
            first_seq: 0,
            record_count: 0,
            body_bytes: body.len() as u32,
            session_prev_lsn: if is_first { 0 } else { 3 },
            prev: Digest::default(),
            body_crc: body_crc(&padded),
            epoch: 1,
        };
        change(&mut head);
        let frame = read_frame(head, &padded).expect("the sums hold");
        body::decode(&frame).err()
    };
    let head = |field| Some(BodyFault::Head(field));
    let none: fn(&mut FrameHead) = |_| ();
    assert_eq!(judge(Kind::Watermark, none, b""), None);
    assert_eq!(judge(Kind::Watermark, |head| head.durable_lsn = 10, b""), head("durable_lsn"));
    assert_eq!(judge(Kind::Watermark, |head| head.first_seq = 1, b""), head("first_seq"));
    assert_eq!(judge(Kind::Watermark, |head| head.record_count = 1, b""), head("record_count"));
    assert_eq!(judge(Kind::Watermark, |head| head.has_key = true, b""), head("flags"));
    assert_eq!(judge(Kind::Watermark, |head| head.session.0[0] = 1, b""), head("session"));
    let behind: fn(&mut FrameHead) = |head| head.session_prev_lsn = 1;
    assert_eq!(judge(Kind::Watermark, behind, b""), head("session_prev_lsn"));
    assert!(matches!(judge(Kind::Watermark, none, b"x"), Some(BodyFault::Body(_))));

    let create = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'i'];
    assert_eq!(judge(Kind::Create, none, &create), None);
    assert_eq!(judge(Kind::Create, |head| head.first_seq = 1, &create), head("first_seq"));
    assert_eq!(judge(Kind::Create, behind, &create), head("session_prev_lsn"));
    assert_eq!(
        judge(Kind::Create, |head| head.session = SessionKey::STORE, &create),
        head("session")
    );

    let one: fn(&mut FrameHead) = |head| head.record_count = 1;
    assert_eq!(judge(Kind::Data, one, &[0; 16]), None);
    assert_eq!(judge(Kind::Data, none, b""), head("record_count"));
    let many: fn(&mut FrameHead) = |head| head.record_count = RECORDS_MAX + 1;
    assert_eq!(judge(Kind::Data, many, b""), head("record_count"));
    let first: fn(&mut FrameHead) = |head| (head.record_count, head.session_prev_lsn) = (1, 0);
    assert_eq!(judge(Kind::Data, first, &[0; 16]), head("session_prev_lsn"));
    let itself: fn(&mut FrameHead) = |head| (head.record_count, head.session_prev_lsn) = (1, 12);
    assert_eq!(judge(Kind::Data, itself, &[0; 16]), head("session_prev_lsn"));
    let far: fn(&mut FrameHead) = |head| (head.record_count, head.first_seq) = (1, SEQ_MAX + 1);
    assert_eq!(judge(Kind::Data, far, &[0; 16]), head("first_seq"));

    let delete = [[1; 16].as_slice(), &7_u64.to_le_bytes()].concat();
    assert_eq!(judge(Kind::Delete, |head| head.first_seq = 8, &delete), None);
    assert!(matches!(judge(Kind::Delete, none, &delete), Some(BodyFault::Body(_))));
    assert_eq!(
        judge(Kind::Fork, |head| (head.record_count, head.first_seq) = (1, 5), b""),
        Some(BodyFault::Fork)
    );
}
