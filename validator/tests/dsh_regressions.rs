//! Every input that once set the fuzz target `dsh_read` off, and seeds of its kind, is judged
//! again. The files are under `fuzz/regressions/dsh_read`, named for what they show.

#[path = "fuzzed/mod.rs"]
mod fuzzed;
#[path = "support/mod.rs"]
mod support;
#[path = "twin/mod.rs"]
mod twin;

use fuzzed::{Form, first};
use std::fs;
use std::path::{Path, PathBuf};

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

/// All logs under a folder, with the format of their names where they have one.
fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of fixtures") {
        let path = entry.expect("a folder that can be listed").path();
        if path.is_dir() {
            logs(&path, found);
        } else if path.to_string_lossy().contains(".jsonl") {
            found.push(path);
        }
    }
}

/// Writes a corpus to begin with: `GATELOG_SEEDS=fuzz/corpus/dsh_read cargo test -p
/// gatelog-validator --test dsh_regressions -- --ignored`.
#[test]
#[ignore = "it writes the seeds of the fuzz target, and judges nothing"]
fn seeds_are_written() {
    let target = std::env::var_os("GATELOG_SEEDS").expect("GATELOG_SEEDS names the folder");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(target);
    fs::create_dir_all(&target).expect("the folder of seeds");
    let mut found = Vec::new();
    logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures"), &mut found);
    for (number, path) in found.iter().enumerate() {
        let log = fs::read(path).expect("a fixture can be read");
        if log.len() > 8 << 10 {
            continue;
        }
        let shown = path.to_string_lossy();
        let format = (0..=4).find(|format| shown.contains(&format!("/v{format}/"))).unwrap_or(0);
        let form = if shown.ends_with(".zstd") { Form::Zstd } else { Form::Plain };
        let seed = [&[first(form, format)], log.as_slice()].concat();
        fs::write(target.join(format!("fixture-{number}")), seed).expect("a seed");
    }
    let mut state = 3u64;
    for number in 0..300 {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let form = if number % 2 == 0 { Form::Story } else { Form::Framed };
        let tape: Vec<u8> = (0..number * 2).map(|_| next()).collect();
        let seed = [&[first(form, 0)], tape.as_slice()].concat();
        fs::write(target.join(format!("story-{number}")), seed).expect("a seed");
    }
}
