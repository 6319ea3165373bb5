//! The frames of one segment in order, up to the first place without a valid frame that follows.
//!
//! After a frame comes a frame, or zeros up to the next multiple of 4,096 and then a frame or the
//! end. The walk streams: it holds a window of the file and one frame at most.

use super::behind::{self, Residue};
use super::canary;
use super::chain::{Digest, body_hash};
use super::field::is_zero;
use super::frame::{Frame, FrameHead, Kind, read_frame};
use super::limit::{FRAME_HEADER_BYTES, GROUP_ALIGN, LSN_MAX, SEGMENT_HEADER_BYTES};
use super::segment_header::SegmentHeader;
use super::source::{Source, Window};
use super::tail::{At, LastFrame};
use crate::backend::Error;
use std::collections::VecDeque;

/// Where a walk begins and what it expects there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The life of the file.
    pub(crate) segment_id: u64,
    /// Nothing at or behind this offset is looked at.
    pub(crate) end: u64,
    /// Where the first frame lies.
    pub(crate) offset: u64,
    /// Its lsn.
    pub(crate) lsn: u64,
    /// The lsn before it in the store; 0 for none.
    pub(crate) last_lsn: u64,
    /// The digest of the frame before it.
    pub(crate) digest: Digest,
}

impl Start {
    /// Begins at the first frame of a segment.
    pub(crate) fn of(header: &SegmentHeader) -> Self {
        Self {
            segment_id: header.segment_id,
            end: header.segment_bytes,
            offset: SEGMENT_HEADER_BYTES,
            lsn: header.first_lsn,
            last_lsn: header.prev_last_lsn,
            digest: header.prev_digest,
        }
    }
}

/// A frame that a walk went over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// What it is for.
    pub(crate) kind: Kind,
    /// Where it starts.
    pub(crate) offset: u64,
    /// Its lsn.
    pub(crate) lsn: u64,
}

/// How far a walk came and what stands there.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    /// The first byte behind the last frame.
    pub(crate) end_offset: u64,
    /// The first place without a valid frame that follows; behind `end_offset` where the group
    /// before ends in zeros.
    pub(crate) stop_offset: u64,
    /// The lsn expected there.
    pub(crate) next_lsn: u64,
    /// The lsn of the last frame, or of the last one before the segment.
    pub(crate) last_lsn: u64,
    /// The digest of that frame.
    pub(crate) digest: Digest,
    /// The last frame.
    pub(crate) last: Option<Passed>,
    /// How many frames.
    pub(crate) frame_count: u64,
    /// The greatest epoch in the frames.
    pub(crate) epoch: u32,
    /// What stands at `stop_offset`.
    pub(crate) at: At,
    /// The greatest `durable_lsn` of the frames.
    pub(crate) durable_lsn: u64,
    /// The greatest `durable_lsn` of the header at `stop_offset` and of what lies behind it.
    pub(crate) durable_lsn_behind: u64,
    /// What is not zero behind `end_offset`.
    pub(crate) residue: Residue,
    /// Frames that no frame of the file vouches for: lsn and offset.
    unvouched: VecDeque<(u64, u64)>,
}

impl Walked {
    /// Returns where the first frame above `lsn` starts, or the place behind the last frame.
    pub(crate) fn above(&self, lsn: u64) -> u64 {
        let below = self.unvouched.partition_point(|(there, _)| *there <= lsn);
        self.unvouched.get(below).map_or(self.end_offset, |(_, offset)| *offset)
    }

    /// Returns what the table wants to know of the last frame.
    pub(crate) fn last_frame(&self) -> LastFrame {
        match self.last.map(|last| last.kind) {
            None => LastFrame::Absent,
            Some(Kind::Close) => LastFrame::Close,
            Some(Kind::Rotate) => LastFrame::Rotate,
            Some(_) => LastFrame::Other,
        }
    }
}

/// Walks over a segment and hands every frame to `take`, in order.
pub(crate) fn walk(
    source: &mut dyn Source,
    start: Start,
    take: &mut dyn FnMut(&Frame<'_>),
) -> Result<Walked, Error> {
    let mut window = Window::new(source, start.end);
    let mut walked = Walked {
        end_offset: start.offset,
        stop_offset: start.offset,
        next_lsn: start.lsn,
        last_lsn: start.last_lsn,
        digest: start.digest,
        last: None,
        frame_count: 0,
        epoch: 0,
        at: At::EndOfFile,
        durable_lsn: 0,
        durable_lsn_behind: 0,
        residue: Residue::default(),
        unvouched: VecDeque::new(),
    };
    walked.at = loop {
        match look(&mut window, start.segment_id, walked.stop_offset)? {
            Place::Frame(head) if (head.lsn, head.prev) == (walked.next_lsn, walked.digest) => {
                let frame = Frame { head, body: body(&mut window, &head)? };
                walked.pass(&frame);
                take(&frame);
            }
            Place::Zeros if walked.skip_padding(&mut window)? => {}
            Place::EndOfFile => break At::EndOfFile,
            _ if walked.skip_spoilt_padding(&mut window, start.segment_id)? => {}
            Place::Frame(_) => break At::Unchained,
            Place::Zeros => break At::ZerosThenBytes,
            Place::BadBody(head) => {
                walked.durable_lsn_behind = head.durable_lsn;
                break At::BadBody;
            }
            Place::Stale => break At::Stale,
            Place::Misdirected => break At::Misdirected,
            Place::Bytes => break At::Bytes,
        }
    };
    walked.residue = behind::residue(&mut window, walked.end_offset)?;
    let expected = behind::Expected {
        segment_id: start.segment_id,
        stop_offset: walked.stop_offset,
        next_lsn: walked.next_lsn,
        digest: walked.digest,
        end: walked.end_offset + walked.residue.bytes,
    };
    if walked.at == At::ZerosThenBytes && expected.end <= walked.stop_offset {
        walked.at = At::Zeros;
    } else if walked.at != At::EndOfFile {
        let behind = behind::witness(&mut window, &expected)?.durable_lsn;
        walked.durable_lsn_behind = walked.durable_lsn_behind.max(behind);
    }
    Ok(walked)
}

impl Walked {
    /// Takes a frame in.
    fn pass(&mut self, frame: &Frame<'_>) {
        let head = &frame.head;
        self.durable_lsn = self.durable_lsn.max(head.durable_lsn);
        while self.unvouched.front().is_some_and(|(lsn, _)| *lsn <= self.durable_lsn) {
            self.unvouched.pop_front();
        }
        self.unvouched.push_back((head.lsn, head.offset));
        self.last = Some(Passed { kind: head.kind, offset: head.offset, lsn: head.lsn });
        self.end_offset = head.offset + head.frame_bytes();
        self.stop_offset = self.end_offset;
        self.last_lsn = head.lsn;
        // Above the greatest lsn no frame is valid, so none follows.
        self.next_lsn = head.lsn.saturating_add(1).min(LSN_MAX + 1);
        self.digest = head.digest(body_hash(frame.body));
        self.epoch = self.epoch.max(head.epoch);
        self.frame_count += 1;
    }

    /// Goes from the end of a frame over zeros to the next multiple of 4,096. Says whether there
    /// was anything to go over.
    fn skip_padding(&mut self, window: &mut Window<'_>) -> Result<bool, Error> {
        let next = self.stop_offset.next_multiple_of(GROUP_ALIGN);
        let count = (next - self.stop_offset) as usize;
        if count == 0 || !is_zero(window.at(self.stop_offset, count)?) {
            return Ok(false);
        }
        self.stop_offset = next;
        Ok(true)
    }
}

impl Walked {
    /// Goes from the end of a frame over anything to the next multiple of 4,096, if the very frame
    /// lies there that is expected: then none lies between. Without this a bit that rots in the
    /// padding of a group would cut every group behind it.
    fn skip_spoilt_padding(
        &mut self,
        window: &mut Window<'_>,
        segment_id: u64,
    ) -> Result<bool, Error> {
        let next = self.stop_offset.next_multiple_of(GROUP_ALIGN);
        if next == self.stop_offset {
            return Ok(false);
        }
        match look(window, segment_id, next)? {
            Place::Frame(head) if (head.lsn, head.prev) == (self.next_lsn, self.digest) => {
                self.stop_offset = next;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// What stands at a place.
enum Place {
    /// A frame that is valid there.
    Frame(FrameHead),
    /// A header that is valid there, and a body that is not.
    BadBody(FrameHead),
    /// A valid frame of another segment.
    Stale,
    /// A valid frame of this segment that belongs elsewhere.
    Misdirected,
    /// Zeros, as many as a header has bytes or as there are.
    Zeros,
    /// Other bytes.
    Bytes,
    /// The end of the file.
    EndOfFile,
}

fn look(window: &mut Window<'_>, segment_id: u64, offset: u64) -> Result<Place, Error> {
    let bytes = window.at(offset, FRAME_HEADER_BYTES)?;
    if bytes.is_empty() {
        return Ok(Place::EndOfFile);
    }
    // Zeros up to the next group, which may begin before a header would end.
    let here = ((offset + 1).next_multiple_of(GROUP_ALIGN) - offset) as usize;
    if is_zero(&bytes[..bytes.len().min(here)]) {
        return Ok(Place::Zeros);
    }
    let head = bytes.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
    let Some(head) = head else { return Ok(Place::Bytes) };
    let is_ours = head.is_at_its_place(segment_id, offset);
    let is_whole = is_whole(window, &FrameHead { offset, ..head })?;
    Ok(match (is_ours, is_whole) {
        (true, true) => Place::Frame(head),
        (true, false) if head.frame_bytes() <= window.end() - offset => Place::BadBody(head),
        (false, true) if head.segment_id == segment_id => Place::Misdirected,
        (false, true) => Place::Stale,
        _ => Place::Bytes,
    })
}

/// Returns whether the body behind a header checks.
pub(crate) fn is_whole(window: &mut Window<'_>, head: &FrameHead) -> Result<bool, Error> {
    if head.frame_bytes() > window.end().saturating_sub(head.offset) {
        return Ok(false);
    }
    if canary::trusts_bodies() {
        return Ok(true);
    }
    let offset = head.offset + FRAME_HEADER_BYTES as u64;
    Ok(read_frame(*head, window.at(offset, head.padded_body_bytes())?).is_ok())
}

/// Returns the body of a frame that is whole, without its padding.
fn body<'a>(window: &'a mut Window<'_>, head: &FrameHead) -> Result<&'a [u8], Error> {
    let offset = head.offset + FRAME_HEADER_BYTES as u64;
    window.at(offset, head.body_bytes as usize)
}
