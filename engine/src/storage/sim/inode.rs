//! One file with its two images, and what separates them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::image::{Image, SECTOR_BYTES, Sector, sectors_of};

/// Older contents of an unsynced sector that a crash may still bring up. A device keeps no more
/// writes to one place in flight than that.
const VERSIONS_MAX: usize = 4;

/// Changes of size that are kept apart before growth on growth becomes one.
const SIZES_APART: usize = 4096;

/// A file: its cache, its device, and what a sync has still to carry from one to the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    pub(super) cache: Image,
    pub(super) device: Image,
    /// Unsynced sectors by number.
    dirty: BTreeMap<u64, Dirty>,
    /// Unsynced sizes, oldest first, with the operation that made each.
    sizes: Vec<(u64, u64)>,
    /// Whether the images may differ where nothing is unsynced.
    diverged: bool,
    /// The last name that the file was given, for faults, counters and reports.
    pub(super) path: PathBuf,
    pub(super) changed_ns: i64,
}

/// A sector of the cache that the device does not have.
#[derive(Clone, Debug)]
struct Dirty {
    /// The operation that wrote what the cache has.
    operation: u64,
    /// What the cache had before, since the last sync, oldest first.
    older: Vec<(u64, Arc<Sector>)>,
}

/// What a crash decides about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Sector { sector: u64, operation: u64 },
    Size { operation: u64 },
}

impl Inode {
    /// An empty file made by an operation.
    pub(super) fn new(operation: u64) -> Self {
        Self { changed_ns: operation.cast_signed(), ..Self::default() }
    }

    pub(super) fn durable(bytes: &[u8]) -> Self {
        let image = Image::from_bytes(bytes);
        Self { cache: image.clone(), device: image, ..Self::default() }
    }

    /// Gives the file another content, which is durable.
    pub(super) fn replace(&mut self, bytes: &[u8]) {
        let (path, changed_ns) = (std::mem::take(&mut self.path), self.changed_ns + 1);
        *self = Self { path, changed_ns, ..Self::durable(bytes) };
    }

    pub(super) fn write(&mut self, operation: u64, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        for sector in sectors_of(offset, bytes.len() as u64) {
            self.mark(operation, sector);
        }
        let before = self.cache.bytes();
        self.cache.write(offset, bytes);
        self.resized(operation, before);
    }

    /// Writes into the cache what the device will never get, though every sync says that it did.
    pub(super) fn write_lost(&mut self, operation: u64, offset: u64, bytes: &[u8]) {
        let before = self.cache.bytes();
        self.cache.write(offset, bytes);
        self.resized(operation, before);
        self.diverged = true;
    }

    pub(super) fn set_len(&mut self, operation: u64, bytes: u64) {
        let before = self.cache.bytes();
        self.cache.set_len(bytes);
        if bytes < before {
            // What lies behind the end is no longer on its way to the device.
            let _gone = self.dirty.split_off(&bytes.div_ceil(SECTOR_BYTES));
        }
        self.resized(operation, before);
    }

    fn mark(&mut self, operation: u64, sector: u64) {
        let content = &self.cache;
        self.dirty
            .entry(sector)
            .and_modify(|dirty| {
                if dirty.older.len() == VERSIONS_MAX {
                    dirty.older.remove(1);
                }
                dirty.older.push((dirty.operation, Arc::new(content.sector(sector))));
                dirty.operation = operation;
            })
            .or_insert(Dirty { operation, older: Vec::new() });
    }

    fn resized(&mut self, operation: u64, before: u64) {
        let bytes = self.cache.bytes();
        if bytes == before {
            return;
        }
        if let [.., (_, earlier), last] = &mut self.sizes[..]
            && *earlier <= last.1
            && last.1 <= bytes
            && self.sizes.len() > SIZES_APART
        {
            self.sizes.pop();
        }
        self.sizes.push((operation, bytes));
    }

    /// Carries to the device what was written up to an operation.
    pub(super) fn sync(&mut self, last: u64) {
        for (operation, bytes) in std::mem::take(&mut self.sizes) {
            if operation <= last {
                self.device.set_len(bytes);
            } else {
                self.sizes.push((operation, bytes));
            }
        }
        let (cache, device) = (&self.cache, &mut self.device);
        self.dirty.retain(|sector, dirty| {
            if dirty.operation <= last {
                device.put_sector(*sector, &cache.sector(*sector));
                return false;
            }
            let covered = dirty.older.partition_point(|(operation, _)| *operation <= last);
            if let Some((_, bytes)) = dirty.older.drain(..covered).next_back() {
                device.put_sector(*sector, &bytes);
            }
            true
        });
    }

    /// Does what Linux does when a sync fails: the pages are clean, and the device lacks them.
    pub(super) fn sync_failed(&mut self, last: u64) {
        self.sizes.retain(|(operation, _)| *operation > last);
        self.dirty.retain(|_, dirty| {
            dirty.older.retain(|(operation, _)| *operation > last);
            dirty.operation > last
        });
        self.diverged = true;
    }

    /// Reads again from the device what is clean. The size stays as the cache knows it.
    pub(super) fn drop_cache(&mut self) {
        let mut cache = self.device.clone();
        cache.set_len(self.cache.bytes());
        for sector in self.dirty.keys() {
            cache.put_sector(*sector, &self.cache.sector(*sector));
        }
        self.cache = cache;
    }

    /// Changes the device behind the back of the cache.
    pub(super) fn spoil(&mut self, change: impl FnOnce(&mut Image)) {
        change(&mut self.device);
        self.diverged = true;
    }

    /// Reads from the device. The size is the cache's, as with a direct read of a live file.
    pub(super) fn read_device(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let count = self.cache.bytes().saturating_sub(offset).min(buffer.len() as u64) as usize;
        let found = self.device.read(offset, &mut buffer[..count]);
        buffer[found..count].fill(0);
        count
    }

    /// Returns what a crash decides, leaving out what it cannot change.
    pub(super) fn pending(&self) -> Vec<Pending> {
        let mut pending = Vec::new();
        if let Some((operation, bytes)) = self.sizes.last() {
            let shrank = self.sizes.iter().any(|(_, bytes)| *bytes < self.device.bytes());
            if shrank || *bytes != self.device.bytes() {
                pending.push(Pending::Size { operation: *operation });
            }
        }
        for (sector, dirty) in &self.dirty {
            let same = || self.cache.sector(*sector) == self.device.sector(*sector);
            if dirty.older.is_empty() && same() {
                continue;
            }
            for (operation, _) in &dirty.older {
                pending.push(Pending::Sector { sector: *sector, operation: *operation });
            }
            pending.push(Pending::Sector { sector: *sector, operation: dirty.operation });
        }
        pending
    }

    /// Returns the physical sectors of so many bytes that a write in flight may spoil.
    pub(super) fn in_flight(&self, physical: u64) -> Vec<u64> {
        let mut places: Vec<u64> =
            self.dirty.keys().map(|sector| sector * SECTOR_BYTES / physical).collect();
        places.dedup();
        places
    }

    /// Gives the device the sizes that a crash kept.
    pub(super) fn keep_sizes(&mut self) {
        for (_, bytes) in &self.sizes {
            self.device.set_len(*bytes);
        }
    }

    /// Gives the device a content of a sector that a crash kept.
    pub(super) fn keep_sector(&mut self, sector: u64, operation: u64) {
        let Some(dirty) = self.dirty.get(&sector) else { return };
        if dirty.operation == operation {
            self.device.put_sector(sector, &self.cache.sector(sector));
        } else if let Some((_, bytes)) = dirty.older.iter().find(|(made, _)| *made == operation) {
            self.device.put_sector(sector, bytes);
        }
    }

    /// Returns whether a restart of the machine would change what is read.
    pub(super) fn is_split(&self) -> bool {
        self.diverged || !self.dirty.is_empty() || !self.sizes.is_empty()
    }

    /// Restarts the machine: only the device is left.
    pub(super) fn restart(&mut self) {
        self.cache = self.device.clone();
        self.dirty.clear();
        self.sizes.clear();
        self.diverged = false;
    }
}
