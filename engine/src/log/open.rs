//! Opens a store for writing: what recovery found becomes the state of the writer.

use super::canary::{self, Canary};
use super::closed::{self, ClosedSegment};
use super::config::LogConfig;
use super::group::Mark;
use super::io::Io;
use super::limit;
use super::name;
use super::opened::Opened;
use super::order::{Order, Tail};
use super::recovery::Recovery;
use super::segment::{Extent, Segment};
use super::sessions::Sessions;
use super::tail::Verdict;
use crate::backend::{Error, ErrorKind};
use crate::machine::Machine;
use crate::storage::{Create, Kind, Storage, Volume};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes the directory of a store where there is none.
pub(crate) fn make_dir(volume: &dyn Volume, dir: &Path, config: &LogConfig) -> Result<(), Error> {
    let failed = |error| Error::io(dir, "the store's directory cannot be made", error);
    match volume.stat(dir) {
        Ok(stat) if stat.kind == Kind::Directory => sync_name(volume, dir).map_err(failed),
        Ok(_) => {
            let message = "a store is a directory, and this is none";
            Err(Error::new(ErrorKind::NotAStore, message).at(dir, None))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && config.create => {
            volume.create_dir(dir).map_err(failed)?;
            volume.sync_dir(&parent(dir)).map_err(|error| {
                // A later sync may have nothing left to do: the next open makes it anew.
                let _ = volume.remove_dir(dir);
                failed(error)
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = "there is no store here";
            Err(Error::new(ErrorKind::NotAStore, message).at(dir, None))
        }
        Err(error) => Err(Error::io(dir, "the store's directory cannot be read", error)),
    }
}

/// Returns the directory in which a path's last name stands.
fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    }
}

/// Makes the name of a directory durable in which no store was made yet: whoever made it may have
/// died before he synced it. A parent that we may not read is its owner's business.
fn sync_name(volume: &dyn Volume, dir: &Path) -> io::Result<()> {
    let is_new = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    if !volume.stat(&dir.join(name::STORE)).is_err_and(|error| is_new(&error)) {
        return Ok(());
    }
    match volume.sync_dir(&parent(dir)) {
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
        _ => Ok(()),
    }
}

/// Opens the store in a directory, whose lock is held.
pub(crate) fn open(
    volume: &Arc<dyn Volume>,
    dir: &Path,
    machine: &Arc<dyn Machine>,
    config: &LogConfig,
) -> Result<(Order, Io), Error> {
    let recovery = Recovery {
        volume: &**volume,
        machine: &**machine,
        dir,
        segment_bytes: config.segment_bytes,
        may_create: config.create,
    };
    let opened = canary::with(config.canary, || recovery.open())?;
    let header = &opened.active.header;
    let mut sessions = Sessions::default();
    for segment in &opened.closed {
        take_closed(&mut sessions, &**volume, segment)?;
    }
    let mut segment = Segment::of(header);
    for seen in opened.tally.sessions.values() {
        sessions.take_seen(header.first_lsn, &seen.row, seen.epoch, &mut segment.shares);
    }
    let mark = Mark {
        end: opened.end_offset,
        last_lsn: opened.durable_lsn,
        next_lsn: opened.next_lsn,
        digest: opened.digest,
        align: match config.canary {
            Some(Canary::GroupsUnaligned) => limit::FRAME_ALIGN,
            _ => limit::GROUP_ALIGN,
        },
    };
    let extents = extents(&opened);
    let identity = (opened.store_id, opened.epoch);
    let io = files(volume, dir, &opened, mark, config.canary)?;
    let mut order =
        Order::new(identity, segment, sessions, extents, mark, config.clone(), machine.clone());
    if opened.ruling.verdict == Verdict::Torn {
        order.tail = Tail::Torn;
    }
    Ok((order, io))
}

fn extents(opened: &Opened) -> BTreeMap<u64, Extent> {
    let closed = opened.closed.iter().map(|segment| {
        let segment_id = segment.header.segment_id;
        (segment.header.first_lsn, Extent { segment_id, end: segment.end_offset })
    });
    let header = &opened.active.header;
    let active = Extent { segment_id: header.segment_id, end: opened.end_offset };
    closed.chain([(header.first_lsn, active)]).collect()
}

fn files(
    volume: &Arc<dyn Volume>,
    dir: &Path,
    opened: &Opened,
    mark: Mark,
    canary: Option<Canary>,
) -> Result<Io, Error> {
    let path = dir.join(name::STORE);
    let superblock = volume
        .open_write(&path, Create::Existing)
        .map_err(|error| Error::io(&path, "the superblock cannot be opened", error))?;
    let header = &opened.active.header;
    let mut io = Io {
        volume: volume.clone(),
        dir: dir.to_owned(),
        store_id: opened.store_id,
        epoch: opened.epoch,
        file: opened.active.file.clone(),
        path: opened.active.path.clone(),
        first_lsn: header.first_lsn,
        segment_id: header.segment_id,
        mark,
        superblock,
        slot_seq: opened.slot.slot_seq,
        durable: volume.open_write(&dir.join(name::DURABLE), Create::Either).ok(),
        witnessed: None,
        counter: 0,
        spares: opened.spares.clone(),
        begun_ms: header.created_ms,
        canary,
    };
    io.witness(mark.last_lsn);
    Ok(io)
}

/// Takes the sessions of a closed segment.
fn take_closed(
    sessions: &mut Sessions,
    storage: &dyn Storage,
    segment: &ClosedSegment,
) -> Result<(), Error> {
    for row in closed::rows(storage, segment)? {
        sessions.take_row(segment.header.first_lsn, &row);
    }
    Ok(())
}
