//! Damage that no process did.

use std::path::Path;

use gatelog_engine::storage::{Sim, Volume};

use crate::{disk_with, open, seen, write};

fn device(sim: &Sim, path: &str) -> Vec<u8> {
    sim.images(path).expect("a file").device
}

#[test]
fn rot_is_on_the_device_and_is_seen_when_the_cache_is_gone() {
    let (sim, file) = disk_with("/f", b"aaa");
    write(&*file, 2, b"b");
    sim.rot("/f", 0, 1).expect("a file");
    sim.rot("/f", 99, 1).expect("behind the end there is nothing to rot");
    assert_eq!(seen(&sim, "/f").expect("a file"), b"aab");
    assert_eq!(device(&sim, "/f"), b"caa");
    assert_eq!(seen(&sim.power_cut(|_| false), "/f").expect("a file"), b"caa");
    // What is dirty stays in the cache; here the whole sector is.
    sim.drop_caches();
    assert_eq!(seen(&sim, "/f").expect("a file"), b"aab");
    file.sync_data().expect("it syncs");
    sim.rot("/f", 1, 1).expect("a file");
    sim.drop_caches();
    assert_eq!(seen(&sim, "/f").expect("a file"), b"acb");
}

#[test]
fn a_flip_is_in_both_images() {
    let (sim, _file) = disk_with("/f", &[0; 5000]);
    sim.flip("/f", 4999, 7).expect("a file");
    let mut expected = vec![0; 5000];
    expected[4999] = 0x80;
    assert_eq!(seen(&sim, "/f").expect("a file"), expected);
    assert_eq!(device(&sim, "/f"), expected);
    assert!(sim.flip("/none", 0, 0).is_err());
}

#[test]
fn sectors_are_stale_misdirected_or_of_another_store() {
    let (sim, file) = disk_with("/f", &[1; 1024]);
    let before = sim.clone();
    write(&*file, 0, &[2; 1024]);
    file.sync_data().expect("it syncs");
    sim.copy_sector("/f", 1, &before, "/f", 1).expect("both are there");
    let stale = [[2; 512], [1; 512]].concat();
    assert_eq!((seen(&sim, "/f"), device(&sim, "/f")), (Some(stale.clone()), stale));
    sim.copy_sector("/f", 0, &sim, "/f", 1).expect("both are there");
    assert_eq!(device(&sim, "/f"), [1; 1024]);
    let other = Sim::with_files(2, [("/g", vec![9; 700])]).expect("a disk");
    sim.copy_sector("/f", 1, &other, "/g", 1).expect("both are there");
    let mut foreign = vec![1; 1024];
    foreign[512..700].fill(9);
    foreign[700..].fill(0);
    assert_eq!(device(&sim, "/f"), foreign, "what lies behind the end of the source is zero");
}

#[test]
fn a_file_is_edited_whole() {
    let (sim, file) = disk_with("/f", b"abc");
    write(&*file, 3, b"d");
    sim.edit("/f", |bytes| bytes.extend(b"ef")).expect("a file");
    assert_eq!(device(&sim, "/f"), b"abcdef");
    assert!(sim.unsynced().is_empty());
    sim.edit_device("/f", |bytes| bytes.truncate(2)).expect("a file");
    assert_eq!(seen(&sim, "/f").expect("a file"), b"abcdef");
    assert_eq!(seen(&sim.power_cut(|_| true), "/f").expect("a file"), b"ab");
    // An open handle sees the edit.
    let mut buffer = [0; 8];
    assert_eq!(file.read_at(0, &mut buffer).expect("readable"), 6);
}

#[test]
fn the_machine_writes_back_by_itself() {
    let sim = Sim::new(1);
    sim.disk().create_dir(Path::new("/d")).expect("a directory");
    write(&*open(&sim, "/d/f"), 0, b"abc");
    assert!(!sim.unsynced().is_empty());
    sim.write_back();
    assert!(sim.unsynced().is_empty());
    assert_eq!(seen(&sim.power_cut(|_| false), "/d/f").expect("a file"), b"abc");
}

#[test]
fn files_are_put_in_place_durably() {
    let sim = Sim::with_files(1, [("/a/b/c", b"1".to_vec()), ("/a/b/d", b"2".to_vec())]);
    let sim = sim.expect("a disk");
    sim.put("/a/b/c", b"3").expect("in place of another");
    assert!(sim.put("/a/b/c/x", b"").is_err() && sim.put("/a/b", b"").is_err());
    assert!(sim.unsynced().is_empty());
    let cut = sim.power_cut(|_| false);
    assert_eq!(cut.files(), [Path::new("/a/b/c"), Path::new("/a/b/d")]);
    assert_eq!(seen(&cut, "/a/b/c").expect("a file"), b"3");
    assert_eq!(cut.digest(), sim.digest());
}

#[test]
fn the_digest_is_of_names_and_bytes() {
    let digest = |files: &[(&str, &[u8])]| {
        let files = files.iter().map(|(path, bytes)| (*path, bytes.to_vec()));
        Sim::with_files(1, files).expect("a disk").digest()
    };
    let digests = [
        digest(&[]),
        digest(&[("/a", b"")]),
        digest(&[("/b", b"")]),
        digest(&[("/a", b"x")]),
        digest(&[("/a", b"\0")]),
        digest(&[("/a", b"x"), ("/b", b"")]),
        digest(&[("/a/b", b"x")]),
    ];
    let distinct: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
    assert_eq!(digest(&[("/a", b""), ("/b", b"x")]), digest(&[("/b", b"x"), ("/a", b"")]));
}
