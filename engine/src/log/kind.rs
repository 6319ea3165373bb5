//! What a frame is for.

/// What a frame is for. The numbers are on the disk and part of the chain of digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A batch of a session.
    Data = 1,
    /// The first batch of a session, with its id and header.
    Create = 2,
    /// Nothing but the statement that everything before it is durable.
    Watermark = 3,
    /// The end of a clean stop, with the segment's session table.
    Close = 4,
    /// A session was deleted.
    Delete = 5,
    /// The first batch of a session that begins with events of another.
    Fork = 6,
    /// The end of a full segment, with its session table.
    Rotate = 7,
    /// The rules in force from here on.
    Rules = 8,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub(crate) const ALL: [Self; 8] = [
        Self::Data,
        Self::Create,
        Self::Watermark,
        Self::Close,
        Self::Delete,
        Self::Fork,
        Self::Rotate,
        Self::Rules,
    ];

    /// Returns the kind of a number, if there is one.
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Returns whether frames of this kind are the store's own and no session's.
    pub(crate) fn is_of_store(self) -> bool {
        matches!(self, Self::Watermark | Self::Close | Self::Rotate | Self::Rules)
    }

    /// Returns whether frames of this kind hold a batch of records.
    pub(crate) fn has_records(self) -> bool {
        matches!(self, Self::Data | Self::Create | Self::Fork)
    }

    /// Returns whether frames of this kind hold the session table of their segment.
    pub(crate) fn has_table(self) -> bool {
        matches!(self, Self::Close | Self::Rotate)
    }
}
