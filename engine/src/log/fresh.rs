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
use super::segment_file::{self, Spare};
use super::segment_header::SegmentHeader;
use super::source::{Device, Window};
use crate::backend::Error;
use crate::storage::{Create, Volume, WriteFile};
use std::io;
use std::path::{Path, PathBuf};

/// More spares than any store has.
const NUMBERS_MAX: u32 = 1 << 16;

/// Returns a file of at least so many zeros: a spare of which the device says that it is one, else
/// a new one.
pub(crate) fn blank(volume: &dyn Volume, scene: &Scene, bytes: u64) -> Result<Spare, Error> {
    let sizes = SEGMENT_BYTES_MIN.max(bytes)..=SEGMENT_BYTES_MAX;
    let is_usable = |spare: u64| sizes.contains(&spare) && spare.is_power_of_two();
    for spare in scene.spares.iter().filter(|spare| spare.is_zero && is_usable(spare.bytes)) {
        let doing = |error| Error::io(&spare.path, "the spare cannot be opened", error);
        let file = volume.open_write(&spare.path, Create::Existing).map_err(doing)?;
        if make_sure(&*file, &spare.path, spare.bytes)? {
            return Ok(Spare { path: spare.path.clone(), file, bytes: spare.bytes });
        }
        // It is no spare, whatever it is called; the next open tries again.
        let _ = volume.remove(&spare.path);
    }
    segment_file::make_spare(volume, &scene.dir, bytes, None)
}

/// Makes sure that the device holds zeros only: asks it, or writes them again where it cannot be
/// asked.
fn make_sure(file: &dyn WriteFile, path: &Path, bytes: u64) -> Result<bool, Error> {
    let Some(mut device) = Device::new(file, path, 0)? else {
        let doing = |error| Error::io(path, "the spare cannot be filled with zeros", error);
        return segment_file::zero(file, 0, bytes, None).map(|()| true).map_err(doing);
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

/// Gives a blank its header and its name; both are durable when it returns.
pub(crate) fn begin(
    volume: &dyn Volume,
    dir: &Path,
    blank: &Spare,
    header: &SegmentHeader,
) -> Result<PathBuf, Error> {
    segment_file::begin(volume, dir, blank, header, true).map_err(|not_begun| not_begun.error)
}

/// Takes a segment's name away, so that it can be given anew: after a sync of the directory that
/// failed nobody knows whether the device has it, and a sync that follows may say that all is well
/// because there is nothing left to do. A crash in between leaves a lost rename.
pub(crate) fn unname(volume: &dyn Volume, dir: &Path, path: &Path) -> Result<PathBuf, Error> {
    let is_free =
        |to: &PathBuf| volume.stat(to).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let to = (1..NUMBERS_MAX).map(|number| dir.join(name::spare(number))).find(is_free);
    let to = to.unwrap_or_else(|| dir.join(name::spare(NUMBERS_MAX)));
    volume
        .rename(path, &to)
        .map_err(|error| Error::io(path, "the segment cannot be given its name anew", error))?;
    Ok(to)
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
