//! What lies in a store becomes facts, and facts become a row of the table.
//!
//! The blocks come in the order L, F, H, P; the first row that refuses or decides ends it. The end
//! of the last segment, block P, is the judgement's own: see [`Judgement::settle`].

use super::behind::body_residue;
use super::closed;
use super::judgement::{Judgement, LastSegment, Note, Voucher, vouched, walk_last};
use super::name;
use super::scene::{Scene, SegmentFile};
use super::segment_header::SegmentHeader;
use super::source::{Cached, patiently};
use super::tail::{
    Act, Body, Called, Contents, FileFacts, Format, HeaderFacts, HeaderIs, Ids, Images, Lock,
    NamedIs, Raw, Read, Ruling, Seal, Sight, SpareHolds, Subject, Superblock, Verdict, Vouched,
};
use crate::backend::{Error, ErrorKind};
use crate::storage::{FileId, Storage};
use std::path::{Path, PathBuf};

/// Judges a store.
///
/// # Errors
///
/// [`ErrorKind::Io`] where something cannot be read: undecided (row L2).
/// [`ErrorKind::Unsupported`] for sealed segments. What contradicts itself is no error, but the
/// judgement's `refusal`.
pub(crate) fn judge(storage: &dyn Storage, scene: &Scene) -> Result<Judgement, Error> {
    if let Some(first_lsn) = scene.sealed.first() {
        let message =
            "the store has sealed segments, which this version cannot read; use a newer one";
        let path = scene.dir.join(format!("{first_lsn:020}.seal"));
        return Err(Error::new(ErrorKind::Unsupported, message).at(path, None));
    }
    let mut judge = Judge { storage, scene, judgement: Judgement::new(scene) };
    let decided = judge.sight() || judge.names() || judge.headers() || judge.segments()?;
    debug_assert!(decided);
    Ok(judge.judgement)
}

struct Judge<'a> {
    storage: &'a dyn Storage,
    scene: &'a Scene,
    judgement: Judgement,
}

const FILE: FileFacts = FileFacts {
    subject: Subject::Named,
    spare: SpareHolds::Zeros,
    named: NamedIs::There,
    raw: Raw::Whole,
    seal: Seal::Absent,
};

impl Judge<'_> {
    /// Block L. Returns whether it decided.
    fn sight(&mut self) -> bool {
        let scene = self.scene;
        let mut ids = scene.store_ids();
        let first = ids.next();
        let other = ids.find(|(id, _)| first.is_some_and(|(first, _)| *id != first));
        let is_something =
            scene.store.is_some() || scene.durable.is_some() || !scene.segments.is_empty();
        let is_newer = scene.newer.is_some();
        let facts = Sight {
            lock: Lock::Ours,
            read: Read::Fine,
            contents: if is_something || is_newer {
                Contents::Something
            } else {
                Contents::Nothing
            },
            ids: if other.is_some() { Ids::Two } else { Ids::One },
            format: if is_newer { Format::Unknown } else { Format::Known },
            superblock: if scene.slot().is_some() { Superblock::Valid } else { Superblock::Absent },
        };
        let ruling = facts.ruling();
        match ruling.verdict {
            Verdict::New => self.decide(ruling),
            Verdict::Corrupt(rule) => {
                let path = other.map_or(Path::new(""), |(_, path)| path);
                self.refuse(ruling, rule, "belongs to another store", scene.dir.join(path), None)
            }
            Verdict::Unsupported => {
                let (path, version) = scene.newer.clone().unwrap_or_default();
                let message = format!("is of {version}, which this version does not know");
                self.refuse(ruling, "format/unsupported", message, path, None)
            }
            Verdict::Note(rule) => {
                let path = scene.dir.join(name::STORE);
                self.note(ruling, rule, "no slot is valid; one witness less", path, None);
                false
            }
            _ => false,
        }
    }

    /// Spares, names that witnesses give, and whether the store was copied.
    fn names(&mut self) -> bool {
        let scene = self.scene;
        if scene.segments.iter().any(|segment| segment.is_unnamed) {
            let spare = SpareHolds::LostRename;
            self.met(FileFacts { subject: Subject::Spare, spare, ..FILE }.ruling());
        }
        for spare in &scene.spares {
            let holds = if spare.is_zero { SpareHolds::Zeros } else { SpareHolds::Else };
            let ruling = FileFacts { subject: Subject::Spare, spare: holds, ..FILE }.ruling();
            if ruling.act == Act::Discard {
                self.judgement.left_over.push(spare.path.clone());
            }
            self.met(ruling);
        }
        if !scene.aside.is_empty() {
            self.met(FileFacts { subject: Subject::Aside, ..FILE }.ruling());
        }
        self.copied();
        let missing = FileFacts { named: NamedIs::Missing, ..FILE }.ruling();
        if let Some((name, by)) = self.missing() {
            let path = scene.dir.join(name);
            let message = format!("{by} names it, and it is not there");
            return self.refuse(missing, "segment/missing", message, path, None);
        }
        let last = scene.segments.last().map(|segment| segment.first_lsn);
        if let Some(slot) = scene.slot().filter(|slot| Some(slot.active_first_lsn) != last) {
            let ruling = FileFacts { named: NamedIs::Earlier, ..FILE }.ruling();
            let message =
                format!("calls the segment {} active; there is a later one", slot.active_first_lsn);
            self.note(ruling, "store/stale-slot", message, scene.dir.join(name::STORE), None);
        }
        false
    }

    fn copied(&mut self) {
        let (Some(store), Some(slot)) = (&self.scene.store, self.scene.slot()) else { return };
        let said = FileId { device: slot.device, inode: slot.inode };
        let unknown = FileId::default();
        if said != store.identity && said != unknown && store.identity != unknown {
            let path = self.scene.dir.join(name::STORE);
            let message = "says that it is another file: the store was copied or moved".to_owned();
            let (rule, offset) = ("store/copied", None);
            self.judgement.notes.push(Note { rule, message, path, offset });
        }
    }

    /// Returns the name of a segment that should be there and is not, and who says so.
    fn missing(&self) -> Option<(String, String)> {
        let scene = self.scene;
        let is_there =
            |lsn: u64| scene.segments.binary_search_by_key(&lsn, |it| it.first_lsn).is_ok();
        if let Some(slot) = scene.slot()
            && !is_there(slot.active_first_lsn)
        {
            return Some((name::segment(slot.active_first_lsn), "`STORE`".into()));
        }
        for file in &scene.segments {
            let Ok(header) = &file.header else { continue };
            if header.prev_first_lsn != 0 && !is_there(header.prev_first_lsn) {
                let by = format!("the segment {}", file.first_lsn);
                return Some((name::segment(header.prev_first_lsn), by));
            }
        }
        let has_all = scene.segments.iter().all(|file| file.header.is_ok());
        let id = scene.durable.map(|durable| durable.segment_id);
        if has_all && id.is_some_and(|id| scene.headers().all(|header| header.segment_id != id)) {
            return Some(("the segment of the durable end".into(), "`DURABLE`".into()));
        }
        // `STORE` is written after the first segment has its name.
        let is_empty = scene.segments.is_empty();
        is_empty.then(|| (name::segment(1), "`STORE`".into()))
    }

    /// Headers of the segments before the last, and how each names the one before it.
    fn headers(&mut self) -> bool {
        let scene = self.scene;
        let last = scene.segments.len() - 1;
        for place in 0..last {
            let file = &scene.segments[place];
            let (rule, message) = match self.header_is(place) {
                HeaderIs::Valid => continue,
                HeaderIs::Short => ("segment/short", "is smaller than its header says"),
                HeaderIs::Foreign => ("segment/foreign", "is not the file that its name says"),
                HeaderIs::Invalid => ("segment/header", "has no valid header"),
            };
            let facts = FileFacts { subject: Subject::Closed, raw: Raw::Bad, ..FILE };
            return self.refuse(facts.ruling(), rule, message, file.path.clone(), Some(0));
        }
        false
    }

    /// Judges the header of one segment against its file and the segment before it.
    fn header_is(&self, place: usize) -> HeaderIs {
        let file = &self.scene.segments[place];
        let Ok(header) = &file.header else { return HeaderIs::Invalid };
        if file.bytes < header.segment_bytes {
            return HeaderIs::Short;
        }
        let before = place.checked_sub(1).map(|before| &self.scene.segments[before]);
        let names = before.map_or(0, |before| before.first_lsn);
        let id = match before.map(|before| &before.header) {
            Some(Ok(before)) => before.segment_id,
            // What the one before is, it will have to say itself.
            Some(Err(_)) => header.prev_segment_id,
            None => 0,
        };
        let slot = self.scene.slot().filter(|slot| slot.active_first_lsn == file.first_lsn);
        let agrees = header.first_lsn == file.first_lsn
            && file.bytes == header.segment_bytes
            && (header.prev_first_lsn, header.prev_segment_id) == (names, id)
            && slot.is_none_or(|slot| slot.active_segment_id == header.segment_id);
        if agrees { HeaderIs::Valid } else { HeaderIs::Foreign }
    }

    /// The last segment, or the one before it where that one is an empty shell; and the others.
    fn segments(&mut self) -> Result<bool, Error> {
        let scene = self.scene;
        for header in scene.headers() {
            self.judgement.witness.hear(header.durable_lsn, Voucher::Header);
        }
        let mut last = scene.segments.len() - 1;
        for place in 0..last {
            let (file, next) = (&scene.segments[place], &scene.segments[place + 1]);
            if let (Ok(header), Ok(next)) = (&file.header, &next.header) {
                match closed::check(self.storage, file, header, next)? {
                    Ok(closed) => {
                        self.met(FileFacts { subject: Subject::Closed, ..FILE }.ruling());
                        self.judgement.closed.push(closed);
                    }
                    Err(broken) => {
                        let facts = FileFacts { subject: Subject::Closed, raw: broken.raw, ..FILE };
                        let message = "the segment is bad before the end that its successor states";
                        let (path, offset) = (file.path.clone(), Some(broken.offset));
                        return Ok(self.refuse(facts.ruling(), broken.rule, message, path, offset));
                    }
                }
            }
        }
        let mut header = self.header_is(last);
        while header == HeaderIs::Invalid {
            if self.invalid(last)? {
                return Ok(true);
            }
            // Its files hold nothing, so the segment before has no successor.
            let Some(before) = last.checked_sub(1) else {
                return Ok(self.decide(Ruling { act: Act::Make, ..self.judgement.ruling }));
            };
            last = before;
            header = self.header_is(last);
        }
        self.end_of(last, header)
    }

    /// Rows H4 to H6 for a segment without a valid header. Returns whether they refuse it.
    fn invalid(&mut self, place: usize) -> Result<bool, Error> {
        let scene = self.scene;
        let file = &scene.segments[place];
        let opened = patiently(&file.path, 0, || self.storage.open(&file.path))?;
        let mut source = Cached::new(&*opened, &file.path);
        let body = body_residue(&mut source, file.bytes)?;
        let before = place.checked_sub(1).map(|before| &scene.segments[before]);
        let mut next_lsn = 1;
        if let Some(before) = before
            && let Ok(header) = &before.header
        {
            let walked = self.walk(before, header)?.walked;
            self.judgement.hear(&walked);
            next_lsn = walked.next_lsn;
        }
        let is_active = scene.slot().is_some_and(|slot| slot.active_first_lsn == file.first_lsn);
        let ruling = HeaderFacts {
            header: HeaderIs::Invalid,
            body: if body.bytes == 0 { Body::Zeros } else { Body::Something },
            vouched: vouched(next_lsn, self.judgement.witness),
            called: if is_active { Called::Active } else { Called::Not },
        }
        .ruling();
        let path = file.path.clone();
        if ruling.act == Act::Refuse {
            let message = "the header was synced before the segment was used, and does not check";
            return Ok(self.refuse(ruling, "segment/header", message, path, Some(0)));
        }
        self.note(ruling, "segment/empty", "holds nothing, and no witness knows it", path, None);
        self.judgement.empties.push(file.path.clone());
        self.judgement.ruling = ruling;
        Ok(false)
    }

    /// Rows H1 to H3, then block P.
    fn end_of(&mut self, place: usize, header: HeaderIs) -> Result<bool, Error> {
        let file = &self.scene.segments[place];
        let (body, vouched, called) = (Body::Zeros, Vouched::No, Called::Not);
        let ruling = HeaderFacts { header, body, vouched, called }.ruling();
        let (rule, message) = match header {
            HeaderIs::Short => ("segment/short", "is smaller than its header says"),
            _ => ("segment/foreign", "is not the file that its name, `STORE` or a header says"),
        };
        let (Ok(found), HeaderIs::Valid) = (&file.header, header) else {
            return Ok(self.refuse(ruling, rule, message, file.path.clone(), Some(0)));
        };
        self.met(ruling);
        let last = self.walk(file, found)?;
        self.judgement.settle(self.scene, last, Images::Alike);
        Ok(true)
    }

    fn walk(&self, file: &SegmentFile, header: &SegmentHeader) -> Result<LastSegment, Error> {
        let opened = patiently(&file.path, 0, || self.storage.open(&file.path))?;
        walk_last(&mut Cached::new(&*opened, &file.path), file, header)
    }

    fn met(&mut self, ruling: Ruling) {
        self.judgement.rows.push(ruling);
    }

    fn decide(&mut self, ruling: Ruling) -> bool {
        self.judgement.ruling = ruling;
        true
    }

    fn note(
        &mut self,
        ruling: Ruling,
        rule: &'static str,
        message: impl Into<String>,
        path: PathBuf,
        offset: Option<u64>,
    ) {
        self.met(ruling);
        self.judgement.notes.push(Note { rule, message: message.into(), path, offset });
    }

    fn refuse(
        &mut self,
        ruling: Ruling,
        rule: &'static str,
        message: impl Into<String>,
        path: PathBuf,
        offset: Option<u64>,
    ) -> bool {
        self.judgement.refusal = Some(Note { rule, message: message.into(), path, offset });
        // The table leaves open which of a family of rules it is.
        let verdict = match ruling.verdict {
            Verdict::Corrupt(_) => Verdict::Corrupt(rule),
            other => other,
        };
        self.decide(Ruling { verdict, ..ruling })
    }
}
