//! A segment with a successor: whether it is what the successor states.

use super::Sinks;
use super::finding::Finding;
use super::layout::SegmentFile;
use super::pass::Pass;
use super::place::Stands;
use super::walk::Walk;
use crate::backend::Error;
use crate::log::segment_header::{Begin, SegmentHeader};

impl<'a, S: Sinks> Pass<'a, S> {
    /// A segment with a successor: rows F4 and F5.
    pub(super) fn closed(
        &mut self,
        file: &'a SegmentFile,
        header: &'a SegmentHeader,
        next: Option<&SegmentHeader>,
    ) -> Result<(), Error> {
        let Some(next) = next else {
            let mut walk = self.begin(file, header, file.bytes, false)?;
            return self.advance(&mut walk);
        };
        let end = next.prev_end_offset;
        if end > header.segment_bytes || next.prev_last_lsn < header.prev_last_lsn {
            let message = "the next segment states an end that this one cannot have";
            self.damaged(Finding::corrupt("segment/foreign", message).at(file.first_lsn, end));
            return Ok(());
        }
        let mut walk = self.begin(file, header, end, false)?;
        let mut seen = None;
        let finding = loop {
            self.advance(&mut walk)?;
            let is_whole = walk.kept_end == end
                && (walk.last_lsn, walk.digest) == (next.prev_last_lsn, next.prev_digest);
            if is_whole {
                break None;
            }
            let finding = not_whole(&walk, end)?;
            if walk.is_seen_twice(self.storage, &mut seen)? {
                break Some(finding);
            }
        };
        if let Some(finding) = finding {
            self.damaged(finding);
            return Ok(());
        }
        self.behind_the_end(&walk, next)
    }

    /// What the successor states of a whole segment besides its end.
    fn behind_the_end(&mut self, walk: &Walk<'_>, next: &SegmentHeader) -> Result<(), Error> {
        let segment = walk.file.first_lsn;
        let residue = walk.reader.residue(walk.kept_end, walk.file.bytes)?;
        let is_unread = next.begin == Begin::FailedWrite && next.cut_bytes == 0;
        if (residue.bytes, residue.crc) != (next.cut_bytes, next.cut_crc) && !is_unread {
            let message = format!(
                "the next segment states {} bytes that were cut here; {} are here, or others",
                next.cut_bytes, residue.bytes
            );
            self.say(Finding::note("segment/cut", message).at(segment, walk.kept_end));
        }
        let table = next.prev_table_offset;
        let is_there = walk.last.is_some_and(|(kind, offset)| kind.has_table() && offset == table);
        if table != 0 && !is_there {
            let message = "the next segment states a table here, and the last frame is not one";
            self.say(Finding::violation("segment/table", message).at(segment, table));
        }
        Ok(())
    }
}

/// Says why a segment is not whole up to the end that its successor states.
fn not_whole(walk: &Walk<'_>, end: u64) -> Result<Finding, Error> {
    let at = |rule, message: &str| {
        Finding::corrupt(rule, message).at(walk.file.first_lsn, walk.offset).of(walk.lsn)
    };
    let ends = "the segment ends otherwise than the next one states";
    if walk.kept_end >= end {
        return Ok(at("frame/chain", ends));
    }
    let early = "the next segment states frames here, and there are none";
    if walk.offset >= end {
        return Ok(at("store/mixed", early));
    }
    let residue = walk.reader.residue(walk.offset, end)?;
    Ok(match walk.expected(end).stands(&walk.reader, residue)? {
        Stands::EndOfFile | Stands::Zeros => at("store/mixed", early),
        Stands::Unchained => at("frame/chain", "a whole frame lies here that does not follow"),
        Stands::BadBody(_) => at("frame/body", "the body of the frame is not what was written"),
        _ => at("frame/header", "a frame should be here, and its header is not"),
    })
}
