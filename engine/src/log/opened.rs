//! A store that is open for writing, and where its log goes on.

use super::chain::{Digest, StoreId};
use super::closed::ClosedSegment;
use super::durable::Durable;
use super::judgement::{LastSegment, Note};
use super::limit::SEGMENT_HEADER_BYTES;
use super::scene::SegmentFile;
use super::segment_file::Spare;
use super::segment_header::SegmentHeader;
use super::superblock::Slot;
use super::tail::Ruling;
use super::tally::Tally;
use crate::storage::WriteFile;
use std::path::PathBuf;
use std::sync::Arc;

/// The segment that takes groups.
pub(crate) struct Active {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The file.
    pub(crate) file: Arc<dyn WriteFile>,
    /// Its header.
    pub(crate) header: SegmentHeader,
}

/// A store that is open for writing. Everything that it holds is durable.
pub(crate) struct Opened {
    /// The number of this write-open.
    pub(crate) epoch: u32,
    /// Identity of the store.
    pub(crate) store_id: StoreId,
    /// The segment that takes groups.
    pub(crate) active: Active,
    /// The first byte behind its last frame; the next group starts at the next multiple of 4,096.
    pub(crate) end_offset: u64,
    /// Lsn of the next frame.
    pub(crate) next_lsn: u64,
    /// Lsn of the last frame, which is durable; 0 for none.
    pub(crate) durable_lsn: u64,
    /// Digest of that frame.
    pub(crate) digest: Digest,
    /// Segments before the active one, by ascending first lsn.
    pub(crate) closed: Vec<ClosedSegment>,
    /// Sessions seen in the active segment.
    pub(crate) tally: Tally,
    /// The slot of `STORE` that was written.
    pub(crate) slot: Slot,
    /// The durable end as it was found.
    pub(crate) durable: Option<Durable>,
    /// The row that decided.
    pub(crate) ruling: Ruling,
    /// Files of zeros that wait to be used.
    pub(crate) spares: Vec<Spare>,
    /// What is to be said.
    pub(crate) notes: Vec<Note>,
}

/// Where the log ends, and in which segment it goes on.
#[expect(clippy::struct_field_names, reason = "these are the words of the format")]
pub(super) struct End {
    pub(super) active: Active,
    pub(super) end_offset: u64,
    pub(super) next_lsn: u64,
    pub(super) durable_lsn: u64,
    pub(super) digest: Digest,
    pub(super) tally: Tally,
}

/// The log goes on in its last segment.
pub(super) fn go_on(last: LastSegment, file: Arc<dyn WriteFile>) -> End {
    let LastSegment { file: SegmentFile { path, .. }, header, walked, tally } = last;
    End {
        active: Active { path, file, header },
        end_offset: walked.end_offset,
        next_lsn: walked.next_lsn,
        durable_lsn: walked.last_lsn,
        digest: walked.digest,
        tally,
    }
}

/// The log goes on in a segment without a frame.
pub(super) fn empty(active: Active) -> End {
    let header = &active.header;
    End {
        end_offset: SEGMENT_HEADER_BYTES,
        next_lsn: header.first_lsn,
        durable_lsn: header.prev_last_lsn,
        digest: header.prev_digest,
        tally: Tally::default(),
        active,
    }
}
