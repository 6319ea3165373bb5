//! Segment files: made of zeros that were written, given a header, given their name.
//!
//! A spare is a file of zeros that were *written*, synced, and whose name is synced. To begin a
//! segment the header is written into a spare and synced, the file is renamed, the directory is
//! synced. A crash before the rename leaves a spare with a header, whose rename was lost or not
//! begun; a crash after it leaves a segment without a frame. Nothing else can be seen.

use super::limit;
use super::name;
use super::segment_header::SegmentHeader;
use crate::backend::Error;
use crate::storage::{Create, Volume, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Zeros are written in steps of so many bytes. Beside a log that goes on each is synced by itself,
/// so that a sync of the log never waits for more than one of them.
const STEP_BYTES: u64 = 1024 * 1024;

/// A file of zeros that can become a segment.
#[derive(Clone)]
pub(crate) struct Spare {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn WriteFile>,
    pub(crate) bytes: u64,
}

impl Spare {
    /// Adopts a file of zeros that an earlier open left.
    pub(crate) fn adopt(volume: &dyn Volume, path: &Path, bytes: u64) -> Option<Self> {
        let file = volume.open_write(path, Create::Existing).ok()?;
        Some(Self { path: path.to_owned(), file, bytes })
    }
}

/// A segment could not be begun.
pub(crate) struct NotBegun {
    /// Why.
    pub(crate) error: Error,
    /// The segment may be there after a crash all the same: its name was given and not synced.
    pub(crate) is_unknown: bool,
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

/// Is asked after each step of background work: it may wait, or end the work with an error.
pub(crate) type Pace<'a> = dyn FnMut(u64) -> io::Result<()> + 'a;

/// Writes zeros over a part of a file and syncs them: in steps, with `pace` asked after each, or
/// without one, where the log waits for it, all at once.
pub(crate) fn zero(
    file: &dyn WriteFile,
    from: u64,
    to: u64,
    mut pace: Option<&mut Pace<'_>>,
) -> io::Result<()> {
    let zeros = vec![0; STEP_BYTES.min(to - from) as usize];
    let mut offset = from;
    while offset < to {
        let step = STEP_BYTES.min(to - offset);
        write_all(file, offset, &zeros[..step as usize])?;
        offset += step;
        if let Some(pace) = &mut pace {
            file.sync_data()?;
            pace(step)?;
        }
    }
    if pace.is_none() { file.sync_data() } else { Ok(()) }
}

/// Makes a spare of so many bytes, under the first free number.
pub(crate) fn make_spare(
    volume: &dyn Volume,
    dir: &Path,
    bytes: u64,
    pace: Option<&mut Pace<'_>>,
) -> Result<Spare, Error> {
    let mut number = 1;
    let (path, file) = loop {
        let path = dir.join(name::spare(number));
        match volume.open_write(&path, Create::New) {
            Ok(file) => break (path, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Error::io(path, "a spare cannot be made", error)),
        }
    };
    let made = zero(&*file, 0, bytes, pace).and_then(|()| volume.sync_dir(dir));
    if let Err(error) = made {
        // It is not a spare; what cannot be removed is zeroed or removed at the next open.
        let _ = volume.remove(&path);
        return Err(Error::io(path, "a spare cannot be filled with zeros", error));
    }
    Ok(Spare { path, file, bytes })
}

/// Begins a segment in a spare and returns its path.
pub(crate) fn begin(
    volume: &dyn Volume,
    dir: &Path,
    spare: &Spare,
    header: &SegmentHeader,
    is_named_durably: bool,
) -> Result<PathBuf, NotBegun> {
    let failed = |doing: &str, error| NotBegun {
        error: Error::io(&spare.path, doing, error),
        is_unknown: !forget(volume, dir, &spare.path),
    };
    write_all(&*spare.file, 0, &header.encode())
        .and_then(|()| spare.file.sync_data())
        .map_err(|error| failed("the segment's header cannot be synced", error))?;
    let path = dir.join(name::segment(header.first_lsn));
    volume
        .rename(&spare.path, &path)
        .map_err(|error| failed("the segment cannot be given its name", error))?;
    if is_named_durably && let Err(error) = volume.sync_dir(dir) {
        let error = Error::io(dir, "the segment's name cannot be synced", error);
        return Err(NotBegun { error, is_unknown: true });
    }
    Ok(path)
}

/// Removes a spare that may hold a header, and says whether it is gone for good. Left there, the
/// next open would take it for a segment whose rename was lost, and cut the log where it begins.
fn forget(volume: &dyn Volume, dir: &Path, path: &Path) -> bool {
    volume.remove(path).and_then(|()| volume.sync_dir(dir)).is_ok()
}

/// Returns the extent of non-zero bytes in a part of a file, from its start, and their CRC.
pub(crate) fn residue(file: &dyn WriteFile, from: u64, to: u64) -> io::Result<(u64, u32)> {
    let mut crc = crc32fast::Hasher::new();
    let mut last = 0;
    let mut buffer = vec![0; limit::GROUP_ALIGN as usize * 16];
    // Zeros behind the last other byte do not count; they are hashed only once one follows.
    let mut zeros = 0_u64;
    let mut offset = from;
    while offset < to {
        let want = buffer.len().min((to - offset) as usize);
        let read = file.read_at(offset, &mut buffer[..want])?;
        if read == 0 {
            break;
        }
        let end = buffer[..read].iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        if end == 0 {
            zeros += read as u64;
        } else {
            while zeros > 0 {
                let step = zeros.min(4096) as usize;
                crc.update(&[0; 4096][..step]);
                zeros -= step as u64;
            }
            crc.update(&buffer[..end]);
            zeros = (read - end) as u64;
            last = offset - from + end as u64;
        }
        offset += read as u64;
    }
    Ok((last, crc.finalize()))
}
