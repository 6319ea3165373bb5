//! What a fuzz target found once, and seeds of its kind, replayed: included by the tests of each
//! crate that has such a target.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Hands every input of a target's folder to `check`, which panics where something does not hold.
pub(crate) fn replay(target: &str, mut check: impl FnMut(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of regressions is there") {
        let path = entry.expect("a folder that can be listed").path();
        let input = std::fs::read(&path).expect("a regression input can be read");
        let held = catch_unwind(AssertUnwindSafe(|| check(&input)));
        assert!(held.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0, "{} holds nothing to replay", folder.display());
}
