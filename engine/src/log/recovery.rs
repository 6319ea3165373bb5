//! Opens a store for writing: carries out what the judgement says, with the lock held.
//!
//! In this order, and each step a function, so that a crash between any two leaves a state that
//! the next open judges like any other:
//!
//! 1. the last segment is synced: what a killed process left dirty;
//! 2. the store is judged;
//! 3. everything above W is read from the device, and the judgement settles on that. Where the
//!    file system has no such reads, the kept bytes above W are written again in place;
//! 4. the last segment is synced again, so that the device has given up its own cache;
//! 5. shells without a header go to `quarantine`, a lost rename is made up for; a segment that
//!    `STORE` does not name gets its name once more, since the sync of it may have failed;
//! 6. a new segment is begun, if the row says so. No byte of the old file changes: the cut is a
//!    statement in the new one's header;
//! 7. a slot of `STORE` says that the store is open;
//! 8. what is left over is removed.
//!
//! Before 6 nothing was decided on the disk, after 7 everything was. Only what the device has said
//! is stated as durable.

use super::asked::{Asked, ask_device};
use super::chain::{Digest, StoreId};
use super::closed::ClosedSegment;
use super::crc;
use super::frame::Kind;
use super::fresh;
use super::judge::judge;
use super::judgement::{Judgement, LastSegment};
use super::limit::{FIRST_SEGMENT_BYTES, LSN_MAX, SEGMENT_BYTES_MIN};
use super::name;
use super::opened::{Active, End, Opened, empty, go_on};
use super::scene::Scene;
use super::segment_file::{Spare, write_all};
use super::segment_header::{Begin, SegmentHeader};
use super::superblock::{STORE_BYTES, Slot, Stop};
use super::tail::Act;
use crate::backend::{Error, ErrorKind};
use crate::machine::Machine;
use crate::storage::{Create, Volume, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a store is looked at again because a file vanished under our eyes.
const LOOKS: usize = 8;

/// Where files go that hold nothing and have a name of ours.
const QUARANTINE: &str = "quarantine";

/// A store to be opened for writing. The caller holds its lock, and has made its directory.
pub(crate) struct Recovery<'a> {
    /// The disk.
    pub(crate) volume: &'a dyn Volume,
    /// Clock and chance.
    pub(crate) machine: &'a dyn Machine,
    /// The store's directory.
    pub(crate) dir: &'a Path,
    /// The size of a grown segment, in bytes; none that recovery makes is larger.
    pub(crate) segment_bytes: u64,
    /// Make the store if there is none.
    pub(crate) may_create: bool,
}

impl Recovery<'_> {
    /// Opens the store.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] and [`ErrorKind::Unsupported`] where the judgement refuses it, and
    /// then nothing was changed; [`ErrorKind::NotAStore`] where there is none and none may be made;
    /// [`ErrorKind::Io`] and [`ErrorKind::NoSpace`] where the disk fails: the next open goes on
    /// from whatever was done.
    pub(crate) fn open(&self) -> Result<Opened, Error> {
        if !crc::self_test() {
            let message = "the checksum is computed wrongly on this machine; nothing was opened";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        for _ in 0..LOOKS {
            let scene = match Scene::look(self.volume, self.dir) {
                Err(error) if error.kind == ErrorKind::Busy => continue,
                looked => looked?,
            };
            self.sync_last(&scene)?;
            let mut judgement = judge(self.volume, &scene)?;
            refuse(&judgement)?;
            let Some(path) = judgement.last.as_ref().map(|last| last.file.path.clone()) else {
                return self.carry_out(&scene, judgement, None);
            };
            let file = self.open_existing(&path)?;
            if ask_device(&scene, &mut judgement, &*file)? == Asked::Unwritten {
                self.remove(&path)?;
                continue;
            }
            refuse(&judgement)?;
            sync(&*file, &path)?;
            return self.carry_out(&scene, judgement, Some(file));
        }
        let message = "files of the store vanish while it is opened; somebody else changes it";
        Err(Error::new(ErrorKind::Busy, message).at(self.dir, None))
    }

    /// Step 1. Every segment that can turn out to be the last is synced: from the last one back to
    /// the first with a header.
    fn sync_last(&self, scene: &Scene) -> Result<(), Error> {
        for segment in scene.segments.iter().rev() {
            sync(&*self.open_existing(&segment.path)?, &segment.path)?;
            if segment.header.is_ok() {
                break;
            }
        }
        Ok(())
    }

    /// Steps 5 to 8.
    fn carry_out(
        &self,
        scene: &Scene,
        mut judgement: Judgement,
        file: Option<Arc<dyn WriteFile>>,
    ) -> Result<Opened, Error> {
        let epoch = judgement.epoch.checked_add(1).ok_or_else(|| {
            let message = "the store was opened for writing 4,294,967,295 times and takes no more";
            Error::new(ErrorKind::Unsupported, message).at(self.dir, None)
        })?;
        for path in &judgement.empties {
            self.quarantine(path)?;
        }
        let act = judgement.ruling.act;
        let end = match (judgement.last.take(), file) {
            (Some(mut last), Some(file)) => {
                if last.file.is_unnamed || !is_named_by_store(scene, &last) {
                    let path = if last.file.is_unnamed {
                        last.file.path.clone()
                    } else {
                        fresh::unname(self.volume, self.dir, &last.file.path)?
                    };
                    last.file.path =
                        fresh::name_it(self.volume, self.dir, &path, last.header.first_lsn)?;
                }
                match act {
                    Act::Use => go_on(last, file),
                    _ => self.begin(scene, &mut judgement, last, epoch)?,
                }
            }
            _ => self.make(scene, &mut judgement, epoch)?,
        };
        let slot = self.say_open(scene, judgement.store_id, &end, epoch)?;
        let mut left_over = judgement.left_over.iter().chain(&scene.aside).peekable();
        if left_over.peek().is_some() {
            // Nothing depends on it; what stays is tried again by the next open.
            left_over.for_each(|path| drop(self.volume.remove(path)));
            let _ = self.volume.sync_dir(self.dir);
        }
        let Judgement { store_id, closed, ruling, notes, .. } = judgement;
        let End { active, end_offset, next_lsn, durable_lsn, digest, tally } = end;
        let durable = scene.durable;
        let used = &active.file.stat().map(|stat| stat.identity).ok();
        let spares = scene.spares.iter().filter(|spare| spare.is_zero);
        let spares = spares
            .filter_map(|spare| Spare::adopt(self.volume, &spare.path, spare.bytes))
            .filter(|spare| spare.file.stat().map(|stat| stat.identity).ok() != *used)
            .collect();
        Ok(Opened {
            epoch,
            store_id,
            active,
            end_offset,
            next_lsn,
            durable_lsn,
            digest,
            closed,
            tally,
            slot,
            durable,
            ruling,
            spares,
            notes,
        })
    }

    /// Step 5. Moves a file that holds nothing out of the way; nothing is ever deleted that has a
    /// segment's name.
    fn quarantine(&self, path: &Path) -> Result<(), Error> {
        let dir = self.dir.join(QUARANTINE);
        match self.volume.create_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(dir, "the directory cannot be made", error));
            }
            _ => {}
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let free = (0..u32::MAX).map(|number| match number {
            0 => dir.join(format!("{stem}-0.bin")),
            more => dir.join(format!("{stem}-0.{more}.bin")),
        });
        let is_free = |to: &PathBuf| {
            let found = self.volume.stat(to);
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let to = free.take(LOOKS * LOOKS).find(is_free).ok_or_else(|| {
            let message = "this segment was quarantined too often; empty the directory";
            Error::new(ErrorKind::NotAStore, message).at(&dir, None)
        })?;
        let moved = self.volume.rename(path, &to);
        moved.map_err(|error| Error::io(path, "the file cannot be quarantined", error))?;
        self.sync_dir(&dir)?;
        self.sync_dir(self.dir)
    }

    /// Step 6, for a store that goes on behind another segment.
    fn begin(
        &self,
        scene: &Scene,
        judgement: &mut Judgement,
        last: LastSegment,
        epoch: u32,
    ) -> Result<End, Error> {
        let LastSegment { file, header: before, walked, tally } = last;
        // A cut that falls on a segment's first frame would give the next one the same name.
        let first_lsn = walked.next_lsn.max(before.first_lsn + 1);
        if first_lsn > LSN_MAX {
            let message = "the log is at its last lsn and takes no more";
            return Err(Error::new(ErrorKind::Unsupported, message).at(self.dir, None));
        }
        let table = walked.last.filter(|last| last.kind == Kind::Rotate).map(|last| last.offset);
        let (begin, table, residue) = match (judgement.ruling.act, table) {
            (Act::Cut, _) => (Begin::TornCut, None, Some(walked.residue)),
            (_, Some(offset)) => (Begin::Rotated, Some(offset), None),
            _ => (Begin::Unclean, None, None),
        };
        let limits = SEGMENT_BYTES_MIN..=self.segment_bytes.max(SEGMENT_BYTES_MIN);
        let bytes = before.segment_bytes.clamp(*limits.start(), *limits.end());
        let blank = fresh::blank(self.volume, scene, bytes)?;
        let header = SegmentHeader {
            store_id: before.store_id,
            segment_id: self.random_id(),
            epoch,
            first_lsn,
            segment_bytes: blank.bytes,
            prev_first_lsn: before.first_lsn,
            prev_segment_id: before.segment_id,
            prev_end_offset: walked.end_offset,
            prev_last_lsn: walked.last_lsn,
            prev_digest: walked.digest,
            durable_lsn: walked.last_lsn,
            begin,
            cut_bytes: residue.map_or(0, |residue| residue.bytes),
            cut_crc: residue.map_or(0, |residue| residue.crc),
            created_ms: self.machine.now_ms(),
            prev_table_offset: table.unwrap_or(0),
        };
        let path = fresh::begin(self.volume, self.dir, &blank, &header)?;
        judgement.closed.push(ClosedSegment {
            path: file.path,
            header: before,
            end_offset: walked.end_offset,
            last_lsn: walked.last_lsn,
            digest: walked.digest,
            table_offset: table,
            tally: Some(tally),
        });
        Ok(empty(Active { path, file: blank.file, header }))
    }

    /// Step 6, for a store that is not there yet (row L3).
    fn make(&self, scene: &Scene, judgement: &mut Judgement, epoch: u32) -> Result<End, Error> {
        if !self.may_create {
            let message = "there is no store here";
            return Err(Error::new(ErrorKind::NotAStore, message).at(self.dir, None));
        }
        if judgement.store_id == StoreId::default() {
            self.machine.random(&mut judgement.store_id);
        }
        let bytes = FIRST_SEGMENT_BYTES.min(self.segment_bytes).max(SEGMENT_BYTES_MIN);
        let blank = fresh::blank(self.volume, scene, bytes)?;
        let header = SegmentHeader {
            store_id: judgement.store_id,
            segment_id: self.random_id(),
            epoch,
            first_lsn: 1,
            segment_bytes: blank.bytes,
            prev_first_lsn: 0,
            prev_segment_id: 0,
            prev_end_offset: 0,
            prev_last_lsn: 0,
            prev_digest: Digest::before_first(&judgement.store_id),
            durable_lsn: 0,
            begin: Begin::First,
            cut_bytes: 0,
            cut_crc: 0,
            created_ms: self.machine.now_ms(),
            prev_table_offset: 0,
        };
        let path = fresh::begin(self.volume, self.dir, &blank, &header)?;
        Ok(empty(Active { path, file: blank.file, header }))
    }

    /// Step 7. Writes the slot that is not the newest, so that a torn write costs nothing.
    fn say_open(
        &self,
        scene: &Scene,
        store_id: StoreId,
        end: &End,
        epoch: u32,
    ) -> Result<Slot, Error> {
        let path = self.dir.join(name::STORE);
        let failed = |error| Error::io(&path, "the superblock cannot be written", error);
        let file = self.volume.open_write(&path, Create::Either).map_err(failed)?;
        let stat = file.stat().map_err(failed)?;
        let slot = Slot {
            store_id,
            slot_seq: scene.slot().map_or(0, |slot| slot.slot_seq.wrapping_add(1)),
            epoch,
            active_first_lsn: end.active.header.first_lsn,
            active_segment_id: end.active.header.segment_id,
            durable_lsn: end.durable_lsn,
            stop: Stop::Open,
            device: stat.identity.device,
            inode: stat.identity.inode,
        };
        let missing = (STORE_BYTES as u64).saturating_sub(stat.bytes) as usize;
        write_all(&*file, stat.bytes, &vec![0; missing])
            .and_then(|()| write_all(&*file, slot.offset(), &slot.encode()))
            .and_then(|()| file.sync_data())
            .map_err(failed)?;
        // Also where the file was there before: an open that crashed may have made it.
        self.sync_dir(self.dir)?;
        Ok(slot)
    }

    fn random_id(&self) -> u64 {
        let mut bytes = [0; 8];
        self.machine.random(&mut bytes);
        // 0 says that there is none.
        u64::from_le_bytes(bytes).max(1)
    }

    fn open_existing(&self, path: &Path) -> Result<Arc<dyn WriteFile>, Error> {
        let opened = self.volume.open_write(path, Create::Existing);
        opened.map_err(|error| Error::io(path, "the segment cannot be opened", error))
    }

    fn remove(&self, path: &Path) -> Result<(), Error> {
        let removed = self.volume.remove(path);
        removed.map_err(|error| Error::io(path, "the file cannot be removed", error))?;
        self.sync_dir(self.dir)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), Error> {
        let synced = self.volume.sync_dir(dir);
        synced.map_err(|error| Error::io(dir, "the directory cannot be synced", error))
    }
}

/// Returns whether `STORE` names a segment, and so whether its name was durable once.
fn is_named_by_store(scene: &Scene, last: &LastSegment) -> bool {
    scene.slot().is_some_and(|slot| {
        (slot.active_first_lsn, slot.active_segment_id)
            == (last.header.first_lsn, last.header.segment_id)
    })
}

fn refuse(judgement: &Judgement) -> Result<(), Error> {
    judgement.error().map_or(Ok(()), Err)
}

/// Steps 1 and 4. After an error nobody knows what the device has, and nothing is decided.
fn sync(file: &dyn WriteFile, path: &Path) -> Result<(), Error> {
    let doing = "the last segment cannot be synced, nothing was decided; open the store again";
    file.sync_data().map_err(|error| Error::io(path, doing, error))
}
