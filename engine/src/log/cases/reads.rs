//! What is read of a store, and what a reader says of it.

use super::build::{Built, Written};
use super::rows_end::{flipped, three};
use crate::log::judgement::Voucher;
use crate::log::segment_header::Begin;
use crate::log::tail::Verdict::{Clean, Torn};
use std::sync::Arc;

/// A log whose segment is larger than anything that is read at once.
pub(super) fn large() -> Written {
    let header = crate::log::segment_header::SegmentHeader {
        segment_bytes: 4 << 20,
        ..Written::first().header
    };
    Written::of(header, 0, 0)
}

#[test]
fn the_cut_is_measured_over_any_gap_of_zeros() {
    let mut log = large().groups(2);
    let end = log.end as usize;
    for place in [end + 900, end + 700_000, 3 << 20] {
        log.bytes[place] = 5;
    }
    let decided = Built::of(&[&log]).decides("P10", Torn, Some(log.end));
    let header = &decided.opened().active.header;
    let cut = &log.bytes[end..=3 << 20];
    assert_eq!((header.cut_bytes, header.cut_crc), (cut.len() as u64, crc32fast::hash(cut)));
}

#[test]
fn a_group_may_end_anywhere_in_its_last_page() {
    // Less than a frame's header from the end of the page, down to nothing.
    for short in (0..160).step_by(8) {
        let mut log = Written::first();
        log.align();
        let empty = log.batch(b"").frame_bytes() as usize;
        log.frame(log.batch(&vec![b' '; 4096 - empty - short]), 0);
        assert_eq!(log.end, 8192 - short as u64);
        log.group(1, 1);
        let decided = Built::of(&[&log]).decides("P6", Clean, Some(log.end));
        assert_eq!(decided.lsns, [1, 2]);
    }
}

#[test]
fn what_lies_above_w_is_shown_and_marked() {
    let (log, _) = three();
    let confirmed = |store: &Built| {
        let reader = store.read().expect("a reader");
        let mut marks = Vec::new();
        reader.frames(&mut |_, _, confirmed| marks.push(confirmed)).expect("readable");
        (reader.judgement().witness, marks)
    };
    let (witness, marks) = confirmed(&Built::of(&[&log]));
    assert_eq!((witness.lsn, witness.voucher), (4, Voucher::Frame));
    assert_eq!(marks, [true, true, true, true, false, false]);
    let (witness, marks) = confirmed(&Built::of(&[&log]).durable(&log.durable(6)));
    assert_eq!((witness.lsn, witness.voucher), (6, Voucher::Durable));
    assert!(marks.iter().all(|mark| *mark));
    let next = log.next(Begin::Unclean);
    let store = Built::of(&[&log, &next]).store(&log.slot(0));
    let (witness, marks) = confirmed(&store);
    assert_eq!((witness.lsn, witness.voucher), (6, Voucher::Header));
    assert!(marks.iter().all(|mark| *mark));
}

#[test]
fn reads_that_give_little_give_all_in_the_end() {
    use crate::storage::sim::{Call, Failure, Fault};
    let (log, _) = three();
    let store = Built::of(&[&log]);
    let fault = |call, bytes| Fault::new(call, Failure::Short(bytes)).on("*.log").times(2000);
    for bytes in [1, 100, 512] {
        store.0.fail(fault(Call::Read, bytes));
        store.0.fail(fault(Call::ReadDevice, 4096));
        store.decides("P6", Clean, Some(log.end));
        let reads = store.0.counts("*.log").reads;
        assert!(reads > 50, "{reads}");
        store.0.heal();
    }
}

#[test]
fn r2_what_is_bad_once_is_looked_at_again() {
    use crate::log::reader::LogReader;
    use crate::storage::{Change, Memory};
    let (log, [_, second, _]) = three();
    let rotten = flipped(log.clone(), second + 20).bytes;
    let path = format!("/store/{}", log.name());
    let looked = |reads: usize| {
        let change = Change::Replace(log.bytes.clone());
        let memory = Memory::new().file(&path, rotten.clone()).change(&path, reads, change);
        LogReader::open(Arc::new(memory), super::build::dir()).expect("a reader")
    };
    // The header, the frames, the end of the file, and the bytes that are compared.
    for reads in 2..5 {
        let reader = looked(reads);
        assert!(reader.error().is_none(), "{reads}");
        assert_eq!(super::build::lsns(&reader), [1, 2, 3, 4, 5, 6]);
    }
    assert!(looked(1000).error().is_some());
}
