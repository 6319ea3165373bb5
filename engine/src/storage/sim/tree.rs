//! Files and directories of a simulated disk, found by path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::folder::Folder;
use super::inode::Inode;

/// The number of `/`.
const ROOT: u64 = 1;

/// What a number stands for. Copies of a tree share both until one of them changes it.
#[derive(Clone, Debug)]
pub(super) enum Node {
    File(Arc<Inode>),
    Folder(Arc<Folder>),
}

/// All files and directories, by number.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: BTreeMap<u64, Node>,
    last: u64,
}

/// The directory of a path and its last name.
pub(super) struct Place {
    pub(super) folder: u64,
    pub(super) name: OsString,
}

impl Tree {
    pub(super) fn new() -> Self {
        let root = Node::Folder(Arc::new(Folder::new(PathBuf::from("/"))));
        Self { nodes: BTreeMap::from([(ROOT, root)]), last: ROOT }
    }

    pub(super) fn add(&mut self, node: Node) -> u64 {
        self.last += 1;
        self.nodes.insert(self.last, node);
        self.last
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<u64> {
        let path = clean(path);
        let mut inode = ROOT;
        for name in path.iter().skip(1) {
            inode = *self.folder(inode)?.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(inode)
    }

    /// Returns where a path's last name is or would be. `/` has none.
    pub(super) fn place(&self, path: &Path) -> io::Result<Place> {
        let path = clean(path);
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = self.find(above)?;
        self.folder(folder)?;
        Ok(Place { folder, name: name.to_owned() })
    }

    /// Returns what a place holds.
    pub(super) fn at(&self, place: &Place) -> Option<u64> {
        self.folder(place.folder).ok()?.names.get(&place.name).copied()
    }

    pub(super) fn folder(&self, inode: u64) -> io::Result<&Folder> {
        match self.nodes.get(&inode) {
            Some(Node::Folder(folder)) => Ok(folder),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn folder_mut(&mut self, inode: u64) -> io::Result<&mut Folder> {
        match self.nodes.get_mut(&inode) {
            Some(Node::Folder(folder)) => Ok(Arc::make_mut(folder)),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file(&self, inode: u64) -> io::Result<&Inode> {
        match self.nodes.get(&inode) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file_mut(&mut self, inode: u64) -> io::Result<&mut Inode> {
        match self.nodes.get_mut(&inode) {
            Some(Node::File(file)) => Ok(Arc::make_mut(file)),
            Some(Node::Folder(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn path_of(&self, inode: u64) -> PathBuf {
        match self.nodes.get(&inode) {
            Some(Node::File(file)) => file.path.clone(),
            Some(Node::Folder(folder)) => folder.path.clone(),
            None => PathBuf::new(),
        }
    }

    /// Remembers the name that a file or directory was given last.
    pub(super) fn named(&mut self, inode: u64, path: PathBuf) {
        match self.nodes.get_mut(&inode) {
            Some(Node::File(file)) => Arc::make_mut(file).path = path,
            Some(Node::Folder(folder)) => Arc::make_mut(folder).path = path,
            None => {}
        }
    }

    /// Returns how many names a file has.
    pub(super) fn links(&self, inode: u64) -> u64 {
        let in_one = |node: &Node| match node {
            Node::Folder(folder) => folder.names.values().filter(|named| **named == inode).count(),
            Node::File(_) => 0,
        };
        self.nodes.values().map(|node| in_one(node) as u64).sum()
    }

    /// Returns every path with its number, directories before what lies in them, in order.
    pub(super) fn paths(&self) -> Vec<(PathBuf, u64)> {
        let mut paths = Vec::new();
        let mut rest = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, inode)) = rest.pop() {
            if let Ok(folder) = self.folder(inode) {
                let below = folder.names.iter().rev();
                rest.extend(below.map(|(name, inode)| (path.join(name), *inode)));
            }
            paths.push((path, inode));
        }
        paths
    }

    /// Returns whether a file or directory has a name, or may have one after a crash.
    pub(super) fn is_referred(&self, inode: u64) -> bool {
        let refers = |node: &Node| match node {
            Node::Folder(folder) => folder.referred().any(|named| named == inode),
            Node::File(_) => false,
        };
        inode == ROOT || self.nodes.values().any(refers)
    }

    /// Lets go of what no crash can bring back and is not kept.
    pub(super) fn sweep(&mut self, kept: &BTreeSet<u64>) {
        loop {
            let before = self.nodes.len();
            let mut referred = BTreeSet::from([ROOT]);
            for node in self.nodes.values() {
                if let Node::Folder(folder) = node {
                    referred.extend(folder.referred());
                }
            }
            self.nodes.retain(|inode, _| referred.contains(inode) || kept.contains(inode));
            // A directory that went may have held the last names of others.
            if self.nodes.len() == before {
                return;
            }
        }
    }

    /// Restarts the machine: only the device is left, and what has a name there.
    pub(super) fn restart(&mut self) {
        for node in self.nodes.values_mut() {
            match node {
                Node::File(file) if file.is_split() => Arc::make_mut(file).restart(),
                Node::File(_) => {}
                Node::Folder(folder) => Arc::make_mut(folder).restart(),
            }
        }
        self.sweep(&BTreeSet::new());
        for (path, inode) in self.paths() {
            if self.path_of(inode) != path {
                self.named(inode, path);
            }
        }
    }
}

/// The absolute path that a spelling means. There are no links here.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => cleaned.push(name),
            Component::ParentDir => {
                cleaned.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    cleaned
}
