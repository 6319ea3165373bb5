//! Frames of a segment, a few megabytes or one frame at a time, decoded in parallel.
//!
//! Headers are found one behind the other; each has its own checksum, so what it claims of its
//! body can be hopped over before the body is known to hold. Then bodies are checked, hashed and
//! decoded on all threads, and only their order is left to be judged one after the other.

use super::disk::Reader;
use crate::backend::Error;
use crate::log::body::{self, Body, BodyFault};
use crate::log::chain::{Digest, body_hash};
use crate::log::field::is_zero;
use crate::log::frame::{Frame, FrameHead, read_frame};
use crate::log::limit::{FRAME_HEADER_BYTES, GROUP_ALIGN};
use rayon::prelude::*;

/// Bytes that are read at a time.
const BATCH_BYTES: u64 = 4 << 20;

/// Fewer frames than this are not worth another thread.
const FRAMES_A_JOB: usize = 32;

/// The part of a segment that frames are looked for in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The life of the file.
    pub(super) segment_id: u64,
    /// Where the file ends.
    pub(super) file_end: u64,
    /// Nothing at or behind this offset is looked at.
    pub(super) end: u64,
}

/// Bytes of a segment with the headers that were found in them.
#[derive(Default)]
pub(super) struct Batch {
    base: u64,
    bytes: Vec<u8>,
    heads: Vec<FrameHead>,
    /// Where the next batch begins; or, if this was the last, where no header is.
    pub(super) next: u64,
    /// No frame can begin at `next`.
    pub(super) is_last: bool,
}

/// A frame that is valid at its place.
pub(super) struct Decoded<'b> {
    pub(super) frame: Frame<'b>,
    pub(super) hash: Digest,
    pub(super) body: Result<Body<'b>, BodyFault>,
}

impl Batch {
    /// Reads from `offset` on as far as headers lead.
    pub(super) fn fill(
        &mut self,
        reader: &Reader,
        extent: Extent,
        offset: u64,
    ) -> Result<(), Error> {
        self.heads.clear();
        (self.base, self.next, self.is_last) = (offset, offset, false);
        let left = extent.file_end.saturating_sub(offset);
        reader.read_into(&mut self.bytes, offset, left.min(BATCH_BYTES) as usize)?;
        loop {
            let at = self.next;
            if at >= extent.end || at >= extent.file_end {
                self.is_last = true;
                return Ok(());
            }
            match self.step(extent, at) {
                Step::To(next) => self.next = next,
                Step::More if at > offset => return Ok(()),
                Step::More => {
                    // One frame that is larger than a batch; its size was bounded by the file.
                    let head = self.head(extent, at);
                    let bytes = head.map_or(0, |head| head.frame_bytes());
                    reader.read_into(&mut self.bytes, offset, bytes as usize)?;
                    let is_whole = bytes > 0 && self.bytes.len() as u64 == bytes;
                    if let Some(head) = head.filter(|_| is_whole) {
                        self.heads.push(head);
                        self.next = at + bytes;
                    }
                    self.is_last = !is_whole;
                    return Ok(());
                }
                Step::Nothing => {
                    self.is_last = true;
                    return Ok(());
                }
            }
        }
    }

    /// Goes over a frame, or over the zeros behind a group.
    fn step(&mut self, extent: Extent, at: u64) -> Step {
        let have = self.base + self.bytes.len() as u64;
        if at + FRAME_HEADER_BYTES as u64 <= have {
            if let Some(head) = self.head(extent, at) {
                if at + head.frame_bytes() > have {
                    return Step::More;
                }
                self.heads.push(head);
                return Step::To(at + head.frame_bytes());
            }
        } else if have < extent.file_end {
            return Step::More;
        }
        let next = at.next_multiple_of(GROUP_ALIGN);
        if next == at || next > extent.file_end.min(extent.end) {
            return Step::Nothing;
        }
        if next > have {
            return Step::More;
        }
        let padding = &self.bytes[(at - self.base) as usize..(next - self.base) as usize];
        if is_zero(padding) { Step::To(next) } else { Step::Nothing }
    }

    /// Returns the sound header at a place, if it is at its place.
    fn head(&self, extent: Extent, at: u64) -> Option<FrameHead> {
        let bytes = self.bytes.get((at - self.base) as usize..)?.first_chunk()?;
        let head = FrameHead::parse(bytes).ok()?;
        let is_here = head.is_at_its_place(extent.segment_id, at);
        (is_here && head.frame_bytes() <= extent.file_end - at).then_some(head)
    }

    /// Checks and decodes every frame. One that is not valid has its offset in its place.
    pub(super) fn decode(&self) -> Vec<Result<Decoded<'_>, u64>> {
        let decode = |head: &FrameHead| {
            let start = (head.offset - self.base) as usize + FRAME_HEADER_BYTES;
            let bytes = &self.bytes[start..start + head.padded_body_bytes()];
            let frame = read_frame(*head, bytes).map_err(|_| head.offset)?;
            let hash = body_hash(frame.body);
            Ok(Decoded { frame, hash, body: body::decode(&frame) })
        };
        if self.heads.len() <= FRAMES_A_JOB && self.bytes.len() < 1 << 16 {
            return self.heads.iter().map(decode).collect();
        }
        self.heads.par_iter().with_min_len(FRAMES_A_JOB).map(decode).collect()
    }
}

enum Step {
    /// The next place.
    To(u64),
    /// It needs bytes that are not here.
    More,
    /// No frame, and no zeros up to a group.
    Nothing,
}
