//! The walk over the frames of a segment, what stands where it ends, and what lies behind: 5.3
//! and 7.2.

use super::bytes::{PAGE, content_end, is_zero, page_up};
use super::frame::{self, Frame};
use super::header::Header;

/// A frame, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its lsn.
    pub lsn: u64,
    /// Name of its segment.
    pub segment: u64,
    /// Offset of its header.
    pub offset: u64,
    /// Bytes of header, body and padding.
    pub bytes: u64,
    /// Its kind.
    pub kind: u8,
    /// The greatest lsn that was durable when it was written.
    pub durable_lsn: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    EndOfFile,
    Zeros,
    ZerosThenBytes,
    DoesNotFollow,
    BadBody,
    Stale,
    Misdirected,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Walk {
    pub(super) taken: Vec<(u64, Frame)>,
    pub(super) p: u64,
    pub(super) x: u64,
    pub(super) chain: [u8; 16],
    pub(super) kept_end: u64,
    /// The last lsn of the store up to here.
    pub(super) last_lsn: u64,
}

impl Walk {
    /// The frame at an offset, if it is valid there and follows.
    fn following(&self, file: &[u8], segment: &Header, at: u64) -> Option<Frame> {
        let frame = frame::valid(file, at, segment)?;
        (frame.lsn == self.x && frame.prev == self.chain).then_some(frame)
    }
}

/// Walks a segment; a closed one up to `end`, which its successor states.
pub(super) fn walk(file: &[u8], segment: &Header, end: Option<u64>) -> Walk {
    let mut walk = Walk {
        taken: Vec::new(),
        p: PAGE,
        x: segment.first_lsn,
        chain: segment.prev_digest,
        kept_end: PAGE,
        last_lsn: segment.prev_last_lsn,
    };
    loop {
        if end.is_some_and(|end| walk.p >= end) {
            return walk;
        }
        if let Some(frame) = walk.following(file, segment, walk.p) {
            walk.chain = frame.digest(file, walk.p);
            walk.kept_end = walk.p + frame.frame_bytes();
            walk.last_lsn = walk.x;
            walk.x += 1;
            walk.taken.push((walk.p, frame));
            walk.p = walk.kept_end;
            continue;
        }
        let page = page_up(walk.p);
        let is_padding = file.get(walk.p as usize..page as usize).is_some_and(is_zero);
        let goes_on = is_padding || walk.following(file, segment, page).is_some();
        if page == walk.p || !goes_on || end.is_some_and(|end| page > end) {
            return walk;
        }
        walk.p = page;
    }
}

/// Says what stands at p, in a segment that ends at `end`.
pub(super) fn at_end(file: &[u8], segment: &Header, walk: &Walk, end: u64) -> AtEnd {
    let p = walk.p;
    let rest = file.get(p as usize..end as usize).unwrap_or_default();
    let to_page = page_up(p + 1) - p;
    if rest.is_empty() {
        return AtEnd::EndOfFile;
    }
    if is_zero(rest) {
        return AtEnd::Zeros;
    }
    if is_zero(&rest[..rest.len().min(112).min(to_page as usize)]) {
        return AtEnd::ZerosThenBytes;
    }
    let Some(frame) = Frame::sound(file, p) else { return AtEnd::Other };
    let has_valid_rest = frame.has_valid_rest(file, p);
    if frame.is_at_its_place(p, segment) {
        return if has_valid_rest { AtEnd::DoesNotFollow } else { AtEnd::BadBody };
    }
    match (has_valid_rest && frame.fits(p, segment), frame.segment_id == segment.segment_id) {
        (false, _) => AtEnd::Other,
        (true, false) => AtEnd::Stale,
        (true, true) => AtEnd::Misdirected,
    }
}

/// The offsets and witnesses of the headers that are found from p on.
pub(super) fn behind(file: &[u8], segment: &Header, walk: &Walk) -> Vec<(u64, u64)> {
    let (p, mut s, mut found) = (walk.p, walk.p, Vec::new());
    while s < content_end(file) {
        let mut next = page_up(s + 1);
        let header = Frame::sound(file, s).filter(|frame| {
            let is_in_order = if s == p {
                frame.lsn == walk.x && frame.prev == walk.chain
            } else {
                walk.x < frame.lsn && frame.lsn <= walk.x + (s - p) / 112
            };
            frame.is_at_its_place(s, segment) && is_in_order
        });
        if let Some(frame) = header {
            found.push((s, frame.durable_lsn));
            if s == p || frame.has_valid_rest(file, s) {
                next = s + frame.frame_bytes();
            }
        }
        s = next;
    }
    found
}
