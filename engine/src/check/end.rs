//! Where the log ends: the last segment, shells behind it, and W (blocks H and P of the table).

use super::Sinks;
use super::disk::Reader;
use super::finding::{Finding, Weight};
use super::header;
use super::layout::SegmentFile;
use super::pass::{Pass, nothing};
use super::place::Stands;
use super::walk::Walk;
use crate::backend::Error;
use crate::log::frame::Kind;
use crate::log::limit::SEGMENT_HEADER_BYTES;
use crate::log::segment_header::SegmentHeader;
use crate::log::superblock::Stop;

impl<'a, S: Sinks> Pass<'a, S> {
    /// Judges the end of the log, in the last segment with a valid header; those from `shells` on
    /// have none.
    pub(super) fn last_segment(
        &mut self,
        file: &'a SegmentFile,
        header: &'a SegmentHeader,
        shells: usize,
    ) -> Result<(), Error> {
        let has_end = !self.has_wrong_header(file);
        let mut walk = self.begin(file, header, header.segment_bytes, true)?;
        let mut seen = None;
        let (stands, finding) = loop {
            self.advance(&mut walk)?;
            let (stands, durable_lsn) = look(&walk, self.durable_lsn)?;
            let finding = bad(&walk, stands, durable_lsn);
            if finding.is_none() || walk.is_seen_twice(self.storage, &mut seen)? {
                self.durable_lsn = durable_lsn;
                break (stands, finding);
            }
        };
        let has_shells = shells < self.layout.segments.len();
        if has_shells {
            self.empty_shells(shells, walk.lsn)?;
        }
        // Where a header is refused nothing is said of the end behind it.
        if !has_end || (has_shells && self.has_wrong_shell(shells)) {
            return Ok(());
        }
        self.stale_slot(file)?;
        if let Some(finding) = finding {
            let is_of_files = finding.rule != "frame/chain" && self.is_vouched_by_files();
            self.damaged(finding);
            if is_of_files {
                let message = format!("W is {}, beyond the end of the log", self.durable_lsn);
                self.say(Finding::note("store/behind", message));
            }
            return Ok(());
        }
        self.tail(&walk, stands)?;
        self.unconfirmed()
    }

    /// Rows P3 to P11.
    fn tail(&mut self, walk: &Walk<'_>, stands: Stands) -> Result<(), Error> {
        let at = |finding: Finding| finding.at(walk.file.first_lsn, walk.offset);
        let what = match stands {
            Stands::EndOfFile | Stands::Zeros => return Ok(()),
            _ if self.is_clean_stop(walk) => {
                let message = "bytes lie behind the end of a clean stop; no record can be lost";
                self.say(at(Finding::note("segment/residue", message)));
                return Ok(());
            }
            Stands::BadBody(_) => "a frame whose body is not whole",
            Stands::Stale => "a frame of another segment",
            Stands::Misdirected => "a frame of another place",
            Stands::ZerosThenBytes => "zeros, then other bytes",
            _ => "bytes that are no frame",
        };
        self.look_for_a_writer(true)?;
        if self.is_live {
            let message = format!(
                "a writer is at work: what lies above lsn {} is not checked",
                self.durable_lsn
            );
            self.say(at(Finding::note("log/live-writer", message)));
            return Ok(());
        }
        self.is_torn = true;
        let message = format!("the log ends here, before {what}, which no witness vouches for");
        self.say(at(Finding::new("log/torn", Weight::Torn, message)));
        let stray = match stands {
            Stands::Stale => ("segment/stale", "a frame of another segment lies here"),
            Stands::Misdirected => ("segment/misdirected", "a frame of another place lies here"),
            _ => return Ok(()),
        };
        self.say(at(Finding::note(stray.0, stray.1)));
        Ok(())
    }

    fn unconfirmed(&mut self) -> Result<(), Error> {
        let count = self.last_lsn.saturating_sub(self.durable_lsn);
        self.look_for_a_writer(false)?;
        if count > 0 && !self.is_live {
            let message = format!(
                "{count} frame(s) above lsn {} were written, and no witness says that they were \
                 synced",
                self.durable_lsn
            );
            self.say(Finding::note("log/unconfirmed", message));
        }
        Ok(())
    }

    /// Row F12.
    fn stale_slot(&mut self, last: &SegmentFile) -> Result<(), Error> {
        let active = self.layout.slot().map(|slot| slot.active_first_lsn);
        if active.is_some_and(|active| active < last.first_lsn && self.layout.has_segment(active)) {
            self.look_for_a_writer(false)?;
            if !self.is_live {
                let message = "`STORE` calls an earlier segment active than the last";
                let finding = Finding::note("store/stale-slot", message);
                self.say(finding.at(last.first_lsn, 0));
            }
        }
        Ok(())
    }

    /// Rows H4 to H6: the segments from `from` on have no valid header; `lsn` is expected next.
    pub(super) fn empty_shells(&mut self, from: usize, lsn: u64) -> Result<(), Error> {
        let layout = self.layout;
        for file in layout.segments[from..].iter().rev() {
            let reader = Reader::open(self.storage, &file.path)?;
            let is_zero = reader.residue(SEGMENT_HEADER_BYTES, file.bytes)?.bytes == 0;
            let slot = layout.slot();
            let is_active = slot.is_some_and(|slot| slot.active_first_lsn == file.first_lsn);
            if !is_zero || lsn <= self.durable_lsn || is_active {
                self.damaged(header::invalid(file));
            } else {
                let message = "the file holds nothing, and no witness knows it";
                self.say(Finding::note("segment/empty", message).at(file.first_lsn, 0));
            }
        }
        let is_nothing = from == 0 && !self.has_wrong_shell(0);
        if is_nothing { Err(nothing(layout)) } else { Ok(()) }
    }

    fn has_wrong_header(&self, file: &SegmentFile) -> bool {
        self.has_said(file.first_lsn, &["segment/short", "segment/foreign"])
    }

    fn has_wrong_shell(&self, from: usize) -> bool {
        let mut shells = self.layout.segments[from..].iter();
        shells.any(|file| self.has_said(file.first_lsn, &["segment/header"]))
    }

    fn is_vouched_by_files(&self) -> bool {
        let slots = self.layout.slots.iter().flatten().map(|slot| slot.durable_lsn);
        let durable = self.layout.durable.map(|durable| durable.durable_lsn);
        slots.chain(durable).max() == Some(self.durable_lsn)
    }

    /// Returns whether `STORE` says that the stop was clean and that it ended here.
    fn is_clean_stop(&self, walk: &Walk<'_>) -> bool {
        let Some(slot) = self.layout.slot() else { return false };
        let stop = Stop::Clean { end_offset: walk.kept_end, end_digest: walk.digest };
        let names = (slot.active_first_lsn, slot.active_segment_id);
        walk.last.is_some_and(|(kind, _)| kind == Kind::Close)
            && names == (walk.header.first_lsn, walk.header.segment_id)
            && slot.durable_lsn == walk.last_lsn
            && slot.stop == stop
    }
}

/// Says what stands where a walk ended, and how far witnesses vouch, those behind that place
/// heard.
fn look(walk: &Walk<'_>, heard: u64) -> Result<(Stands, u64), Error> {
    let file_end = walk.header.segment_bytes.min(walk.file.bytes);
    let residue = walk.reader.residue(walk.offset, file_end)?;
    let expected = walk.expected(file_end);
    let stands = expected.stands(&walk.reader, residue)?;
    let behind = match stands {
        Stands::EndOfFile | Stands::Zeros => 0,
        _ => expected.witness_behind(&walk.reader, walk.offset + residue.bytes)?,
    };
    let at = if let Stands::BadBody(durable_lsn) = stands { durable_lsn } else { 0 };
    Ok((stands, heard.max(behind).max(at)))
}

/// Rows P1 and P2.
fn bad(walk: &Walk<'_>, stands: Stands, durable_lsn: u64) -> Option<Finding> {
    let (rule, what) = match stands {
        Stands::Unchained => {
            let message =
                format!("a whole frame lies here that does not follow lsn {}", walk.last_lsn);
            let finding = Finding::corrupt("frame/chain", message);
            return Some(finding.at(walk.file.first_lsn, walk.offset));
        }
        _ if walk.lsn > durable_lsn => return None,
        Stands::EndOfFile | Stands::Zeros => ("log/lost-tail", "nothing is here"),
        Stands::BadBody(_) => ("frame/body", "its body is not what was written"),
        _ => ("frame/header", "its header is not"),
    };
    let message = format!(
        "lsn {} should be here, and {what}: all up to lsn {durable_lsn} was synced",
        walk.lsn
    );
    Some(Finding::corrupt(rule, message).at(walk.file.first_lsn, walk.offset).of(walk.lsn))
}
