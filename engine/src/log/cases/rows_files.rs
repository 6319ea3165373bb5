//! Blocks L and F: a case for each row that this version can meet.

use super::build::{Built, SEGMENT_BYTES, STORE_ID, Written, dir, lsns, recover};
use crate::backend::ErrorKind;
use crate::log::chain::Digest;
use crate::log::frame::Kind;
use crate::log::segment_header::Begin;
use crate::log::tail::Verdict::{Clean, Unsupported};
use crate::storage::{Sim, Storage};

/// A store of four segments: rotated, cut, rotated, last.
fn four() -> [Written; 4] {
    let first = Written::first().groups(2).table(Kind::Rotate);
    let second = first.next(Begin::Rotated).groups(2);
    let mut third = second.next(Begin::TornCut).groups(1);
    third.watermark();
    let third = third.table(Kind::Rotate);
    let last = third.next(Begin::Rotated).groups(2);
    [first, second, third, last]
}

fn built(segments: &[Written]) -> Built {
    Built::of(&segments.iter().collect::<Vec<_>>())
}

#[test]
fn l3_where_there_is_nothing_a_store_is_made() {
    let empty = Built::new();
    assert_eq!(empty.read().err().expect("no store").kind, ErrorKind::NotAStore);
    let opened = empty.open().expect("made");
    assert_eq!((opened.ruling.row, opened.epoch, opened.next_lsn), ("L3", 1, 1));
    assert_eq!(opened.digest, Digest::before_first(&opened.store_id));
    assert!(empty.0.unsynced().is_empty());
    assert_eq!(opened.active.header.segment_bytes, SEGMENT_BYTES);
    empty.decides("P4", Clean, Some(4096));
    // Locks and leftovers are no store.
    let litter = Built::new().with("LOCK", b"").with("holder", b"x").with("spare-0", &[0; 5000]);
    assert_eq!(litter.open().expect("made").ruling.row, "L3");
}

#[test]
fn l4_without_a_superblock_the_store_opens_with_a_note() {
    let log = Written::first().groups(3);
    for (bytes, row) in [(None, "P6"), (Some(vec![]), "P6"), (Some(vec![7; 8192]), "P6")] {
        let mut store = Built::new().with(&log.name(), &log.bytes);
        if let Some(bytes) = bytes {
            store = store.with("STORE", &bytes);
        }
        let decided = store.decides(row, Clean, Some(log.end));
        assert!(decided.has_note("store/no-superblock") && decided.judgement.has_row("L4"));
        assert!(!decided.after.read().expect("a reader").judgement().has_row("L4"));
    }
}

#[test]
fn l5_two_stores_in_one_directory_are_refused() {
    let [first, second, third, last] = four();
    let mut slot = last.slot(0);
    slot.store_id = *b"another store...";
    built(&[first.clone(), second.clone()]).store(&slot).refused("L5", "store/mixed", None);
    let mut durable = last.durable(1);
    durable.store_id = slot.store_id;
    let store = built(&[first.clone(), second.clone(), third, last]);
    store.durable(&durable).refused("L5", "store/mixed", None);
    // Without `STORE` as well: the note that it is gone does not come before.
    let mut foreign = second.clone();
    foreign.header.store_id = slot.store_id;
    let foreign = Written::of(foreign.header, 0, 0);
    let store =
        Built::new().with(&first.name(), &first.bytes).with(&foreign.name(), &foreign.bytes);
    let decided = store.refused("L5", "store/mixed", None);
    // What belongs to the store is shown.
    assert_eq!(decided.lsns, [1, 2, 3]);
}

#[test]
fn l6_a_newer_format_is_not_called_damaged() {
    let log = Written::first().groups(1);
    let mut newer = log.bytes.clone();
    newer[8] = 2;
    let sum = crc32fast::hash(&newer[..4092]);
    newer[4092..4096].copy_from_slice(&sum.to_le_bytes());
    let mut slot = log.slot(0).encode();
    slot[8] = 2;
    let sum = crc32fast::hash(&slot[..4092]);
    slot[4092..].copy_from_slice(&sum.to_le_bytes());
    let store = Built::of(&[&log]);
    for store in [store.with(&log.name(), &newer), Built::of(&[&log]).with("STORE", &slot)] {
        let decided = store.decides("L6", Unsupported, None);
        let error = decided.opened.err().expect("refused");
        assert_eq!((error.kind, error.rule), (ErrorKind::Unsupported, None));
    }
    let sealed = Built::of(&[&log]).with("00000000000000000009.seal", b"");
    assert_eq!(sealed.read().err().expect("refused").kind, ErrorKind::Unsupported);
}

#[test]
fn f1_a_segment_whose_rename_was_lost_gets_its_name() {
    let [first, second, ..] = four();
    let slot = first.slot(0);
    // Nothing in it, and a frame in it: whoever wrote it knew that it had its name.
    let fresh = first.next(Begin::Rotated);
    for (log, row, end) in [(&fresh, "P4", 4096), (&second, "P6", second.end)] {
        let store = built(std::slice::from_ref(&first)).with("spare-3", &log.bytes).store(&slot);
        let decided = store.decides(row, Clean, Some(end));
        assert!(decided.judgement.has_row("F1"));
        let names = decided.after.0.files();
        assert!(names.contains(&dir().join(log.name())), "{names:?}");
        assert_eq!(decided.after.0.image(dir().join(log.name())).expect("a file"), log.bytes);
    }
    // The very first segment as well.
    let store = Built::new().with("spare-0", &Written::first().bytes);
    let decided = store.decides("P4", Clean, Some(4096));
    assert_eq!(decided.opened().store_id, STORE_ID);
}

#[test]
fn f1_a_header_that_the_device_never_got_is_thrown_away() {
    // An open before this one failed to sync the header that it wrote.
    let log = Written::first().groups(2);
    let next = log.next(Begin::Unclean);
    let store = Built::of(&[&log]).with("spare-3", &next.bytes);
    store.0.edit_device("/store/spare-3", |bytes| bytes.fill(0)).expect("a file");
    let opened = store.open().expect("opened");
    assert_eq!(opened.ruling.row, "P6");
    assert_ne!(opened.active.header.segment_id, next.header.segment_id);
    let cut = store.0.power_cut(|_| false);
    assert_eq!(recover(&cut).expect("opened").ruling.row, "P4");
}

#[test]
fn f2_spares_are_kept_and_what_only_looks_like_one_is_removed() {
    let log = Written::first().groups(1);
    let mut half = vec![0; SEGMENT_BYTES as usize];
    half[9] = 1;
    let mut hidden = vec![0; SEGMENT_BYTES as usize];
    hidden[9000] = 1;
    // Of a segment that was before the one that is there, so it does not follow.
    let earlier = Written::first();
    let store = Built::of(&[&log])
        .with("spare-1", &half)
        .with("spare-2", &vec![0; SEGMENT_BYTES as usize])
        .with("spare-4", &earlier.bytes)
        .with("spare-0", &hidden);
    let decided = store.decides("P6", Clean, Some(log.end));
    assert!(decided.judgement.has_row("F2"));
    // The one that was a spare is the new segment now.
    let names = decided.after.0.files();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("spare")), "{names:?}");
    assert_eq!(decided.after.0.counts("spare-2").bytes_written, 4096);
}

#[test]
fn f3_each_segment_that_is_deleted_is_missed() {
    let segments = four();
    for gone in 0..4 {
        let mut rest = segments.to_vec();
        rest.remove(gone);
        let store = built(&rest).store(&segments[3].slot(0));
        let decided = store.refused("F3", "segment/missing", None);
        let before = segments[..gone].iter().map(|log| log.last_lsn).max().unwrap_or(0);
        assert_eq!(decided.lsns, (1..=before).collect::<Vec<_>>(), "{gone}");
    }
    // Without `STORE`, `DURABLE` knows of the newest.
    let [first, second, ..] = &segments;
    let store = Built::new().with(&first.name(), &first.bytes).durable(&second.durable(4));
    store.refused("F3", "segment/missing", None);
    let store = Built::new().store(&first.slot(0));
    store.refused("F3", "segment/missing", None);
}

#[test]
fn f4_segments_with_a_successor_are_known_by_their_end() {
    let segments = four();
    let store = built(&segments);
    let decided = store.decides("P6", Clean, Some(segments[3].end));
    let opened = decided.opened();
    assert_eq!(opened.closed.len(), 4);
    let tables: Vec<_> = opened.closed.iter().map(|closed| closed.table_offset).collect();
    let expected = [Some(segments[0].table_offset), None, Some(segments[2].table_offset), None];
    assert_eq!(tables, expected);
    let disk = decided.after.0.disk();
    for (closed, log) in opened.closed.iter().zip(&segments) {
        let rows = crate::log::closed::rows(&disk, closed).expect("a table");
        let written: Vec<_> = log.tally.sessions.values().map(|seen| seen.row.clone()).collect();
        assert_eq!(rows, written);
        assert_eq!((closed.last_lsn, closed.digest), (log.last_lsn, log.digest));
    }
    assert_eq!(decided.lsns, (1..=segments[3].last_lsn).collect::<Vec<_>>());
    // What lies behind a cut is not read.
    let mut behind = segments.clone();
    behind[1].bytes[20000..].fill(0xAA);
    built(&behind).decides("P6", Clean, Some(segments[3].end));
}

#[test]
fn f4_of_a_rotated_segment_an_open_reads_the_ends() {
    let mut log = Written::first();
    for _ in 0..30 {
        log.group(1, log.last_lsn);
        if log.end + 3 * 4096 > SEGMENT_BYTES {
            break;
        }
    }
    let log = log.table(Kind::Rotate);
    let mut last = log.next(Begin::Rotated);
    last.group(1, log.last_lsn);
    let store = Built::of(&[&log, &last]);
    store.0.reset_counts();
    let disk = store.0.disk();
    let scene = crate::log::scene::Scene::look(&disk, dir()).expect("a scene");
    crate::log::judge::judge(&disk, &scene).expect("judged");
    let read = store.0.counts(&log.name()).bytes_read;
    assert!(read <= 2 * 4096 + (log.end - log.table_offset), "{read}");
}

#[test]
fn f5_damage_before_the_end_that_the_successor_states_is_corrupt() {
    let segments = four();
    let damage = |place: usize, act: &dyn Fn(&mut Vec<u8>)| {
        let mut damaged = segments.to_vec();
        act(&mut damaged[place].bytes);
        built(&damaged)
    };
    let store = damage(1, &|bytes| bytes[4096 + 20] ^= 1);
    store.refused("F5", "frame/header", None);
    let store = damage(1, &|bytes| bytes[4096 + 200] ^= 1);
    let decided = store.refused("F5", "frame/body", None);
    assert_eq!(decided.lsns, [1, 2, 3]);
    // In a rotated one, where the frame at its end does not check.
    let at = segments[2].table_offset as usize + 300;
    damage(2, &|bytes| bytes[at] ^= 1).refused("F5", "frame/body", None);
    damage(0, &|bytes| bytes[5] ^= 1).refused("F5", "segment/header", None);
    damage(2, &|bytes| bytes.truncate(16384)).refused("F5", "segment/short", None);
    // It ends earlier than its successor says: another state of the store was mixed in.
    damage(1, &|bytes| bytes[8192..].fill(0)).refused("F5", "store/mixed", None);
    // Whole, and with another chain than the successor's.
    let [first, second, ..] = segments.clone();
    let mut other = second.next(Begin::TornCut);
    other.header.prev_digest = first.digest;
    let other = Written::of(other.header, 0, 0);
    built(&[first.clone(), second, other]).refused("F5", "frame/chain", None);
    let mut other = first.next(Begin::Rotated);
    other.header.prev_digest = Digest::before_first(&STORE_ID);
    let other = Written::of(other.header, 0, 0);
    built(&[first, other]).refused("F5", "frame/chain", None);
}

#[test]
fn f12_a_superblock_that_names_an_earlier_segment_is_a_note() {
    let segments = four();
    let store = built(&segments).store(&segments[2].slot(2));
    let decided = store.decides("P6", Clean, Some(segments[3].end));
    assert!(decided.judgement.has_row("F12") && decided.has_note("store/stale-slot"));
    let opened = decided.opened();
    assert_eq!(opened.slot.active_first_lsn, opened.active.header.first_lsn);
}

#[test]
fn f13_files_that_were_never_finished_are_removed() {
    let log = Written::first().groups(1);
    let store = Built::of(&[&log]).with("DURABLE.tmp", b"x").with("spare-7.dirty", b"y");
    let store = store.with("DURABLE", b"not a record").with("notes.txt", b"somebody's");
    let decided = store.decides("P6", Clean, Some(log.end));
    assert!(decided.judgement.has_row("F13"));
    let names = decided.after.0.files();
    assert!(!names.iter().any(|it| it.ends_with("DURABLE.tmp") || it.ends_with("spare-7.dirty")));
    assert!(names.contains(&dir().join("notes.txt")));
}

#[test]
fn a_store_that_was_copied_says_so_and_opens() {
    let log = Written::first().groups(2);
    let mut slot = log.slot(2);
    (slot.device, slot.inode) = (1, 999_999);
    let decided = Built::of(&[&log]).store(&slot).decides("P6", Clean, Some(log.end));
    assert!(decided.has_note("store/copied"));
    let opened = decided.opened();
    assert_eq!(opened.epoch, 2);
    // The slot that was written names the file that it is in.
    let stat = decided.after.0.disk().stat(&dir().join("STORE")).expect("a file").identity;
    assert_eq!((opened.slot.device, opened.slot.inode), (stat.device, stat.inode));
    let again = decided.after.read().expect("a reader");
    assert!(!again.judgement().notes.iter().any(|note| note.rule == "store/copied"));
}

#[test]
fn a_copy_of_a_torn_store_is_the_same_to_read() {
    let log = Written::first().groups(3);
    let store = Built::of(&[&log]);
    let copy = Sim::new(3);
    for path in store.0.files() {
        copy.put(&path, &store.0.image(&path).expect("a file")).expect("a file");
    }
    let (ours, theirs) = (store.read().expect("a reader"), Built(copy).read().expect("a reader"));
    assert_eq!(lsns(&ours), lsns(&theirs));
}
