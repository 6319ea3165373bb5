//! A file of the machine that is open.

use std::fs;
use std::io;
use std::sync::OnceLock;

use super::super::volume::WriteFile;
use super::super::{File, Stat};
use super::direct::{self, Direct};

pub(super) struct DiskFile {
    file: fs::File,
    /// The second descriptor, which reads past the cache; made when it is first asked for.
    direct: OnceLock<Option<Direct>>,
}

impl DiskFile {
    pub(super) fn new(file: fs::File) -> Self {
        Self { file, direct: OnceLock::new() }
    }
}

impl File for DiskFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        read_at(&self.file, offset, buffer)
    }

    fn stat(&self) -> io::Result<Stat> {
        Ok(super::stat_of(&self.file.metadata()?))
    }
}

impl WriteFile for DiskFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| {
            #[cfg(unix)]
            return std::os::unix::fs::FileExt::write_at(&self.file, bytes, offset);
            #[cfg(windows)]
            return std::os::windows::fs::FileExt::seek_write(&self.file, bytes, offset);
        })
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        uninterrupted(|| self.file.set_len(bytes))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.direct.get().is_none() {
            let opened = direct::open(&self.file)?;
            self.direct.get_or_init(|| opened);
        }
        let direct = self.direct.get().and_then(Option::as_ref);
        match direct {
            Some(direct) => direct.read_at(offset, buffer),
            None => Ok(None),
        }
    }

    fn try_lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(fs::TryLockError::WouldBlock) => Ok(false),
            Err(fs::TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        self.file.unlock()
    }
}

pub(super) fn read_at(file: &fs::File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    uninterrupted(|| {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
    })
}

/// Asks again for as long as a signal comes between.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
