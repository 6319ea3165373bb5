//! What a power cut keeps.

use std::collections::BTreeSet;
use std::path::Path;

use gatelog_engine::storage::sim::{Call, Cause, DRAWN, Failure, Fault, UnitKind};
use gatelog_engine::storage::{Create, Sim, Volume};

use crate::{disk_with, open, seen, write};

/// Every content that a crash can give a file.
fn outcomes(sim: &Sim, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    sim.crash_states(DRAWN, 1).map(|(_, state)| seen(&state, path)).collect()
}

fn sectors(letters: &str) -> Vec<u8> {
    letters.bytes().flat_map(|letter| [letter; 512]).collect()
}

/// The letter of each sector of a file.
fn letters(bytes: &[u8]) -> String {
    assert!(bytes.chunks(512).all(|sector| sector.iter().all(|byte| *byte == sector[0])));
    bytes.chunks(512).map(|sector| char::from(sector[0])).collect()
}

fn letters_left(sim: &Sim, path: &str) -> Vec<String> {
    outcomes(sim, path).into_iter().map(|bytes| letters(&bytes.expect("a file"))).collect()
}

#[test]
fn any_subset_of_the_sectors_may_be_kept() {
    let (sim, file) = disk_with("/f", &sectors("abcd"));
    write(&*file, 512, &sectors("BC"));
    assert_eq!(letters_left(&sim, "/f"), ["aBCd", "aBcd", "abCd", "abcd"]);
    file.sync_data().expect("it syncs");
    assert_eq!(letters_left(&sim, "/f"), ["aBCd"]);
}

#[test]
fn a_sector_may_be_left_at_any_of_its_last_contents() {
    let (sim, file) = disk_with("/f", &sectors("0"));
    for version in ["1", "2", "3"] {
        write(&*file, 0, &sectors(version));
    }
    assert_eq!(letters_left(&sim, "/f"), ["0", "1", "2", "3"]);
}

#[test]
fn what_a_crash_cannot_change_is_no_unit() {
    let (sim, file) = disk_with("/f", &sectors("ab"));
    write(&*file, 0, &sectors("aB"));
    let units = sim.unsynced();
    assert_eq!(units.len(), 1);
    assert_eq!(units[0].kind, UnitKind::Sector(1));
    assert_eq!(units[0].to_string(), "sector 1 of /f by operation 2");
}

#[test]
fn the_size_is_kept_or_not_and_bytes_behind_it_are_lost() {
    let (sim, file) = disk_with("/f", b"abc");
    write(&*file, 3, b"def");
    let outcomes = outcomes(&sim, "/f");
    let expected = [&b"abc"[..], b"abc\0\0\0", b"abcdef"];
    assert_eq!(outcomes, expected.map(|bytes| Some(bytes.to_vec())).into());
}

#[test]
fn a_later_size_holds_the_bytes_of_earlier_writes() {
    let (sim, file) = disk_with("/f", b"");
    for place in (0..4).rev() {
        write(&*file, place * 512, &sectors("a"));
    }
    write(&*file, 2048, &sectors("b"));
    let everything = sim.power_cut(|_| true);
    assert_eq!(letters(&seen(&everything, "/f").expect("a file")), "aaaab");
    // Units are in the order of the writes, not of the places.
    let kinds: Vec<UnitKind> = sim.unsynced().into_iter().map(|unit| unit.kind).collect();
    let order = [3, 2, 1, 0].map(UnitKind::Sector);
    assert_eq!(kinds[..4], order);
    assert_eq!(kinds[4..], [UnitKind::Size, UnitKind::Sector(4)]);
}

#[test]
fn a_file_that_was_cut_and_grew_again_does_not_show_old_bytes() {
    let (sim, file) = disk_with("/f", b"abcdef");
    file.set_len(2).expect("it is cut");
    file.set_len(6).expect("it grows");
    let expected = [&b"ab\0\0\0\0"[..], b"abcdef"];
    assert_eq!(outcomes(&sim, "/f"), expected.map(|bytes| Some(bytes.to_vec())).into());
    file.sync_data().expect("it syncs");
    assert_eq!(outcomes(&sim, "/f"), [Some(b"ab\0\0\0\0".to_vec())].into());
}

#[test]
fn a_file_whose_name_was_never_synced_may_be_lost_with_its_bytes() {
    let sim = Sim::new(1);
    let file = open(&sim, "/f");
    write(&*file, 0, b"abc");
    file.sync_data().expect("it syncs");
    // The canary: syncing the file is not enough.
    assert_eq!(outcomes(&sim, "/f"), [None, Some(b"abc".to_vec())].into());
    sim.disk().sync_dir(Path::new("/")).expect("it syncs");
    assert_eq!(outcomes(&sim, "/f"), [Some(b"abc".to_vec())].into());
}

#[test]
fn a_directory_that_is_lost_takes_what_is_below_it() {
    let sim = Sim::new(1);
    let disk = sim.disk();
    disk.create_dir(Path::new("/d")).expect("a directory");
    let file = disk.open_write(Path::new("/d/f"), Create::New).expect("a file");
    file.sync_data().expect("it syncs");
    disk.sync_dir(Path::new("/d")).expect("it syncs");
    assert_eq!(outcomes(&sim, "/d/f"), [None, Some(Vec::new())].into());
    disk.sync_dir(Path::new("/")).expect("it syncs");
    assert_eq!(outcomes(&sim, "/d/f"), [Some(Vec::new())].into());
}

#[test]
fn a_rename_is_whole_and_may_be_lost() {
    let files = [("/a", b"new".to_vec()), ("/b", b"old".to_vec())];
    let sim = Sim::with_files(1, files).expect("a disk");
    sim.disk().rename(Path::new("/a"), Path::new("/b")).expect("renamed");
    let left = |sim: &Sim| (seen(sim, "/a"), seen(sim, "/b"));
    let before = (Some(b"new".to_vec()), Some(b"old".to_vec()));
    let after = (None, Some(b"new".to_vec()));
    let states: Vec<_> = sim.crash_states(0, 1).map(|(_, state)| left(&state)).collect();
    assert_eq!(states, [before, after.clone()]);
    // A name that was lost is the file's old one again, for counters and reports as well.
    let cut = sim.power_cut(|_| false);
    write(&*open(&cut, "/a"), 0, b"x");
    assert_eq!((cut.counts("a").writes, cut.counts("b").writes), (1, 0));
    sim.disk().sync_dir(Path::new("/")).expect("it syncs");
    let states: Vec<_> = sim.crash_states(0, 1).map(|(_, state)| left(&state)).collect();
    assert_eq!(states, [after]);
}

#[test]
fn a_name_that_was_removed_may_come_back_with_its_bytes() {
    let (sim, file) = disk_with("/f", b"abc");
    sim.disk().remove(Path::new("/f")).expect("removed");
    drop(file);
    assert_eq!(seen(&sim, "/f"), None);
    assert_eq!(outcomes(&sim, "/f"), [None, Some(b"abc".to_vec())].into());
    sim.disk().sync_dir(Path::new("/")).expect("it syncs");
    assert_eq!(outcomes(&sim, "/f"), [None].into());
}

#[test]
fn a_removal_that_is_kept_alone_takes_no_other_file_of_that_name() {
    let (sim, _file) = disk_with("/f", b"old");
    sim.disk().remove(Path::new("/f")).expect("removed");
    drop(open(&sim, "/f"));
    sim.disk().remove(Path::new("/f")).expect("removed");
    let last = sim.operations();
    let cut = sim.power_cut(|unit| unit.operation == last);
    assert_eq!(seen(&cut, "/f").expect("a file"), b"old");
}

#[test]
fn a_link_may_be_lost_and_the_file_stays() {
    let (sim, _file) = disk_with("/f", b"abc");
    sim.disk().link(Path::new("/f"), Path::new("/g")).expect("linked");
    assert_eq!(outcomes(&sim, "/g"), [None, Some(b"abc".to_vec())].into());
    assert_eq!(outcomes(&sim, "/f"), [Some(b"abc".to_vec())].into());
}

#[test]
fn the_new_names_of_two_renames_may_be_kept_in_any_order() {
    let files = [("/a", b"a".to_vec()), ("/b", b"b".to_vec())];
    let sim = Sim::with_files(1, files).expect("a disk");
    sim.disk().rename(Path::new("/a"), Path::new("/c")).expect("renamed");
    sim.disk().rename(Path::new("/b"), Path::new("/d")).expect("renamed");
    let states = sim.crash_states(0, 1);
    let files: BTreeSet<_> = states.map(|(_, state)| state.files()).collect();
    assert_eq!(files.len(), 4);
    assert!(files.iter().all(|files| files.len() == 2), "a rename is never half");
}

#[test]
fn a_torn_write_spoils_what_was_durable_beside_it() {
    let (sim, file) = disk_with("/f", &sectors("abcdefghijklmnop"));
    write(&*file, 512, &sectors("B"));
    let kept = |sim: &Sim| {
        let states = sim.crash_states(DRAWN, 1).map(|(_, state)| state);
        states.filter(|state| seen(state, "/f").expect("a file")[..512] == sectors("a")).count()
    };
    // The canary: without it sector 0 is safe in every state.
    assert_eq!((kept(&sim), sim.crash_states(DRAWN, 1).count()), (2, 2));
    sim.torn_write_spoils_physical_sector(4096);
    assert_eq!((kept(&sim), sim.crash_states(DRAWN, 1).count()), (2, 4));
    let torn = sim.power_cut(gatelog_engine::storage::sim::Unit::is_torn);
    let bytes = seen(&torn, "/f").expect("a file");
    for sector in 0..8 {
        assert_ne!(bytes[sector * 512..][..512], sectors("abcdefgh")[sector * 512..][..512]);
    }
    assert_eq!(letters(&bytes[4096..]), "ijklmnop", "only the physical sector is spoilt");
    file.sync_data().expect("it syncs");
    assert_eq!((kept(&sim), sim.crash_states(DRAWN, 1).count()), (1, 1));
}

#[test]
fn a_failed_sync_leaves_pages_clean_and_the_device_without_them() {
    let (sim, file) = disk_with("/f", &sectors("a"));
    write(&*file, 0, &sectors("A"));
    sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Eio)));
    let error = file.sync_data().expect_err("told to");
    assert_eq!(error.raw_os_error(), cfg!(unix).then_some(5));
    file.sync_data().expect("nothing is dirty");
    let mut buffer = sectors("?");
    file.read_at(0, &mut buffer).expect("readable");
    assert_eq!(letters(&buffer), "A", "the cache has it");
    assert_eq!(file.read_device_at(0, &mut buffer).expect("readable"), Some(512));
    assert_eq!(letters(&buffer), "a", "the device lacks it");
    // The canary: a harness with one image would keep it, since the last sync said so.
    assert_eq!(letters_left(&sim, "/f"), ["a"]);
    sim.kill();
    assert_eq!(letters(&seen(&sim, "/f").expect("a file")), "A", "a dead process changes nothing");
    // Written again it is dirty again.
    let file = open(&sim, "/f");
    write(&*file, 0, &sectors("A"));
    file.sync_data().expect("it syncs");
    assert_eq!(letters_left(&sim, "/f"), ["A"]);
}

#[test]
fn a_failed_sync_of_a_directory_forgets_its_names() {
    let sim = Sim::new(1);
    drop(open(&sim, "/f"));
    sim.fail(Fault::new(Call::SyncDir, Failure::Error(Cause::Eio)));
    sim.disk().sync_dir(Path::new("/")).expect_err("told to");
    sim.disk().sync_dir(Path::new("/")).expect("nothing is dirty");
    assert_eq!(seen(&sim, "/f"), Some(Vec::new()));
    assert_eq!(outcomes(&sim, "/f"), [None].into());
}

#[test]
fn a_failed_growth_is_not_on_the_device() {
    let (sim, file) = disk_with("/f", b"abc");
    write(&*file, 3, b"def");
    sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Eio)));
    file.sync_data().expect_err("told to");
    let mut buffer = [1; 4096];
    // The inode in memory knows the size; the bytes are not there.
    assert_eq!(file.read_device_at(0, &mut buffer).expect("readable"), Some(6));
    assert_eq!(&buffer[..6], b"abc\0\0\0");
    assert_eq!(outcomes(&sim, "/f"), [Some(b"abc".to_vec())].into());
}

#[test]
fn beyond_twelve_units_the_ordered_choices_and_those_drawn_are_walked() {
    let (sim, file) = disk_with("/f", &sectors(&"a".repeat(20)));
    for sector in 0..20 {
        write(&*file, sector * 512, &sectors("b"));
    }
    assert_eq!(sim.unsynced().len(), 20);
    let choices = |drawn, seed| -> Vec<String> {
        sim.crash_states(drawn, seed).map(|(choice, _)| choice.to_string()).collect()
    };
    let ordered = choices(0, 1);
    assert_eq!(ordered.iter().collect::<BTreeSet<_>>().len(), ordered.len(), "none twice");
    let has = |kept: &dyn Fn(usize) -> bool| {
        let wanted: String = (0..20).map(|unit| if kept(unit) { '1' } else { '0' }).collect();
        assert!(ordered.contains(&wanted), "{wanted} is missing");
    };
    for place in 0..=20 {
        has(&|unit| unit < place);
        has(&|unit| unit >= place);
        has(&|unit| unit == place);
        has(&|unit| unit != place);
    }
    assert_eq!(ordered.len(), 4 * 20 - 4 + 2 - 2);
    let drawn = choices(100, 7);
    assert_eq!((drawn.len(), &drawn[..76]), (176, &ordered[..]));
    assert_eq!(choices(100, 7), drawn, "a seed repeats itself");
    assert_ne!(choices(100, 8), drawn);
    // Each state is what its choice says, and can be had again.
    for (choice, state) in sim.crash_states(20, 3) {
        let bytes = letters(&seen(&state, "/f").expect("a file"));
        assert_eq!(bytes.replace('a', "0").replace('b', "1"), choice.to_string());
        assert_eq!(sim.crash_state(&choice).digest(), state.digest());
    }
}

#[test]
fn torn_sectors_are_walked_where_there_are_many_units() {
    let (sim, file) = disk_with("/f", &sectors(&"a".repeat(16)));
    write(&*file, 0, &sectors(&"b".repeat(16)));
    sim.torn_write_spoils_physical_sector(4096);
    let units = sim.unsynced();
    assert_eq!((units.len(), units.iter().filter(|unit| unit.is_torn()).count()), (18, 2));
    let choices: Vec<String> = sim.crash_states(0, 1).map(|(c, _)| c.to_string()).collect();
    for torn in ["10", "01"] {
        for rest in ["0", "1"] {
            assert!(choices.contains(&(rest.repeat(16) + torn)));
        }
    }
    assert!(choices.contains(&("1".repeat(16) + "00")));
}

#[test]
fn a_power_cut_asks_for_each_unit_and_leaves_this_disk_alone() {
    let (sim, file) = disk_with("/f", &sectors("ab"));
    write(&*file, 0, &sectors("AB"));
    let digest = sim.digest();
    let cut = sim.power_cut(|unit| unit.kind == UnitKind::Sector(1));
    assert_eq!(letters(&seen(&cut, "/f").expect("a file")), "aB");
    assert!(cut.unsynced().is_empty());
    assert_eq!((sim.digest(), sim.unsynced().len()), (digest, 2));
    // The process goes on in its own world.
    file.sync_data().expect("it syncs");
    assert_eq!(letters(&seen(&cut, "/f").expect("a file")), "aB");
}
