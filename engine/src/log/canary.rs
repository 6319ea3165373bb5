//! Faults that are built in on purpose, so that the trials can show that they find them.
//!
//! Each is a mistake that a store of this kind has been shipped with. A store that is opened with
//! one loses or refuses what it promised; a trial that does not notice is no trial.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canary {
    /// Recovery does not sync the last segment before it reads it.
    NoSyncAtOpen,
    /// Recovery reads the cache and not the device.
    ReadsCacheAtOpen,
    /// Recovery does not compare the checksums of bodies.
    TrustsTornSector,
    /// Recovery does not sync the directory behind the rename of a segment.
    NoDirectorySync,
    /// A rotation acknowledges appends before the directory is synced.
    AckBeforeDirectorySync,
    /// Frames state as durable what was so one group ago.
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

impl Canary {
    /// Every mistake.
    pub const ALL: [Self; 10] = [
        Self::NoSyncAtOpen,
        Self::ReadsCacheAtOpen,
        Self::TrustsTornSector,
        Self::NoDirectorySync,
        Self::AckBeforeDirectorySync,
        Self::DurableOneGroupLate,
        Self::DurableOneGroupEarly,
        Self::GroupsUnaligned,
        Self::SpareNotZeroed,
        Self::RetryInFailedSegment,
    ];
}
