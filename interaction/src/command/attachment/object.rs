//! One object of the embedded store, on the disk.
//!
//! An object is a file whose name is the BLAKE3 digest of its bytes in lower-case hexadecimal, and
//! it is valid if and only if that is so. It is written under a temporary name, synced, read back,
//! and then renamed, so that a name of an object never stands for anything else. Bytes are durable
//! before the rename; the name is when the folder was synced.
//!
//! An object that is there already is written again: nobody knows whether the sync of whoever
//! wrote it went through, and what lies there may have rotted.

use gatelog_engine::storage::{Create, Volume, WriteFile};
use std::io;
use std::path::{Path, PathBuf};

/// Before every temporary name.
pub(super) const TEMPORARY: &str = "tmp-";

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A device is read from multiples of this on.
const BLOCK_BYTES: usize = 4096;

/// The digest that names an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digest(blake3::Hash);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }

    /// Reads a digest that has exactly one spelling.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 64 || !text.bytes().all(is_digit) {
            return None;
        }
        blake3::Hash::from_hex(text).ok().map(Self)
    }

    pub(super) fn hex(self) -> String {
        self.0.to_hex().to_string()
    }

    pub(super) fn path(self, dir: &Path) -> PathBuf {
        dir.join(self.hex())
    }
}

/// Writes an object and gives it its name. The name is not durable yet.
pub(super) fn write(
    volume: &dyn Volume,
    dir: &Path,
    temporary: &str,
    digest: Digest,
    bytes: &[u8],
) -> io::Result<()> {
    let path = dir.join(format!("{TEMPORARY}{temporary}"));
    let written = write_temporary(volume, &path, digest, bytes)
        .and_then(|()| volume.rename(&path, &digest.path(dir)));
    if written.is_err() {
        // What is left is swept when the store is next opened.
        let _ = volume.remove(&path);
    }
    written
}

fn write_temporary(
    volume: &dyn Volume,
    path: &Path,
    digest: Digest,
    bytes: &[u8],
) -> io::Result<()> {
    let file = volume.open_write(path, Create::New)?;
    let mut at = 0;
    while at < bytes.len() {
        match file.write_at(at as u64, &bytes[at..])? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => at += count,
        }
    }
    file.sync_data()?;
    if read_back(&*file, bytes.len())? == digest {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "the disk gives back other bytes"))
    }
}

/// Returns the digest of what the device has, or the cache where it cannot be asked.
fn read_back(file: &dyn WriteFile, bytes: usize) -> io::Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut at = 0;
    while at < bytes {
        // After a short read, the block in which it ended is read again.
        let begin = at - at % BLOCK_BYTES;
        let count = match file.read_device_at(begin as u64, &mut buffer)? {
            Some(count) => count,
            None => file.read_at(begin as u64, &mut buffer)?,
        };
        let (fresh, end) = (at - begin, count.min(bytes - begin));
        if end <= fresh {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&buffer[fresh..end]);
        at = begin + end;
    }
    Ok(Digest(hasher.finalize()))
}

/// Reads an object whole, if it has at most so many bytes.
pub(super) fn read(
    volume: &dyn Volume,
    dir: &Path,
    digest: Digest,
    bytes_max: u64,
) -> io::Result<Option<Vec<u8>>> {
    let file = volume.open(&digest.path(dir))?;
    let bytes = file.stat()?.bytes;
    if bytes > bytes_max {
        return Ok(None);
    }
    let mut data = vec![0; bytes as usize];
    let mut at = 0;
    while at < data.len() {
        match file.read_at(at as u64, &mut data[at..])? {
            0 => break,
            count => at += count,
        }
    }
    data.truncate(at);
    Ok((Digest::of(&data) == digest).then_some(data))
}
