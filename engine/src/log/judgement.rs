//! What a store is, by the table: what a writer would keep, and why not more. [`super::judge`]
//! makes it of what lies in the directory.
//!
//! A judgement reads and changes nothing. A reader takes it as it is. A writer then asks the
//! device whether it has what the cache shows, and lets the judgement settle on what it answers.

use super::chain::StoreId;
use super::closed::ClosedSegment;
use super::scene::{Scene, SegmentFile};
use super::segment_header::SegmentHeader;
use super::source::Source;
use super::superblock;
use super::tail::{Act, At, EndFacts, Images, Ruling, Stop, Verdict, Vouched};
use super::tally::Tally;
use super::walk::{Start, Walked, walk};
use crate::backend::{Error, ErrorKind};
use std::path::PathBuf;

/// Something that is to be said of a store, with the place that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The rule.
    pub(crate) rule: &'static str,
    /// What was seen.
    pub(crate) message: String,
    /// The file.
    pub(crate) path: PathBuf,
    /// Where in it.
    pub(crate) offset: Option<u64>,
}

/// Which kind of witness gave W.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Voucher {
    /// None did: nothing was ever synced.
    #[default]
    Nobody,
    /// A slot of `STORE`.
    Store,
    /// `DURABLE`.
    Durable,
    /// The header of a segment.
    Header,
    /// A frame of the last segment before its end.
    Frame,
    /// A header in the last segment at or behind its end.
    Behind,
}

/// W: the greatest lsn that a witness says was synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Witness {
    /// The lsn; 0 for none.
    pub(crate) lsn: u64,
    /// Who said so, the first of equals.
    pub(crate) voucher: Voucher,
}

impl Witness {
    pub(super) fn hear(&mut self, lsn: u64, voucher: Voucher) {
        if lsn > self.lsn {
            *self = Self { lsn, voucher };
        }
    }
}

/// The segment at whose end the log ends.
#[derive(Clone, Debug)]
pub(crate) struct LastSegment {
    /// Its file.
    pub(crate) file: SegmentFile,
    /// Its header.
    pub(crate) header: SegmentHeader,
    /// How far its frames follow.
    pub(crate) walked: Walked,
    /// The sessions in it.
    pub(crate) tally: Tally,
}

/// What a store is and what a writer would do with it.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// The row that decides.
    pub(crate) ruling: Ruling,
    /// The other rows that fitted, in the order in which they were met.
    pub(crate) rows: Vec<Ruling>,
    /// What is to be said, whatever was decided.
    pub(crate) notes: Vec<Note>,
    /// Why the store is refused, if it is.
    pub(crate) refusal: Option<Note>,
    /// Identity of the store.
    pub(crate) store_id: StoreId,
    /// The greatest epoch seen.
    pub(crate) epoch: u32,
    /// W.
    pub(crate) witness: Witness,
    /// Segments before the last.
    pub(crate) closed: Vec<ClosedSegment>,
    /// The last segment, if the judgement came to it.
    pub(crate) last: Option<LastSegment>,
    /// Files that have a segment's name and hold nothing.
    pub(crate) empties: Vec<PathBuf>,
    /// Spares that are none.
    pub(crate) left_over: Vec<PathBuf>,
}

/// Walks over a segment as the last one.
pub(crate) fn walk_last(
    source: &mut dyn Source,
    file: &SegmentFile,
    header: &SegmentHeader,
) -> Result<LastSegment, Error> {
    let mut tally = Tally::default();
    let walked = walk(source, Start::of(header), &mut |frame| tally.take(frame))?;
    Ok(LastSegment { file: file.clone(), header: header.clone(), walked, tally })
}

/// Returns whether a witness vouches for the lsn that is expected next.
pub(super) fn vouched(next_lsn: u64, witness: Witness) -> Vouched {
    if next_lsn <= witness.lsn { Vouched::Yes } else { Vouched::No }
}

impl Judgement {
    /// Begins with the witnesses beside the segments.
    pub(super) fn new(scene: &Scene) -> Self {
        let mut witness = Witness::default();
        for slot in scene.store.iter().flat_map(|store| &store.slots).flatten() {
            witness.hear(slot.durable_lsn, Voucher::Store);
        }
        witness.hear(scene.durable.map_or(0, |durable| durable.durable_lsn), Voucher::Durable);
        Self {
            ruling: Ruling { row: "L0", verdict: Verdict::GoOn, act: Act::Nothing },
            rows: Vec::new(),
            notes: Vec::new(),
            refusal: None,
            store_id: scene.store_ids().next().map(|(id, _)| id).unwrap_or_default(),
            epoch: scene.epoch(),
            witness,
            closed: Vec::new(),
            last: None,
            empties: Vec::new(),
            left_over: Vec::new(),
        }
    }

    /// Takes in what frames vouch for.
    pub(super) fn hear(&mut self, walked: &Walked) {
        self.witness.hear(walked.durable_lsn, Voucher::Frame);
        self.witness.hear(walked.durable_lsn_behind, Voucher::Behind);
        self.epoch = self.epoch.max(walked.epoch);
    }

    /// Block P: decides by how far the last segment's frames follow, and by whether the cache and
    /// the device show the same.
    pub(crate) fn settle(&mut self, scene: &Scene, last: LastSegment, images: Images) {
        self.hear(&last.walked);
        let walked = &last.walked;
        let facts = EndFacts {
            vouched: vouched(walked.next_lsn, self.witness),
            at: walked.at,
            last: walked.last_frame(),
            stop: stop(scene, &last),
            images,
        };
        self.ruling = facts.ruling();
        self.notes.retain(|note| note.path != last.file.path && note.rule != "store/behind");
        let (path, offset) = (last.file.path.clone(), Some(walked.stop_offset));
        let stray = match walked.at {
            At::Stale => Some(("segment/stale", "a frame of another segment lies here")),
            At::Misdirected => Some(("segment/misdirected", "a frame of another place lies here")),
            _ => None,
        };
        let residue = ("segment/residue", "bytes lie behind the end of a clean stop");
        let residue = matches!(self.ruling.verdict, Verdict::Note(_)).then_some(residue);
        for (rule, message) in stray.into_iter().chain(residue) {
            let (message, path) = (message.to_owned(), path.clone());
            self.notes.push(Note { rule, message, path, offset });
        }
        self.refusal = None;
        if let Verdict::Corrupt(rule) = self.ruling.verdict {
            let message = self.lost(walked);
            self.refusal = Some(Note { rule, message, path, offset });
            if matches!(self.witness.voucher, Voucher::Store | Voucher::Durable) {
                let message = format!("W is {}, beyond the end of the log", self.witness.lsn);
                let (rule, path, offset) = ("store/behind", scene.dir.clone(), None);
                self.notes.push(Note { rule, message, path, offset });
            }
        }
        self.last = Some(last);
    }

    fn lost(&self, walked: &Walked) -> String {
        if walked.at == At::Unchained {
            return format!("a whole frame lies here that does not follow lsn {}", walked.last_lsn);
        }
        let voucher = match self.witness.voucher {
            Voucher::Store => "`STORE`",
            Voucher::Durable => "`DURABLE`",
            Voucher::Header => "a segment's header",
            _ => "a frame",
        };
        let (lsn, durable) = (walked.next_lsn, self.witness.lsn);
        format!("lsn {lsn} should be here: {voucher} says that all up to {durable} was synced")
    }

    /// Returns the error that refuses the store, if the judgement does.
    pub(crate) fn error(&self) -> Option<Error> {
        let refusal = self.refusal.as_ref()?;
        let mut error = if self.ruling.verdict == Verdict::Unsupported {
            Error::new(ErrorKind::Unsupported, refusal.message.clone())
        } else {
            let next = "nothing was changed; run `log-verify` on the store";
            Error::corrupt(refusal.rule, format!("{}; {next}", refusal.message))
        };
        error = error.at(refusal.path.clone(), refusal.offset);
        Some(error)
    }

    /// Returns whether a row fitted, the one that decides included.
    pub(crate) fn has_row(&self, id: &str) -> bool {
        self.ruling.row == id || self.rows.iter().any(|ruling| ruling.row == id)
    }
}

/// Returns whether `STORE` says that the stop was clean and that it ended here.
fn stop(scene: &Scene, last: &LastSegment) -> Stop {
    let walked = &last.walked;
    let is_clean = scene.slot().is_some_and(|slot| {
        (slot.active_first_lsn, slot.active_segment_id)
            == (last.header.first_lsn, last.header.segment_id)
            && slot.durable_lsn == walked.last_lsn
            && slot.stop
                == superblock::Stop::Clean {
                    end_offset: walked.end_offset,
                    end_digest: walked.digest,
                }
    });
    if is_clean { Stop::Clean } else { Stop::Open }
}
