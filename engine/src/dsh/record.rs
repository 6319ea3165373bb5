//! One record of a log as it was read, before anybody asks what it means.

use crate::dsh::row::Packed;
use crate::event::Event;

/// One record as it was read, before anybody asks what it means.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the row")]
pub struct Record<'a> {
    /// The event; a missing payload reads as `null`.
    pub event: Event<'a>,
    /// The envelope is one that the format allows: its keys, type, time, payload and `ignorable`.
    pub lawful: bool,
    /// The format's reader knows the type.
    pub known: bool,
    /// The type as the host prints it; the event's own is empty where it is no string.
    pub shown_kind: &'a str,
    /// The payload is there.
    pub has_data: bool,
    /// The payload was not kept, because no rule reads it.
    pub opaque: bool,
}

/// Takes the records of the lawful prefix, in order.
pub trait RecordSink: Send {
    /// Takes one record.
    fn record(&mut self, record: &Record<'_>);

    /// Takes a packed row, which is one record for many events.
    fn packed(&mut self, _row: &Packed, record: &Record<'_>) {
        self.record(record);
    }
}
