//! Bytes of one file, from the cache or from the device, read with patience and through a window.
//!
//! A read that fails is tried twice more; then it is an error that says where, and nobody may take
//! it for the end of anything: the device may give the bytes tomorrow.

use super::limit::GROUP_ALIGN;
use crate::backend::Error;
use crate::storage::{File, WriteFile};
use std::io;
use std::path::Path;

/// How often a read is tried before it is an error.
const TRIES: usize = 3;

/// Bytes that a window reads at once, if nobody asks for more.
const WINDOW_BYTES: usize = 256 << 10;

const PAGE: usize = GROUP_ALIGN as usize;

/// Bytes by offset.
pub(crate) trait Source {
    /// Reads from `offset` on until the buffer is full or the file ends; returns how many.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error>;
}

/// What the kernel shows.
pub(crate) struct Cached<'a> {
    file: &'a dyn File,
    path: &'a Path,
}

impl<'a> Cached<'a> {
    /// Reads a file as the kernel shows it.
    pub(crate) fn new(file: &'a dyn File, path: &'a Path) -> Self {
        Self { file, path }
    }
}

impl Source for Cached<'_> {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            let (place, rest) = (offset + filled as u64, &mut buffer[filled..]);
            match patiently(self.path, place, || self.file.read_at(place, rest))? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }
}

/// What the device has from an offset on; what the kernel shows before it.
pub(crate) struct Device<'a> {
    file: &'a dyn WriteFile,
    path: &'a Path,
    from: u64,
    pages: Vec<u8>,
}

impl<'a> Device<'a> {
    /// Reads a file from the device from `from` on. Nothing if this file system cannot.
    pub(crate) fn new(
        file: &'a dyn WriteFile,
        path: &'a Path,
        from: u64,
    ) -> Result<Option<Self>, Error> {
        let mut probe = vec![0; PAGE];
        let probed = patiently(path, 0, || file.read_device_at(0, &mut probe))?;
        Ok(probed.map(|_| Self { file, path, from, pages: Vec::new() }))
    }

    /// Reads from the device only.
    fn read_device(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let before = (offset % GROUP_ALIGN) as usize;
        let start = offset - before as u64;
        self.pages.resize((before + buffer.len()).next_multiple_of(PAGE), 0);
        let mut filled = 0;
        while filled < self.pages.len() {
            let (place, rest) = (start + filled as u64, &mut self.pages[filled..]);
            let read = patiently(self.path, place, || self.file.read_device_at(place, rest))?;
            let Some(count) = read else {
                let error = io::Error::from(io::ErrorKind::Unsupported);
                return Err(Error::io(self.path, "cannot read the device any more", error));
            };
            filled += count;
            // Less than whole pages is the end of the file; the next read could not be aligned.
            if count == 0 || count % PAGE != 0 {
                break;
            }
        }
        let count = filled.saturating_sub(before).min(buffer.len());
        buffer[..count].copy_from_slice(&self.pages[before..before + count]);
        Ok(count)
    }
}

impl Source for Device<'_> {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let cached = self.from.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (below, above) = buffer.split_at_mut(cached);
        let count = Cached::new(self.file, self.path).read(offset, below)?;
        if count < cached || above.is_empty() {
            return Ok(count);
        }
        Ok(count + self.read_device(offset + cached as u64, above)?)
    }
}

/// Returns the same bytes for few reads: what was read last is kept.
pub(crate) struct Window<'a> {
    source: &'a mut dyn Source,
    buffer: Vec<u8>,
    start: u64,
    /// Nothing at or behind this offset is read, whatever the file has.
    end: u64,
}

impl<'a> Window<'a> {
    /// Looks at the first `end` bytes of a file.
    pub(crate) fn new(source: &'a mut dyn Source, end: u64) -> Self {
        Self { source, buffer: Vec::new(), start: 0, end }
    }

    /// Returns `count` bytes from `offset` on, fewer where the file ends. The caller has bounded
    /// `count` by a limit of the format.
    pub(crate) fn at(&mut self, offset: u64, count: usize) -> Result<&[u8], Error> {
        let count = self.end.saturating_sub(offset).min(count as u64) as usize;
        let held = self.start..self.start + self.buffer.len() as u64;
        if !(held.contains(&offset) && offset + count as u64 <= held.end) {
            let wanted = self.end.saturating_sub(offset).min(count.max(WINDOW_BYTES) as u64);
            self.buffer.resize(wanted as usize, 0);
            let read = self.source.read(offset, &mut self.buffer);
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            self.start = offset;
            read?;
        }
        let from = (offset - self.start) as usize;
        let to = (from + count).min(self.buffer.len());
        Ok(&self.buffer[from..to])
    }

    /// Returns what is there from `offset` on, as much as is convenient; nothing at the end.
    pub(crate) fn some(&mut self, offset: u64) -> Result<&[u8], Error> {
        self.at(offset, WINDOW_BYTES)
    }

    /// Returns the offset behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
}

/// Does what reads, up to three times.
pub(crate) fn patiently<T>(
    path: &Path,
    offset: u64,
    mut read: impl FnMut() -> io::Result<T>,
) -> Result<T, Error> {
    let mut tries = 0;
    loop {
        tries += 1;
        match read() {
            Ok(value) => return Ok(value),
            Err(error) if tries == TRIES || is_final(&error) => {
                let doing = "cannot read; nothing was decided and nothing was changed";
                return Err(Error::io(path, doing, error).at(path, Some(offset)));
            }
            Err(_) => {}
        }
    }
}

/// Returns whether asking again is of no use.
fn is_final(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory | PermissionDenied)
}
