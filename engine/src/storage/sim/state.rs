//! All that a simulated disk is at one moment.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::{FileId, Kind, Stat};
use super::count::Counts;
use super::fault::{Call, Cause, Failure, Fault};
use super::trace::Traced;
use super::tree::{Node, Tree};

/// Calls that the trace remembers.
const TRACE_MAX: usize = 1 << 16;

/// The number of the device that all simulated files lie on.
const DEVICE: u64 = 7;

/// What kind of disk it is; a power cut changes nothing of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) seed: u64,
    pub(super) capacity: Option<u64>,
    pub(super) physical_sector: Option<u64>,
    pub(super) no_device_reads: bool,
    pub(super) no_dir_locks: bool,
    pub(super) no_lock_table: bool,
    pub(super) network: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) options: Options,
    pub(super) faults: Vec<Fault>,
    pub(super) counts: BTreeMap<PathBuf, Counts>,
    pub(super) trace: VecDeque<Traced>,
    /// Operations that changed or synced something.
    pub(super) operations: u64,
    /// The process whose handles are alive.
    pub(super) process: u64,
    /// Who has a lock: the number of the handle, by file.
    pub(super) locks: BTreeMap<u64, u64>,
    /// Open files by handle.
    pub(super) handles: BTreeMap<u64, u64>,
    pub(super) last_handle: u64,
    /// The states behind each operation, while they are recorded.
    pub(super) moments: Option<Vec<State>>,
}

/// A call on its way, for faults and the trace.
#[derive(Debug)]
pub(super) struct Attempt {
    call: Call,
    path: PathBuf,
    to: Option<PathBuf>,
    offset: u64,
    bytes: u64,
}

impl Attempt {
    pub(super) fn new(call: Call, path: &Path) -> Self {
        Self { call, path: path.to_owned(), to: None, offset: 0, bytes: 0 }
    }

    pub(super) fn to(mut self, to: &Path) -> Self {
        self.to = Some(to.to_owned());
        self
    }

    pub(super) fn range(mut self, offset: u64, bytes: usize) -> Self {
        (self.offset, self.bytes) = (offset, bytes as u64);
        self
    }

    pub(super) fn sized(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    fn touched(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.bytes.max(1))
    }
}

impl State {
    pub(super) fn new(options: Options) -> Self {
        Self {
            tree: Tree::new(),
            options,
            faults: Vec::new(),
            counts: BTreeMap::new(),
            trace: VecDeque::new(),
            operations: 0,
            process: 1,
            locks: BTreeMap::new(),
            handles: BTreeMap::new(),
            last_handle: 0,
            moments: None,
        }
    }

    /// Returns the state as a world of its own sees it: nobody has anything open.
    pub(super) fn apart(&self) -> Self {
        let moments = None;
        let mut state = Self { moments, ..self.without_moments() };
        state.kill();
        state
    }

    /// A copy without the trace and the recorded states, which only grow.
    fn without_moments(&self) -> Self {
        Self {
            tree: self.tree.clone(),
            options: self.options.clone(),
            faults: self.faults.clone(),
            counts: self.counts.clone(),
            trace: VecDeque::new(),
            operations: self.operations,
            process: self.process,
            locks: BTreeMap::new(),
            handles: BTreeMap::new(),
            last_handle: self.last_handle,
            moments: None,
        }
    }

    /// Ends the process: its handles and locks are gone, the cache stays.
    pub(super) fn kill(&mut self) {
        self.process += 1;
        self.locks.clear();
        self.handles.clear();
        self.tree.sweep(&BTreeSet::new());
    }

    /// Asks the ordered faults whether this call fails.
    pub(super) fn strike(&mut self, attempt: &Attempt) -> Option<Failure> {
        let range = attempt.touched();
        let mut struck = None;
        // Every fault counts every call, also one that another has struck.
        for fault in &mut self.faults {
            let failure = fault.strike(attempt.call, &attempt.path, &range);
            struck = struck.or(failure);
        }
        self.faults.retain(|fault| !fault.is_spent());
        struck
    }

    /// Strikes a call that is done whole or not at all, and gives the error to return after it.
    pub(super) fn whole(&mut self, attempt: &Attempt) -> io::Result<Option<Cause>> {
        match self.strike(attempt) {
            None | Some(Failure::Lost | Failure::Flip { .. } | Failure::Short(_)) => Ok(None),
            Some(Failure::ErrorAfter(cause)) => Ok(Some(cause)),
            Some(
                Failure::Error(cause) | Failure::ErrorDirty(cause) | Failure::ShortError(_, cause),
            ) => Err(self.refuse(attempt, cause)),
        }
    }

    /// Strikes a call that changes nothing.
    pub(super) fn pass(&mut self, attempt: &Attempt) -> io::Result<()> {
        match self.whole(attempt)? {
            Some(cause) => Err(self.refuse(attempt, cause)),
            None => Ok(()),
        }
    }

    /// Makes the error of a call, notes it, and lets the process die of it if it is to.
    pub(super) fn refuse(&mut self, attempt: &Attempt, cause: Cause) -> io::Error {
        let error = cause.error();
        self.note(attempt, Some(&error));
        if cause == Cause::Killed {
            self.kill();
        }
        error
    }

    /// Ends a call that did something: notes it, and records the moment.
    pub(super) fn done(&mut self, attempt: &Attempt, after: Option<Cause>) -> io::Result<()> {
        let error = after.map(Cause::error);
        self.note(attempt, error.as_ref());
        if self.moments.is_some() {
            let now = self.without_moments();
            self.moments.get_or_insert_default().push(now);
        }
        if after == Some(Cause::Killed) {
            self.kill();
        }
        error.map_or(Ok(()), Err)
    }

    fn note(&mut self, attempt: &Attempt, error: Option<&io::Error>) {
        if self.trace.len() == TRACE_MAX {
            self.trace.pop_front();
        }
        self.trace.push_back(Traced {
            operation: self.operations,
            call: attempt.call,
            path: attempt.path.clone(),
            to: attempt.to.clone(),
            offset: attempt.offset,
            bytes: attempt.bytes,
            error: error.map(ToString::to_string),
        });
    }

    /// Begins an operation that changes something, and gives its number.
    pub(super) fn operation(&mut self) -> u64 {
        self.operations += 1;
        self.operations
    }

    pub(super) fn counts_of(&mut self, inode: u64) -> &mut Counts {
        self.counts.entry(self.tree.path_of(inode)).or_default()
    }

    pub(super) fn stat(&self, inode: u64) -> io::Result<Stat> {
        let (bytes, changed_ns, kind) = match self.tree.nodes.get(&inode) {
            Some(Node::File(file)) => (file.cache.bytes(), file.changed_ns, Kind::Regular),
            Some(Node::Folder(_)) => (0, 0, Kind::Directory),
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        let identity = FileId { device: DEVICE, inode };
        Ok(Stat { bytes, identity, modified_ns: changed_ns, changed_ns, kind })
    }

    pub(super) fn is_locked(&self, file: FileId) -> bool {
        file.device == DEVICE && self.locks.contains_key(&file.inode)
    }

    /// Opens a handle on a file or directory.
    pub(super) fn handle(&mut self, inode: u64) -> u64 {
        self.last_handle += 1;
        self.handles.insert(self.last_handle, inode);
        self.last_handle
    }

    /// Closes a handle. Its lock stays, as when a child that is being spawned holds a copy.
    pub(super) fn close(&mut self, handle: u64) {
        if let Some(inode) = self.handles.remove(&handle) {
            self.release(inode);
        }
    }

    /// Lets go of a file that has no handle and that no crash can bring back.
    pub(super) fn release(&mut self, inode: u64) {
        if !self.handles.values().any(|open| *open == inode) && !self.tree.is_referred(inode) {
            self.tree.nodes.remove(&inode);
        }
    }

    /// Lets go of all such files, once a directory has forgotten old names.
    pub(super) fn sweep(&mut self) {
        self.tree.sweep(&self.handles.values().copied().collect());
    }

    pub(super) fn try_lock(&mut self, inode: u64, handle: u64) -> bool {
        *self.locks.entry(inode).or_insert(handle) == handle
    }

    pub(super) fn unlock(&mut self, inode: u64, handle: u64) {
        if self.locks.get(&inode) == Some(&handle) {
            self.locks.remove(&inode);
        }
    }

    /// Returns how many of these bytes the disk has room for.
    pub(super) fn room(&self, inode: u64, offset: u64, bytes: u64) -> io::Result<u64> {
        let file = self.tree.file(inode)?;
        let Some(capacity) = self.options.capacity else { return Ok(bytes) };
        // What has lost its name takes no room, open or not.
        let named: BTreeSet<u64> = self.tree.paths().into_iter().map(|(_, inode)| inode).collect();
        let others = named.iter().filter(|other| **other != inode);
        let others: u64 = others
            .filter_map(|other| self.tree.file(*other).ok())
            .map(|f| f.cache.allocated())
            .sum();
        let fits = |bytes: u64| others + file.cache.allocated_with(offset, bytes) <= capacity;
        if fits(bytes) {
            return Ok(bytes);
        }
        // The greatest part that fits; room never grows with the bytes.
        let (mut most, mut too_many) = (0, bytes);
        while most + 1 < too_many {
            let middle = most + (too_many - most) / 2;
            if fits(middle) {
                most = middle;
            } else {
                too_many = middle;
            }
        }
        Ok(most)
    }

    /// Restarts the machine: only the device is left, and no fault but those of the disk.
    pub(super) fn restart(&mut self) {
        self.kill();
        self.tree.restart();
        self.faults.retain(Fault::is_of_the_disk);
        self.counts.clear();
        self.trace.clear();
        self.moments = None;
    }

    pub(super) fn file_of(&self, path: &Path) -> io::Result<u64> {
        let inode = self.tree.find(path)?;
        self.tree.file(inode).map(|_| inode)
    }

    /// Makes a node at a path that is free.
    pub(super) fn make(&mut self, path: &Path, node: Node) -> io::Result<u64> {
        let place = self.tree.place(path)?;
        if self.tree.at(&place).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let operation = self.operation();
        let inode = self.tree.add(node);
        self.tree.named(inode, super::tree::clean(path));
        self.tree.folder_mut(place.folder)?.put(operation, place.name, inode);
        Ok(inode)
    }

    /// A node for an empty file, made now.
    pub(super) fn empty_file(&self) -> Node {
        Node::File(Arc::new(super::inode::Inode::new(self.operations + 1)))
    }
}
