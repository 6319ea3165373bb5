//! The device is asked whether it has what the cache shows.
//!
//! After the death of a process the cache holds whole frames that were never synced; after a failed
//! sync it holds them as clean pages, and no further sync says so. Only what the device has read
//! back may ever be vouched for.

use super::judgement::{Judgement, walk_last};
use super::limit::SEGMENT_HEADER_BYTES;
use super::scene::Scene;
use super::segment_file::write_all;
use super::source::{Cached, Device, Source};
use super::tail::{Act, Images};
use crate::backend::Error;
use crate::storage::WriteFile;
use std::path::Path;

/// Bytes that are compared or written again at once.
const STEP_BYTES: u64 = 1 << 20;

/// What the device answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The judgement stands on what the device has.
    Settled,
    /// The last segment never got its name, holds no frame, and the device lacks its header: it is
    /// what is left of an open that failed.
    Unwritten,
}

/// Compares what the device has above W with what the cache shows; where that is not the same, only
/// the device counts.
pub(crate) fn ask_device(
    scene: &Scene,
    judgement: &mut Judgement,
    file: &dyn WriteFile,
) -> Result<Asked, Error> {
    let Some(last) = &judgement.last else { return Ok(Asked::Settled) };
    let (segment, header) = (last.file.clone(), last.header.clone());
    let path = segment.path.clone();
    let is_empty = last.walked.last.is_none();
    let (from, end) = (last.walked.above(judgement.witness.lsn), header.segment_bytes);
    let from = if is_empty || segment.is_unnamed { 0 } else { from };
    if let Some(mut device) = Device::new(file, &path, from)? {
        let mut cached = Cached::new(file, &path);
        let page = SEGMENT_HEADER_BYTES.max(from);
        let is_begun = is_alike(&mut cached, &mut device, from, page)?;
        if !is_begun && is_empty && segment.is_unnamed {
            return Ok(Asked::Unwritten);
        }
        if !is_begun || !is_alike(&mut cached, &mut device, page, end)? {
            let walked = walk_last(&mut device, &segment, &header)?;
            judgement.settle(scene, walked, Images::Differ);
        }
    } else {
        // What is used on must be zeros on the device as well. The header of a segment with a
        // name is durable, and a torn write would cost it.
        let goes_on = judgement.ruling.act == Act::Use;
        let from = if segment.is_unnamed { 0 } else { from.max(SEGMENT_HEADER_BYTES) };
        write_again(file, &path, from, if goes_on { end } else { last.walked.end_offset })?;
    }
    Ok(Asked::Settled)
}

fn is_alike(
    cached: &mut dyn Source,
    device: &mut dyn Source,
    from: u64,
    to: u64,
) -> Result<bool, Error> {
    let step = STEP_BYTES.min(to.saturating_sub(from)) as usize;
    let (mut ours, mut theirs) = (vec![0; step], vec![0; step]);
    let mut offset = from;
    while offset < to {
        let count = step.min((to - offset) as usize);
        let read = cached.read(offset, &mut ours[..count])?;
        if device.read(offset, &mut theirs[..count])? != read || ours[..read] != theirs[..read] {
            return Ok(false);
        }
        offset += count as u64;
    }
    Ok(true)
}

/// Writes a part of a file over itself, so that the device gets what the cache shows.
fn write_again(file: &dyn WriteFile, path: &Path, from: u64, to: u64) -> Result<(), Error> {
    let doing = |error| Error::io(path, "the segment cannot be written again", error);
    let mut buffer = vec![0; STEP_BYTES.min(to.saturating_sub(from)) as usize];
    let mut offset = from;
    while offset < to {
        let count = buffer.len().min((to - offset) as usize);
        let read = Cached::new(file, path).read(offset, &mut buffer[..count])?;
        write_all(file, offset, &buffer[..read]).map_err(doing)?;
        if read < count {
            break;
        }
        offset += count as u64;
    }
    Ok(())
}
