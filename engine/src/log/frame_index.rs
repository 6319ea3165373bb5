//! Where the frames of each session lie in one segment: a cache that is made by reading headers.

use super::chain::SessionKey;
use super::field;
use super::frame::FrameHead;
use super::limit;
use crate::backend::Error;
use crate::storage::File;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are read at once to find headers.
const WINDOW_BYTES: usize = 64 * 1024;

/// Where a frame lies and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) offset: u64,
    pub(crate) lsn: u64,
    pub(crate) first_seq: u64,
    pub(crate) record_count: u32,
}

/// The frames of one segment, by session, in order.
#[derive(Debug)]
pub(crate) struct FrameIndex {
    segment_id: u64,
    /// The index holds the frames before this offset.
    end: u64,
    last_lsn: u64,
    by_session: HashMap<SessionKey, Vec<Spot>>,
}

impl FrameIndex {
    pub(crate) fn new(segment_id: u64) -> Self {
        let end = limit::SEGMENT_HEADER_BYTES;
        Self { segment_id, end, last_lsn: 0, by_session: HashMap::new() }
    }

    /// Returns the frames of a session, in order.
    pub(crate) fn of(&self, session: SessionKey) -> &[Spot] {
        self.by_session.get(&session).map_or(&[], Vec::as_slice)
    }

    /// Reads the headers up to `end`, where a group ends.
    pub(crate) fn extend(&mut self, file: &dyn File, path: &Path, end: u64) -> Result<(), Error> {
        let mut window = Window { file, start: 0, bytes: Vec::new() };
        let unread = |error| Error::io(path, "the log cannot be read", error);
        while self.end < end {
            let offset = self.end;
            let bytes = window.at(offset, end).map_err(unread)?;
            let is_start = offset.is_multiple_of(limit::GROUP_ALIGN);
            let next = offset.next_multiple_of(limit::GROUP_ALIGN);
            if !is_start && bytes.is_none_or(|bytes| field::is_zero(&bytes[..4])) {
                self.end = next;
                continue;
            }
            let Some(head) = self.head(bytes, offset) else {
                // Padding may be spoilt, as the walk has it, if the next frame lies behind it.
                let behind = self.head(window.at(next, end).map_err(unread)?, next);
                if !is_start && behind.is_some_and(|behind| behind.lsn == self.last_lsn + 1) {
                    self.end = next;
                    continue;
                }
                let message = "a frame that was there is not: run `log-verify` on the store";
                return Err(Error::corrupt("frame/header", message).at(path, Some(offset)));
            };
            self.by_session.entry(head.session).or_default().push(Spot {
                offset,
                lsn: head.lsn,
                first_seq: head.first_seq,
                record_count: head.record_count,
            });
            self.end = offset + head.frame_bytes();
            self.last_lsn = head.lsn;
        }
        Ok(())
    }

    fn head(
        &self,
        bytes: Option<&[u8; limit::FRAME_HEADER_BYTES]>,
        offset: u64,
    ) -> Option<FrameHead> {
        let head = FrameHead::parse(bytes?).ok()?;
        head.is_at_its_place(self.segment_id, offset).then_some(head)
    }
}

/// How many closed segments keep their index of frames.
const INDEXES_MAX: usize = 8;

/// The indexes of the segments that were read last.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<Vec<(u64, Arc<Mutex<FrameIndex>>)>>);

impl Indexes {
    /// Returns the index of a segment, made where there is none; the one used longest ago goes.
    pub(crate) fn of(&self, first_lsn: u64, segment_id: u64) -> Arc<Mutex<FrameIndex>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().position(|(lsn, _)| *lsn == first_lsn);
        let entry = match found {
            Some(at) => all.remove(at),
            None => (first_lsn, Arc::new(Mutex::new(FrameIndex::new(segment_id)))),
        };
        if all.len() >= INDEXES_MAX {
            all.remove(0);
        }
        let index = entry.1.clone();
        all.push(entry);
        index
    }

    /// Forgets all of them.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

struct Window<'a> {
    file: &'a dyn File,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// Returns the header's worth of bytes at an offset; nothing where less lies before `end`.
    fn at(
        &mut self,
        offset: u64,
        end: u64,
    ) -> std::io::Result<Option<&[u8; limit::FRAME_HEADER_BYTES]>> {
        let head = limit::FRAME_HEADER_BYTES as u64;
        if offset + head > end {
            return Ok(None);
        }
        let is_inside =
            offset >= self.start && offset + head <= self.start + self.bytes.len() as u64;
        if !is_inside {
            self.bytes.resize(WINDOW_BYTES.min((end - offset) as usize), 0);
            let mut done = 0;
            while done < self.bytes.len() {
                match self.file.read_at(offset + done as u64, &mut self.bytes[done..])? {
                    0 => break,
                    some => done += some,
                }
            }
            self.bytes.truncate(done);
            self.start = offset;
        }
        let at = (offset - self.start) as usize;
        Ok(self.bytes.get(at..).and_then(|bytes| bytes.first_chunk()))
    }
}
