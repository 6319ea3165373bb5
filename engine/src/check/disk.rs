//! Patient reads: an error is tried three times before it is one (row L2), and a short read is the
//! end of the file.

use crate::backend::{Error, ErrorKind};
use crate::log::field::is_zero;
use crate::storage::{File, Stat, Storage};
use crc32fast::Hasher;
use std::io;
use std::path::{Path, PathBuf};

/// How often a read is tried.
const TRIES: usize = 3;

/// Bytes that are looked at in one step where all of a long extent is.
const STEP_BYTES: u64 = 1 << 20;

/// A file of the store.
pub(super) struct Reader {
    file: Box<dyn File>,
    path: PathBuf,
}

/// The bytes of an extent that are not zero: up to the last of them, with their CRC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Residue {
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// Tries something up to three times; what is not there is said at once.
pub(super) fn patiently<T>(path: &Path, act: impl Fn() -> io::Result<T>) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match act() {
            Ok(done) => return Ok(done),
            Err(error) if tries == TRIES || error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::io(path, "cannot be read, so nothing is decided", error));
            }
            Err(_) => {}
        }
    }
}

/// Returns whether an error says that there is no such file.
pub(super) fn is_absent(error: &Error) -> bool {
    error.source.as_ref().is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}

impl Reader {
    /// Opens a file whose name was listed: one that is gone was taken away meanwhile (row R4).
    pub(super) fn open(storage: &dyn Storage, path: &Path) -> Result<Self, Error> {
        match Self::find(storage, path)? {
            Some(reader) => Ok(reader),
            None => Err(Error::new(ErrorKind::Busy, "the file vanished").at(path, None)),
        }
    }

    /// Opens a file that need not be there.
    pub(super) fn find(storage: &dyn Storage, path: &Path) -> Result<Option<Self>, Error> {
        match patiently(path, || storage.open(path)) {
            Ok(file) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn stat(&self) -> Result<Stat, Error> {
        patiently(&self.path, || self.file.stat())
    }

    /// Reads up to `bytes` from `offset` on; fewer where the file ends.
    pub(super) fn read(&self, offset: u64, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut buffer = Vec::new();
        self.read_into(&mut buffer, offset, bytes)?;
        Ok(buffer)
    }

    /// Fills a buffer with up to `bytes` from `offset` on.
    pub(super) fn read_into(
        &self,
        buffer: &mut Vec<u8>,
        offset: u64,
        bytes: usize,
    ) -> Result<(), Error> {
        buffer.resize(bytes, 0);
        let mut filled = 0;
        let mut tries = 0;
        while filled < bytes {
            match self.file.read_at(offset + filled as u64, &mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => {
                    filled += count;
                    tries = 0;
                }
                Err(error) => {
                    tries += 1;
                    if tries == TRIES {
                        let doing = "cannot be read, so nothing is decided";
                        let error = Error::io(&self.path, doing, error);
                        let path = self.path.clone();
                        return Err(error.at(path, Some(offset + filled as u64)));
                    }
                }
            }
        }
        buffer.truncate(filled);
        Ok(())
    }

    /// Measures what is not zero from `from` up to `to`, or the end of the file.
    pub(super) fn residue(&self, from: u64, to: u64) -> Result<Residue, Error> {
        let mut sum = Hasher::new();
        let (mut residue, mut counted) = (Residue::default(), from);
        let mut buffer = Vec::new();
        let mut offset = from;
        while offset < to {
            self.read_into(&mut buffer, offset, (to - offset).min(STEP_BYTES) as usize)?;
            if buffer.is_empty() {
                break;
            }
            if !is_zero(&buffer) {
                let last = buffer.iter().rposition(|byte| *byte != 0).unwrap_or_default();
                let mut zeros = offset - counted;
                while zeros > 0 {
                    let some = zeros.min(4096);
                    sum.update(&[0; 4096][..some as usize]);
                    zeros -= some;
                }
                sum.update(&buffer[..=last]);
                counted = offset + last as u64 + 1;
            }
            offset += buffer.len() as u64;
        }
        if counted > from {
            residue = Residue { bytes: counted - from, crc: sum.finalize() };
        }
        Ok(residue)
    }
}
