//! What the codecs refuse although every sum is right: fields that are out of their range.

use super::body::{self, BodyFault};
use super::crc::crc;
use super::durable::{Durable, DurableFault};
use super::frame::{FrameFault, FrameHead, body_crc, read_frame};
use super::golden::golden;
use super::limit::{FRAME_HEADER_BYTES, LSN_MAX, SEQ_MAX};
use super::segment_header::{SegmentHeader, SegmentHeaderFault};
use super::superblock::{Slot, SlotFault};
use super::table::{Table, TableFault};

/// Changes bytes of a structure and makes its sum right again, over all that lies before it.
fn changed(good: &[u8], offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut changed = good.to_vec();
    changed[offset..offset + bytes.len()].copy_from_slice(bytes);
    let sum_at = changed.len() - 4;
    let sum = crc(&changed[..sum_at]);
    changed[sum_at..].copy_from_slice(&sum.to_le_bytes());
    changed
}

#[test]
fn a_segment_header_whose_sum_was_made_right_says_which_field_is_wrong() {
    let good = golden(include_str!("golden/segment-header.hex"));
    let fault = |offset, bytes: &[u8]| SegmentHeader::parse(&changed(&good, offset, bytes)).err();
    let number = |offset, value: u64| fault(offset, &value.to_le_bytes());
    let field = |field| Some(SegmentHeaderFault::Field(field));
    assert_eq!(number(48, 101), None);
    assert_eq!(fault(0, b"G\0"), Some(SegmentHeaderFault::Magic));
    assert_eq!(fault(8, &[2, 0]), Some(SegmentHeaderFault::Major(2)));
    assert_eq!(fault(10, &[1]), None, "a minor version that we can do without");
    assert_eq!(fault(12, &[1]), field("header_bytes"));
    assert_eq!(number(32, 0), field("segment_id"));
    assert_eq!(fault(44, &[1]), field("group_align"));
    assert_eq!(number(48, 0), field("first_lsn"));
    assert_eq!(number(48, LSN_MAX + 1), field("first_lsn"));
    for size in [0, 8 << 10, (16 << 10) + 1, 2 << 30] {
        assert_eq!(number(56, size), field("segment_bytes"), "{size}");
    }
    assert_eq!((number(56, 16 << 10), number(56, 1 << 30)), (None, None));
    assert_eq!(number(64, 0), field("prev_first_lsn"));
    assert_eq!(number(64, 100), field("prev_first_lsn"));
    assert_eq!(number(72, 0), field("prev_segment_id"));
    for end in [0, 4088, 4097, (1 << 30) + 8] {
        assert_eq!(number(80, end), field("prev_end_offset"), "{end}");
    }
    assert_eq!(number(88, 100), field("prev_last_lsn"));
    assert_eq!(number(112, 97), field("durable_lsn"));
    assert_eq!(fault(120, &[5]), field("begin"));
    assert_eq!(fault(120, &[1]), field("cut_bytes"));
    assert_eq!(fault(120, &[0]), field("prev_first_lsn"));
    assert_eq!(fault(121, &[2]), field("digest_kind"));
    assert_eq!(number(128, 1 << 30), field("cut_bytes"));
    assert_eq!(number(128, 0), field("cut_crc"));
    for table in [8, 4097, 1_040_560] {
        assert_eq!(number(152, table), field("prev_table_offset"), "{table}");
    }
    assert_eq!((number(152, 4096), number(152, 1_040_552)), (None, None));
    for offset in [122, 127, 140, 143, 160, 4091] {
        assert_eq!(fault(offset, &[1]), field("zeros"), "{offset}");
    }
    assert_eq!(SegmentHeader::parse(&good[..4095]).err(), Some(SegmentHeaderFault::Short));
}

#[test]
fn a_witness_whose_sum_was_made_right_says_which_field_is_wrong() {
    let good = golden(include_str!("golden/durable.hex"));
    let fault =
        |offset, value: u64| Durable::parse(&changed(&good, offset, &value.to_le_bytes())).err();
    let field = |field| Some(DurableFault::Field(field));
    assert_eq!((fault(16, LSN_MAX), fault(24, 4096)), (None, None));
    assert_eq!(fault(0, 0), Some(DurableFault::Magic));
    assert_eq!(fault(8, 0), field("segment_id"));
    assert_eq!(fault(16, LSN_MAX + 1), field("durable_lsn"));
    assert_eq!(fault(24, 28_804), field("end_offset"));
    assert_eq!(fault(24, 0), field("end_offset"));
    assert_eq!(fault(52, 1 << 32), field("zeros"));
    assert_eq!(Durable::parse(&good[..63]).err(), Some(DurableFault::Short));

    let (open, clean) =
        (include_str!("golden/store-open.hex"), include_str!("golden/store-clean.hex"));
    let fault = |good: &str, offset, value: u64| {
        let changed = changed(&golden(good), offset, &value.to_le_bytes());
        Slot::parse(changed.first_chunk().expect("4,096 bytes")).err()
    };
    let field = |field| Some(SlotFault::Field(field));
    assert_eq!((fault(open, 64, LSN_MAX), fault(clean, 72, 4096)), (None, None));
    assert_eq!(fault(open, 0, 0), Some(SlotFault::Magic));
    assert_eq!(fault(open, 8, (1 << 32) | 2), Some(SlotFault::Version(2)));
    assert_eq!(fault(open, 8, 1), field("state"));
    assert_eq!(fault(open, 8, (3 << 32) | 1), field("state"));
    assert_eq!(fault(open, 40, 1 << 32), field("zeros"));
    assert_eq!(fault(open, 48, 0), field("active first_lsn"));
    assert_eq!(fault(open, 56, 0), field("active segment_id"));
    assert_eq!(fault(open, 64, LSN_MAX + 1), field("durable_lsn"));
    assert_eq!(fault(open, 72, 4096), field("end_offset"));
    assert_eq!(fault(open, 88, 1), field("end_offset"));
    assert_eq!(fault(clean, 72, 4097), field("end_offset"));
    assert_eq!(fault(clean, 112, 1), field("zeros"));
    assert_eq!(fault(clean, 4084, 1), field("zeros"));
}

#[test]
fn a_row_whose_sum_was_made_right_is_refused_when_it_is_out_of_its_range() {
    let frame = golden(include_str!("golden/rotate.hex"));
    let good = &frame[FRAME_HEADER_BYTES..][..16 + 4096 + 2];
    let rows = |offset: usize, bytes: &[u8]| {
        let page = changed(&good[16..16 + 4096], offset, bytes);
        let table = [&good[..16], &page, &good[16 + 4096..]].concat();
        Table::parse(&table).expect("the length is right").rows().find_map(Result::err)
    };
    let number = |offset, value: u64| rows(offset, &value.to_le_bytes());
    let (first, second) = (Some(TableFault::Row(0)), Some(TableFault::Row(1)));
    assert_eq!(number(96 + 16, 11), None);
    assert_eq!(rows(0, &[0; 16]), first, "the key of the store");
    assert_eq!(rows(0, &[0xFF; 16]), second, "two rows of one key");
    assert_eq!(number(16, 9), first, "it ends before it begins");
    assert_eq!(number(24, SEQ_MAX + 1), first);
    assert_eq!(number(32, 0), first);
    assert_eq!(number(40, LSN_MAX + 1), first);
    assert_eq!(number(48, SEQ_MAX + 1), first);
    assert_eq!(rows(56, &[1]), first);
    assert_eq!(rows(64, &[0]), first, "no frame");
    assert_eq!(rows(64, &[5]), first, "more frames than lsns");
    assert_eq!(rows(68, &[8]), first);
    assert_eq!(rows(72, &[1]), first, "a place without an id");
    assert_eq!(rows(80, &[1]), first);
    assert_eq!(rows(96 + 72, &[1]), second, "an id that ends behind the ids");
    assert_eq!(rows(96 + 72, &[0xFF; 8]), second);
    assert_eq!(rows(2 * 96, &[1]), Some(TableFault::Page(0)), "a row that does not count");
    assert_eq!(rows(4091, &[1]), Some(TableFault::Page(0)));
    let length = |bytes: &[u8]| Table::parse(bytes).err();
    assert_eq!(length(&good[..good.len() - 1]), Some(TableFault::Length));
    assert_eq!(length(&good[..15]), Some(TableFault::Length));
    assert_eq!(length(&[0xFF; 16]), Some(TableFault::Length));
    assert_eq!(length(&[[0; 15].as_slice(), &[1]].concat()), Some(TableFault::Length));
    assert_eq!(length(&[0; 16]), None, "no session at all");
}

#[test]
fn a_body_that_is_longer_shorter_or_of_other_parts_is_ill_formed() {
    let decode = |golden: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let bytes = super::golden::golden(golden);
        let (front, rest) = bytes.split_first_chunk().expect("a header");
        let mut head = FrameHead::parse(front).expect("it is golden");
        let mut body = rest[..head.body_bytes as usize].to_vec();
        change(&mut body);
        head.body_bytes = body.len() as u32;
        body.resize(head.padded_body_bytes(), 0);
        head.body_crc = body_crc(&body);
        let frame = read_frame(head, &body).expect("the sums hold");
        body::decode(&frame).err()
    };
    let body = |part| Some(BodyFault::Body(part));
    let data = include_str!("golden/data.hex");
    assert_eq!(decode(data, &|_| ()), None);
    assert_eq!(decode(data, &|body| body.push(0)), body("bytes behind the records"));
    assert_eq!(
        decode(data, &|body| body.truncate(body.len() - 1)),
        body("a record that ends behind the body")
    );
    assert_eq!(decode(data, &|body| body.truncate(9)), body("the key"));
    assert_eq!(decode(data, &|body| body[23] = 1), body("the time of a record"));
    let create = include_str!("golden/create.hex");
    assert_eq!(decode(create, &|body| body[0] = 0), body("the length of the id"));
    assert_eq!(decode(create, &|body| body[1] = 5), body("the length of the id"));
    assert_eq!(decode(create, &|body| body[6] = 0x11), body("the length of the header"));
    assert_eq!(decode(create, &|body| body[12] = 1), body("the zeros of the front"));
    assert_eq!(decode(create, &|body| body[16] = 0xFF), body("the id"));
    assert_eq!(decode(create, &|body| body.truncate(body.len() - 1)), body("the header"));
    assert_eq!(decode(create, &|body| body.truncate(3)), body("the front"));
    let rules = include_str!("golden/rules.hex");
    assert_eq!(decode(rules, &|body| body[6] = 2), body("the number of types"));
    assert_eq!(decode(rules, &|body| body[4] = 1), body("bytes behind the types"));
    assert_eq!(decode(rules, &|body| body[4] = 3), body("a type"));
    assert_eq!(decode(rules, &|body| body[30] = 2), body("the flags of a type"));
    assert_eq!(decode(rules, &|body| body[12] = 1), body("the front"));
    let delete = include_str!("golden/delete.hex");
    let other = body("the session that is deleted");
    assert_eq!(decode(delete, &|body| body[0] ^= 1), other);
    assert_eq!(decode(delete, &|body| body.push(0)), other);

    let bytes = golden(data);
    let (front, rest) = bytes.split_first_chunk().expect("a header");
    let (mut head, mut rest) = (FrameHead::parse(front).expect("it is golden"), rest.to_vec());
    *rest.last_mut().expect("padding") = 1;
    head.body_crc = body_crc(&rest);
    assert_eq!(read_frame(head, &rest), Err(FrameFault::Padding));
    assert_eq!(read_frame(head, &rest[1..]), Err(FrameFault::Length));
}
