//! Blocks H and P: a case for each row.

use super::build::{Built, SEGMENT_BYTES, Written, recover};
use crate::log::frame::Kind;
use crate::log::segment_header::Begin;
use crate::log::tail::Verdict::{Clean, Note, Torn};
use crate::storage::{Create, Volume, WriteFile};
use std::sync::Arc;

/// Three synced groups of two frames: lsn 1 to 6, of which 4 are vouched for.
pub(super) fn three() -> (Written, [u64; 3]) {
    let mut log = Written::first();
    let first = log.group(2, 0);
    let second = log.group(2, 2);
    let third = log.group(2, 4);
    (log, [first, second, third])
}

pub(super) fn flipped(mut log: Written, offset: u64) -> Written {
    log.bytes[offset as usize] ^= 1;
    log
}

#[test]
fn p1_a_whole_frame_that_does_not_follow_is_corrupt_whatever_w_says() {
    // Once with the right lsn and another chain, once with another lsn and the right chain.
    for (lsn, chain) in [(3, false), (4, true)] {
        let log = Written::first().groups(2);
        let mut other = log.clone();
        other.next_lsn = lsn;
        if !chain {
            other.digest = log.header.prev_digest;
        }
        other.group(1, 2);
        let decided = Built::of(&[&other]).refused("P1", "frame/chain", Some(log.end));
        assert_eq!(decided.lsns, [1, 2]);
    }
}

#[test]
fn p2_what_was_synced_and_is_bad_is_corrupt() {
    let (log, [first, second, _]) = three();
    let store = Built::of(&[&flipped(log.clone(), second + 5)]);
    let decided = store.refused("P2", "frame/header", Some(second_end(&log, first)));
    assert_eq!(decided.lsns, [1, 2]);
    let store = Built::of(&[&flipped(log.clone(), second + 200)]);
    store.refused("P2", "frame/body", Some(second_end(&log, first)));
    // Nothing but zeros from a place that was synced, by each witness outside the segment.
    let mut lost = log.clone();
    lost.bytes[second as usize..].fill(0);
    let end = second_end(&log, first);
    let bare = Built::of(&[&lost]);
    bare.decides("P6", Clean, Some(end));
    let by_store = Built::of(&[&lost]).store(&log.slot(4));
    let decided = by_store.refused("P2", "log/lost-tail", Some(end));
    assert!(decided.has_note("store/behind"));
    let by_durable = Built::of(&[&lost]).durable(&log.durable(3));
    by_durable.refused("P2", "log/lost-tail", Some(end));
}

fn second_end(log: &Written, group: u64) -> u64 {
    let mut end = group;
    while let Some(bytes) = log.bytes[end as usize..].first_chunk()
        && let Ok(head) = crate::log::frame::FrameHead::parse(bytes)
    {
        end += head.frame_bytes();
    }
    end
}

#[test]
fn p2_a_frame_behind_the_damage_vouches_for_it() {
    // Rot in the last but one group: the last one says that it was synced.
    let (log, [_, second, third]) = three();
    for offset in [second + 20, second + 150] {
        let rotten = flipped(log.clone(), offset);
        let rule = if offset == second + 20 { "frame/header" } else { "frame/body" };
        Built::of(&[&rotten]).refused("P2", rule, Some(second_end(&log, 4096)));
    }
    // In the last group nothing in the file vouches, and it is cut; `DURABLE` knows better.
    let rotten = flipped(log.clone(), third + 20);
    let end = second_end(&log, second);
    let decided = Built::of(&[&rotten]).decides("P11", Torn, Some(end));
    assert_eq!(decided.lsns, [1, 2, 3, 4]);
    Built::of(&[&rotten]).durable(&log.durable(6)).refused("P2", "frame/header", Some(end));
}

#[test]
fn p3_a_file_that_is_full_is_rotated() {
    let mut log = Written::first();
    while log.end.next_multiple_of(4096) + 4096 < SEGMENT_BYTES {
        log.group(1, log.last_lsn);
    }
    // A frame that ends with the file.
    log.align();
    let room = (SEGMENT_BYTES - log.end) as usize;
    let empty = log.batch(b"").frame_bytes() as usize;
    log.frame(log.batch(&vec![b' '; room - empty]), log.last_lsn);
    assert_eq!(log.end, SEGMENT_BYTES);
    let decided = Built::of(&[&log]).decides("P3", Clean, Some(SEGMENT_BYTES));
    let header = &decided.opened().active.header;
    assert_eq!((header.begin, header.first_lsn), (Begin::Unclean, log.next_lsn));
}

#[test]
fn p4_a_segment_that_was_never_written_to_is_used() {
    let log = Written::first();
    let decided = Built::of(&[&log]).decides("P4", Clean, Some(4096));
    let opened = decided.opened();
    assert_eq!((opened.epoch, opened.next_lsn, opened.end_offset), (2, 1, 4096));
    assert_eq!(opened.active.header, log.header);
    let before = Written::first().groups(2);
    let log = before.next(Begin::TornCut);
    let decided = Built::of(&[&before, &log]).decides("P4", Clean, Some(4096));
    assert_eq!(decided.lsns, [1, 2]);
    assert!(decided.judgement.has_row("F4"));
    assert_eq!(decided.opened().active.header, log.header);
}

#[test]
fn p5_after_a_clean_stop_the_same_file_goes_on() {
    let log = Written::first().groups(2).table(Kind::Close);
    let store = Built::of(&[&log]).store(&log.clean_slot());
    let decided = store.decides("P5", Clean, Some(log.end));
    let opened = decided.opened();
    assert_eq!(opened.active.header, log.header);
    assert_eq!((opened.end_offset, opened.next_lsn), (log.end, log.next_lsn));
    assert_eq!(opened.digest, log.digest);
    assert_eq!(opened.tally, log.tally);
    // The slot that was written is the other one, and the clean one is still there.
    assert_eq!(opened.slot.slot_seq, 7);
    let newest = decided.after.0.image("/store/STORE").expect("a file");
    assert_eq!(crate::log::superblock::newest(&newest), Some(opened.slot));
}

#[test]
fn p6_an_end_in_zeros_without_a_clean_stop_is_followed_by_a_new_segment() {
    let log = Written::first().groups(3);
    let decided = Built::of(&[&log]).decides("P6", Clean, Some(log.end));
    let opened = decided.opened();
    let header = &opened.active.header;
    assert_eq!((header.begin, header.cut_bytes, header.cut_crc), (Begin::Unclean, 0, 0));
    assert_eq!((header.prev_end_offset, header.prev_last_lsn), (log.end, 3));
    assert_eq!((opened.next_lsn, opened.end_offset, opened.durable_lsn), (4, 4096, 3));
    assert_eq!((opened.digest, header.segment_bytes), (log.digest, SEGMENT_BYTES));
    assert_eq!(opened.closed.len(), 1);
    assert_eq!(opened.closed[0].tally.as_ref(), Some(&log.tally));
    // A `Close` that `STORE` does not know of, or that a slot of before does not reach.
    let closed = log.clone().table(Kind::Close);
    Built::of(&[&closed]).decides("P6", Clean, Some(closed.end));
    let stale = log.clean_slot();
    Built::of(&[&closed]).store(&stale).decides("P6", Clean, Some(closed.end));
    let mut behind = closed.clean_slot();
    behind.durable_lsn -= 1;
    Built::of(&[&closed]).store(&behind).decides("P6", Clean, Some(closed.end));
    // A rotation that did not come to its new segment is made up for.
    let rotated = log.table(Kind::Rotate);
    let decided = Built::of(&[&rotated]).decides("P6", Clean, Some(rotated.end));
    let header = &decided.opened().active.header;
    assert_eq!(header.begin, Begin::Rotated);
    assert_eq!(header.prev_table_offset, rotated.table_offset);
}

#[test]
fn p6_a_segment_of_which_the_device_has_less_is_written_no_more() {
    // A sync that failed: the cache shows two frames that the device lacks.
    let mut log = Written::first().groups(2);
    let kept = log.end;
    let on_device = log.bytes.clone();
    log.group(1, 2);
    let store = Built::of(&[&log]);
    store
        .0
        .edit_device(format!("/store/{}", log.name()), |bytes| *bytes = on_device.clone())
        .expect("a file");
    let opened = store.open().expect("opened");
    assert_eq!(opened.ruling.row, "P6");
    assert_eq!((opened.durable_lsn, opened.active.header.prev_end_offset), (2, kept));
    // A reader, who cannot ask the device, is told by the successor.
    let reader = store.read().expect("a reader");
    assert_eq!(super::build::lsns(&reader), [1, 2]);
    // An empty segment is as good as one with frames here.
    let empty = Written::first();
    let store = Built::of(&[&empty]);
    store
        .0
        .edit_device(format!("/store/{}", empty.name()), |bytes| bytes[9000] = 1)
        .expect("a file");
    let opened = store.open().expect("opened");
    assert_eq!((opened.ruling.row, opened.next_lsn), ("P10", 2));
}

#[test]
fn without_reads_of_the_device_what_is_kept_is_written_again() {
    for clean in [false, true] {
        let log = Written::first().groups(2).table(Kind::Close);
        let mut store = Built::of(&[&log]);
        if clean {
            store = store.store(&log.clean_slot());
        }
        let path = format!("/store/{}", log.name());
        // The device lost the last frame, and has a byte where the cache has zeros.
        store
            .0
            .edit_device(&path, |bytes| {
                bytes[12288..].fill(0);
                bytes[30000] = 7;
            })
            .expect("a file");
        store.0.set_device_reads(false);
        let opened = store.open().expect("opened");
        assert_eq!(opened.ruling.row, if clean { "P5" } else { "P6" });
        let device = store.0.images(&path).expect("a file").device;
        let (from, to) = (log.table_offset as usize, log.end as usize);
        // What the slot vouches for is not written again.
        assert_eq!(device[from..to] == log.bytes[from..to], !clean);
        assert_eq!(device[30000], if clean { 0 } else { 7 });
    }
}

#[test]
fn p7_bytes_behind_a_clean_stop_lose_nothing() {
    let mut log = Written::first().groups(2).table(Kind::Close);
    let (end, slot) = (log.end, log.clean_slot());
    log.bytes[20000] = 9;
    let store = Built::of(&[&log]).store(&slot);
    let decided = store.decides("P7", Note("segment/residue"), Some(end));
    assert!(decided.has_note("segment/residue"));
    let header = &decided.opened().active.header;
    assert_eq!(header.begin, Begin::TornCut);
    assert_eq!(header.cut_bytes, 20001 - end);
    assert_eq!(header.cut_crc, crc32fast::hash(&log.bytes[end as usize..20001]));
}

#[test]
fn p8_to_p11_what_no_witness_vouches_for_is_cut() {
    let mut log = Written::first().groups(2);
    let end = log.end;
    let start = log.group(2, 2);
    let whole = log.clone();
    let torn = |at: u64| flipped(whole.clone(), at);
    let decided = Built::of(&[&torn(start + 200)]).decides("P8", Torn, Some(end));
    assert_eq!(decided.lsns, [1, 2]);
    let header = &decided.opened().active.header;
    assert_eq!((header.begin, header.first_lsn, header.prev_last_lsn), (Begin::TornCut, 3, 2));
    let last = whole.bytes.iter().rposition(|byte| *byte != 0).expect("a frame");
    assert_eq!(header.cut_bytes, last as u64 + 1 - end);
    // The first page of the group did not arrive: a whole frame behind it does not count.
    let mut large = Written::first().groups(2);
    let payload = [b"\"", &[b'x'; 4000][..], b"\""].concat();
    large.align();
    let first = large.end;
    large.frame(large.batch(&payload), 2);
    large.frame(large.batch(&payload), 2);
    let mut late = large.clone();
    late.bytes[first as usize..first as usize + 4096].fill(0);
    Built::of(&[&late]).decides("P10", Torn, Some(end));
    Built::of(&[&torn(start)]).decides("P11", Torn, Some(end));
    // A stale group of the file's earlier life, and one that belongs elsewhere.
    let mut life = Written::first();
    life.header.segment_id = 99;
    let life = life.groups(3);
    let mut stale = Written::first().groups(2);
    let range = start as usize..start as usize + 4096;
    stale.bytes[range.clone()].copy_from_slice(&life.bytes[range.clone()]);
    let decided = Built::of(&[&stale]).decides("P9", Torn, Some(end));
    assert!(decided.has_note("segment/stale"));
    let mut misdirected = Written::first().groups(2);
    misdirected.bytes.copy_within(4096..8192, range.start);
    let decided = Built::of(&[&misdirected]).decides("P9", Torn, Some(end));
    assert!(decided.has_note("segment/misdirected"));
}

#[test]
fn h2_and_h3_a_segment_that_is_not_the_file_it_should_be_is_refused() {
    let before = Written::first().groups(1).table(Kind::Rotate);
    let log = before.next(Begin::Rotated).groups(1);
    let name = log.name();
    let short = Built::of(&[&before, &log]).with(&name, &log.bytes[..16384]);
    short.refused("H2", "segment/short", None);
    let mut larger = log.bytes.clone();
    larger.resize(2 * SEGMENT_BYTES as usize, 0);
    Built::of(&[&before, &log]).with(&name, &larger).refused("H3", "segment/foreign", None);
    // Another name, another predecessor, another life than `STORE` knows.
    let renamed = Built::of(&[&before]).with("00000000000000000077.log", &log.bytes);
    renamed.refused("H3", "segment/foreign", None);
    let mut other = before.clone();
    other.header.segment_id = 98;
    let stranger = other.next(Begin::Rotated);
    Built::of(&[&before, &stranger]).refused("H3", "segment/foreign", None);
    let mut slot = log.slot(2);
    slot.active_segment_id = 97;
    Built::of(&[&before, &log]).store(&slot).refused("H3", "segment/foreign", None);
}

#[test]
fn h4_to_h6_a_header_that_does_not_check() {
    let before = Written::first().groups(1).table(Kind::Rotate);
    let spoilt = |log: &Written| flipped(log.clone(), 100);
    let named = before.slot(before.last_lsn);
    let used = before.next(Begin::Rotated).groups(1);
    Built::of(&[&before, &spoilt(&used)]).refused("H4", "segment/header", None);
    // Zeros behind it: `STORE` knows it.
    let fresh = before.next(Begin::Rotated);
    Built::of(&[&before, &spoilt(&fresh)]).refused("H5", "segment/header", None);
    // Or a witness knows more than the segment before holds.
    let store = Built::of(&[&before, &spoilt(&fresh)]).store(&before.slot(before.next_lsn));
    store.refused("H5", "segment/header", None);
    // Nobody knows it: it held nothing. The one before is the last.
    let store = Built::of(&[&before, &spoilt(&fresh)]).store(&named);
    let decided = store.decides("P6", Clean, Some(before.end));
    assert!(decided.judgement.has_row("H6"));
    assert!(decided.has_note("segment/empty"));
    let quarantined = format!("/store/quarantine/{:020}-0.bin", fresh.header.first_lsn);
    let bytes = decided.after.0.image(quarantined).expect("quarantined");
    assert_eq!(bytes, spoilt(&fresh).bytes);
}

#[test]
fn r3_a_refusal_is_said_only_of_what_is_bad_twice() {
    let (log, [_, second, _]) = three();
    let path = format!("/store/{}", log.name());
    let store = Built::of(&[&flipped(log.clone(), second + 20)]);
    let reads = |store: &Built| store.0.counts(&path).reads;
    store.0.reset_counts();
    assert!(store.read().expect("a reader").error().is_some());
    let twice = reads(&store);
    let whole = Built::of(&[&log]);
    whole.0.reset_counts();
    assert!(whole.read().expect("a reader").error().is_none());
    assert!(twice >= 2 * reads(&whole), "{twice}");
}

#[test]
fn r1_beside_a_writer_nothing_above_the_durable_end_is_called_damaged() {
    use crate::log::reader::Tail;
    let mut log = Written::first().groups(2);
    let start = log.group(1, 2);
    let store = Built::of(&[&flipped(log, start + 20)]).with("LOCK", b"");
    assert_eq!(store.read().expect("a reader").tail(), Tail::Torn);
    let disk = store.0.disk();
    let lock: Arc<dyn WriteFile> =
        disk.open_write("/store/LOCK".as_ref(), Create::Existing).expect("a file");
    assert!(lock.try_lock().expect("a lock"));
    assert_eq!(store.read().expect("a reader").tail(), Tail::InProgress);
}

#[test]
fn l2_a_read_that_fails_three_times_decides_nothing() {
    use crate::backend::ErrorKind;
    use crate::storage::sim::{Call, Cause, Failure, Fault};
    let (log, _) = three();
    let store = Built::of(&[&log]);
    let fault = || Fault::new(Call::Read, Failure::Error(Cause::Eio)).on(log.name());
    store.0.fail(fault().times(2));
    assert!(store.read().is_ok());
    let digest = store.0.digest();
    store.0.fail(fault().times(3));
    let error = store.read().err().expect("undecided");
    assert_eq!(error.kind, ErrorKind::Io);
    store.0.fail(fault().forever());
    let error = recover(&store.0).err().expect("undecided");
    assert_eq!((error.kind, error.offset), (ErrorKind::Io, Some(0)));
    assert_eq!(store.0.digest(), digest);
}
