//! What a store promises, part by part.

/// Whether a store keeps a promise, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keys {
    /// With every append.
    Always,
    /// With an append that expects a seq only, by comparing drafts.
    WithExpectedSeq,
}

/// What a failed write leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterFailedWrite {
    /// The log goes on in a new segment.
    NewSegment,
    /// The file is cut back to where it was.
    CutBack,
}

/// How one writer among processes is made sure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OneWriter {
    /// A lock; a second writer is refused.
    Locked,
    /// Nothing in the format prevents a second writer; a foreign write is detected before ours.
    Detected,
}

/// The promises of a store, one field each; the contract suite runs the parts that are kept and
/// checks that the others are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a promise of its own")]
pub struct Parts {
    /// How a second writer is kept out.
    pub one_writer: OneWriter,
    /// Damage that was acknowledged is told from a torn end.
    pub tells_torn_from_rot: bool,
    /// Commits have an lsn, which orders them across sessions.
    pub order_across_sessions: bool,
    /// Where idempotency keys are honoured.
    pub keys: Keys,
    /// What a failed write leaves.
    pub after_failed_write: AfterFailedWrite,
    /// Types beyond the format's own are recorded, by a frame of rules.
    pub records_rules: bool,
    /// A newer generation of a session can appear beside the one that is written.
    pub generations: bool,
}
