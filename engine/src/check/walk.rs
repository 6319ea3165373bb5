//! How far the frames of one segment follow.

use super::LOOKS;
use super::batch::{Decoded, Extent};
use super::disk::Reader;
use super::layout::SegmentFile;
use super::place::Expected;
use crate::backend::{Error, ErrorKind};
use crate::log::chain::Digest;
use crate::log::frame::{FrameHead, Kind, read_frame};
use crate::log::limit::{FRAME_HEADER_BYTES, GROUP_ALIGN, SEGMENT_HEADER_BYTES};
use crate::log::segment_header::SegmentHeader;
use crate::storage::Storage;

/// How far the frames of one segment follow.
pub(super) struct Walk<'a> {
    pub(super) file: &'a SegmentFile,
    pub(super) header: &'a SegmentHeader,
    pub(super) reader: Reader,
    pub(super) extent: Extent,
    /// W is heard from these frames.
    pub(super) is_last: bool,
    /// The first place without a frame that follows.
    pub(super) offset: u64,
    /// The lsn expected there.
    pub(super) lsn: u64,
    /// The lsn of the frame before.
    pub(super) last_lsn: u64,
    /// The chain there.
    pub(super) digest: Digest,
    /// The first byte behind the last frame.
    pub(super) kept_end: u64,
    /// The last frame: its kind, and where it starts.
    pub(super) last: Option<(Kind, u64)>,
}

impl Walk<'_> {
    /// Returns what is expected where the walk stands, in a file that ends somewhere.
    pub(super) fn expected(&self, file_end: u64) -> Expected {
        Expected {
            segment_id: self.header.segment_id,
            file_end,
            offset: self.offset,
            lsn: self.lsn,
            digest: self.digest,
        }
    }

    /// Returns where the next group begins, if a frame that follows lies there and none here.
    pub(super) fn next_group(&self) -> Result<Option<u64>, Error> {
        let next = self.offset.next_multiple_of(GROUP_ALIGN);
        if next == self.offset || next >= self.extent.end.min(self.extent.file_end) {
            return Ok(None);
        }
        let front = self.reader.read(next, FRAME_HEADER_BYTES)?;
        let head = front.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
        let follows = |head: &FrameHead| {
            head.is_at_its_place(self.extent.segment_id, next)
                && head.frame_bytes() <= self.extent.file_end - next
                && (head.lsn, head.prev) == (self.lsn, self.digest)
        };
        let Some(head) = head.filter(follows) else { return Ok(None) };
        let start = next + FRAME_HEADER_BYTES as u64;
        let body = self.reader.read(start, head.padded_body_bytes())?;
        Ok(read_frame(head, &body).is_ok().then_some(next))
    }

    pub(super) fn take(&mut self, decoded: &Decoded<'_>) {
        let head = &decoded.frame.head;
        self.kept_end = head.offset + head.frame_bytes();
        self.last_lsn = head.lsn;
        self.lsn = head.lsn + 1;
        self.digest = head.digest(decoded.hash);
        self.last = Some((head.kind, head.offset));
    }

    /// Reads a place afresh that looks damaged: only the same bytes, bad twice in the same life of
    /// the file, are a finding (rows R2 to R4).
    pub(super) fn is_seen_twice(
        &mut self,
        storage: &dyn Storage,
        seen: &mut Option<(u64, Vec<u8>, usize)>,
    ) -> Result<bool, Error> {
        let page = self.offset - self.offset % GROUP_ALIGN;
        let bytes = self.reader.read(page, 2 * GROUP_ALIGN as usize)?;
        let looks = match seen {
            Some((offset, before, _)) if *offset == self.offset && *before == bytes => {
                return Ok(true);
            }
            Some((_, _, looks)) => *looks + 1,
            None => 1,
        };
        if looks > LOOKS {
            return Err(self.moved("the file changes faster than it is read"));
        }
        *seen = Some((self.offset, bytes, looks));
        self.reader = Reader::open(storage, &self.file.path)?;
        self.is_still()?;
        Ok(false)
    }

    /// Makes sure that a name still leads to the life of the file that was looked at.
    pub(super) fn is_still(&self) -> Result<(), Error> {
        let front = self.reader.read(0, SEGMENT_HEADER_BYTES as usize)?;
        let found = SegmentHeader::parse(&front);
        if found.is_ok_and(|header| header == *self.header) {
            return Ok(());
        }
        Err(self.moved("another segment has the name now"))
    }

    fn moved(&self, message: &str) -> Error {
        Error::new(ErrorKind::Busy, message).at(&self.file.path, None)
    }
}
