//! A segment that recovery begins: a file of zeros under a spare's name, a header, its own name.
//!
//! In this order: the zeros are on the device and the spare's name is durable; the header is
//! written and synced; the file gets its name; the directory is synced. A crash before the rename
//! leaves everything as it was, but for a spare that may hold a header: the next open takes that
//! for what it is, a segment whose rename was lost.

use super::field::is_zero;
use super::limit::{SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
use super::name;
use super::scene::Scene;
use super::segment_header::SegmentHeader;
use super::source::{Device, Window};
use crate::backend::{Error, ErrorKind};
use crate::storage::{Create, Volume, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Zeros are written in steps of so many bytes, each synced by itself.
const STEP_BYTES: u64 = 1 << 20;

/// More spares than any store keeps.
const SPARES_MAX: u32 = 1 << 16;

/// A file of zeros that nobody uses.
pub(crate) struct Blank {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The file.
    pub(crate) file: Arc<dyn WriteFile>,
    /// Size in bytes.
    pub(crate) bytes: u64,
}

/// Returns a file of at least so many zeros: a spare of which the device says that it is one, else
/// a new one.
pub(crate) fn blank(volume: &dyn Volume, scene: &Scene, bytes: u64) -> Result<Blank, Error> {
    let sizes = SEGMENT_BYTES_MIN.max(bytes)..=SEGMENT_BYTES_MAX;
    let is_usable = |spare: u64| sizes.contains(&spare) && spare.is_power_of_two();
    for spare in scene.spares.iter().filter(|spare| spare.is_zero && is_usable(spare.bytes)) {
        let doing = |error| Error::io(&spare.path, "the spare cannot be opened", error);
        let file = volume.open_write(&spare.path, Create::Existing).map_err(doing)?;
        if make_sure(&*file, &spare.path, spare.bytes)? {
            return Ok(Blank { path: spare.path.clone(), file, bytes: spare.bytes });
        }
        // It is no spare, whatever it is called; the next open tries again.
        let _ = volume.remove(&spare.path);
    }
    make(volume, &scene.dir, bytes)
}

/// Makes sure that the device holds zeros only: asks it, or writes them again where it cannot be
/// asked.
fn make_sure(file: &dyn WriteFile, path: &Path, bytes: u64) -> Result<bool, Error> {
    let Some(mut device) = Device::new(file, path, 0)? else {
        let doing = |error| Error::io(path, "the spare cannot be filled with zeros", error);
        return zero(file, 0, bytes).map(|()| true).map_err(doing);
    };
    let mut window = Window::new(&mut device, bytes);
    let mut offset = 0;
    while offset < bytes {
        let some = window.some(offset)?;
        if some.is_empty() || !is_zero(some) {
            return Ok(false);
        }
        offset += some.len() as u64;
    }
    Ok(true)
}

fn make(volume: &dyn Volume, dir: &Path, bytes: u64) -> Result<Blank, Error> {
    for number in 0..SPARES_MAX {
        let path = dir.join(name::spare(number));
        let file = match volume.open_write(&path, Create::New) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(Error::io(path, "a segment cannot be made", error)),
        };
        let made = zero(&*file, 0, bytes).and_then(|()| volume.sync_dir(dir));
        if let Err(error) = made {
            // What is left of it is no segment; the next open removes it if we cannot.
            let _ = volume.remove(&path);
            return Err(Error::io(path, "a segment cannot be filled with zeros", error));
        }
        return Ok(Blank { path, file, bytes });
    }
    let message = "there are more files called `spare-*` than any store has; remove them";
    Err(Error::new(ErrorKind::NotAStore, message).at(dir, None))
}

/// Gives a blank its header and its name; both are durable when it returns.
pub(crate) fn begin(
    volume: &dyn Volume,
    dir: &Path,
    blank: &Blank,
    header: &SegmentHeader,
) -> Result<PathBuf, Error> {
    write_all(&*blank.file, 0, &header.encode())
        .and_then(|()| blank.file.sync_data())
        .map_err(|error| Error::io(&blank.path, "the segment's header cannot be synced", error))?;
    name_it(volume, dir, &blank.path, header.first_lsn)
}

/// Gives a segment its name, durably.
pub(crate) fn name_it(
    volume: &dyn Volume,
    dir: &Path,
    from: &Path,
    first_lsn: u64,
) -> Result<PathBuf, Error> {
    let path = dir.join(name::segment(first_lsn));
    volume
        .rename(from, &path)
        .map_err(|error| Error::io(from, "the segment cannot be given its name", error))?;
    volume
        .sync_dir(dir)
        .map_err(|error| Error::io(dir, "the segment's name cannot be synced", error))?;
    Ok(path)
}

/// Writes zeros over a part of a file, each step synced.
pub(crate) fn zero(file: &dyn WriteFile, from: u64, to: u64) -> io::Result<()> {
    let zeros = vec![0; STEP_BYTES.min(to.saturating_sub(from)) as usize];
    let mut offset = from;
    while offset < to {
        let step = STEP_BYTES.min(to - offset);
        write_all(file, offset, &zeros[..step as usize])?;
        file.sync_data()?;
        offset += step;
    }
    Ok(())
}

/// Writes all bytes at an offset; a disk that takes none is an error.
pub(crate) fn write_all(file: &dyn WriteFile, offset: u64, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(offset + done as u64, &bytes[done..])? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            some => done += some,
        }
    }
    Ok(())
}
