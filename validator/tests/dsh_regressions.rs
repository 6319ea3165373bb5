//! Every input that once set the fuzz target `dsh_read` off, and seeds of its kind, is judged
//! again. The files are under `fuzz/regressions/dsh_read`, named for what they show.

#[path = "fuzzed/mod.rs"]
mod fuzzed;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use std::fs;
use std::path::Path;

#[test]
fn what_was_found_once_holds_now() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions/dsh_read");
    let entries = fs::read_dir(&folder).expect("the folder of regressions is there");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("a folder that can be listed").path();
        let input = fs::read(&path).expect("a regression input can be read");
        let found = std::panic::catch_unwind(|| fuzzed::check(&input, true, &|_, run| run()));
        assert!(found.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0, "{} holds nothing to replay", folder.display());
}
