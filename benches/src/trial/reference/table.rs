//! The table of section 7.3, row by row.

use super::bytes::is_zero;
use super::frame::{self, Frame};
use super::header::{self, Header, Page};
use super::walk::{AtEnd, Place, Walk, at_end, behind, walk};
use super::witness::{self, Durable, Slot};
use super::{Beginning, End, Files, Reading, Verdict, session};
use std::collections::BTreeSet;

/// How closed segments are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// As an open may: the table at the end of a closed segment is enough, if its successor names
    /// one (7.1).
    Open,
    /// Every frame.
    Whole,
}

struct Segment<'a> {
    name: u64,
    file: &'a [u8],
    page: Page,
}

struct Store<'a> {
    depth: Depth,
    files: &'a Files,
    segments: Vec<Segment<'a>>,
    slots: Vec<Slot>,
    durable: Option<Durable>,
    frames: Vec<(Frame, &'a [u8])>,
    reading: Reading,
}

/// The row and the verdict of whoever decides; `Ok` leaves it to the rows behind.
type Decision = Result<(), (&'static str, Verdict)>;

/// Says of a directory what the document says of it.
pub fn read(files: &Files, depth: Depth) -> Reading {
    let mut store = Store {
        depth,
        files,
        segments: segments(files),
        slots: files.get("STORE").map(|file| witness::slots(file)).unwrap_or_default(),
        durable: files.get("DURABLE").and_then(|file| witness::durable(file)),
        frames: Vec::new(),
        reading: Reading::default(),
    };
    let decision = store.decide();
    let mut reading = store.reading;
    if let Some(header) = store.segments.iter().find_map(|segment| segment.page.valid()) {
        reading.sessions = session::sessions(&header.store_id, &store.frames);
    }
    (reading.row, reading.verdict) = decision.expect_err("the last rows decide whatever it is");
    reading
}

/// The raw segments, by name.
fn segments(files: &Files) -> Vec<Segment<'_>> {
    let named = files.iter().filter_map(|(name, file)| {
        let name = segment_name(name, ".log")?;
        Some(Segment { name, file, page: header::judge(file) })
    });
    named.collect()
}

fn segment_name(name: &str, ending: &str) -> Option<u64> {
    let digits = name.strip_suffix(ending)?;
    let is_number = digits.len() == 20 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|lsn| is_number && (1..1 << 63).contains(lsn))
}

fn is_spare(name: &str) -> bool {
    let number = name.strip_prefix("spare-").unwrap_or_default();
    number.parse::<u32>().is_ok_and(|value| value.to_string() == number)
}

fn corrupt<T>(row: &'static str, rule: &'static str) -> Result<T, (&'static str, Verdict)> {
    Err((row, Verdict::Corrupt(rule)))
}

impl<'a> Store<'a> {
    fn decide(&mut self) -> Decision {
        if self.files.keys().any(|name| segment_name(name, ".seal").is_some()) {
            return Err(("9", Verdict::Unsupported));
        }
        self.before_looking()?;
        self.names()?;
        for at in 1..self.segments.len() {
            self.closed_header(at - 1)?;
        }
        for at in 1..self.segments.len() {
            self.closed(at - 1)?;
        }
        let mut last = self.segments.len() - 1;
        while !self.has_content(last)? {
            self.reading.notes.push("segment/empty");
            self.segments.pop();
            last = last.checked_sub(1).ok_or(("H6", Verdict::New))?;
        }
        self.end(last)
    }

    /// Rows L3 to L6, and F1.
    fn before_looking(&mut self) -> Decision {
        let mut ids: BTreeSet<[u8; 16]> = self.slots.iter().map(|slot| slot.store_id).collect();
        ids.extend(self.durable.iter().map(|durable| durable.store_id));
        ids.extend(self.headers().map(|header| header.store_id));
        if let Some(renamed) = self.lost_rename(&ids) {
            self.reading.notes.push("F1");
            self.segments.push(renamed);
        }
        let spares = self.files.iter().filter(|(name, _)| is_spare(name));
        let mut spares = spares.map(|(_, file)| header::judge(file));
        let has_newer_spare = spares.any(|page| matches!(page, Page::UnknownMajor));
        if self.segments.is_empty() && !has_newer_spare && !self.has_witness_file() {
            return Err(("L3", Verdict::New));
        }
        if ids.len() > 1 {
            return corrupt("L5", "store/mixed");
        }
        let mut pages = self.segments.iter().map(|segment| &segment.page);
        let has_newer = has_newer_spare || pages.any(|page| matches!(page, Page::UnknownMajor));
        let store = self.files.get("STORE");
        if has_newer || store.is_some_and(|file| witness::has_unknown_version(file)) {
            return Err(("L6", Verdict::Unsupported));
        }
        if self.slots.is_empty() && !self.segments.is_empty() {
            self.reading.notes.push("store/no-superblock");
        }
        Ok(())
    }

    fn has_witness_file(&self) -> bool {
        self.files.contains_key("STORE") || self.files.contains_key("DURABLE")
    }

    fn headers(&self) -> impl Iterator<Item = &Header> {
        self.segments.iter().filter_map(|segment| segment.page.valid())
    }

    fn slot(&self) -> Option<&Slot> {
        self.slots.iter().max_by_key(|slot| slot.slot_seq)
    }

    /// The spare that is a segment whose rename was lost (F1).
    fn lost_rename(&self, ids: &BTreeSet<[u8; 16]>) -> Option<Segment<'a>> {
        let spares = self.files.iter().filter(|(name, _)| is_spare(name));
        let headers = spares.filter_map(|(_, file)| match header::judge(file) {
            Page::Valid(header) => Some((header, file)),
            _ => None,
        });
        let fitting = headers.filter(|(header, _)| {
            let fits = match self.segments.last() {
                None => header.begin == 0,
                Some(last) => {
                    let id = last.page.valid().map(|before| before.segment_id);
                    header.prev_first_lsn == last.name
                        && Some(header.prev_segment_id) == id
                        && header.first_lsn > last.name
                }
            };
            fits && (ids.is_empty() || ids.contains(&header.store_id))
        });
        let (header, file) = fitting.max_by_key(|(header, _)| header.epoch)?;
        Some(Segment { name: header.first_lsn, file, page: Page::Valid(header) })
    }

    /// Rows F3 and F12.
    fn names(&mut self) -> Decision {
        let names: BTreeSet<u64> = self.segments.iter().map(|segment| segment.name).collect();
        let ids: BTreeSet<u64> = self.headers().map(|header| header.segment_id).collect();
        let slot_misses = self.slot().is_some_and(|slot| !names.contains(&slot.first_lsn));
        let header_misses = self
            .headers()
            .any(|header| header.begin != 0 && !names.contains(&header.prev_first_lsn));
        let durable_misses = self.headers().count() == self.segments.len()
            && self.durable.as_ref().is_some_and(|durable| !ids.contains(&durable.segment_id));
        if slot_misses || header_misses || durable_misses || names.is_empty() {
            return corrupt("F3", "segment/missing");
        }
        if self.slot().is_some_and(|slot| Some(&slot.first_lsn) != names.last()) {
            self.reading.notes.push("store/stale-slot");
        }
        Ok(())
    }

    /// Whether a valid header belongs to its file, its size apart (3.1).
    fn belongs(&self, at: usize, header: &Header) -> bool {
        let is_after = match at.checked_sub(1).map(|before| &self.segments[before]) {
            None => header.begin == 0,
            Some(before) => {
                header.prev_first_lsn == before.name
                    && before.page.valid().is_none_or(|it| it.segment_id == header.prev_segment_id)
            }
        };
        let name = self.segments[at].name;
        let slot = self.slot().filter(|slot| slot.first_lsn == name);
        header.first_lsn == name
            && is_after
            && slot.is_none_or(|slot| slot.segment_id == header.segment_id)
    }

    /// Row F5 for the header of a segment with a successor.
    fn closed_header(&self, at: usize) -> Decision {
        let Segment { file, page, .. } = &self.segments[at];
        let Some(header) = page.valid() else { return corrupt("F5", "segment/header") };
        let file_bytes = file.len() as u64;
        if file_bytes < header.segment_bytes {
            return corrupt("F5", "segment/short");
        }
        if file_bytes != header.segment_bytes || !self.belongs(at, header) {
            return corrupt("F5", "segment/foreign");
        }
        Ok(())
    }

    /// Rows F4 and F5 for the frames of a segment with a successor.
    fn closed(&mut self, at: usize) -> Decision {
        let Segment { file, page, .. } = &self.segments[at];
        let (file, file_bytes): (&'a [u8], u64) = (file, file.len() as u64);
        let header = page.valid().expect("its header was asked before");
        // A header that is not valid states no end.
        let Some(next) = self.segments[at + 1].page.valid() else { return Ok(()) };
        let end = next.prev_end_offset;
        if next.begin == 0 || end > file_bytes || next.prev_last_lsn < header.prev_last_lsn {
            return corrupt("F5", "segment/foreign");
        }
        let walked = walk(file, header, Some(end));
        let is_whole = walked.p == end
            && walked.last_lsn == next.prev_last_lsn
            && walked.chain == next.prev_digest;
        let is_enough = self.depth == Depth::Open && has_table(file, header, next);
        let rule = match at_end(file, header, &walked, end) {
            _ if is_whole || is_enough => None,
            _ if walked.p >= end => Some("frame/chain"),
            AtEnd::Zeros | AtEnd::EndOfFile => Some("store/mixed"),
            AtEnd::DoesNotFollow => Some("frame/chain"),
            AtEnd::BadBody => Some("frame/body"),
            _ => Some("frame/header"),
        };
        self.take(at, file, walked);
        rule.map_or(Ok(()), |rule| corrupt("F5", rule))
    }

    /// Enters frames that are shown.
    fn take(&mut self, at: usize, file: &'a [u8], walk: Walk) {
        for (offset, frame) in walk.taken {
            self.reading.frames.push(Place {
                lsn: frame.lsn,
                segment: self.segments[at].name,
                offset,
                bytes: frame.frame_bytes(),
                kind: frame.kind,
                durable_lsn: frame.durable_lsn,
            });
            let body = frame.body(file, offset);
            self.frames.push((frame, body));
        }
    }

    /// Block H: whether the last segment has a header to go on with.
    fn has_content(&mut self, last: usize) -> Result<bool, (&'static str, Verdict)> {
        let Segment { file, page, name } = &self.segments[last];
        if let Some(header) = page.valid() {
            let file_bytes = file.len() as u64;
            return match self.belongs(last, header) && file_bytes == header.segment_bytes {
                true => Ok(true),
                false if file_bytes < header.segment_bytes => corrupt("H2", "segment/short"),
                false => corrupt("H3", "segment/foreign"),
            };
        }
        if !file.get(4096..).is_none_or(is_zero) {
            return corrupt("H4", "segment/header");
        }
        let is_active = self.slot().is_some_and(|slot| slot.first_lsn == *name);
        let before = last.checked_sub(1).map(|before| &self.segments[before]);
        let mut x = 1;
        if let Some((file, header)) =
            before.and_then(|before| Some((before.file, before.page.valid()?.clone())))
        {
            let walked = walk(file, &header, None);
            let stands = at_end(file, &header, &walked, file.len() as u64);
            x = walked.x;
            self.weigh(Some((file, &header, &walked, stands)));
        } else {
            self.weigh(None);
        }
        if x <= self.reading.w || is_active {
            return corrupt("H5", "segment/header");
        }
        Ok(false)
    }

    /// Finds W (7.2). On a tie the segments speak first.
    fn weigh(&mut self, last: Option<(&[u8], &Header, &Walk, AtEnd)>) {
        let mut witnesses = vec![(0, "nobody".to_owned())];
        for header in self.headers() {
            let who = format!("the header of segment {}", header.first_lsn);
            witnesses.push((header.prev_last_lsn, who));
        }
        if let Some((file, header, walk, at_end)) = last {
            for (offset, frame) in &walk.taken {
                witnesses.push((frame.durable_lsn, format!("the frame at {offset}")));
            }
            let at_p = Frame::sound(file, walk.p).filter(|_| at_end == AtEnd::BadBody);
            witnesses.extend(at_p.map(|at_p| (at_p.durable_lsn, "the header at p".to_owned())));
            if !matches!(at_end, AtEnd::Zeros | AtEnd::EndOfFile) {
                for (offset, durable_lsn) in behind(file, header, walk) {
                    witnesses
                        .push((durable_lsn, format!("the header at {offset}, behind the end")));
                }
            }
        }
        let slots = self.slots.iter().map(|slot| (slot.durable_lsn, "STORE".to_owned()));
        witnesses.extend(slots);
        let durable = self.durable.as_ref();
        witnesses.extend(durable.map(|durable| (durable.durable_lsn, "DURABLE".to_owned())));
        for (lsn, who) in witnesses {
            if lsn > self.reading.w || self.reading.witness.is_empty() {
                (self.reading.w, self.reading.witness) = (lsn, who);
            }
        }
    }

    /// Block P.
    fn end(&mut self, last: usize) -> Decision {
        let Segment { file, page, name } = &self.segments[last];
        let (file, segment): (&'a [u8], u64) = (file, *name);
        let header = page.valid().expect("block H came before").clone();
        let walked = walk(file, &header, None);
        let stands = at_end(file, &header, &walked, file.len() as u64);
        self.weigh(Some((file, &header, &walked, stands)));
        let end =
            End { segment, offset: walked.kept_end, lsn: walked.last_lsn, digest: walked.chain };
        self.reading.end = Some(end);
        self.reading.beginning = Some(Beginning {
            segment,
            begin: header.begin,
            prev_end_offset: header.prev_end_offset,
            prev_last_lsn: header.prev_last_lsn,
        });
        let has_close = walked.taken.last().is_some_and(|(_, frame)| frame.kind == 4);
        let is_closed = has_close
            && self.slot().is_some_and(|slot| {
                let place = (slot.first_lsn, slot.segment_id);
                slot.is_clean
                    && place == (segment, header.segment_id)
                    && (slot.durable_lsn, slot.end_offset) == (end.lsn, end.offset)
                    && slot.end_digest == end.digest
            });
        let (x, is_empty) = (walked.x, walked.taken.is_empty());
        self.take(last, file, walked);
        if stands == AtEnd::DoesNotFollow {
            return corrupt("P1", "frame/chain");
        }
        if x <= self.reading.w {
            let slots = self.slots.iter().map(|slot| slot.durable_lsn);
            let durable = self.durable.iter().map(|durable| durable.durable_lsn);
            if slots.chain(durable).any(|lsn| lsn == self.reading.w) {
                self.reading.notes.push("store/behind");
            }
            let rule = match stands {
                AtEnd::Zeros | AtEnd::EndOfFile => "log/lost-tail",
                AtEnd::BadBody => "frame/body",
                _ => "frame/header",
            };
            return corrupt("P2", rule);
        }
        let (row, verdict, note) = match stands {
            AtEnd::EndOfFile => ("P3", Verdict::Clean, None),
            AtEnd::Zeros if is_empty => ("P4", Verdict::Clean, None),
            AtEnd::Zeros if is_closed => ("P5", Verdict::Clean, None),
            AtEnd::Zeros => ("P6", Verdict::Clean, None),
            _ if is_closed => ("P7", Verdict::Clean, Some("segment/residue")),
            AtEnd::BadBody => ("P8", Verdict::Torn, None),
            AtEnd::Stale => ("P9", Verdict::Torn, Some("segment/stale")),
            AtEnd::Misdirected => ("P9", Verdict::Torn, Some("segment/misdirected")),
            AtEnd::ZerosThenBytes => ("P10", Verdict::Torn, None),
            _ => ("P11", Verdict::Torn, None),
        };
        self.reading.notes.extend(note);
        Err((row, verdict))
    }
}

/// Whether a valid frame with the table lies where the successor says, and ends as it says (7.1).
fn has_table(file: &[u8], header: &Header, next: &Header) -> bool {
    let at = next.prev_table_offset;
    at != 0
        && frame::valid(file, at, header).is_some_and(|frame| {
            (frame.kind == 4 || frame.kind == 7)
                && at + frame.frame_bytes() == next.prev_end_offset
                && frame.lsn == next.prev_last_lsn
                && frame.digest(file, at) == next.prev_digest
        })
}
