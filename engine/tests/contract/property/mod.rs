//! Any run of operations, with failures and deaths in between, against a model of vectors.

mod ended;
mod look;
mod model;
mod run;
mod tape;

use gatelog_engine::backend::Durability;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};

pub(crate) use run::Run;
pub(crate) use tape::{check_tape, ops};

/// One step of a run. Sessions are told by their place among three.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Appends so many notes, of so many bytes each; the first append creates the session.
    Append {
        session: usize,
        durability: Durability,
        notes: usize,
        bytes: usize,
    },
    /// The same, at a seq that is expected, with a key.
    Expect {
        session: usize,
        durability: Durability,
        notes: usize,
    },
    /// Makes the last [`Op::Expect`] of the session again, or with another draft.
    Repeat {
        session: usize,
        durability: Durability,
        is_same: bool,
    },
    /// Appends a note and, in the same batch, what a rule speaks against.
    Refuse {
        session: usize,
        durability: Durability,
    },
    Raise {
        session: usize,
        durability: Durability,
    },
    /// What is due and nobody waits for.
    Tick,
    /// Orders a failure, after so many calls.
    Fail {
        failure: usize,
        after: u64,
    },
    Heal,
    Release {
        session: usize,
    },
    Reopen,
    Close,
    /// The process dies; a new one opens the store.
    Kill,
    /// The power is cut; what of the unsynced is kept is drawn.
    Cut {
        seed: u64,
    },
}

/// Failures that are ordered, and whether they can take what was written.
///
/// A failed sync of a native store leaves pages that are clean and not on the device. Session files
/// have no way to know those (`docs/known-limits.md`): there the pages stay dirty.
pub(crate) fn fault(which: usize, after: u64, is_native: bool) -> (Fault, bool) {
    let eio = if is_native { Failure::Error(Cause::Eio) } else { Failure::ErrorDirty(Cause::Eio) };
    let faults = [
        (Call::Write, Failure::Error(Cause::NoSpace), false),
        (Call::Write, Failure::ShortError(37, Cause::Eio), false),
        (Call::Write, Failure::Short(100), false),
        (Call::Sync, eio, true),
        (Call::Sync, Failure::ErrorDirty(Cause::Eio), true),
        (Call::Change, eio, true),
        (Call::SyncDir, eio, true),
    ];
    let (call, failure, takes_written) = faults[which % faults.len()];
    (Fault::new(call, failure).after(after), takes_written)
}
