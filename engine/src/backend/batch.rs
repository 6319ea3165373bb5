//! What is given to a backend, and its receipt.

use crate::rules::Draft;

/// What an acknowledgement means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// It is in the group's buffer, survives nothing, and is synced within a second.
    Buffered,
    /// The kernel took its whole group; survives the death of the process.
    Written,
    /// The sync that covers it returned; survives power loss.
    #[default]
    Synced,
}

/// An idempotency key: whoever repeats an append gives the same one.
pub type Key = [u8; 16];

/// An event as it is written: a draft with its time. Its seq is its place in the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Milliseconds since 1970, stamped under the gate.
    pub time_ms: u64,
    /// The draft.
    pub draft: Draft,
}

/// What one append writes: whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Seq of the first row.
    pub first_seq: u64,
    /// The idempotency key.
    pub key: Option<Key>,
    /// The rows, in order; none only in the batch that creates a session.
    pub rows: Vec<Row>,
}

/// The receipt of a batch that reached its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Place of its frame in the store; none where the store has no order across sessions.
    pub lsn: Option<u64>,
    /// Seq of its first event.
    pub first_seq: u64,
    /// How many events.
    pub events: u64,
    /// The class that was reached.
    pub durability: Durability,
}
