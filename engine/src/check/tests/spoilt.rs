//! Stores of the log that were damaged afterwards: each rule of a damage, and the log's own answer.

use super::*;
use crate::backend::ErrorKind;
use crate::log::durable::Durable;
use crate::log::reader::{LogReader, Tail};
use crate::log::segment_header::SegmentHeader;
use crate::log::superblock::Slot;

/// Damages the closed store and names what is then said.
fn said(act: impl FnOnce(&Sim, &[std::path::PathBuf])) -> Vec<&'static str> {
    let sim = closed();
    act(&sim, &segments(&sim));
    rules(&checked(&sim))
}

fn rewrite(sim: &Sim, path: &Path, act: impl FnOnce(&mut SegmentHeader)) {
    sim.edit(path, |bytes| {
        let mut header = SegmentHeader::parse(bytes).expect("it is one");
        act(&mut header);
        bytes[..4096].copy_from_slice(&header.encode());
    })
    .expect("it is there");
}

/// Rewrites both slots of `STORE`.
fn slots(sim: &Sim, act: impl Fn(&mut Slot)) {
    sim.edit("/s/STORE", |bytes| {
        for slot in bytes.chunks_exact_mut(4096) {
            let bytes: &mut [u8; 4096] = slot.try_into().expect("it has a page");
            if let Ok(mut slot) = Slot::parse(bytes) {
                act(&mut slot);
                *bytes = slot.encode();
            }
        }
    })
    .expect("it is there");
}

#[test]
fn a_missing_segment_is_missed_whichever_it_is() {
    let count = segments(&closed()).len();
    for index in 0..count {
        let said = said(|sim, paths| sim.remove(&paths[index]).expect("it goes"));
        assert_eq!(said[0], "segment/missing", "{index}: {said:?}");
    }
    assert_eq!(
        said(|sim, paths| {
            for path in paths {
                sim.remove(path).expect("it goes");
            }
        }),
        ["segment/missing"]
    );
}

#[test]
fn headers_that_are_wrong() {
    let cut = |at: usize| {
        move |sim: &Sim, paths: &[std::path::PathBuf]| {
            let path = if at == 9 { paths.last() } else { paths.get(at) }.expect("it is there");
            sim.edit(path, |bytes| bytes.truncate(12 << 10)).expect("it is there");
        }
    };
    assert_eq!(said(cut(0))[0], "segment/short");
    assert_eq!(said(cut(9)), ["segment/short"]);
    let flip = |at: usize| {
        move |sim: &Sim, paths: &[std::path::PathBuf]| {
            let path = if at == 9 { paths.last() } else { paths.get(at) }.expect("it is there");
            sim.flip(path, 60, 1).expect("it is there");
        }
    };
    assert_eq!(said(flip(1)), ["segment/header"]);
    assert_eq!(said(flip(9)), ["segment/header"]);
    let foreign = said(|sim, paths| rewrite(sim, &paths[1], |header| header.segment_id ^= 1));
    assert_eq!(foreign, ["frame/header", "segment/foreign"]);
    let mixed = said(|sim, paths| rewrite(sim, &paths[1], |header| header.store_id[0] ^= 1));
    assert_eq!(mixed, ["store/mixed"]);
    let newer = said(|sim, paths| {
        let edit = |bytes: &mut Vec<u8>| {
            bytes[8] = 9;
            let sum = crate::log::crc::crc(&bytes[..4092]);
            bytes[4092..4096].copy_from_slice(&sum.to_le_bytes());
        };
        sim.edit(&paths[1], edit).expect("it is there");
    });
    assert_eq!(newer, ["format/unsupported"]);
    let sealed = said(|sim, _| sim.put("/s/00000000000000000001.seal", b"").expect("it is put"));
    assert_eq!(sealed, ["format/unsupported"]);
}

#[test]
fn statements_about_the_segment_before_that_are_false() {
    let of = |act: fn(&mut SegmentHeader)| said(|sim, paths| rewrite(sim, &paths[1], act));
    assert_eq!(of(|header| header.prev_end_offset += 8)[0], "store/mixed");
    assert_eq!(of(|header| header.prev_end_offset -= 8)[0], "frame/chain");
    assert_eq!(of(|header| header.prev_digest.0[0] ^= 1)[0], "frame/chain");
    assert_eq!(of(|header| header.prev_table_offset = 4096), ["segment/table"]);
    assert_eq!(of(|_| ()), [] as [&str; 0]);
    let cut = said(|sim, paths| {
        let mut end = 0;
        rewrite(sim, &paths[1], |header| end = header.prev_end_offset);
        sim.edit(&paths[0], |bytes| bytes[end as usize + 8] = 1).expect("it is there");
    });
    assert_eq!(cut, ["segment/cut"]);
}

#[test]
fn frames_that_are_damaged() {
    // The first frame of a segment with a successor: its header, its body, its padding.
    for (offset, rule) in [(4096 + 24, "frame/header"), (4096 + 113, "frame/body")] {
        let said = said(|sim, paths| sim.flip(&paths[1], offset, 3).expect("it is there"));
        assert_eq!(said, [rule]);
    }
    let zeroed = said(|sim, paths| {
        sim.edit(&paths[1], |bytes| bytes[4096..].fill(0)).expect("it is there");
    });
    assert_eq!(zeroed, ["store/mixed"]);
    // Between two groups: nothing is lost with it.
    let padding = said(|sim, paths| sim.flip(&paths[1], 8000, 3).expect("it is there"));
    assert_eq!(padding, ["segment/padding"]);
    // In the last segment, below W.
    for (offset, rule) in [(4096 + 24, "frame/header"), (4096 + 113, "frame/body")] {
        let said = said(|sim, paths| {
            sim.flip(paths.last().expect("one"), offset, 3).expect("it is there");
        });
        assert_eq!(said, [rule, "store/behind"]);
    }
    let lost = said(|sim, paths| {
        sim.edit(paths.last().expect("one"), |bytes| bytes[4096..].fill(0)).expect("it is there");
    });
    assert_eq!(lost, ["log/lost-tail", "store/behind"]);
}

#[test]
fn a_frame_behind_vouches_for_the_groups_before_it() {
    let written = |offset| {
        let sim = Sim::new(7);
        let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
        let volume: Arc<dyn Volume> = Arc::new(sim.disk());
        let log = Log::open(volume, Path::new(DIR), Arc::new(Fixed::default()), config);
        let log = log.expect("the store opens");
        create(&log, "one");
        for seq in 1..5 {
            append(&log, "one", seq, 1);
        }
        sim.kill();
        sim.remove("/s/DURABLE".as_ref()).expect("it goes");
        sim.flip(FIRST, offset, 2).expect("it is there");
        rules(&checked(&sim))
    };
    // The second group of five, and the last, for which nothing vouches.
    assert_eq!(written(2 * 4096 + 113), ["frame/body"]);
    assert_eq!(written(2 * 4096 + 24), ["frame/header"]);
    assert_eq!(written(5 * 4096 + 113), ["log/torn"]);
}

#[test]
fn damage_in_one_segment_does_not_hide_that_in_another() {
    let said = said(|sim, paths| {
        sim.flip(&paths[0], 4096 + 113, 0).expect("it is there");
        sim.flip(&paths[2], 4096 + 24, 0).expect("it is there");
    });
    assert_eq!(said, ["frame/body", "frame/header"]);
}

#[test]
fn witnesses_that_say_something_else() {
    assert_eq!(
        said(|sim, _| sim.remove("/s/STORE".as_ref()).expect("it goes")),
        ["store/no-superblock"]
    );
    assert_eq!(said(|sim, _| sim.remove("/s/DURABLE".as_ref()).expect("it goes")), [] as [&str; 0]);
    assert_eq!(said(|sim, _| slots(sim, |slot| slot.inode += 1)), ["store/copied"]);
    assert_eq!(said(|sim, _| slots(sim, |slot| slot.active_segment_id ^= 1)), ["segment/foreign"]);
    let durable = |act: fn(&mut Durable)| {
        said(|sim, _| {
            sim.edit("/s/DURABLE", |bytes| {
                let mut durable = Durable::parse(bytes).expect("it is one");
                act(&mut durable);
                *bytes = durable.encode().to_vec();
            })
            .expect("it is there");
        })
    };
    assert_eq!(durable(|durable| durable.durable_lsn += 1), ["log/lost-tail", "store/behind"]);
    assert_eq!(durable(|durable| durable.end_offset -= 8), ["store/witness"]);
    assert_eq!(durable(|durable| durable.segment_id ^= 1), ["segment/missing"]);
    assert_eq!(durable(|durable| durable.store_id[0] ^= 1), ["store/mixed"]);
    let stale = said(|sim, paths| {
        let mut first = None;
        rewrite(sim, &paths[0], |header| first = Some((header.first_lsn, header.segment_id)));
        let (first_lsn, segment_id) = first.expect("it is one");
        slots(sim, |slot| {
            (slot.active_first_lsn, slot.active_segment_id) = (first_lsn, segment_id);
        });
    });
    assert_eq!(stale, ["store/stale-slot"]);
}

#[test]
fn what_lies_behind_the_end() {
    // Behind a clean stop.
    let residue = |sim: &Sim, paths: &[std::path::PathBuf]| {
        sim.edit(paths.last().expect("one"), |bytes| *bytes.last_mut().expect("a byte") = 1)
            .expect("it is there");
    };
    assert_eq!(said(residue), ["segment/residue"]);
    // Behind anything else.
    let sim = crashed();
    residue(&sim, &segments(&sim));
    let check = checked(&sim);
    assert_eq!((rules(&check), check.is_torn), (vec!["log/torn"], true));
    // Beside a writer nobody can say what it is.
    let sim = crashed();
    let log = open(&sim);
    append(&log, "two", 7, 1);
    residue(&sim, &segments(&sim));
    let check = checked(&sim);
    assert_eq!((rules(&check), check.is_torn), (vec!["log/live-writer"], false));
    drop(log);
    // A file with a segment's name that was never used.
    let sim = closed();
    sim.put("/s/00000000000000000999.log", &[0; 16 << 10]).expect("it is put");
    assert_eq!(rules(&checked(&sim)), ["segment/empty"]);
    sim.edit("/s/00000000000000000999.log", |bytes| bytes[9000] = 1).expect("it is there");
    assert_eq!(rules(&checked(&sim)), ["segment/header"]);
}

#[test]
fn frames_that_stray_behind_the_end() {
    for (from_last, rule) in [(true, "segment/misdirected"), (false, "segment/stale")] {
        let sim = crashed();
        let log = open(&sim);
        log.close().expect("it closes");
        let log = open(&sim);
        append(&log, "two", 7, 1);
        sim.kill();
        drop(log);
        let paths = segments(&sim);
        let last = paths.last().expect("one");
        let group = {
            let from = if from_last { last } else { &paths[0] };
            sim.image(from).expect("it is there")[4096..8192].to_vec()
        };
        let check = checked(&sim);
        assert_eq!(rules(&check), [] as [&str; 0]);
        let end = sim.image(last).expect("it is there");
        let end = end.iter().rposition(|byte| *byte != 0).expect("a byte").next_multiple_of(4096);
        sim.edit(last, |bytes| bytes[end..end + 4096].copy_from_slice(&group)).expect("there");
        assert_eq!(rules(&checked(&sim)), ["log/torn", rule]);
    }
}

/// The log's own judgement of a store, and the verifier's.
fn agree(sim: &Sim, what: &str) -> [bool; 3] {
    let check = verify(&sim.disk(), Path::new(DIR));
    let reader = LogReader::open(Arc::new(sim.disk()), Path::new(DIR));
    let tail = reader.map(|reader| reader.tail());
    let opened = open_on(Arc::new(sim.clone().disk()), Path::new(DIR));
    let check = match check {
        Ok(check) => check,
        Err(error) => {
            assert_eq!(tail.err().map(|it| it.kind), Some(error.kind), "{what}");
            return [false; 3];
        }
    };
    let said = rules(&check);
    match opened {
        Ok(_) => {
            assert_eq!(check.is_torn, tail.ok() == Some(Tail::Torn), "{what}: {said:?}");
            // An open looks at less: of a segment with a table only at its end.
            let is_refused =
                check.findings.iter().any(|it| it.weight == super::super::Weight::Corrupt);
            let last = segments(sim).len() as u64;
            if is_refused {
                let first_lsn = |it: &Finding| it.place.segment;
                let last_lsn = check.findings.iter().filter_map(first_lsn).max();
                let names: Vec<_> = segments(sim);
                let name = format!("/s/{:020}.log", last_lsn.unwrap_or(0));
                let is_last = names.last() == Some(&std::path::PathBuf::from(name));
                assert!(!is_last && last > 1, "{what}: opened, and {:?}", check.findings);
            }
            [true, check.is_torn, is_refused]
        }
        Err(error) if error.kind == ErrorKind::Corrupt => {
            let rule = error.rule.expect("it has one");
            assert!(said.contains(&rule), "{what}: {error}, and {said:?}");
            [false, false, true]
        }
        Err(error) => {
            assert_eq!(error.kind, ErrorKind::Unsupported, "{what}: {error}");
            assert_eq!(said, ["format/unsupported"], "{what}");
            [false; 3]
        }
    }
}

#[test]
fn flips_zeroed_sectors_and_truncations_are_judged_as_an_open_judges_them() {
    let mut counts = [0; 3];
    let mut count = |answers: [bool; 3]| {
        for (count, answer) in counts.iter_mut().zip(answers) {
            *count += u32::from(answer);
        }
    };
    for (state, base) in [
        ("crashed", crashed()),
        ("closed", closed()),
        ("undurable", {
            let sim = crashed();
            sim.remove("/s/DURABLE".as_ref()).expect("it goes");
            sim
        }),
    ] {
        let mut files = sim_files(&base);
        files.retain(|(path, _)| !path.ends_with("LOCK") && !path.ends_with("holder"));
        for (path, bytes) in files {
            for offset in (0..bytes.len() as u64).step_by(331) {
                let sim = base.clone();
                sim.flip(&path, offset, (offset % 8) as u8).expect("it is there");
                count(agree(&sim, &format!("{state}, {} flipped at {offset}", path.display())));
            }
            for sector in (0..bytes.len()).step_by(512) {
                let sim = base.clone();
                let end = (sector + 512).min(bytes.len());
                sim.edit(&path, |bytes| bytes[sector..end].fill(0)).expect("it is there");
                count(agree(&sim, &format!("{state}, {} zero at {sector}", path.display())));
                let sim = base.clone();
                sim.edit(&path, |bytes| bytes.truncate(sector)).expect("it is there");
                count(agree(&sim, &format!("{state}, {} cut at {sector}", path.display())));
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

fn sim_files(sim: &Sim) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let files = sim.files().into_iter();
    files.map(|path| (path.clone(), sim.image(&path).expect("it is there"))).collect()
}
