//! Any bytes at all, judged by the scanner, by the push validator byte for byte and whole, and by
//! the naive twin of both; and, where they are JSON, all that the cursor says of them held against
//! the twin's tree. Whatever this finds goes to `fuzz/regressions/json_scan`, named for its
//! symptom.

#![no_main]

#[path = "../../engine/tests/json_naive/agree.rs"]
mod agree;
#[path = "../../engine/tests/json_naive/mod.rs"]
mod naive;

use libfuzzer_sys::fuzz_target;

/// The twin recurses; deeper texts than this would overflow its stack and not ours.
const DEPTH_MAX: usize = 2_000;

fuzz_target!(|text: &[u8]| {
    if text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() <= DEPTH_MAX {
        let every_byte: Vec<usize> = (0..text.len()).collect();
        agree::check(text, &every_byte);
    }
});
