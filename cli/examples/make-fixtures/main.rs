//! Writes the fixtures that are binary or long: `cargo run -p gatelog-cli --example make-fixtures`.
//!
//! The short plain ones are files like any other, written by hand. What is made here comes out the
//! same each time, as long as the workspace keeps its version of libzstd. Only inputs are written;
//! the expected reports beside them are claims, and nothing writes those but
//! `GATELOG_BLESS=1 cargo test --test fixtures`.

mod demo;
mod directories;
mod field_reports;
mod frame;
mod log;
mod plain;
mod zstd;

use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file to write: its path below `fixtures/`, and what it holds.
type Fixture = (String, Vec<u8>);

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let all = [
        plain::fixtures(),
        zstd::fixtures(),
        field_reports::fixtures(),
        directories::fixtures(),
        demo::fixtures(),
    ];
    let mut bytes = 0;
    let mut count = 0;
    for (path, content) in all.into_iter().flatten() {
        let path: PathBuf = root.join(path);
        fs::create_dir_all(path.parent().expect("a fixture lies in a folder"))?;
        fs::write(path, &content)?;
        bytes += content.len();
        count += 1;
    }
    println!("{count} files of {bytes} bytes in {}", root.display());
    Ok(())
}
