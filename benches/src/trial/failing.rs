//! One call of the disk fails while several threads append: nobody waits for ever, and nobody was
//! told what is not so.

use super::lenient::Lenient;
use super::machine::FixedMachine;
use super::workload::DIR;
use gatelog_engine::backend::{Backend, Error};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::storage::Sim;
use gatelog_engine::storage::sim::{Call, Cause, Failure};
use gatelog_engine::store::{Store, StoreConfig};
use std::path::Path;
use std::sync::Arc;

/// What fails, and which time.
#[derive(Clone, Copy, Debug)]
pub struct Failing {
    /// The call.
    pub call: Call,
    /// How it fails.
    pub failure: Failure,
    /// Which one of these calls, counted from 1.
    pub nth: u64,
    /// Where the choices begin.
    pub seed: u64,
    /// Batches of each thread.
    pub steps: u64,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Runs.
    pub runs: u64,
    /// Runs in which the fault struck.
    pub struck: u64,
    /// Runs in which the store was poisoned.
    pub poisoned: u64,
    /// Appends that were not written.
    pub not_written: u64,
    /// Appends of which nobody knows.
    pub unknown: u64,
    /// Sessions that were rewound.
    pub rewound: u64,
    /// Opens that failed and did well the second time.
    pub refused_opens: u64,
}

impl Outcome {
    /// Adds another.
    pub fn add(&mut self, other: Outcome) {
        self.runs += other.runs;
        self.struck += other.struck;
        self.poisoned += other.poisoned;
        self.not_written += other.not_written;
        self.unknown += other.unknown;
        self.rewound += other.rewound;
        self.refused_opens += other.refused_opens;
    }
}

/// Returns how every kind of call can fail.
pub fn kinds() -> Vec<(Call, Failure)> {
    vec![
        (Call::Sync, Failure::Error(Cause::Eio)),
        (Call::Sync, Failure::Error(Cause::NoSpace)),
        (Call::Sync, Failure::ErrorDirty(Cause::Eio)),
        (Call::Write, Failure::Error(Cause::Eio)),
        (Call::Write, Failure::Error(Cause::NoSpace)),
        (Call::Write, Failure::Short(512)),
        (Call::Write, Failure::ShortError(512, Cause::NoSpace)),
        (Call::Write, Failure::ShortError(4096, Cause::Eio)),
        (Call::Rename, Failure::Error(Cause::Eio)),
        (Call::Rename, Failure::Error(Cause::NoSpace)),
        (Call::Rename, Failure::ErrorAfter(Cause::Eio)),
        (Call::SyncDir, Failure::Error(Cause::Eio)),
        (Call::SyncDir, Failure::ErrorAfter(Cause::Eio)),
        (Call::Create, Failure::Error(Cause::NoSpace)),
    ]
}

pub(super) fn config(has_housekeeper: bool) -> LogConfig {
    LogConfig {
        segment_bytes: 16 * 1024,
        idle_watermark_ms: 1,
        sync_interval_ms: 3,
        has_housekeeper,
        ..LogConfig::default()
    }
}

/// Opens a store on a simulated disk.
///
/// # Errors
///
/// As [`Log::open`].
pub fn open(sim: &Sim, seed: u64, config: LogConfig) -> Result<Store, Error> {
    let machine = Arc::new(FixedMachine::new(seed));
    let log = Log::open(Arc::new(sim.disk()), Path::new(DIR), machine.clone(), config)?;
    let backend: Arc<dyn Backend> = Arc::new(log);
    Ok(Store::new(backend, Arc::new(Lenient::default()), machine, StoreConfig::default()))
}
