//! Faults that are built in on purpose, so that the trials can show that they find them.
//!
//! Each is a mistake that a store of this kind has been shipped with. A store that is opened with
//! one loses or refuses what it promised; a trial that does not notice is no trial. Mistakes that a
//! disk can make in the engine's place (no sync at open, no sync of a directory, reads of the
//! cache) are not here: the trials wrap the disk.

use std::cell::Cell;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// Recovery does not compare the checksums of bodies.
    TrustsTornSector,
    /// A rotation acknowledges appends before the directory is synced.
    AckBeforeDirectorySync,
    /// Frames and `DURABLE` state as durable what was so one group ago.
    DurableOneGroupLate,
    /// Frames state as durable what will be so once their own group is synced.
    DurableOneGroupEarly,
    /// Groups start where the last one ended, in the same sector.
    GroupsUnaligned,
    /// A spare keeps what its file held before.
    SpareNotZeroed,
    /// After a failed write the log goes on at the same place of the same segment.
    RetryInFailedSegment,
}

thread_local! {
    static IN_FORCE: Cell<Option<Canary>> = const { Cell::new(None) };
}

/// Does something with a mistake in force on this thread.
pub(crate) fn with<T>(canary: Option<Canary>, act: impl FnOnce() -> T) -> T {
    IN_FORCE.set(canary);
    let result = act();
    IN_FORCE.set(None);
    result
}

/// Returns whether recovery on this thread takes bodies on trust.
pub(crate) fn trusts_bodies() -> bool {
    IN_FORCE.get() == Some(Canary::TrustsTornSector)
}
