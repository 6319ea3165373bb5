//! Any run of operations, with failures and deaths in between, against a model of vectors.

mod ended;
mod look;
mod model;
mod run;

use crate::bench::Kind;
use gatelog_engine::backend::Durability;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use proptest::prelude::*;
use run::Run;

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

fn durability() -> impl Strategy<Value = Durability> {
    prop_oneof![Just(Durability::Buffered), Just(Durability::Written), Just(Durability::Synced),]
}

fn op() -> impl Strategy<Value = Op> {
    let session = || 0_usize..3;
    prop_oneof![
        10 => (session(), durability(), 1_usize..4, 0_usize..900)
            .prop_map(|(session, durability, notes, bytes)| {
                Op::Append { session, durability, notes, bytes }
            }),
        3 => (session(), durability(), 1_usize..3)
            .prop_map(|(session, durability, notes)| Op::Expect { session, durability, notes }),
        3 => (session(), durability(), any::<bool>())
            .prop_map(|(session, durability, is_same)| {
                Op::Repeat { session, durability, is_same }
            }),
        2 => (session(), durability())
            .prop_map(|(session, durability)| Op::Raise { session, durability }),
        1 => Just(Op::Tick),
        4 => (0_usize..7, 0_u64..5).prop_map(|(failure, after)| Op::Fail { failure, after }),
        1 => Just(Op::Heal),
        1 => session().prop_map(|session| Op::Release { session }),
        2 => Just(Op::Reopen),
        1 => Just(Op::Close),
        1 => Just(Op::Kill),
        1 => any::<u64>().prop_map(|seed| Op::Cut { seed }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(
            std::env::var("GATELOG_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(96),
        )
    })]

    #[test]
    fn the_native_store_does_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::Native).all(&ops);
    }

    #[test]
    fn compressed_session_files_do_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::FilesZstd).all(&ops);
    }

    #[test]
    fn plain_session_files_do_as_the_model(ops in prop::collection::vec(op(), 1..50)) {
        Run::new(Kind::FilesPlain).all(&ops);
    }
}
