//! What stands at a place where no frame follows, and the witnesses behind it.

use super::disk::{Reader, Residue};
use crate::backend::Error;
use crate::log::chain::Digest;
use crate::log::field::is_zero;
use crate::log::frame::{FrameHead, read_frame};
use crate::log::limit::{FRAME_HEADER_BYTES, GROUP_ALIGN};

/// What stands at a place; the first that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// The file ends.
    EndOfFile,
    /// Zeros to the end of the file.
    Zeros,
    /// Zeros, then bytes.
    ZerosThenBytes,
    /// A frame that is valid here and does not follow.
    Unchained,
    /// A sound header at its place; the rest is not valid. What its `durable_lsn` says.
    BadBody(u64),
    /// A frame of another segment.
    Stale,
    /// A frame of this segment and another offset.
    Misdirected,
    /// Anything else.
    Bytes,
}

/// A place, and what is expected there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) segment_id: u64,
    pub(super) file_end: u64,
    /// The place.
    pub(super) offset: u64,
    /// The lsn expected there.
    pub(super) lsn: u64,
    /// The chain there.
    pub(super) digest: Digest,
}

impl Expected {
    /// Says what stands there, given the bytes from there on that are not zero.
    pub(super) fn stands(&self, reader: &Reader, residue: Residue) -> Result<Stands, Error> {
        let left = self.file_end - self.offset;
        if left == 0 {
            return Ok(Stands::EndOfFile);
        }
        if residue.bytes == 0 {
            return Ok(Stands::Zeros);
        }
        let to_group = (self.offset + 1).next_multiple_of(GROUP_ALIGN) - self.offset;
        let front = reader.read(self.offset, (FRAME_HEADER_BYTES as u64).min(left) as usize)?;
        let leading = front.len().min(to_group as usize);
        if is_zero(&front[..leading]) {
            return Ok(Stands::ZerosThenBytes);
        }
        let head = front.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
        let Some(head) = head.filter(|head| head.frame_bytes() <= left) else {
            return Ok(Stands::Bytes);
        };
        let is_whole = is_whole(reader, &head, self.offset)?;
        Ok(match (head.is_at_its_place(self.segment_id, self.offset), is_whole) {
            (true, true) => Stands::Unchained,
            (true, false) => Stands::BadBody(head.durable_lsn),
            (false, true) if head.segment_id == self.segment_id => Stands::Misdirected,
            (false, true) => Stands::Stale,
            (false, false) => Stands::Bytes,
        })
    }

    /// Returns the greatest `durable_lsn` of the headers from the place up to `end`, 0 for none.
    /// What a whole frame claims is hopped over, since payloads may hold bytes like a header's.
    pub(super) fn witness_behind(&self, reader: &Reader, end: u64) -> Result<u64, Error> {
        let mut greatest = 0;
        let mut budget = 2 * self.file_end;
        let mut s = self.offset;
        while s < end {
            let mut next = (s + 1).next_multiple_of(GROUP_ALIGN);
            let front = reader.read(s, FRAME_HEADER_BYTES)?;
            let head = front.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
            if let Some(head) = head.filter(|head| self.counts(head, s)) {
                greatest = greatest.max(head.durable_lsn);
                let claims = s == self.offset
                    || budget > 0 && {
                        budget = budget.saturating_sub(head.frame_bytes());
                        is_whole(reader, &head, s)?
                    };
                if claims {
                    next = s + head.frame_bytes();
                }
            }
            s = next;
        }
        Ok(greatest)
    }

    /// Returns whether a header at or behind the place can be one of this segment's: no frame is
    /// shorter than its header, so the lsn cannot outrun the offset.
    fn counts(&self, head: &FrameHead, s: u64) -> bool {
        if !head.is_at_its_place(self.segment_id, s) || head.frame_bytes() > self.file_end - s {
            return false;
        }
        if s == self.offset {
            return head.lsn == self.lsn && head.prev == self.digest;
        }
        let most = self.lsn.saturating_add((s - self.offset) / FRAME_HEADER_BYTES as u64);
        self.lsn < head.lsn && head.lsn <= most
    }
}

/// Returns whether the body behind a header checks.
fn is_whole(reader: &Reader, head: &FrameHead, offset: u64) -> Result<bool, Error> {
    let count = head.padded_body_bytes();
    let body = reader.read(offset + FRAME_HEADER_BYTES as u64, count)?;
    Ok(read_frame(*head, &body).is_ok())
}
