//! Writing to a file system in memory. Everything is durable at once.

use std::collections::btree_map::Entry as Slot;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::volume::{Create, DirLock, DirLocked, Volume, WriteFile};
use super::super::{File, FileId, Stat, Storage};
use super::path::clean;
use super::{Content, Memory, MemoryFile, Node, Operation, Tree, locked};

/// Bytes of a file at most. More is a mistake, and would be a gap of zeros in memory.
const FILE_BYTES_MAX: u64 = 1 << 32;

struct MemoryWriter {
    file: MemoryFile,
    lock: MemoryLock,
}

/// What one opening needs to lock what it opened.
struct MemoryLock {
    memory: Memory,
    identity: FileId,
    handle: u64,
}

impl MemoryLock {
    fn new(memory: &Memory, tree: &mut Tree, identity: FileId) -> Self {
        tree.handles += 1;
        Self { memory: memory.clone(), identity, handle: tree.handles }
    }

    fn try_lock(&self, tree: &mut Tree) -> bool {
        // A lock that a test made up has no holder, and is nobody's to take.
        let ours = match tree.holders.get(&self.identity) {
            Some(holder) => *holder == self.handle,
            None => tree.locked.insert(self.identity),
        };
        if ours {
            tree.holders.insert(self.identity, self.handle);
        }
        ours
    }

    fn unlock(&self) {
        let mut tree = self.memory.tree();
        if tree.holders.get(&self.identity) == Some(&self.handle) {
            tree.holders.remove(&self.identity);
            tree.locked.remove(&self.identity);
        }
    }
}

impl DirLock for MemoryLock {
    fn unlock(&self) -> io::Result<()> {
        MemoryLock::unlock(self);
        Ok(())
    }
}

impl File for MemoryWriter {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
    }
}

impl MemoryWriter {
    /// Changes the bytes of the file, which is at least so long while that is done.
    fn change(&self, bytes: u64, act: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        if bytes > FILE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut content = locked(&self.file.0);
        content.changed_ns += 1;
        act(&mut content.bytes);
        Ok(())
    }
}

impl WriteFile for MemoryWriter {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let end = offset.saturating_add(bytes.len() as u64);
        self.change(end, |content| {
            content.resize(content.len().max(end as usize), 0);
            content[offset as usize..end as usize].copy_from_slice(bytes);
        })?;
        Ok(bytes.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.change(bytes, |content| content.resize(bytes as usize, 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.file.read_at(offset, buffer).map(Some)
    }

    fn try_lock(&self) -> io::Result<bool> {
        Ok(self.lock.try_lock(&mut self.lock.memory.tree()))
    }

    fn unlock(&self) -> io::Result<()> {
        self.lock.unlock();
        Ok(())
    }
}

impl Volume for Memory {
    fn open_write(&self, path: &Path, create: Create) -> io::Result<Arc<dyn WriteFile>> {
        let mut tree = self.tree();
        tree.failing(path, Operation::Open)?;
        let content = match tree.resolve(path) {
            Ok(_) if create == Create::New => return Err(io::ErrorKind::AlreadyExists.into()),
            Ok((_, node)) => {
                super::super::refuse_unless_regular(node.kind())?;
                let Node::File(content) = node else {
                    return Err(io::ErrorKind::InvalidInput.into());
                };
                content
            }
            Err(error) if create == Create::Existing || error.kind() != io::ErrorKind::NotFound => {
                return Err(error);
            }
            Err(_) => {
                let (folder, name) = tree.place(path)?;
                let (inode, changed_ns) = tree.tick();
                let content = Content { inode, changed_ns, ..Content::default() };
                let content = Arc::new(Mutex::new(content));
                tree.folders.0[folder].insert(name, Node::File(Arc::clone(&content)));
                content
            }
        };
        let identity = locked(&content).stat().identity;
        let lock = MemoryLock::new(self, &mut tree, identity);
        Ok(Arc::new(MemoryWriter { file: MemoryFile(content), lock }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (folder, name) = tree.place(path)?;
        let new = tree.folders.0.len();
        match tree.folders.0[folder].entry(name) {
            Slot::Occupied(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Slot::Vacant(slot) => slot.insert(Node::Directory(new)),
        };
        tree.folders.0.push(super::BTreeMap::new());
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (from_folder, from_name) = tree.place(from)?;
        let (to_folder, to_name) = tree.place(to)?;
        let source = tree.folders.0[from_folder].get(&from_name).ok_or(io::ErrorKind::NotFound)?;
        let source = source.clone();
        let is_folder = matches!(source, Node::Directory(_));
        if is_folder && clean(to).starts_with(clean(from)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        match (tree.folders.0[to_folder].get(&to_name), &source) {
            (Some(Node::File(old)), Node::File(new)) if Arc::ptr_eq(old, new) => return Ok(()),
            (Some(Node::Directory(old)), Node::Directory(_))
                if !tree.folders.0[*old].is_empty() =>
            {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            (Some(Node::Directory(_)), Node::Directory(_)) => {}
            (Some(Node::Directory(_)), _) => return Err(io::ErrorKind::IsADirectory.into()),
            (Some(_), Node::Directory(_)) => return Err(io::ErrorKind::NotADirectory.into()),
            _ => {}
        }
        tree.folders.0[from_folder].remove(&from_name);
        tree.folders.0[to_folder].insert(to_name, source);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (_, node) = tree.resolve(from)?;
        super::super::refuse_unless_regular(node.kind())?;
        let (folder, name) = tree.place(to)?;
        match tree.folders.0[folder].entry(name) {
            Slot::Occupied(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Slot::Vacant(slot) => {
                slot.insert(node);
                Ok(())
            }
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (folder, name) = tree.place(path)?;
        match tree.folders.0[folder].entry(name) {
            Slot::Vacant(_) => Err(io::ErrorKind::NotFound.into()),
            Slot::Occupied(found) if matches!(found.get(), Node::Directory(_)) => {
                Err(io::ErrorKind::IsADirectory.into())
            }
            Slot::Occupied(found) => {
                found.remove();
                Ok(())
            }
        }
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let mut tree = self.tree();
        let (folder, name) = tree.place(path)?;
        let found = tree.folders.0[folder].get(&name).ok_or(io::ErrorKind::NotFound)?;
        let Node::Directory(below) = found else {
            return Err(io::ErrorKind::NotADirectory.into());
        };
        if !tree.folders.0[*below].is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        tree.folders.0[folder].remove(&name);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        match self.tree().resolve(dir)?.1 {
            Node::Directory(_) => Ok(()),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn try_lock_dir(&self, dir: &Path) -> io::Result<DirLocked> {
        self.sync_dir(dir)?;
        let identity = self.stat(dir)?.identity;
        let mut tree = self.tree();
        let lock = MemoryLock::new(self, &mut tree, identity);
        let ours = lock.try_lock(&mut tree);
        Ok(if ours { DirLocked::Ours(Box::new(lock)) } else { DirLocked::Taken })
    }

    fn link_count(&self, path: &Path) -> io::Result<u64> {
        let tree = self.tree();
        let (_, Node::File(content)) = tree.resolve(path)? else { return Ok(1) };
        let same = |node: &&Node| matches!(node, Node::File(other) if Arc::ptr_eq(other, &content));
        Ok(tree.folders.0.iter().flat_map(|folder| folder.values()).filter(same).count() as u64)
    }

    fn network_name(&self, _: &Path) -> Option<String> {
        None
    }
}

impl Tree {
    /// Returns the directory of a path, links followed, and the last name, whatever it is.
    fn place(&self, path: &Path) -> io::Result<(usize, OsString)> {
        let path = clean(path);
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::AlreadyExists.into());
        };
        match self.resolve(above)?.1 {
            Node::Directory(folder) => Ok((folder, name.to_owned())),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }
}
