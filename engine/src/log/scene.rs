//! What lies in a store's directory: names, headers and witnesses, read once.
//!
//! The witnesses are read first, the names after them, the headers last. A writer that is at work
//! only ever goes on, so whatever a witness says was there before it was said, and a reader finds
//! it. A name that vanishes in between ends the look with [`ErrorKind::Busy`]; whoever looks looks
//! again.
//!
//! Spares are judged by their first page. Whoever uses one makes sure that the rest is zero too.

use super::chain::StoreId;
use super::durable::{DURABLE_BYTES, Durable};
use super::field::is_zero;
use super::limit::SEGMENT_HEADER_BYTES;
use super::name::{self, Name};
use super::segment_header::{Begin, SegmentHeader, SegmentHeaderFault};
use super::source::{Cached, Source, patiently};
use super::superblock::{self, STORE_BYTES, Slot, SlotFault};
use crate::backend::{Error, ErrorKind};
use crate::storage::{FileId, Kind, Storage};
use std::io;
use std::path::{Path, PathBuf};

/// More names than any store has: two files for each of a million segments.
const NAMES_MAX: usize = 1 << 21;

/// A segment's file.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The first lsn, as its name says; for a lost rename, as its header says.
    pub(crate) first_lsn: u64,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Its header.
    pub(crate) header: Result<SegmentHeader, SegmentHeaderFault>,
    /// It still has the name of a spare: its rename was lost.
    pub(crate) is_unnamed: bool,
}

/// A file called `spare-*` that is no segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpareFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Its first page is zero, so that it may be a spare.
    pub(crate) is_zero: bool,
}

/// The file `STORE`.
#[derive(Clone, Debug)]
pub(crate) struct StoreFile {
    /// Which file it is.
    pub(crate) identity: FileId,
    /// Both slots.
    pub(crate) slots: [Result<Slot, SlotFault>; 2],
}

/// What lies in a store's directory.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    /// The directory.
    pub(crate) dir: PathBuf,
    /// The superblock, if there is a file of that name.
    pub(crate) store: Option<StoreFile>,
    /// The durable end, if there is a file that holds one.
    pub(crate) durable: Option<Durable>,
    /// Raw segments by ascending first lsn; a lost rename is the last.
    pub(crate) segments: Vec<SegmentFile>,
    /// First lsn of each sealed segment, ascending.
    pub(crate) sealed: Vec<u64>,
    /// Spares, and what looks like one.
    pub(crate) spares: Vec<SpareFile>,
    /// Files that were never finished.
    pub(crate) aside: Vec<PathBuf>,
    /// A file of a newer version of the format, and what it says of it.
    pub(crate) newer: Option<(PathBuf, String)>,
}

impl Scene {
    /// Looks at a directory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`]; [`ErrorKind::NotAStore`] where the directory cannot be listed or has more
    /// names than a store; [`ErrorKind::Busy`] where a file vanished meanwhile.
    pub(crate) fn look(storage: &dyn Storage, dir: &Path) -> Result<Self, Error> {
        let store = Self::store_file(storage, dir)?;
        let durable = match read_front(storage, &dir.join(name::DURABLE), DURABLE_BYTES) {
            Ok((bytes, _, _)) => Durable::parse(&bytes).ok(),
            Err(error) if is_absent(&error) => None,
            Err(error) => return Err(error),
        };
        let (segments, sealed) = (Vec::new(), Vec::new());
        let (spares, aside) = (Vec::new(), Vec::new());
        let dir = dir.to_owned();
        let newer = None;
        let mut scene = Self { dir, store, durable, segments, sealed, spares, aside, newer };
        let mut unnamed = Vec::new();
        for (found, path) in names(storage, &scene.dir)? {
            match found {
                Name::Segment(first_lsn) => {
                    let file = segment(storage, path, Some(first_lsn)).map_err(moved)?;
                    scene.newer = scene.newer.take().or_else(|| newer_segment(&file));
                    scene.segments.push(file);
                }
                Name::Spare(_) => {
                    let file = segment(storage, path, None).map_err(moved)?;
                    scene.newer = scene.newer.take().or_else(|| newer_segment(&file));
                    match &file.header {
                        Ok(_) => unnamed.push(file),
                        Err(_) => scene.spares.push(spare(storage, &file).map_err(moved)?),
                    }
                }
                Name::DirtySpare(_) | Name::Temporary => scene.aside.push(path),
                Name::Sealed(first_lsn) => scene.sealed.push(first_lsn),
                _ => {}
            }
        }
        scene.newer = scene.newer.take().or_else(|| scene.newer_slot());
        scene.segments.sort_by_key(|segment| segment.first_lsn);
        scene.sealed.sort_unstable();
        scene.adopt(unnamed);
        Ok(scene)
    }

    /// Puts the segment whose rename was lost behind the others. A file with a segment's header
    /// that does not follow the last segment is left over: from before the segment that does.
    fn adopt(&mut self, mut unnamed: Vec<SegmentFile>) {
        unnamed.sort_by_key(|file| file.header.as_ref().map_or(0, |header| header.epoch));
        let place = unnamed.iter().rposition(|file| self.is_followed_by(file));
        let lost = place.map(|place| unnamed.remove(place));
        self.spares.extend(unnamed.into_iter().map(|file| SpareFile {
            path: file.path,
            bytes: file.bytes,
            is_zero: false,
        }));
        self.segments.extend(lost);
    }

    /// Returns whether a file's header says that it follows the segment with the greatest name.
    fn is_followed_by(&self, file: &SegmentFile) -> bool {
        let Ok(header) = &file.header else { return false };
        let Some(last) = self.segments.last() else {
            // Of this store: nothing but the witnesses can say which one that is.
            let mut ids = self.store_ids().map(|(id, _)| id).peekable();
            let is_ours = ids.peek().is_none() || ids.any(|id| id == header.store_id);
            return header.begin == Begin::First && is_ours;
        };
        let Ok(before) = &last.header else { return false };
        (header.prev_first_lsn, header.prev_segment_id) == (last.first_lsn, before.segment_id)
            && header.first_lsn > last.first_lsn
            && header.store_id == before.store_id
    }

    fn store_file(storage: &dyn Storage, dir: &Path) -> Result<Option<StoreFile>, Error> {
        match read_front(storage, &dir.join(name::STORE), STORE_BYTES) {
            Ok((bytes, _, identity)) => {
                Ok(Some(StoreFile { identity, slots: superblock::read(&bytes) }))
            }
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn newer_slot(&self) -> Option<(PathBuf, String)> {
        let slots = self.store.iter().flat_map(|store| &store.slots);
        let version = slots.filter_map(|slot| match slot {
            Err(SlotFault::Version(version)) => Some(version),
            _ => None,
        });
        let path = || self.dir.join(name::STORE);
        version.max().map(|version| (path(), format!("version {version}")))
    }

    /// Returns the slot of `STORE` that counts.
    pub(crate) fn slot(&self) -> Option<&Slot> {
        let slots = self.store.iter().flat_map(|store| &store.slots);
        slots.filter_map(|slot| slot.as_ref().ok()).max_by_key(|slot| slot.slot_seq)
    }

    /// Returns the headers that are valid.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &SegmentHeader> {
        self.segments.iter().filter_map(|segment| segment.header.as_ref().ok())
    }

    /// Returns the id of each witness and segment, with the file that has it.
    pub(crate) fn store_ids(&self) -> impl Iterator<Item = (StoreId, &Path)> {
        // A slot that does not count is a witness all the same.
        let slots = self.store.iter().flat_map(|store| &store.slots).flatten();
        let store = slots.map(|slot| (slot.store_id, Path::new(name::STORE)));
        let durable = self.durable.map(|durable| (durable.store_id, Path::new(name::DURABLE)));
        let segments = self.segments.iter().filter_map(|segment| {
            let header = segment.header.as_ref().ok()?;
            Some((header.store_id, segment.path.as_path()))
        });
        store.chain(segments).chain(durable)
    }

    /// Returns the greatest epoch that a witness or a header names, 0 for none.
    pub(crate) fn epoch(&self) -> u32 {
        let slots = self.store.iter().flat_map(|store| &store.slots);
        let slots = slots.filter_map(|slot| slot.as_ref().ok()).map(|slot| slot.epoch);
        let headers = self.headers().map(|header| header.epoch);
        slots.chain(headers).chain(self.durable.map(|it| it.epoch)).max().unwrap_or(0)
    }
}

/// Lists the names that mean something, with their paths.
fn names(storage: &dyn Storage, dir: &Path) -> Result<Vec<(Name, PathBuf)>, Error> {
    let entries = patiently(dir, 0, || storage.list(dir)).map_err(|mut error| {
        if is_absent(&error) {
            error.kind = ErrorKind::NotAStore;
        }
        error
    })?;
    if entries.len() > NAMES_MAX {
        let message = format!("{} names are more than any store has", entries.len());
        return Err(Error::new(ErrorKind::NotAStore, message).at(dir, None));
    }
    let regular = entries.into_iter().filter(|entry| entry.kind != Kind::Directory);
    let named = regular.map(|entry| (Name::parse(&entry.name), dir.join(&entry.name)));
    Ok(named.filter(|(name, _)| *name != Name::Other).collect())
}

fn segment(storage: &dyn Storage, path: PathBuf, name: Option<u64>) -> Result<SegmentFile, Error> {
    let (front, bytes, _) = read_front(storage, &path, SEGMENT_HEADER_BYTES as usize)?;
    let header = SegmentHeader::parse(&front);
    let said = header.as_ref().map_or(0, |header| header.first_lsn);
    let (first_lsn, is_unnamed) = (name.unwrap_or(said), name.is_none());
    Ok(SegmentFile { path, first_lsn, bytes, header, is_unnamed })
}

fn spare(storage: &dyn Storage, file: &SegmentFile) -> Result<SpareFile, Error> {
    let (front, bytes, _) = read_front(storage, &file.path, SEGMENT_HEADER_BYTES as usize)?;
    Ok(SpareFile { path: file.path.clone(), bytes, is_zero: is_zero(&front) })
}

/// Reads the front of a file; returns it with the file's size and identity.
fn read_front(
    storage: &dyn Storage,
    path: &Path,
    bytes: usize,
) -> Result<(Vec<u8>, u64, FileId), Error> {
    let file = patiently(path, 0, || storage.open(path))?;
    let stat = patiently(path, 0, || file.stat())?;
    let mut front = vec![0; bytes];
    let count = Cached::new(&*file, path).read(0, &mut front)?;
    front.truncate(count);
    Ok((front, stat.bytes, stat.identity))
}

fn newer_segment(file: &SegmentFile) -> Option<(PathBuf, String)> {
    match file.header {
        Err(SegmentHeaderFault::Major(major)) => {
            Some((file.path.clone(), format!("format {major}")))
        }
        _ => None,
    }
}

fn is_absent(error: &Error) -> bool {
    error.source.as_ref().is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}

/// A name that was listed and cannot be opened was taken away meanwhile.
fn moved(mut error: Error) -> Error {
    if is_absent(&error) {
        error.kind = ErrorKind::Busy;
    }
    error
}
