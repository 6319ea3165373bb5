//! A store opened for reading: the same judgement as a writer's, and no write.
//!
//! A reader sees what a writer's open would keep. What lies above W is shown and marked, since a
//! power cut could still take it. Where a writer is at work nothing above the durable end is
//! called damaged; and what looks damaged at or below it is looked at again: only the same bytes,
//! bad twice under the same segment id, are a finding. A store that is refused is read as far as
//! its frames follow.

use super::frame::Frame;
use super::judge::judge;
use super::judgement::Judgement;
use super::limit::{GROUP_ALIGN, SEGMENT_HEADER_BYTES};
use super::name;
use super::scene::{Scene, SegmentFile};
use super::segment_header::SegmentHeader;
use super::source::{Cached, Source, patiently};
use super::tail::{FileIs, LiveFacts, Placed, Seen, Verdict};
use super::walk::{Start, walk};
use crate::backend::{Error, ErrorKind};
use crate::storage::{File, Storage};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How often a store that changes under our eyes is looked at again.
const LOOKS: usize = 8;

/// What a reader says of the end of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tail {
    /// The log ends where it was ended.
    Clean,
    /// The log ends before bytes that no witness vouches for.
    Torn,
    /// A writer is at work behind the durable end: not checked.
    InProgress,
    /// What is stored contradicts what was synced.
    Refused,
}

/// A store that is open for reading.
pub(crate) struct LogReader {
    storage: Arc<dyn Storage>,
    scene: Scene,
    judgement: Judgement,
    is_live: bool,
}

/// What was bad, to be compared with what is bad the next time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sore {
    row: &'static str,
    rule: &'static str,
    offset: Option<u64>,
    /// The front of the file, which holds its segment id, and the bytes at the place.
    bytes: Vec<u8>,
}

impl LogReader {
    /// Opens the store in a directory for reading. One that is refused opens as well: see
    /// [`LogReader::error`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotAStore`]; [`ErrorKind::Io`]; [`ErrorKind::Unsupported`] for sealed segments;
    /// [`ErrorKind::Busy`] where files changed under us eight times.
    pub(crate) fn open(storage: Arc<dyn Storage>, dir: &Path) -> Result<Self, Error> {
        let mut before = None;
        for _ in 0..LOOKS {
            let is_live = is_live(&*storage, dir);
            let looked = Scene::look(&*storage, dir)
                .and_then(|scene| judge(&*storage, &scene).map(|judgement| (scene, judgement)));
            let (scene, judgement) = match looked {
                // A directory that is not there is no file that vanished.
                Err(error) if error.kind == ErrorKind::NotAStore => return Err(error),
                Err(error) if error.kind == ErrorKind::Busy || is_absent(&error) => continue,
                looked => looked?,
            };
            if judgement.ruling.verdict == Verdict::New {
                let error = Error::new(ErrorKind::NotAStore, "there is no store here");
                return Err(error.at(dir, None));
            }
            let facts = judgement.refusal.as_ref().map(|refusal| {
                let bytes = bytes_at(&*storage, &refusal.path, refusal.offset);
                let file = if bytes.is_ok() { FileIs::Same } else { FileIs::Moved };
                let sore = Sore {
                    row: judgement.ruling.row,
                    rule: refusal.rule,
                    offset: refusal.offset,
                    bytes: bytes.unwrap_or_default(),
                };
                let again = before.as_ref() == Some(&sore);
                before = Some(sore);
                let seen = if again { Seen::Twice } else { Seen::Once };
                LiveFacts { place: Placed::Below, seen, file }
            });
            if facts.is_none_or(|facts| facts.ruling().verdict != Verdict::Provisional) {
                return Ok(Self { storage, scene, judgement, is_live });
            }
        }
        let message =
            format!("files of the store changed {LOOKS} times while it was read; try again");
        Err(Error::new(ErrorKind::Busy, message).at(dir, None))
    }

    /// Returns what was judged.
    pub(crate) fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// Returns why a writer's open would be refused, if it would.
    pub(crate) fn error(&self) -> Option<Error> {
        self.judgement.error()
    }

    /// Returns what is to be said of the end of the log.
    pub(crate) fn tail(&self) -> Tail {
        if self.judgement.refusal.is_some() {
            return Tail::Refused;
        }
        let (seen, file) = (Seen::Once, FileIs::Same);
        let beside = LiveFacts { place: Placed::Above, seen, file }.ruling().verdict;
        match self.judgement.ruling.verdict {
            Verdict::Torn if self.is_live && beside == Verdict::InProgress => Tail::InProgress,
            Verdict::Torn => Tail::Torn,
            _ => Tail::Clean,
        }
    }

    /// Hands every frame that a writer's open would keep to `take`, in order, with the segment it
    /// lies in and whether a witness vouches for it. Of a store that is refused: every frame before
    /// the first place where none follows.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`].
    pub(crate) fn frames(
        &self,
        take: &mut dyn FnMut(&Path, &Frame<'_>, bool),
    ) -> Result<(), Error> {
        let durable_lsn = self.judgement.witness.lsn;
        let mut segments = self.scene.segments.iter().peekable();
        let mut expected: Option<SegmentHeader> = None;
        while let Some(file) = segments.next() {
            let Ok(header) = &file.header else { return Ok(()) };
            let is_next = match &expected {
                Some(expected) => expected == header,
                None => header.prev_first_lsn == 0,
            };
            if header.store_id != self.judgement.store_id || !is_next {
                return Ok(());
            }
            let next = segments.peek().and_then(|next| next.header.as_ref().ok());
            let next = next.filter(|next| next.prev_segment_id == header.segment_id);
            let end = next.map_or(header.segment_bytes, |next| next.prev_end_offset);
            let opened = patiently(&file.path, 0, || self.open_segment(file))?;
            let mut source = Cached::new(&*opened, &file.path);
            // What was written since the store was judged is another reader's.
            let last = self.judgement.last.as_ref();
            let last = last.filter(|last| last.file.path == file.path);
            let end = last.map_or(end, |last| end.min(last.walked.end_offset));
            let start = Start { end, ..Start::of(header) };
            let walked = walk(&mut source, start, &mut |frame| {
                take(&file.path, frame, frame.head.lsn <= durable_lsn);
            })?;
            let Some(next) = next else { return Ok(()) };
            let reached = (walked.end_offset, walked.last_lsn, walked.digest);
            if reached != (next.prev_end_offset, next.prev_last_lsn, next.prev_digest) {
                return Ok(());
            }
            expected = Some(next.clone());
        }
        Ok(())
    }

    /// Opens a segment. One that had no name yet may have got it since, and the name that it had
    /// may be a new spare's.
    fn open_segment(&self, segment: &SegmentFile) -> io::Result<Box<dyn File>> {
        if !segment.is_unnamed {
            return self.storage.open(&segment.path);
        }
        let named = segment.path.with_file_name(name::segment(segment.first_lsn));
        let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let mut opened = self.storage.open(&named);
        if opened.as_ref().is_err_and(is_absent) {
            opened = self.storage.open(&segment.path);
        }
        if opened.as_ref().is_err_and(is_absent) { self.storage.open(&named) } else { opened }
    }
}

/// Returns whether a writer is at work, as far as anybody can say.
fn is_live(storage: &dyn Storage, dir: &Path) -> bool {
    let lock = storage.stat(&dir.join(name::LOCK));
    lock.is_ok_and(|lock| storage.lock_holders(lock.identity) == Some(true))
}

/// Reads the front of a file and a page at a place in it.
fn bytes_at(storage: &dyn Storage, path: &Path, offset: Option<u64>) -> Result<Vec<u8>, Error> {
    let file = match storage.open(path) {
        Ok(file) => file,
        // What is not there, or a directory, is the same the next time.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(_) if offset.is_none() => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, "the file vanished", error)),
    };
    let mut bytes = vec![0; (SEGMENT_HEADER_BYTES + GROUP_ALIGN) as usize];
    let (front, place) = bytes.split_at_mut(SEGMENT_HEADER_BYTES as usize);
    let mut source = Cached::new(&*file, path);
    source.read(0, front)?;
    source.read(offset.unwrap_or(0), place)?;
    Ok(bytes)
}

fn is_absent(error: &Error) -> bool {
    error.source.as_ref().is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}
