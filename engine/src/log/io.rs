//! What the leader writes to: the segment that takes groups, and the two witnesses.

use super::canary::Canary;
use super::chain::StoreId;
use super::durable::Durable;
use super::group::Mark;
use super::limit;
use super::segment_file::{self, NotBegun, Spare};
use super::segment_header::SegmentHeader;
use super::superblock::{Slot, Stop};
use crate::backend::Error;
use crate::storage::{Volume, WriteFile};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The files that the leader writes to.
pub(crate) struct Io {
    pub(crate) volume: Arc<dyn Volume>,
    pub(crate) dir: PathBuf,
    pub(crate) store_id: StoreId,
    pub(crate) epoch: u32,
    /// The segment that takes groups.
    pub(crate) file: Arc<dyn WriteFile>,
    pub(crate) path: PathBuf,
    pub(crate) first_lsn: u64,
    pub(crate) segment_id: u64,
    /// Where the log stands behind the last group that was written whole.
    pub(crate) mark: Mark,
    /// `STORE`.
    pub(crate) superblock: Arc<dyn WriteFile>,
    /// Greatest `slot_seq` in it.
    pub(crate) slot_seq: u64,
    /// `DURABLE`; nothing where it could not be opened: it is a witness more, not a need.
    pub(crate) durable: Option<Arc<dyn WriteFile>>,
    /// What `DURABLE` was told last.
    pub(crate) witnessed: Option<Durable>,
    /// How often `DURABLE` was written.
    pub(crate) counter: u64,
    /// Files of zeros that wait to be used.
    pub(crate) spares: Vec<Spare>,
    /// When the segment was begun, in milliseconds since 1970.
    pub(crate) begun_ms: u64,
    /// A mistake that is made on purpose.
    pub(crate) canary: Option<Canary>,
}

impl Io {
    /// Begins a segment and goes on in it. The segment before was synced.
    pub(crate) fn begin(&mut self, header: &SegmentHeader) -> Result<(), NotBegun> {
        let not_begun = |error| NotBegun { error, is_unknown: false };
        let wanted = header.segment_bytes;
        let spare = match self.spares.iter().position(|spare| spare.bytes == wanted) {
            Some(at) => self.spares.remove(at),
            None => segment_file::make_spare(&*self.volume, &self.dir, wanted, None)
                .map_err(not_begun)?,
        };
        if self.canary == Some(Canary::SpareNotZeroed) {
            self.spoil(&spare);
        }
        self.path = {
            let is_durable = self.canary != Some(Canary::AckBeforeDirectorySync);
            segment_file::begin(&*self.volume, &self.dir, &spare, header, is_durable)?
        };
        self.file = spare.file;
        self.first_lsn = header.first_lsn;
        self.segment_id = header.segment_id;
        self.begun_ms = header.created_ms;
        self.mark = Mark {
            end: limit::SEGMENT_HEADER_BYTES,
            last_lsn: header.prev_last_lsn,
            next_lsn: header.first_lsn,
            digest: header.prev_digest,
            ..self.mark
        };
        self.state(Stop::Open, header.durable_lsn)
            .map_err(|error| NotBegun { error, is_unknown: true })
    }

    /// Writes a slot of `STORE` and syncs it.
    pub(crate) fn state(&mut self, stop: Stop, durable_lsn: u64) -> Result<(), Error> {
        let stat = self.superblock.stat();
        let identity = stat.map(|stat| stat.identity).unwrap_or_default();
        let slot = Slot {
            stop,
            store_id: self.store_id,
            slot_seq: self.slot_seq + 1,
            epoch: self.epoch,
            active_first_lsn: self.first_lsn,
            active_segment_id: self.segment_id,
            durable_lsn,
            device: identity.device,
            inode: identity.inode,
        };
        let written = segment_file::write_all(&*self.superblock, slot.offset(), &slot.encode())
            .and_then(|()| self.superblock.sync_data());
        self.slot_seq += 1;
        let path = || self.dir.join(super::name::STORE);
        written.map_err(|error| Error::io(path(), "the superblock cannot be written", error))
    }

    /// Says in `DURABLE` how far the log is durable. Not synced: it may be behind the truth and is
    /// never ahead of it. A failure costs a witness and nothing else.
    pub(crate) fn witness(&mut self, durable_lsn: u64) {
        let Some(file) = &self.durable else { return };
        self.counter += 1;
        let truth = Durable {
            epoch: self.epoch,
            segment_id: self.segment_id,
            durable_lsn,
            end_offset: self.mark.end,
            store_id: self.store_id,
            counter: self.counter,
        };
        let record = match (self.canary, self.witnessed.replace(truth)) {
            (Some(Canary::DurableOneGroupLate), Some(before)) => before,
            _ => truth,
        };
        if segment_file::write_all(&**file, 0, &record.encode()).is_err() {
            self.durable = None;
        }
    }

    /// Gives a spare the content of the present segment, as if it had been recycled as it was.
    fn spoil(&self, spare: &Spare) {
        let mut bytes = vec![0; spare.bytes as usize];
        if self.file.read_at(0, &mut bytes).is_ok() {
            let head = limit::SEGMENT_HEADER_BYTES;
            let _ = segment_file::write_all(&*spare.file, head, &bytes[head as usize..]);
            let _ = spare.file.sync_data();
        }
    }

    /// Writes a group's bytes.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        segment_file::write_all(&*self.file, offset, bytes)
    }
}
