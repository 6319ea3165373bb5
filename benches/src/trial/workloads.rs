//! The workloads of the crash enumeration: short, and between them everything a store does.

use super::workload::{Step, Workload};
use gatelog_engine::backend::Durability::{Buffered, Synced, Written};
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};

/// Returns every workload.
pub fn all() -> Vec<Workload> {
    let mut spoiling = mixed("torn writes spoil whole sectors");
    spoiling.physical_sector = 4096;
    let mut all = vec![
        mixed("mixed classes"),
        spoiling,
        unsynced(),
        rotations(),
        restarts(),
        generations(),
        failed_write(),
        failed_write_of_all(),
        failed_write_at_first_group(),
        failed_sync(),
        failed_rotation(),
    ];
    for workload in all.iter_mut().filter(|workload| workload.name.starts_with("a write fails")) {
        // Room enough that the write that fails is the append's own, and not a table's.
        workload.config.segment_bytes = 32 * 1024;
    }
    all
}

fn mixed(name: &'static str) -> Workload {
    Workload::new(
        name,
        vec![
            Step::Create("a", Synced),
            Step::Append("a", 1, 0, Written),
            Step::Append("a", 1, 0, Buffered),
            Step::Append("a", 2, 600, Synced),
            Step::Append("a", 1, 0, Written),
            Step::Tick,
            Step::Tick,
        ],
    )
}

/// Nothing is ever synced for its own sake: groups pile up in the kernel.
fn unsynced() -> Workload {
    Workload::new(
        "written and never synced",
        vec![
            Step::Create("a", Written),
            Step::Create("b", Written),
            Step::Append("b", 1, 900, Written),
            Step::Append("a", 1, 0, Synced),
            Step::Append("b", 1, 0, Written),
        ],
    )
}

fn rotations() -> Workload {
    Workload::new(
        "rotations",
        vec![
            Step::Create("a", Synced),
            Step::Create("b", Written),
            Step::Append("b", 1, 3000, Written),
            Step::Append("a", 1, 3000, Synced),
            Step::Append("a", 1, 3000, Written),
        ],
    )
}

fn restarts() -> Workload {
    Workload::new(
        "clean stops",
        vec![
            Step::Create("a", Synced),
            Step::Restart,
            Step::Append("a", 1, 0, Synced),
            Step::Restart,
            Step::Append("a", 1, 0, Written),
        ],
    )
}

/// Two generations: the second opens what the first left in the kernel.
fn generations() -> Workload {
    Workload::new(
        "killed twice",
        vec![
            Step::Create("a", Written),
            Step::Kill,
            Step::Append("a", 1, 0, Synced),
            Step::Append("a", 1, 0, Buffered),
            Step::Kill,
            Step::Append("a", 1, 0, Written),
        ],
    )
}

fn failed_write() -> Workload {
    let full = Fault::new(Call::Write, Failure::ShortError(512, Cause::NoSpace)).on("*.log");
    Workload::new(
        "a write fails",
        vec![
            Step::Create("a", Synced),
            Step::Append("a", 1, 0, Written),
            Step::Append("a", 1, 0, Buffered),
            Step::Fail(full),
            Step::Append("a", 1, 900, Synced),
            Step::Append("a", 1, 0, Synced),
            Step::Append("a", 1, 0, Written),
        ],
    )
}

/// The write took everything, and failed all the same: its bytes must not come back.
fn failed_write_of_all() -> Workload {
    let broken = Fault::new(Call::Write, Failure::ErrorAfter(Cause::Eio)).on("*.log");
    Workload::new(
        "a write fails behind its last byte",
        vec![
            Step::Create("a", Synced),
            Step::Fail(broken),
            Step::Append("a", 1, 0, Synced),
            Step::Append("a", 1, 0, Synced),
        ],
    )
}

fn failed_write_at_first_group() -> Workload {
    let full = Fault::new(Call::Write, Failure::Error(Cause::Eio)).on("*.log");
    Workload::new(
        "the first write fails, twice",
        vec![
            Step::Fail(full.clone()),
            Step::Create("a", Synced),
            Step::Fail(full),
            Step::Create("a", Synced),
            Step::Create("a", Synced),
            Step::Append("a", 1, 0, Synced),
        ],
    )
}

fn failed_sync() -> Workload {
    let broken = Fault::new(Call::Sync, Failure::Error(Cause::Eio)).on("*.log");
    Workload::new(
        "a sync fails, and the store is opened anew",
        vec![
            Step::Create("a", Synced),
            Step::Append("a", 1, 0, Written),
            Step::Fail(broken),
            Step::Append("a", 1, 0, Synced),
            Step::Append("a", 1, 0, Synced),
            Step::Reopen,
            Step::Append("a", 1, 0, Synced),
        ],
    )
}

fn failed_rotation() -> Workload {
    let full = Fault::new(Call::Write, Failure::Error(Cause::NoSpace)).on("spare-*");
    Workload::new(
        "no room for a segment",
        vec![
            Step::Create("a", Synced),
            Step::Fail(full),
            Step::Append("a", 1, 3000, Synced),
            Step::Append("a", 1, 3000, Synced),
            Step::Append("a", 1, 3000, Synced),
            Step::Append("a", 1, 3000, Synced),
        ],
    )
}
