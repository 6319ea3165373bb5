//! The simulated disk: what it keeps, what it loses, and how it fails.

mod crash;
mod fault;
mod process;
mod spoil;

use std::path::Path;
use std::sync::Arc;

use gatelog_engine::storage::{Create, Sim, Volume, WriteFile};

/// Opens a file of the process that lives now, and makes it if it is not there.
fn open(sim: &Sim, path: &str) -> Arc<dyn WriteFile> {
    sim.disk().open_write(Path::new(path), Create::Either).expect("a file")
}

/// A disk with one durable file of these bytes, open.
fn disk_with(path: &str, bytes: &[u8]) -> (Sim, Arc<dyn WriteFile>) {
    let sim = Sim::with_files(1, [(path, bytes.to_vec())]).expect("a disk");
    let file = open(&sim, path);
    (sim, file)
}

fn write(file: &dyn WriteFile, offset: u64, bytes: &[u8]) {
    assert_eq!(file.write_at(offset, bytes).expect("writable"), bytes.len());
}

/// What processes read in a file, or nothing if it has no name.
fn seen(sim: &Sim, path: &str) -> Option<Vec<u8>> {
    sim.image(path).ok()
}
