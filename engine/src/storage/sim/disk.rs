//! A simulated disk as a process sees it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::volume::{Create, DirLock, DirLocked, Volume, WriteFile};
use super::super::{Entry, File, FileId, Kind, Stat, Storage};
use super::fault::{Call, Failure, killed};
use super::file::{SimDirLock, SimFile};
use super::folder::Folder;
use super::state::{Attempt, State};
use super::tree::{Node, clean};

/// How long a held sync sleeps before it looks whether its process lives.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A handle on a simulated disk; clones are handles on the same disk. It is the file system that
/// code under test is given, and it dies with its process: see [`super::Sim`].
#[derive(Clone, Debug)]
pub struct SimDisk {
    pub(super) shared: Arc<Shared>,
    /// The process that this handle belongs to; nothing for the test itself, which never dies.
    pub(super) process: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) held: Mutex<Held>,
    /// Told of every change of `held`, and of every death.
    pub(super) changed: Condvar,
}

/// Syncs that wait until a test lets them go.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) hold: bool,
    /// Syncs that may pass although they are held.
    pub(super) passes: u64,
    pub(super) waiting: u64,
}

impl SimDisk {
    pub(super) fn new(state: State) -> Self {
        let (state, held) = (Mutex::new(state), Mutex::default());
        Self { shared: Arc::new(Shared { state, held, changed: Condvar::new() }), process: None }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.shared.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call of this handle's process, if it lives.
    pub(super) fn enter(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        match self.process {
            Some(process) if process != state.process => Err(killed()),
            _ => Ok(state),
        }
    }

    /// The same disk as the process sees it that lives now.
    pub(super) fn bound(&self, state: &State) -> Self {
        let process = self.process.map(|_| state.process);
        Self { shared: Arc::clone(&self.shared), process }
    }

    /// Waits while syncs are held.
    pub(super) fn wait_for_release(&self) -> io::Result<()> {
        let mut held = self.held();
        held.waiting += 1;
        self.shared.changed.notify_all();
        let mut alive = self.enter().map(drop);
        while held.hold && held.passes == 0 && alive.is_ok() {
            // A process that dies of a fault tells nobody: look again from time to time.
            let waited = self.shared.changed.wait_timeout(held, LOOK_AGAIN);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
            alive = self.enter().map(drop);
        }
        held.waiting -= 1;
        if held.hold {
            held.passes = held.passes.saturating_sub(1);
        }
        self.shared.changed.notify_all();
        alive
    }

    fn open_file(&self, state: &mut State, inode: u64) -> SimFile {
        let handle = state.handle(inode);
        SimFile { disk: self.bound(state), inode, handle }
    }
}

impl Storage for SimDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        let mut state = self.enter()?;
        state.pass(&Attempt::new(Call::Open, &clean(path)))?;
        let inode = state.file_of(path)?;
        Ok(Box::new(self.open_file(&mut state, inode)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut state = self.enter()?;
        state.pass(&Attempt::new(Call::List, &clean(dir)))?;
        let folder = state.tree.folder(state.tree.find(dir)?)?;
        let kind = |inode: &u64| match state.tree.nodes.get(inode) {
            Some(Node::File(_)) => Kind::Regular,
            Some(Node::Folder(_)) => Kind::Directory,
            None => Kind::Other,
        };
        let entry = |(name, inode): (&std::ffi::OsString, &u64)| Entry {
            name: name.clone(),
            kind: kind(inode),
        };
        let mut entries: Vec<Entry> = folder.names.iter().map(entry).collect();
        super::super::sort(&mut entries);
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let mut state = self.enter()?;
        state.pass(&Attempt::new(Call::Stat, &clean(path)))?;
        state.stat(state.tree.find(path)?)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.enter()?.tree.find(path).map(|_| clean(path))
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        let state = self.enter().ok()?;
        (!state.options.no_lock_table).then(|| state.is_locked(file))
    }
}

impl Volume for SimDisk {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        let mut state = self.enter()?;
        let found = state.tree.find(path);
        let inode = match (found, create) {
            (Ok(_), Create::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(inode), _) => {
                state.pass(&Attempt::new(Call::Open, &clean(path)))?;
                state.tree.file(inode)?;
                inode
            }
            (Err(error), create)
                if create == Create::Existing || error.kind() != io::ErrorKind::NotFound =>
            {
                return Err(error);
            }
            (Err(_), _) => {
                let attempt = Attempt::new(Call::Create, &clean(path));
                let after = state.whole(&attempt)?;
                let node = state.empty_file();
                let inode = state.make(path, node)?;
                state.done(&attempt, after)?;
                inode
            }
        };
        Ok(Arc::new(self.open_file(&mut state, inode)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        if state.tree.find(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let attempt = Attempt::new(Call::CreateDir, &clean(path));
        let after = state.whole(&attempt)?;
        state.make(path, Node::Folder(Arc::new(Folder::default())))?;
        state.done(&attempt, after)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        let attempt = Attempt::new(Call::Rename, &clean(from)).to(&clean(to));
        let after = state.whole(&attempt)?;
        super::names::rename(&mut state, from, to)?;
        state.done(&attempt, after)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        let attempt = Attempt::new(Call::Link, &clean(from)).to(&clean(to));
        let after = state.whole(&attempt)?;
        super::names::link(&mut state, from, to)?;
        state.done(&attempt, after)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        let attempt = Attempt::new(Call::Remove, &clean(path));
        let after = state.whole(&attempt)?;
        super::names::remove(&mut state, path)?;
        state.done(&attempt, after)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        let attempt = Attempt::new(Call::RemoveDir, &clean(path));
        let after = state.whole(&attempt)?;
        super::names::remove_dir(&mut state, path)?;
        state.done(&attempt, after)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.enter()?;
        let inode = state.tree.find(dir)?;
        state.tree.folder(inode)?;
        let attempt = Attempt::new(Call::SyncDir, &clean(dir));
        let last = state.operations;
        let failure = state.strike(&attempt);
        state.counts_of(inode).dir_syncs += 1;
        drop(state);
        self.wait_for_release()?;
        let mut state = self.enter()?;
        let after = match failure {
            Some(Failure::ErrorDirty(cause)) => return Err(state.refuse(&attempt, cause)),
            Some(Failure::Error(cause) | Failure::ShortError(_, cause)) => {
                if cause != super::Cause::Killed {
                    state.tree.folder_mut(inode)?.sync_failed(last);
                }
                Some(cause)
            }
            Some(Failure::Lost) => {
                state.tree.folder_mut(inode)?.sync_failed(last);
                None
            }
            Some(Failure::ErrorAfter(cause)) => {
                state.tree.folder_mut(inode)?.sync(last);
                Some(cause)
            }
            None | Some(Failure::Short(_) | Failure::Flip { .. }) => {
                state.tree.folder_mut(inode)?.sync(last);
                None
            }
        };
        state.operation();
        state.sweep();
        state.done(&attempt, after)
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        let mut state = self.enter()?;
        state.pass(&Attempt::new(Call::Lock, &clean(dir)))?;
        let inode = state.tree.find(dir)?;
        state.tree.folder(inode)?;
        if state.options.no_dir_locks {
            return Ok(DirLocked::Unsupported);
        }
        let handle = state.handle(inode);
        if !state.try_lock(inode, handle) {
            state.close(handle);
            return Ok(DirLocked::Taken);
        }
        let lock: Box<dyn DirLock> =
            Box::new(SimDirLock(SimFile { disk: self.bound(&state), inode, handle }));
        Ok(DirLocked::Ours(lock))
    }

    fn link_count(&self, path: &Path) -> io::Result<u64> {
        let state = self.enter()?;
        Ok(state.tree.links(state.tree.find(path)?))
    }

    fn network_name(&self, _: &Path) -> Option<String> {
        self.enter().ok()?.options.network.clone()
    }
}
