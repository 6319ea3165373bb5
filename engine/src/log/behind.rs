//! What lies in a segment behind the first place without a valid frame that follows.
//!
//! Two things are asked of it. How far do bytes reach that are not zero: a new segment states that
//! when it cuts them. And does any header there vouch for what is missing: its `durable_lsn` was
//! written after a sync that covered it.
//!
//! Only multiples of 4,096 are tried, and what a frame claims is hopped over, if the frame checks:
//! payloads may hold bytes that look like a frame. The header at the place itself claims its body
//! whether that checks or not, as long as the header follows. Behind it a bad body claims nothing:
//! else a header forged in a payload could hide the true witness behind it. So a forger may at
//! worst raise W, which refuses, and never lower it, which cuts.

use super::chain::Digest;
use super::field::is_zero;
use super::frame::FrameHead;
use super::limit::{FRAME_HEADER_BYTES, GROUP_ALIGN, SEGMENT_HEADER_BYTES};
use super::source::{Source, Window};
use super::walk::is_whole;
use crate::backend::Error;
use crc32fast::Hasher;

/// The extent behind the end that is not zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Residue {
    /// Bytes up to the last one that is not zero.
    pub(crate) bytes: u64,
    /// Their CRC; 0 for none.
    pub(crate) crc: u32,
}

/// What the walk came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// The life of the file.
    pub(crate) segment_id: u64,
    /// The first place without a valid frame that follows.
    pub(crate) stop_offset: u64,
    /// The lsn expected there.
    pub(crate) next_lsn: u64,
    /// The chain there.
    pub(crate) digest: Digest,
    /// Behind it there are only zeros.
    pub(crate) end: u64,
}

/// Measures what is not zero from `offset` on.
pub(crate) fn residue(window: &mut Window<'_>, offset: u64) -> Result<Residue, Error> {
    let mut crc = Hasher::new();
    let (mut place, mut counted) = (offset, offset);
    loop {
        let bytes = window.some(place)?;
        if bytes.is_empty() {
            break;
        }
        let next = place + bytes.len() as u64;
        if !is_zero(bytes) {
            let last = bytes.iter().rposition(|byte| *byte != 0).expect("one is not zero");
            push_zeros(&mut crc, place - counted);
            crc.update(&bytes[..=last]);
            counted = place + last as u64 + 1;
        }
        place = next;
    }
    Ok(Residue { bytes: counted - offset, crc: crc.finalize() })
}

fn push_zeros(crc: &mut Hasher, mut count: u64) {
    const ZEROS: [u8; 4096] = [0; 4096];
    while count > 0 {
        let some = count.min(ZEROS.len() as u64);
        crc.update(&ZEROS[..some as usize]);
        count -= some;
    }
}

/// What the headers behind a place vouch for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Testimony {
    /// Their greatest `durable_lsn`; 0 for none.
    pub(crate) durable_lsn: u64,
    /// Bytes of the frames whose bodies were checked, to see what they own.
    pub(crate) checked_bytes: u64,
}

/// Hears the frames behind a place.
pub(crate) fn witness(window: &mut Window<'_>, expected: &Expected) -> Result<Testimony, Error> {
    let mut testimony = Testimony::default();
    let mut offset = expected.stop_offset;
    // Whoever fills a payload with headers makes us read each body that they claim. After that
    // many bytes nobody hops any more, which can only find more.
    let checked_bytes_max = 2 * window.end();
    while offset < expected.end {
        let bytes = window.at(offset, FRAME_HEADER_BYTES)?;
        let head = bytes.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
        let head = head.filter(|head| expected.allows(head, offset, window.end()));
        let mut next = (offset + 1).next_multiple_of(GROUP_ALIGN);
        if let Some(head) = head {
            testimony.durable_lsn = testimony.durable_lsn.max(head.durable_lsn);
            let is_owner = expected.is_next(&head)
                || testimony.checked_bytes < checked_bytes_max && {
                    testimony.checked_bytes += head.frame_bytes();
                    is_whole(window, &head)?
                };
            if is_owner {
                next = offset + head.frame_bytes();
            }
        }
        offset = next;
    }
    Ok(testimony)
}

impl Expected {
    /// Returns whether a header can be that of a frame of this segment: each frame between takes
    /// at least its header's bytes, so the lsn cannot have grown faster than the offset.
    fn allows(&self, head: &FrameHead, offset: u64, file_bytes: u64) -> bool {
        let frames_max = (offset - self.stop_offset) / FRAME_HEADER_BYTES as u64;
        head.is_at_its_place(self.segment_id, offset)
            && head.frame_bytes() <= file_bytes - offset
            && if offset == self.stop_offset {
                self.is_next(head)
            } else {
                self.next_lsn < head.lsn && head.lsn - self.next_lsn <= frames_max
            }
    }

    /// Returns whether a header is the very one that the walk expects.
    fn is_next(&self, head: &FrameHead) -> bool {
        (head.offset, head.lsn, head.prev) == (self.stop_offset, self.next_lsn, self.digest)
    }
}

/// Measures what is not zero behind a segment's header.
pub(crate) fn body_residue(source: &mut dyn Source, file_bytes: u64) -> Result<Residue, Error> {
    residue(&mut Window::new(source, file_bytes), SEGMENT_HEADER_BYTES)
}
