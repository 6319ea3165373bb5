//! The machine's disk, whose writes and syncs fail or wait when a test says so.

use gatelog_engine::storage::{
    Create, DirLocked, Disk, Entry, File, FileId, Stat, Storage, Volume, WriteFile,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// What was ordered.
#[derive(Default)]
struct Orders {
    failing_writes: u64,
    failing_syncs: u64,
    syncs: u64,
    holds: bool,
    /// Syncs that may pass although they are held.
    passes: u64,
    waiting: u64,
}

/// A disk with orders; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Tap(Arc<(Mutex<Orders>, Condvar)>);

impl Tap {
    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.0.0.lock().expect("no panic under this lock")
    }

    pub(crate) fn fail_writes(&self, count: u64) {
        self.orders().failing_writes = count;
    }

    pub(crate) fn fail_syncs(&self, count: u64) {
        self.orders().failing_syncs = count;
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.orders().syncs
    }

    pub(crate) fn hold(&self, holds: bool) {
        let mut orders = self.orders();
        (orders.holds, orders.passes) = (holds, 0);
        self.0.1.notify_all();
    }

    pub(crate) fn release_one(&self) {
        self.orders().passes += 1;
        self.0.1.notify_all();
    }

    pub(crate) fn wait_for_held(&self, count: u64, patience: Duration) -> bool {
        let orders = self.orders();
        let waiting = |orders: &mut Orders| orders.waiting < count;
        let waited = self.0.1.wait_timeout_while(orders, patience, waiting);
        !waited.expect("no panic under this lock").1.timed_out()
    }

    fn write(&self) -> io::Result<()> {
        let mut orders = self.orders();
        if orders.failing_writes == 0 {
            return Ok(());
        }
        orders.failing_writes -= 1;
        Err(io::ErrorKind::StorageFull.into())
    }

    fn sync(&self) -> io::Result<()> {
        let mut orders = self.orders();
        orders.syncs += 1;
        let fails = orders.failing_syncs > 0;
        orders.failing_syncs = orders.failing_syncs.saturating_sub(1);
        self.wait(orders);
        if fails { Err(io::Error::other("ordered")) } else { Ok(()) }
    }

    fn wait(&self, mut orders: MutexGuard<'_, Orders>) {
        orders.waiting += 1;
        self.0.1.notify_all();
        while orders.holds && orders.passes == 0 {
            orders = self.0.1.wait(orders).expect("no panic under this lock");
        }
        orders.waiting -= 1;
        orders.passes = orders.passes.saturating_sub(1);
        self.0.1.notify_all();
    }
}

struct TapFile(Arc<dyn WriteFile>, Tap);

impl File for TapFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }
}

impl WriteFile for TapFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.1.write()?;
        self.0.write_at(offset, bytes)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.1.sync()?;
        self.0.sync_data()
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.0.read_device_at(offset, buffer)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.0.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

impl Storage for Tap {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        Disk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        Disk.list(dir)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        Disk.stat(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Disk.canonical(path)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        Disk.lock_holders(file)
    }
}

impl Volume for Tap {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        Ok(Arc::new(TapFile(Disk.open_write(path, create)?, self.clone())))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        Disk.create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        Disk.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Disk.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        Disk.remove_dir(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        Disk.sync_dir(dir)
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        Disk.try_lock_dir(dir)
    }

    fn link_count(&self, path: &Path) -> io::Result<u64> {
        Disk.link_count(path)
    }

    fn network_name(&self, path: &Path) -> Option<String> {
        Disk.network_name(path)
    }
}
