//! What a store stands on: a disk, real or simulated, that a test holds in its hand.

use crate::tap::Tap;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use gatelog_engine::storage::{Sim, Volume};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Which disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Real,
    Simulated,
}

pub(crate) const WHICH: [Which; 2] = [Which::Real, Which::Simulated];

/// A directory of the machine that goes when the test does.
pub(crate) struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let dir = std::env::temp_dir().join(format!("gatelog-contract-{process}-{count}"));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).expect("a directory can be made");
        Self(dir)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A disk.
pub(crate) enum Ground {
    Real(Arc<Dir>, Tap),
    Simulated(Sim),
}

impl Ground {
    pub(crate) fn new(which: Which) -> Self {
        match which {
            Which::Real => Self::Real(Arc::new(Dir::new()), Tap::default()),
            Which::Simulated => Self::Simulated(Sim::new(1)),
        }
    }

    /// The directory that the store has for itself.
    pub(crate) fn root(&self) -> PathBuf {
        match self {
            Self::Real(dir, _) => dir.0.join("store"),
            Self::Simulated(_) => PathBuf::from("/store"),
        }
    }

    /// What must not go while the store is open.
    pub(crate) fn dir(&self) -> Option<Arc<Dir>> {
        match self {
            Self::Real(dir, _) => Some(Arc::clone(dir)),
            Self::Simulated(_) => None,
        }
    }

    /// What a process is given.
    pub(crate) fn volume(&self) -> Arc<dyn Volume> {
        match self {
            Self::Real(_, tap) => Arc::new(tap.clone()),
            Self::Simulated(sim) => Arc::new(sim.disk()),
        }
    }

    /// A copy as the death of every process would leave it now.
    pub(crate) fn killed(&self) -> Self {
        match self {
            Self::Real(dir, _) => {
                let copy = Dir::new();
                copy_dir(&dir.0, &copy.0);
                Self::Real(Arc::new(copy), Tap::default())
            }
            Self::Simulated(sim) => Self::Simulated(sim.clone()),
        }
    }

    /// A copy as a power cut would leave it now that takes all that it can. A real disk cannot be
    /// cut here, and is copied as it is.
    pub(crate) fn cut(&self) -> Self {
        match self {
            Self::Real(..) => self.killed(),
            Self::Simulated(sim) => Self::Simulated(sim.power_cut(|_| false)),
        }
    }

    /// Every file of the store with its bytes, by its path below the store.
    pub(crate) fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.root();
        let below = |path: &Path| path.strip_prefix(&root).expect("a file of the store").to_owned();
        match self {
            Self::Real(..) => {
                let mut files = Vec::new();
                list(&root, &mut files);
                let read = |path: &PathBuf| fs::read(path).expect("readable");
                files.iter().map(|path| (below(path), read(path))).collect()
            }
            Self::Simulated(sim) => {
                let read = |path: &PathBuf| sim.image(path).expect("readable");
                sim.files().iter().map(|path| (below(path), read(path))).collect()
            }
        }
    }

    /// Changes one file behind everybody's back.
    pub(crate) fn edit(&self, below: impl AsRef<Path>, act: impl FnOnce(&mut Vec<u8>)) {
        let path = self.root().join(below);
        match self {
            Self::Real(..) => {
                let mut bytes = fs::read(&path).unwrap_or_default();
                act(&mut bytes);
                fs::write(&path, bytes).expect("there is room");
            }
            Self::Simulated(sim) => {
                let mut bytes = sim.image(&path).unwrap_or_default();
                act(&mut bytes);
                if sim.image(&path).is_ok() {
                    sim.edit(&path, |old| *old = bytes).expect("it is there");
                } else {
                    sim.put(&path, &bytes).expect("there is room");
                }
            }
        }
    }

    pub(crate) fn remove(&self, below: impl AsRef<Path>) {
        let (volume, path) = (self.volume(), self.root().join(below));
        volume.remove(&path).expect("it is there");
        volume.sync_dir(path.parent().expect("it has one")).expect("it is there");
    }

    /// The next writes fail for want of room.
    pub(crate) fn fail_writes(&self, count: u64) {
        match self {
            Self::Real(_, tap) => tap.fail_writes(count),
            Self::Simulated(sim) => {
                let no_space = Failure::Error(Cause::NoSpace);
                sim.fail(Fault::new(Call::Write, no_space).times(count));
            }
        }
    }

    /// The next syncs fail.
    pub(crate) fn fail_syncs(&self, count: u64) {
        match self {
            Self::Real(_, tap) => tap.fail_syncs(count),
            Self::Simulated(sim) => {
                sim.fail(Fault::new(Call::Sync, Failure::Error(Cause::Eio)).times(count));
            }
        }
    }

    /// Takes back what was ordered and has not struck.
    pub(crate) fn heal(&self) {
        match self {
            Self::Real(_, tap) => {
                tap.fail_writes(0);
                tap.fail_syncs(0);
            }
            Self::Simulated(sim) => sim.heal(),
        }
    }

    /// How many syncs of files there were.
    pub(crate) fn syncs(&self) -> u64 {
        match self {
            Self::Real(_, tap) => tap.syncs(),
            Self::Simulated(sim) => sim.counts("*").syncs,
        }
    }

    pub(crate) fn hold_syncs(&self, holds: bool) {
        match (self, holds) {
            (Self::Real(_, tap), _) => tap.hold(holds),
            (Self::Simulated(sim), true) => sim.hold_syncs(),
            (Self::Simulated(sim), false) => sim.release_syncs(),
        }
    }

    pub(crate) fn release_one_sync(&self) {
        match self {
            Self::Real(_, tap) => tap.release_one(),
            Self::Simulated(sim) => sim.release_one_sync(),
        }
    }

    pub(crate) fn wait_for_held_syncs(&self, count: u64, patience: Duration) -> bool {
        match self {
            Self::Real(_, tap) => tap.wait_for_held(count, patience),
            Self::Simulated(sim) => sim.wait_for_held_syncs(count, patience),
        }
    }
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            list(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn copy_dir(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("readable") {
        let entry = entry.expect("readable");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            fs::create_dir(&to).expect("there is room");
            copy_dir(&from, &to);
        } else {
            fs::copy(&from, &to).expect("there is room");
        }
    }
}
