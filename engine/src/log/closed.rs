//! Whether a segment with a successor is whole up to where the successor says that it ends.
//!
//! A full walk of every segment belongs to verification. At an open the header and the frame that
//! ends the segment are enough: it holds the session table, and its digest, which the successor
//! states, stands on all others. A segment that was cut, or ended by a failed write, has no such
//! frame and is walked.

use super::chain::{Digest, body_hash};
use super::frame::{FrameHead, read_frame};
use super::limit::FRAME_HEADER_BYTES;
use super::scene::SegmentFile;
use super::segment_header::SegmentHeader;
use super::source::{Cached, Source, Window, patiently};
use super::table::{SessionRow, Table};
use super::tail::{At, Raw};
use super::tally::Tally;
use super::walk::{Start, walk};
use crate::backend::Error;
#[cfg(doc)]
use crate::backend::ErrorKind;
use crate::storage::Storage;
use std::path::PathBuf;

/// A segment with a successor, whole up to the end that the successor states.
#[derive(Clone, Debug)]
pub(crate) struct ClosedSegment {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its header.
    pub(crate) header: SegmentHeader,
    /// The first byte behind its last frame; what lies behind was cut.
    pub(crate) end_offset: u64,
    /// Lsn of the last frame, or of the last one before the segment if it holds none.
    pub(crate) last_lsn: u64,
    /// Digest of that frame.
    pub(crate) digest: Digest,
    /// Where the frame starts that holds the session table.
    pub(crate) table_offset: Option<u64>,
    /// What was seen where there is no table.
    pub(crate) tally: Option<Tally>,
}

/// What is wrong with a segment that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The rule.
    pub(crate) rule: &'static str,
    /// Where in the segment.
    pub(crate) offset: u64,
    /// What the table wants to know.
    pub(crate) raw: Raw,
}

/// Judges a segment whose header was found right, by its successor's header.
pub(crate) fn check(
    storage: &dyn Storage,
    file: &SegmentFile,
    header: &SegmentHeader,
    next: &SegmentHeader,
) -> Result<Result<ClosedSegment, Broken>, Error> {
    let offset = next.prev_end_offset;
    if offset > header.segment_bytes || next.prev_last_lsn < header.prev_last_lsn {
        return Ok(Err(Broken { rule: "segment/foreign", offset, raw: Raw::Bad }));
    }
    let opened = patiently(&file.path, 0, || storage.open(&file.path))?;
    let mut source = Cached::new(&*opened, &file.path);
    let mut closed = ClosedSegment {
        path: file.path.clone(),
        header: header.clone(),
        end_offset: next.prev_end_offset,
        last_lsn: next.prev_last_lsn,
        digest: next.prev_digest,
        table_offset: None,
        tally: None,
    };
    if next.prev_table_offset != 0 && has_table(&mut source, header, next)? {
        closed.table_offset = Some(next.prev_table_offset);
        return Ok(Ok(closed));
    }
    let mut tally = Tally::default();
    let start = Start { end: next.prev_end_offset, ..Start::of(header) };
    let walked = walk(&mut source, start, &mut |frame| tally.take(frame))?;
    let is_end = walked.end_offset == next.prev_end_offset;
    let agrees = (walked.last_lsn, walked.digest) == (next.prev_last_lsn, next.prev_digest);
    if is_end && agrees {
        closed.tally = Some(tally);
        return Ok(Ok(closed));
    }
    let (rule, raw) = match walked.at {
        At::Zeros => ("store/mixed", Raw::Early),
        At::EndOfFile if !is_end => ("store/mixed", Raw::Early),
        At::EndOfFile | At::Unchained => ("frame/chain", Raw::Bad),
        At::BadBody => ("frame/body", Raw::Bad),
        _ => ("frame/header", Raw::Bad),
    };
    Ok(Err(Broken { rule, offset: walked.stop_offset, raw }))
}

/// Returns the session table of a segment: the one at its end, or what was seen without one.
///
/// # Errors
///
/// [`ErrorKind::Io`]; [`ErrorKind::Corrupt`] where the table is not what was written.
pub(crate) fn rows(
    storage: &dyn Storage,
    closed: &ClosedSegment,
) -> Result<Vec<SessionRow>, Error> {
    if let Some(tally) = &closed.tally {
        return Ok(tally.sessions.values().map(|seen| seen.row.clone()).collect());
    }
    let Some(offset) = closed.table_offset else { return Ok(Vec::new()) };
    let file = patiently(&closed.path, 0, || storage.open(&closed.path))?;
    let mut source = Cached::new(&*file, &closed.path);
    let mut window = Window::new(&mut source, closed.end_offset);
    // The frame was found whole when the segment was checked.
    let start = offset + FRAME_HEADER_BYTES as u64;
    let bytes = window.at(offset, FRAME_HEADER_BYTES)?;
    let head = bytes.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
    let count = head.map_or(0, |head| head.body_bytes as usize);
    let table = window.at(start, count)?;
    let rows = Table::parse(table).and_then(|table| table.rows().collect());
    rows.map_err(|_| {
        let message = "the session table is not what was written; run `log-verify` on the store";
        Error::corrupt("frame/body", message).at(&closed.path, Some(offset))
    })
}

/// Returns whether the frame that ends the segment is where the successor says, and is the one.
fn has_table(
    source: &mut dyn Source,
    header: &SegmentHeader,
    next: &SegmentHeader,
) -> Result<bool, Error> {
    let (offset, end) = (next.prev_table_offset, next.prev_end_offset);
    let mut window = Window::new(source, end);
    let bytes = window.at(offset, FRAME_HEADER_BYTES)?;
    let head = bytes.first_chunk().and_then(|bytes| FrameHead::parse(bytes).ok());
    let is_the_one = |head: &FrameHead| {
        head.kind.has_table()
            && head.is_at_its_place(header.segment_id, offset)
            && head.lsn == next.prev_last_lsn
            && offset + head.frame_bytes() == end
    };
    let Some(head) = head.filter(is_the_one) else { return Ok(false) };
    let body = window.at(offset + FRAME_HEADER_BYTES as u64, head.padded_body_bytes())?;
    let frame = read_frame(head, body).ok();
    Ok(frame.is_some_and(|frame| head.digest(body_hash(frame.body)) == next.prev_digest))
}
