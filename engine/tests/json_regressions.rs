//! Every input that once set the fuzzer or a property off, and seeds of their kind, is judged by
//! all readers again. The files are under `fuzz/regressions/json_scan`, named for what they show.

#[path = "json_naive/agree.rs"]
mod agree;
#[path = "json_naive/mod.rs"]
mod naive;

use std::fs;
use std::path::Path;

#[test]
fn what_was_found_once_is_judged_alike_by_all() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions/json_scan");
    let entries = fs::read_dir(&folder).expect("the folder of regressions is there");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("a folder that can be listed").path();
        let text = fs::read(&path).expect("a regression input can be read");
        let every_byte: Vec<usize> = (0..text.len()).collect();
        let found = std::panic::catch_unwind(|| agree::check(&text, &every_byte));
        assert!(found.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0, "{} holds nothing to replay", folder.display());
}
