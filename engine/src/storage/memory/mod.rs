//! A file system in memory, for tests, fuzzing and fixtures, that can be told to fail.

mod path;
mod volume;

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Entry, File, FileId, Kind, Stat, Storage};
use path::{clean, parts};

/// Links followed before a path is called a loop, as on Linux.
const LINKS_MAX: usize = 40;

/// What [`Memory::fail`] can make fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// [`Storage::open`].
    Open,
    /// [`Storage::list`].
    List,
    /// [`Storage::stat`].
    Stat,
    /// [`Storage::canonical`].
    Canonical,
}

/// What another process does to a file between two of our reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Puts bytes at the end.
    Append(Vec<u8>),
    /// Cuts the file to so many bytes.
    Truncate(usize),
    /// Gives the file another content.
    Replace(Vec<u8>),
}

/// A file system in memory, with POSIX paths. Clones share it.
///
/// Relative paths are taken from `/`. Its clock counts changes. It can be written to, and then
/// everything is durable at once; what a crash does to a log is for [`super::Sim`] to show.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Tree>>);

#[derive(Debug, Default)]
struct Tree {
    /// The directory `/`, then all others.
    folders: Folders,
    failures: HashMap<(PathBuf, Operation), io::ErrorKind>,
    locked: HashSet<FileId>,
    /// The handle that has the lock, of locks that were taken and not made up.
    holders: HashMap<FileId, u64>,
    handles: u64,
    locks_hidden: bool,
    clock: i64,
    inodes: u64,
}

#[derive(Debug)]
struct Folders(Vec<BTreeMap<OsString, Node>>);

#[derive(Clone, Debug)]
enum Node {
    File(Arc<Mutex<Content>>),
    /// Place in [`Folders`].
    Directory(usize),
    Symlink(PathBuf),
    Other(u64),
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    inode: u64,
    changed_ns: i64,
    reads: usize,
    /// What happens before the read of this number, counted from 0, in order.
    script: VecDeque<(usize, Change)>,
    unreadable_from: Option<(u64, io::ErrorKind)>,
}

struct MemoryFile(Arc<Mutex<Content>>);

impl Memory {
    /// Makes an empty file system, which has `/`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file with these bytes, and the directories above it.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> Self {
        let mut tree = self.tree();
        let (inode, changed_ns) = tree.tick();
        let content = Content { bytes: bytes.into(), inode, changed_ns, ..Content::default() };
        tree.put(path.as_ref(), Node::File(Arc::new(Mutex::new(content))));
        drop(tree);
        self
    }

    /// Puts an empty directory, and the directories above it.
    #[must_use]
    pub fn directory(self, path: impl AsRef<Path>) -> Self {
        self.tree().folder(path.as_ref());
        self
    }

    /// Puts a symbolic link, and the directories above it.
    #[must_use]
    pub fn symlink(self, path: impl AsRef<Path>, target: impl Into<PathBuf>) -> Self {
        self.tree().put(path.as_ref(), Node::Symlink(target.into()));
        self
    }

    /// Puts what is neither file nor directory nor link, such as a FIFO.
    #[must_use]
    pub fn other(self, path: impl AsRef<Path>) -> Self {
        let inode = self.tree().tick().0;
        self.tree().put(path.as_ref(), Node::Other(inode));
        self
    }

    /// Makes an operation on exactly this path fail from now on.
    #[must_use]
    pub fn fail(self, path: impl AsRef<Path>, operation: Operation, kind: io::ErrorKind) -> Self {
        self.tree().failures.insert((clean(path.as_ref()), operation), kind);
        self
    }

    /// Makes the bytes of a file from `offset` on unreadable. Does nothing if there is no file.
    #[must_use]
    pub fn fail_read(self, path: impl AsRef<Path>, offset: u64, kind: io::ErrorKind) -> Self {
        self.content(path.as_ref(), |content| content.unreadable_from = Some((offset, kind)));
        self
    }

    /// Changes a file before its read of number `reads`, counted from 0 over all who have it open.
    /// Does nothing if there is no file.
    #[must_use]
    pub fn change(self, path: impl AsRef<Path>, reads: usize, change: Change) -> Self {
        self.content(path.as_ref(), |content| content.script.push_back((reads, change)));
        self
    }

    /// Makes it look as if a process held a lock on this file. Does nothing if there is none.
    #[must_use]
    pub fn lock(self, path: impl AsRef<Path>) -> Self {
        if let Ok(stat) = self.stat(path.as_ref()) {
            self.tree().locked.insert(stat.identity);
        }
        self
    }

    /// Makes it impossible to say who holds locks.
    #[must_use]
    pub fn without_lock_table(self) -> Self {
        self.tree().locks_hidden = true;
        self
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn content(&self, path: &Path, act: impl FnOnce(&mut Content)) {
        if let Ok((_, Node::File(content))) = self.tree().resolve(path) {
            act(&mut locked(&content));
        }
    }
}

impl Storage for Memory {
    fn open(&self, path: &Path) -> io::Result<Box<dyn File>> {
        let tree = self.tree();
        tree.failing(path, Operation::Open)?;
        let (_, node) = tree.resolve(path)?;
        super::refuse_unless_regular(node.kind())?;
        let Node::File(content) = node else { return Err(io::ErrorKind::InvalidInput.into()) };
        Ok(Box::new(MemoryFile(content)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let tree = self.tree();
        tree.failing(dir, Operation::List)?;
        let (_, Node::Directory(folder)) = tree.resolve(dir)? else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        let entry =
            |(name, node): (&OsString, &Node)| Entry { name: name.clone(), kind: node.kind() };
        let mut entries: Vec<Entry> = tree.folders.0[folder].iter().map(entry).collect();
        super::sort(&mut entries);
        Ok(entries)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        let tree = self.tree();
        tree.failing(path, Operation::Stat)?;
        Ok(match tree.resolve(path)?.1 {
            Node::File(content) => locked(&content).stat(),
            // Directories are numbered by themselves, far above the files.
            Node::Directory(folder) => still(u64::MAX - folder as u64, Kind::Directory),
            Node::Symlink(_) => still(0, Kind::Other),
            Node::Other(inode) => still(inode, Kind::Other),
        })
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let tree = self.tree();
        tree.failing(path, Operation::Canonical)?;
        Ok(tree.resolve(path)?.0)
    }

    fn lock_holders(&self, file: FileId) -> Option<bool> {
        let tree = self.tree();
        (!tree.locks_hidden).then(|| tree.locked.contains(&file))
    }
}

impl Tree {
    /// Gives a new inode and the time of the change that needs it.
    fn tick(&mut self) -> (u64, i64) {
        self.clock += 1;
        self.inodes += 1;
        (self.inodes, self.clock)
    }

    /// Puts something at a path whose letters alone count; a link above it is not followed.
    fn put(&mut self, path: &Path, node: Node) {
        let path = clean(path);
        if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
            let folder = self.folder(parent);
            self.folders.0[folder].insert(name.to_owned(), node);
        }
    }

    /// Returns a directory, made with those above it unless it is there. What is there and is no
    /// directory becomes one.
    fn folder(&mut self, path: &Path) -> usize {
        let mut folder = 0;
        for part in parts(&clean(path)) {
            let new = self.folders.0.len();
            let below = match self.folders.0[folder].entry(part) {
                Slot::Occupied(found) if matches!(found.get(), Node::Directory(_)) => {
                    found.into_mut()
                }
                Slot::Occupied(mut found) => {
                    found.insert(Node::Directory(new));
                    found.into_mut()
                }
                Slot::Vacant(slot) => slot.insert(Node::Directory(new)),
            };
            let Node::Directory(below) = *below else { return folder };
            if below == new {
                self.folders.0.push(BTreeMap::new());
            }
            folder = below;
        }
        folder
    }

    fn failing(&self, path: &Path, operation: Operation) -> io::Result<()> {
        match self.failures.get(&(clean(path), operation)) {
            Some(kind) => Err((*kind).into()),
            None => Ok(()),
        }
    }

    /// Follows links and returns the path without them and what it names.
    fn resolve(&self, path: &Path) -> io::Result<(PathBuf, Node)> {
        let mut rest = parts(path);
        // Names and directories from `/` down to where we are; what comes last may be no directory.
        let (mut names, mut above) = (Vec::new(), vec![Node::Directory(0)]);
        let mut links = 0;
        while let Some(part) = rest.pop_front() {
            let Some(Node::Directory(folder)) = above.last() else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            if part == ".." {
                if names.pop().is_some() {
                    above.pop();
                }
                continue;
            }
            let found = self.folders.0[*folder].get(&part).ok_or(io::ErrorKind::NotFound)?;
            if let Node::Symlink(target) = found {
                links += 1;
                if links > LINKS_MAX {
                    return Err(io::Error::other("too many levels of symbolic links"));
                }
                if target.has_root() {
                    names.clear();
                    above.truncate(1);
                }
                for part in parts(target).into_iter().rev() {
                    rest.push_front(part);
                }
            } else {
                names.push(part);
                above.push(found.clone());
            }
        }
        let path = Path::new("/").join(names.iter().collect::<PathBuf>());
        let node = above.pop().ok_or(io::ErrorKind::NotFound)?;
        Ok((path, node))
    }
}

impl Default for Folders {
    fn default() -> Self {
        Self(vec![BTreeMap::new()])
    }
}

impl Node {
    fn kind(&self) -> Kind {
        match self {
            Self::File(_) => Kind::Regular,
            Self::Directory(_) => Kind::Directory,
            Self::Symlink(_) => Kind::Symlink,
            Self::Other(_) => Kind::Other,
        }
    }
}

impl Content {
    fn stat(&self) -> Stat {
        Stat {
            bytes: self.bytes.len() as u64,
            identity: FileId { device: 1, inode: self.inode },
            modified_ns: self.changed_ns,
            changed_ns: self.changed_ns,
            kind: Kind::Regular,
        }
    }

    /// Does what others do before the next read.
    fn advance(&mut self) {
        while self.script.front().is_some_and(|(reads, _)| *reads <= self.reads) {
            let Some((_, change)) = self.script.pop_front() else { break };
            match change {
                Change::Append(bytes) => self.bytes.extend(bytes),
                Change::Truncate(bytes) => self.bytes.truncate(bytes),
                Change::Replace(bytes) => self.bytes = bytes,
            }
            self.changed_ns += 1_000_000_000;
        }
        self.reads += 1;
    }
}

impl File for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut content = locked(&self.0);
        content.advance();
        let mut end = content.bytes.len() as u64;
        if let Some((unreadable_from, kind)) = content.unreadable_from {
            if offset >= unreadable_from && offset < end {
                return Err(kind.into());
            }
            end = end.min(unreadable_from.max(offset));
        }
        let count = end.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let start = offset.min(content.bytes.len() as u64) as usize;
        buffer[..count].copy_from_slice(&content.bytes[start..start + count]);
        Ok(count)
    }

    fn stat(&self) -> io::Result<Stat> {
        Ok(locked(&self.0).stat())
    }
}

fn locked(content: &Mutex<Content>) -> MutexGuard<'_, Content> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

fn still(inode: u64, kind: Kind) -> Stat {
    let identity = FileId { device: 1, inode };
    Stat { bytes: 0, identity, modified_ns: 0, changed_ns: 0, kind }
}
