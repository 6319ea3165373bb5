//! A disk that can crash: a file system in memory with two images of everything.
//!
//! A process sees the *cache*. A power cut leaves the *device*, and of what was not synced any
//! part: [`SimDisk::unsynced`] lists the units, [`SimDisk::power_cut`] chooses,
//! [`SimDisk::crash_states`] walks the choices.
//!
//! * *Bytes* are durable after `sync_data` of their file. Until then a power cut keeps any subset
//!   of the 512-byte sectors written, and of a sector any of its last contents.
//! * *The size* is durable after the same sync. Until then it is the old one or the new one; bytes
//!   behind it are lost.
//! * *A name* made, moved or removed is durable after `sync_dir` of its directory. Until then any
//!   subset of the changes is kept; a rename inside one directory is whole.
//! * What lies below a name needs its own sync and that of every name above it.
//!
//! A sync carries what was written before it began, no more. After a sync that *failed* the pages
//! are clean: the device lacks them, reads show them, and later syncs say `Ok`
//! ([`Failure::Error`]). [`super::WriteFile::read_device_at`] shows the device.
//!
//! The death of a process ([`SimDisk::kill`]) takes its handles and locks, and leaves the cache. A
//! lock ends with `unlock` or with the process; dropping the handle is not enough.
//!
//! To walk every crash of a run: [`SimDisk::record_moments`], run, and open each of
//! [`SimDisk::crash_states`] of each of [`SimDisk::take_moments`]. Whoever notes
//! [`SimDisk::operations`] with each promise that the run made knows which of them a moment owes.
//!
//! Calls fail as [`SimDisk::fail`] orders. Damage at rest is [`SimDisk::rot`], [`SimDisk::flip`],
//! [`SimDisk::copy_sector`], [`SimDisk::edit`].
//!
//! What it leaves to the device's good will: two names of one rename between directories are kept
//! or lost each by itself; a size that came and went between two syncs is not kept; of more than
//! five contents of one sector the last four and the first count.
//!
//! Everything is decided by calls and seeds, so a test that does the same sees the same. Threads
//! may share a disk; then their order is the system's.
//!
//! ```
//! use gatelog_engine::storage::{Create, Sim, Storage, Volume};
//! # fn main() -> std::io::Result<()> {
//! let sim = Sim::new(1);
//! let disk = sim.disk();
//! let file = disk.open_write("/log".as_ref(), Create::New)?;
//! file.write_at(0, b"kept")?;
//! file.sync_data()?;
//! disk.sync_dir("/".as_ref())?;
//! file.write_at(4, b" perhaps")?;
//! assert_eq!(sim.image("/log")?, b"kept perhaps");
//! assert_eq!(sim.power_cut(|_| false).image("/log")?, b"kept");
//! // A sector and a size, each kept or not: four states.
//! assert_eq!(sim.crash_states(0, 1).count(), 4);
//! # Ok(())
//! # }
//! ```

mod chance;
mod control;
mod count;
mod crash;
mod disk;
mod fault;
mod file;
mod folder;
mod image;
mod inode;
mod names;
mod spoil;
mod state;
mod trace;
mod tree;

use std::ops::Deref;

pub use count::Counts;
pub use crash::{Choice, CrashStates, DRAWN, Unit, UnitKind};
pub use disk::SimDisk;
pub use fault::{Call, Cause, Failure, Fault};
pub use image::SECTOR_BYTES;
pub use spoil::Images;
pub use trace::Traced;

use state::{Options, State};

/// A simulated disk, as the test that owns it sees it.
///
/// A *clone* is an independent disk in the same state on which nobody has anything open; it costs
/// little, since the pages are shared until one of the two writes them. Its trace is empty. To
/// share one disk, give out handles: [`Sim::disk`].
///
/// The methods that act on the disk are those of [`SimDisk`], to which a `Sim` dereferences. The
/// handle inside a `Sim` belongs to the test and outlives every process; one from [`Sim::disk`]
/// belongs to the process that lives then and dies with [`SimDisk::kill`].
#[derive(Debug)]
pub struct Sim(SimDisk);

impl Sim {
    /// Makes an empty disk, which has `/`. The seed decides what garbage looks like.
    pub fn new(seed: u64) -> Self {
        Self::of(State::new(Options { seed, ..Options::default() }))
    }

    fn of(state: State) -> Self {
        Self(SimDisk::new(state))
    }

    /// Returns a handle of the process that lives now.
    pub fn disk(&self) -> SimDisk {
        let process = self.0.state().process;
        SimDisk { process: Some(process), ..self.0.clone() }
    }
}

impl Clone for Sim {
    fn clone(&self) -> Self {
        Self::of(self.0.state().apart())
    }
}

impl Deref for Sim {
    type Target = SimDisk;

    fn deref(&self) -> &SimDisk {
        &self.0
    }
}
