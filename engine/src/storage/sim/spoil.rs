//! What a test does to a simulated disk behind the back of every process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::Folder;
use super::image::{Image, SECTOR_BYTES};
use super::inode::Inode;
use super::state::State;
use super::tree::{Node, clean};
use super::{Sim, SimDisk};

/// The two images of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    /// What processes read.
    pub cache: Vec<u8>,
    /// What a power cut leaves if it keeps nothing else.
    pub device: Vec<u8>,
}

impl SimDisk {
    /// Puts a durable file with these bytes, in place of what has its name, and the directories
    /// above it.
    ///
    /// # Errors
    ///
    /// `NotADirectory` below a file, `IsADirectory` where the name is a directory's.
    pub fn put(&self, path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let path = clean(path.as_ref());
        put_dir(&mut state, path.parent().unwrap_or(Path::new("/")))?;
        let place = state.tree.place(&path)?;
        if let Some(there) = state.tree.at(&place) {
            state.tree.file_mut(there)?.replace(bytes);
            let last = state.operations;
            state.tree.folder_mut(place.folder)?.sync(last);
            return Ok(());
        }
        state.make(&path, Node::File(Arc::new(Inode::durable(bytes))))?;
        let last = state.operations;
        state.tree.folder_mut(place.folder)?.sync(last);
        Ok(())
    }

    /// Puts a durable directory and those above it; one that is there stays as it is.
    ///
    /// # Errors
    ///
    /// `NotADirectory` where a file is in the way.
    pub fn put_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        put_dir(&mut self.state(), path.as_ref())
    }

    /// Returns the two images of a file.
    ///
    /// # Errors
    ///
    /// `NotFound` where nothing has the name, `IsADirectory` where a directory has it.
    pub fn images(&self, path: impl AsRef<Path>) -> io::Result<Images> {
        self.inspect(path.as_ref(), |file| Images {
            cache: file.cache.to_vec(),
            device: file.device.to_vec(),
        })
    }

    /// Returns what processes read in a file.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`].
    pub fn image(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        self.inspect(path.as_ref(), |file| file.cache.to_vec())
    }

    /// Changes a file in both images: nothing of it is unsynced any more.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`].
    pub fn edit(&self, path: impl AsRef<Path>, act: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.alter(path.as_ref(), |file| {
            let mut bytes = file.cache.to_vec();
            act(&mut bytes);
            file.replace(&bytes);
        })
    }

    /// Changes a file on the device only; the cache stays as it is until it is dropped.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`].
    pub fn edit_device(
        &self,
        path: impl AsRef<Path>,
        act: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<()> {
        self.alter(path.as_ref(), |file| {
            let mut bytes = file.device.to_vec();
            act(&mut bytes);
            file.spoil(|device| *device = Image::from_bytes(&bytes));
        })
    }

    /// Flips one bit in both images, without reading the rest. Behind the end it does nothing.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`].
    pub fn flip(&self, path: impl AsRef<Path>, offset: u64, bit: u8) -> io::Result<()> {
        self.alter(path.as_ref(), |file| {
            flip(&mut file.cache, offset, bit);
            file.spoil(|device| flip(device, offset, bit));
        })
    }

    /// Flips one bit on the device. Reads of the cache do not see it until the cache is dropped.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`].
    pub fn rot(&self, path: impl AsRef<Path>, offset: u64, bit: u8) -> io::Result<()> {
        self.alter(path.as_ref(), |file| file.spoil(|device| flip(device, offset, bit)))
    }

    /// Puts a sector of 512 bytes of another file in place of one, on both images, up to the end
    /// of this file. From a copy of this disk made earlier it is a stale sector, from
    /// another place of this disk a misdirected one, from another disk a foreign one.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::images`], for either file.
    pub fn copy_sector(
        &self,
        path: impl AsRef<Path>,
        sector: u64,
        source: &SimDisk,
        source_path: impl AsRef<Path>,
        source_sector: u64,
    ) -> io::Result<()> {
        let bytes =
            source.inspect(source_path.as_ref(), |file| file.device.sector(source_sector))?;
        self.alter(path.as_ref(), |file| {
            file.cache.overlay(sector * SECTOR_BYTES, &bytes);
            file.spoil(|device| device.put_sector(sector, &bytes));
        })
    }

    /// Lets the cache of every file go, as a machine does that needs the memory: what is clean is
    /// read from the device from now on.
    pub fn drop_caches(&self) {
        for node in self.state().tree.nodes.values_mut() {
            if let Node::File(file) = node
                && file.is_split()
            {
                Arc::make_mut(file).drop_cache();
            }
        }
    }

    /// Lets the machine write all that is unsynced to the device, as it does after half a minute,
    /// without any call of a process.
    pub fn write_back(&self) {
        let mut state = self.state();
        let last = state.operations;
        for node in state.tree.nodes.values_mut() {
            match node {
                Node::File(file) if file.is_split() => Arc::make_mut(file).sync(last),
                Node::File(_) => {}
                Node::Folder(folder) => Arc::make_mut(folder).sync(last),
            }
        }
        state.sweep();
    }

    /// Returns the path of every file, in order.
    pub fn files(&self) -> Vec<PathBuf> {
        let state = self.state();
        let mut paths = state.tree.paths();
        paths.retain(|(_, inode)| state.tree.file(*inode).is_ok());
        paths.into_iter().map(|(path, _)| path).collect()
    }

    /// Returns a digest of all names and bytes that processes see.
    pub fn digest(&self) -> [u8; 32] {
        digest(&self.state(), false)
    }

    /// Returns a digest of all that a restart of the machine leaves: names, the numbers of what
    /// they name, and bytes. Of a disk behind a power cut that is everything that a process can
    /// ask for but times, and but the numbers that new files will get.
    pub fn fingerprint(&self) -> [u8; 32] {
        digest(&self.state(), true)
    }

    fn inspect<T>(&self, path: &Path, act: impl FnOnce(&Inode) -> T) -> io::Result<T> {
        let state = self.state();
        state.tree.file(state.tree.find(path)?).map(act)
    }

    fn alter(&self, path: &Path, act: impl FnOnce(&mut Inode)) -> io::Result<()> {
        let mut state = self.state();
        let inode = state.tree.find(path)?;
        state.tree.file_mut(inode).map(act)
    }
}

impl Sim {
    /// Makes a disk that holds durable files.
    ///
    /// # Errors
    ///
    /// As [`SimDisk::put`].
    pub fn with_files<P: AsRef<Path>>(
        seed: u64,
        files: impl IntoIterator<Item = (P, Vec<u8>)>,
    ) -> io::Result<Self> {
        let sim = Self::new(seed);
        files.into_iter().try_for_each(|(path, bytes)| sim.put(path, &bytes))?;
        Ok(sim)
    }
}

fn put_dir(state: &mut State, path: &Path) -> io::Result<()> {
    let path = clean(path);
    let mut above = PathBuf::from("/");
    for name in path.iter().skip(1) {
        let folder = state.tree.find(&above)?;
        above.push(name);
        if let Ok(inode) = state.tree.find(&above) {
            state.tree.folder(inode)?;
        } else {
            state.make(&above, Node::Folder(Arc::new(Folder::default())))?;
            let last = state.operations;
            state.tree.folder_mut(folder)?.sync(last);
        }
    }
    Ok(())
}

fn digest(state: &State, with_numbers: bool) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for (path, inode) in state.tree.paths() {
        let name = path.as_os_str().as_encoded_bytes();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name);
        if with_numbers {
            hasher.update(&inode.to_le_bytes());
        }
        match state.tree.file(inode) {
            Ok(file) => {
                hasher.update(&file.cache.bytes().to_le_bytes());
                hasher.update(&file.cache.to_vec());
            }
            Err(_) => {
                hasher.update(&u64::MAX.to_le_bytes());
            }
        }
    }
    *hasher.finalize().as_bytes()
}

pub(super) fn flip(image: &mut Image, offset: u64, bit: u8) {
    let mut byte = [0];
    if image.read(offset, &mut byte) == 1 {
        image.overlay(offset, &[byte[0] ^ 1 << (bit % 8)]);
    }
}
