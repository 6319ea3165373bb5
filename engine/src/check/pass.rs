//! One way over all segments of a store, in order.

use super::batch::{Batch, Decoded, Extent};
use super::disk::Reader;
use super::finding::Finding;
use super::header;
use super::layout::{self, Layout, SegmentFile};
use super::names::Named;
use super::rounds::Found;
use super::sessions::Sessions;
use super::walk::Walk;
use super::{Settings, Sinks, StoreCheck};
use crate::backend::{Error, ErrorKind};
use crate::log::frame::Kind;
use crate::log::limit::SEGMENT_HEADER_BYTES;
use crate::log::segment_header::SegmentHeader;
use crate::log::superblock::Stop;
use crate::storage::Storage;

/// How many findings of a store are kept.
const FINDINGS_MAX: usize = 1000;

/// One way over a store.
pub(super) struct Pass<'a, S: Sinks> {
    pub(super) storage: &'a dyn Storage,
    pub(super) layout: &'a Layout,
    pub(super) settings: Settings,
    progress: &'a (dyn Fn(u64) + Sync),
    sessions: Sessions<'a, S>,
    findings: Vec<Finding>,
    dropped: u64,
    /// W, as far as it was heard.
    pub(super) durable_lsn: u64,
    /// Lsn of the last frame that follows all before it.
    pub(super) last_lsn: u64,
    /// The greatest epoch and the greatest `durable_lsn` of the frames and headers so far.
    reached: (u32, u64),
    /// Something before is damaged, so that nothing further can be said of sessions.
    is_broken: bool,
    pub(super) is_torn: bool,
    pub(super) is_live: bool,
}

impl<'a, S: Sinks> Pass<'a, S> {
    /// Goes over a store whose directory was judged.
    pub(super) fn over(
        storage: &'a dyn Storage,
        layout: &'a Layout,
        named: Named,
        mut sessions: Sessions<'a, S>,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Found<S::Sink>, Error> {
        if named.is_nothing {
            return Err(nothing(layout));
        }
        let ids = layout.headers().map(|(_, header)| header.store_id);
        let store_id = ids.chain(layout.slot().map(|slot| slot.store_id)).next();
        let slots = layout.slots.iter().flatten().map(|slot| slot.durable_lsn);
        let headers = layout.headers().map(|(_, header)| header.durable_lsn);
        let durable = layout.durable.map(|durable| durable.durable_lsn);
        sessions.store_id = store_id.unwrap_or_default();
        let mut pass = Self {
            storage,
            layout,
            settings: sessions.settings,
            progress,
            sessions,
            findings: named.findings,
            dropped: 0,
            durable_lsn: slots.chain(headers).chain(durable).max().unwrap_or(0),
            last_lsn: 0,
            reached: (0, 0),
            is_broken: named.is_decided,
            is_torn: false,
            is_live: layout.is_locked == Some(true),
        };
        if !named.is_decided {
            pass.segments(&named.orphans)?;
        }
        Ok(pass.finish())
    }

    fn segments(&mut self, orphans: &[u64]) -> Result<(), Error> {
        let layout = self.layout;
        if layout.segments.is_empty() {
            return Ok(());
        }
        let Some(last) = layout.segments.iter().rposition(|file| file.header.is_ok()) else {
            return self.empty_shells(0, 1);
        };
        for (index, file) in layout.segments[..=last].iter().enumerate() {
            let Ok(found) = &file.header else {
                self.damaged(header::invalid(file));
                continue;
            };
            if orphans.contains(&file.first_lsn) {
                self.is_broken = true;
            }
            if let Some(finding) = header::judge(layout, index) {
                self.damaged(finding);
            } else {
                let mut said = Vec::new();
                header::statements(file, found, &mut said);
                self.say_all(said);
            }
            if index == last {
                self.last_segment(file, found, last + 1)?;
            } else {
                let next = &layout.segments[index + 1];
                self.closed(file, found, next.header.as_ref().ok())?;
            }
        }
        Ok(())
    }

    /// Opens a segment at its first frame.
    pub(super) fn begin(
        &mut self,
        file: &'a SegmentFile,
        header: &'a SegmentHeader,
        end: u64,
        is_last: bool,
    ) -> Result<Walk<'a>, Error> {
        self.sessions.segment();
        let (epoch, durable_lsn) = self.reached;
        self.reached = (epoch.max(header.epoch), durable_lsn.max(header.durable_lsn));
        let file_end = header.segment_bytes.min(file.bytes);
        let walk = Walk {
            file,
            header,
            reader: Reader::open(self.storage, &file.path)?,
            extent: Extent { segment_id: header.segment_id, file_end, end },
            is_last,
            offset: SEGMENT_HEADER_BYTES,
            lsn: header.first_lsn,
            last_lsn: header.prev_last_lsn,
            digest: header.prev_digest,
            kept_end: SEGMENT_HEADER_BYTES,
            last: None,
        };
        walk.is_still()?;
        Ok(walk)
    }

    /// Goes on over every frame that follows.
    pub(super) fn advance(&mut self, walk: &mut Walk<'_>) -> Result<(), Error> {
        let mut batch = Batch::default();
        loop {
            batch.fill(&walk.reader, walk.extent, walk.offset)?;
            let decoded = batch.decode();
            let mut taken = 0;
            for frame in &decoded {
                let Ok(frame) = frame else { break };
                let head = &frame.frame.head;
                if (head.lsn, head.prev) != (walk.lsn, walk.digest) {
                    break;
                }
                self.frame(walk, taken, frame);
                taken += 1;
            }
            self.sessions.settle(&decoded[..taken], walk.file.first_lsn, self.durable_lsn);
            let next = match decoded.get(taken) {
                None => batch.next,
                Some(Err(offset)) => *offset,
                Some(Ok(frame)) => frame.frame.head.offset,
            };
            (self.progress)(next - walk.offset);
            walk.offset = next;
            if (batch.is_last || taken < decoded.len()) && !self.steps_over(walk)? {
                return Ok(());
            }
        }
    }

    /// Goes over padding that is not zero to the next group, if the frame there follows: then none
    /// lies between.
    fn steps_over(&mut self, walk: &mut Walk<'_>) -> Result<bool, Error> {
        let Some(next) = walk.next_group()? else { return Ok(false) };
        let message = "bytes that are not zero lie behind a group; no frame is lost";
        let finding = Finding::note("segment/padding", message);
        self.say(finding.at(walk.file.first_lsn, walk.offset));
        walk.offset = next;
        Ok(true)
    }

    /// Takes a frame that follows.
    fn frame(&mut self, walk: &mut Walk<'_>, index: usize, decoded: &Decoded<'_>) {
        let head = &decoded.frame.head;
        let segment = walk.file.first_lsn;
        let at = |finding: Finding| finding.at(segment, head.offset).of(head.lsn);
        if walk.last.is_some_and(|(kind, _)| kind == Kind::Rotate) {
            let message = "a frame follows the one that ends the segment";
            self.say(at(Finding::violation("frame/malformed", message)));
        }
        let (epoch, durable_lsn) = self.reached;
        if head.epoch < epoch {
            let message = format!("epoch {} comes after epoch {epoch}", head.epoch);
            self.say(at(Finding::violation("frame/epoch", message)));
        }
        if head.durable_lsn < durable_lsn {
            let message =
                format!("durable_lsn is {}; {durable_lsn} was durable before", head.durable_lsn);
            self.say(at(Finding::violation("frame/durable", message)));
        }
        self.reached = (epoch.max(head.epoch), durable_lsn.max(head.durable_lsn));
        if walk.is_last {
            self.durable_lsn = self.durable_lsn.max(head.durable_lsn);
        }
        walk.take(decoded);
        self.witnessed(walk);
        if self.is_broken {
            return;
        }
        self.last_lsn = head.lsn;
        let mut said = Vec::new();
        self.sessions.take(index, decoded, segment, &mut |finding| said.push(finding));
        self.say_all(said);
    }

    /// Compares what the witnesses state of the frame that a walk just took.
    fn witnessed(&mut self, walk: &Walk<'_>) {
        let here = (walk.header.segment_id, walk.last_lsn);
        let by = if self.layout.durable.is_some_and(|durable| {
            (durable.segment_id, durable.durable_lsn) == here && durable.end_offset != walk.kept_end
        }) {
            "`DURABLE`"
        } else if self.layout.slot().is_some_and(|slot| {
            (slot.active_segment_id, slot.durable_lsn) == here
                && matches!(slot.stop, Stop::Clean { end_offset, end_digest }
                    if (end_offset, end_digest) != (walk.kept_end, walk.digest))
        }) {
            "`STORE`"
        } else {
            return;
        };
        let message = format!("{by} states another end of this frame");
        let finding = Finding::violation("store/witness", message);
        self.say(finding.at(walk.file.first_lsn, walk.kept_end).of(walk.last_lsn));
    }

    /// Returns whether a writer is at work, as far as anybody can say.
    pub(super) fn look_for_a_writer(&mut self, has_patience: bool) -> Result<(), Error> {
        let layout = self.layout;
        if !self.is_live {
            let locked = layout::is_locked(self.storage, &layout.dir);
            if locked.is_none() && has_patience {
                (self.settings.wait)();
            }
            let (_, durable) = layout::durable(self.storage, &layout.dir)?;
            self.is_live = locked == Some(true) || durable != layout.durable;
        }
        Ok(())
    }

    /// Returns whether one of some rules was said of a segment.
    pub(super) fn has_said(&self, segment: u64, rules: &[&str]) -> bool {
        let is_it = |finding: &Finding| {
            finding.place.segment == Some(segment) && rules.contains(&finding.rule)
        };
        self.findings.iter().any(is_it)
    }

    fn say_all(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            self.say(finding);
        }
    }

    pub(super) fn say(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Says what keeps everything behind it from being judged.
    pub(super) fn damaged(&mut self, finding: Finding) {
        self.say(finding);
        self.is_broken = true;
    }

    fn finish(self) -> Found<S::Sink> {
        let is_at_rest = !self.is_broken && !self.is_live;
        let (sessions, mut due) = self.sessions.finish(is_at_rest);
        due.last_lsn = due.last_lsn.min(self.last_lsn);
        let check = StoreCheck {
            findings: self.findings,
            dropped: self.dropped,
            is_torn: self.is_torn,
            is_live: self.is_live,
            is_whole: !self.is_broken,
            segments: (self.layout.segments.len() + self.layout.sealed.len()) as u64,
            durable_lsn: self.durable_lsn,
            last_lsn: self.last_lsn,
            unconfirmed: self.last_lsn.saturating_sub(self.durable_lsn),
            bytes: self.layout.bytes,
            sessions,
        };
        (check, due)
    }
}

/// Returns the error that there is no store.
pub(super) fn nothing(layout: &Layout) -> Error {
    Error::new(ErrorKind::NotAStore, "there is no store here").at(&layout.dir, None)
}
