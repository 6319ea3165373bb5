//! What lies in a store's directory, read once.
//!
//! The order matters beside a writer. `DURABLE` is read first, so that every frame it vouches for
//! is in a file that the listing has; `STORE` is read last, so that a segment it calls active has
//! its name.

use super::disk::{Reader, is_absent, patiently};
use crate::backend::{Error, ErrorKind};
use crate::log::durable::{DURABLE_BYTES, Durable};
use crate::log::field::is_zero;
use crate::log::limit::SEGMENT_HEADER_BYTES;
use crate::log::name::{self, Name};
use crate::log::segment_header::{Begin, SegmentHeader, SegmentHeaderFault};
use crate::log::superblock::{self, STORE_BYTES, Slot, SlotFault};
use crate::storage::{FileId, Kind, Storage};
use std::path::{Path, PathBuf};

/// A directory with more names than this is no store.
const NAMES_MAX: usize = 1 << 20;

/// How often a durable end that does not check is read again.
const DURABLE_TRIES: usize = 8;

/// A raw segment.
#[derive(Clone, Debug)]
pub(super) struct SegmentFile {
    pub(super) path: PathBuf,
    /// The lsn in its name; of a lost rename, the one in its header.
    pub(super) first_lsn: u64,
    /// Size in bytes.
    pub(super) bytes: u64,
    pub(super) header: Result<SegmentHeader, SegmentHeaderFault>,
}

/// What lies in a store's directory.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) dir: PathBuf,
    /// There is a file called `DURABLE`.
    pub(super) has_durable: bool,
    pub(super) durable: Option<Durable>,
    /// There is a file called `STORE`, and this is it.
    pub(super) store: Option<FileId>,
    /// Its slots.
    pub(super) slots: Vec<Result<Slot, SlotFault>>,
    /// Raw segments by ascending first lsn; a lost rename is the last.
    pub(super) segments: Vec<SegmentFile>,
    /// First lsn of each sealed segment.
    pub(super) sealed: Vec<u64>,
    /// Segment headers of an unknown major among the spares: path and version.
    pub(super) newer_spare: Option<(PathBuf, u16)>,
    /// Bytes of the segments and the witnesses.
    pub(super) bytes: u64,
    /// A writer holds the lock.
    pub(super) is_locked: Option<bool>,
}

/// Returns whether a directory holds `STORE` or a segment that begins like one.
pub(super) fn is_store(storage: &dyn Storage, dir: &Path) -> bool {
    let entries = storage.list(dir).unwrap_or_default();
    let is_ours = |name: &std::ffi::OsStr| match Name::parse(name) {
        Name::Store => true,
        Name::Segment(_) => {
            let magic = Reader::find(storage, &dir.join(name)).ok().flatten();
            let magic = magic.and_then(|reader| reader.read(0, 7).ok());
            magic.is_some_and(|magic| magic == b"GATELOG")
        }
        _ => false,
    };
    entries.iter().any(|entry| entry.kind != Kind::Directory && is_ours(&entry.name))
}

/// Returns whether a writer holds the store's lock, as far as anybody can say.
pub(super) fn is_locked(storage: &dyn Storage, dir: &Path) -> Option<bool> {
    match storage.stat(&dir.join(name::LOCK)) {
        Ok(lock) => storage.lock_holders(lock.identity),
        Err(_) => Some(false),
    }
}

/// Reads the durable end, again if it does not check. Says whether there is a file.
pub(super) fn durable(storage: &dyn Storage, dir: &Path) -> Result<(bool, Option<Durable>), Error> {
    let Some(reader) = Reader::find(storage, &dir.join(name::DURABLE))? else {
        return Ok((false, None));
    };
    for _ in 0..DURABLE_TRIES {
        if let Ok(durable) = Durable::parse(&reader.read(0, DURABLE_BYTES)?) {
            return Ok((true, Some(durable)));
        }
    }
    Ok((true, None))
}

impl Layout {
    /// Looks at a directory.
    pub(super) fn look(storage: &dyn Storage, dir: &Path) -> Result<Self, Error> {
        let is_locked = is_locked(storage, dir);
        let (has_durable, durable) = durable(storage, dir)?;
        let mut layout = Self {
            dir: dir.to_owned(),
            has_durable,
            durable,
            store: None,
            slots: Vec::new(),
            segments: Vec::new(),
            sealed: Vec::new(),
            newer_spare: None,
            bytes: if has_durable { DURABLE_BYTES as u64 } else { 0 },
            is_locked,
        };
        let mut spares = Vec::new();
        for (name, path) in listed(storage, dir)? {
            match name {
                Name::Segment(first_lsn) => {
                    let (file, _) = segment(storage, path, Some(first_lsn))?;
                    layout.bytes += file.bytes;
                    layout.segments.push(file);
                }
                Name::Sealed(first_lsn) => layout.sealed.push(first_lsn),
                Name::Spare(_) => {
                    let (file, is_blank) = segment(storage, path, None)?;
                    if let Err(SegmentHeaderFault::Major(major)) = file.header {
                        layout.newer_spare = Some((file.path, major));
                    } else if !is_blank && file.header.is_ok() {
                        spares.push(file);
                    }
                }
                _ => {}
            }
        }
        layout.segments.sort_by_key(|file| file.first_lsn);
        if let Some(store) = Reader::find(storage, &dir.join(name::STORE))? {
            layout.slots = superblock::read(&store.read(0, STORE_BYTES)?).into();
            let stat = store.stat()?;
            layout.bytes += stat.bytes;
            layout.store = Some(stat.identity);
        }
        layout.take_lost_rename(spares);
        Ok(layout)
    }

    /// Row F1: a spare with the header of the segment that follows the last one.
    fn take_lost_rename(&mut self, mut spares: Vec<SegmentFile>) {
        spares.sort_by_key(|file| file.header.as_ref().map_or(0, |header| header.epoch));
        let last = self.segments.last();
        let slots = self.slots.iter().flatten().map(|slot| slot.store_id);
        let ids: Vec<_> = slots.chain(self.durable.map(|durable| durable.store_id)).collect();
        let follows = |header: &SegmentHeader| match last {
            // Of this store, as far as its witnesses know which one that is.
            None => {
                let is_ours = ids.is_empty() || ids.contains(&header.store_id);
                header.begin == Begin::First && is_ours
            }
            Some(last) => last.header.as_ref().is_ok_and(|before| {
                header.store_id == before.store_id
                    && header.prev_first_lsn == last.first_lsn
                    && header.prev_segment_id == before.segment_id
                    && header.first_lsn > last.first_lsn
            }),
        };
        if let Some(at) = spares.iter().rposition(|file| file.header.as_ref().is_ok_and(follows)) {
            let unnamed = spares.swap_remove(at);
            self.bytes += unnamed.bytes;
            self.segments.push(unnamed);
        }
    }

    /// Returns the slot of `STORE` that counts.
    pub(super) fn slot(&self) -> Option<&Slot> {
        self.slots.iter().flatten().max_by_key(|slot| slot.slot_seq)
    }

    /// Returns the headers that are valid.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&SegmentFile, &SegmentHeader)> {
        self.segments.iter().filter_map(|file| Some((file, file.header.as_ref().ok()?)))
    }

    /// Returns whether a segment has a name.
    pub(super) fn has_segment(&self, first_lsn: u64) -> bool {
        self.segments.iter().any(|file| file.first_lsn == first_lsn)
    }
}

/// Lists the names that mean something.
fn listed(storage: &dyn Storage, dir: &Path) -> Result<Vec<(Name, PathBuf)>, Error> {
    let entries = patiently(dir, || storage.list(dir)).map_err(|mut error| {
        if is_absent(&error) {
            error.kind = ErrorKind::NotAStore;
        }
        error
    })?;
    if entries.len() > NAMES_MAX {
        let message = format!("{} names are more than any store has", entries.len());
        return Err(Error::new(ErrorKind::NotAStore, message).at(dir, None));
    }
    let files = entries.into_iter().filter(|entry| entry.kind != Kind::Directory);
    let named = files.map(|entry| (Name::parse(&entry.name), dir.join(&entry.name)));
    Ok(named.filter(|(name, _)| *name != Name::Other).collect())
}

/// Reads a segment's header. Says besides whether its page is zero.
fn segment(
    storage: &dyn Storage,
    path: PathBuf,
    name: Option<u64>,
) -> Result<(SegmentFile, bool), Error> {
    let reader = Reader::open(storage, &path)?;
    let bytes = reader.stat()?.bytes;
    let front = reader.read(0, SEGMENT_HEADER_BYTES as usize)?;
    let header = SegmentHeader::parse(&front);
    let stated = header.as_ref().map_or(0, |header| header.first_lsn);
    let first_lsn = name.unwrap_or(stated);
    Ok((SegmentFile { path, first_lsn, bytes, header }, is_zero(&front)))
}
