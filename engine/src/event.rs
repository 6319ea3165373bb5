//! The borrowed event that companions, folds and projections see.

use crate::json::Json;

/// Where a record lies: in the file as it is on disk, and in its lines and frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line of the decoded text, the header being line 1.
    pub line: Option<u64>,
    /// Frame of a Zstandard log, counted from 0; of a native store, its lsn.
    pub frame: Option<u64>,
    /// Offset in bytes in the file on disk: of the line in plain text, of its frame otherwise.
    pub byte: Option<u64>,
    /// Segment of a native store, by its first lsn, which is its name.
    pub segment: Option<u64>,
    /// Place of the event in its session.
    pub seq: Option<u64>,
}

/// What a surface event does to the ordered list of message-producing events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceOp {
    /// The event is put at the end.
    Append,
    /// The event replaces the nodes from `start` to `end`, both inclusive, by seq.
    Replace {
        /// First node removed.
        start: u64,
        /// Last node removed.
        end: u64,
    },
}

/// One event of a session, borrowed from the record that holds it.
///
/// A packed row stands for several consecutive `assistant/chunk` events that differ only in seq,
/// time and text: `members` says how many, `seq` is that of the first.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Place of the (first) event in its session, dense from 0.
    pub seq: u64,
    /// How many consecutive events this record stands for; 1 but for packed rows.
    pub members: u64,
    /// When, in milliseconds since the epoch, as the writer's clock had it; a safe integer.
    pub time_ms: f64,
    /// The time of the last event that this record stands for; `time_ms` but for packed rows.
    pub last_time_ms: f64,
    /// The type, as WTF-8 text; `assistant/chunk` for a packed row.
    pub kind: &'a str,
    /// The payload; for a packed row the row's own `data`.
    pub data: Json<'a>,
    /// The payload is the `data` of a packed row, not of an event.
    pub packed: bool,
    /// `ignorable` is exactly `true`.
    pub ignorable: bool,
    /// The raw `sourceEventSeqs`, when the key is present.
    pub sources: Option<Json<'a>>,
    /// The raw `surfaceOp`, when the key is present.
    pub surface: Option<Json<'a>>,
    /// Where the record lies.
    pub place: Place,
}

impl<'a> Event<'a> {
    /// Returns whether `surfaceOp` is exactly the string `append`.
    pub fn is_append(&self) -> bool {
        self.surface.is_some_and(|op| op.is_str("append"))
    }

    /// Returns a member of the payload, or nothing where the payload is no object or lacks it.
    pub fn field(&self, key: &str) -> Option<Json<'a>> {
        self.data.get(key)
    }
}
