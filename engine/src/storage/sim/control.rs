//! How a test makes a simulated disk behave.

use std::time::{Duration, Instant};

use super::count::Counts;
use super::fault::{Fault, fits};
use super::trace::Traced;
use super::{Sim, SimDisk};

impl SimDisk {
    /// Orders a fault. Faults that are ordered together count their calls each by itself.
    pub fn fail(&self, fault: Fault) {
        self.state().faults.push(fault);
    }

    /// Takes back every fault, those of the disk as well.
    pub fn heal(&self) {
        self.state().faults.clear();
    }

    /// Returns how many ordered faults have not struck as often as they are to.
    pub fn faults_left(&self) -> usize {
        self.state().faults.len()
    }

    /// Kills the process: its handles answer errors from now on, its locks are gone, its held
    /// syncs fail. What it wrote is in the cache, and nothing more of it is durable than before.
    pub fn kill(&self) {
        self.state().kill();
        let _held = self.held();
        self.shared.changed.notify_all();
    }

    /// Makes a crash in the middle of a write able to spoil the whole physical sector of so many
    /// bytes (a multiple of 512, 4,096 is usual), what was durable in it included; 0 is never.
    pub fn torn_write_spoils_physical_sector(&self, bytes: u64) {
        let whole = bytes.is_multiple_of(super::SECTOR_BYTES) && bytes > 0;
        self.state().options.physical_sector = whole.then_some(bytes);
    }

    /// Gives the disk room for so many bytes in pages of 4,096, or any number of them. A write
    /// that does not fit is short, and fails where nothing fits.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().options.capacity = bytes;
    }

    /// Takes direct reads away, or gives them back.
    pub fn set_device_reads(&self, possible: bool) {
        self.state().options.no_device_reads = !possible;
    }

    /// Takes locks on directories away, or gives them back.
    pub fn set_dir_locks(&self, possible: bool) {
        self.state().options.no_dir_locks = !possible;
    }

    /// Makes it impossible to say who holds locks, or possible again.
    pub fn set_lock_table(&self, possible: bool) {
        self.state().options.no_lock_table = !possible;
    }

    /// Puts the whole disk on a network file system of this name.
    pub fn set_network_name(&self, name: Option<&str>) {
        self.state().options.network = name.map(ToOwned::to_owned);
    }

    /// Holds every sync, of files and of directories, that begins from now on until it is let go.
    pub fn hold_syncs(&self) {
        let mut held = self.held();
        (held.hold, held.passes) = (true, 0);
    }

    /// Lets all held syncs go, and holds no more.
    pub fn release_syncs(&self) {
        self.held().hold = false;
        self.shared.changed.notify_all();
    }

    /// Lets one sync go, the next if none is held now.
    pub fn release_one_sync(&self) {
        self.held().passes += 1;
        self.shared.changed.notify_all();
    }

    /// Waits until so many syncs are held, at most for `patience`, and says whether they are.
    pub fn wait_for_held_syncs(&self, count: u64, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut held = self.held();
        loop {
            if held.waiting >= count {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(held, left);
            held = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    /// Returns what was done to the files and directories that a pattern fits, under the names
    /// that they had then. `*` stands for any bytes; a pattern with a `/` is compared with the
    /// whole path, one without with the name.
    pub fn counts(&self, pattern: &str) -> Counts {
        let mut sum = Counts::default();
        let state = self.state();
        state.counts.iter().filter(|(path, _)| fits(pattern, path)).for_each(|(_, c)| sum += *c);
        sum
    }

    /// Puts every counter to 0.
    pub fn reset_counts(&self) {
        self.state().counts.clear();
    }

    /// Returns the calls that changed or synced something or were struck by a fault, in order, of
    /// many only the last.
    pub fn trace(&self) -> Vec<Traced> {
        self.state().trace.iter().cloned().collect()
    }

    /// Returns how many operations changed or synced something, from the beginning of this disk.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Records the state now, and from now on the state behind each operation.
    pub fn record_moments(&self) {
        let mut state = self.state();
        state.moments = None;
        let now = state.apart();
        state.moments = Some(vec![now]);
    }

    /// Ends the recording and returns the states, oldest first. Each is a disk of its own on which
    /// nobody has anything open; its [`SimDisk::operations`] says where in the run it stands. A
    /// crash before, in or after each operation is a crash state of one of them: what an operation
    /// wrote is unsynced in the state behind it.
    pub fn take_moments(&self) -> Vec<Sim> {
        let moments = self.state().moments.take().unwrap_or_default();
        moments.into_iter().map(|state| Sim::of(state.apart())).collect()
    }
}
