//! The first publication of a session: its folders, then the whole log under its name at once.
//!
//! The name is given by a hard link, which never replaces: of two that create one session, one
//! fails. Until then nothing of the session can be seen but a temporary file.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 18.3.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::lock::SessionLock;
use super::place::{Place, Root};
use crate::backend::{AppendError, Error, Refusal};
use crate::machine::Machine;
use crate::storage::{Create, Stat, Volume};

/// What was published.
pub(super) struct Published {
    pub(super) lock: SessionLock,
    /// The log as it was left.
    pub(super) stat: Stat,
}

/// Publishes a log.
///
/// # Errors
///
/// [`AppendError::Refused`] if the log is there; [`AppendError::NotWritten`] if the session has not
/// come into being; [`AppendError::Unknown`] if its name could not be made durable.
pub(super) fn publish(
    volume: &dyn Volume,
    machine: &dyn Machine,
    root: &Root,
    place: &Place,
    bytes: &[u8],
) -> Result<Published, AppendError> {
    let dirs = folders(volume, root, place);
    dirs.map_err(|(path, error)| not_written(&path, "cannot make a folder", error))?;
    let lock = SessionLock::take(volume, &place.dir).map_err(AppendError::NotWritten)?;
    if volume.stat(&place.log).is_ok() {
        return Err(AppendError::Refused(Refusal::Exists));
    }
    let temporary = temporary(machine, &place.log);
    let written = write(volume, &temporary, bytes);
    let linked = written.and_then(|()| volume.link(&temporary, &place.log));
    if let Err(error) = linked {
        // It is no log, and whoever looks for leftovers finds it.
        let _ = volume.remove(&temporary);
        return Err(match error.kind() {
            io::ErrorKind::AlreadyExists => AppendError::Refused(Refusal::Exists),
            _ => not_written(&place.log, "cannot publish the session", error),
        });
    }
    let synced = volume.sync_dir(&place.dir);
    if synced.is_err() {
        // A second sync would call a name durable that this one lost: whoever went on in a log that
        // only the cache shows would lose it with all that was acknowledged behind.
        let _ = volume.remove(&place.log);
    }
    let _ = volume.remove(&temporary);
    let stat = synced.and_then(|()| volume.stat(&place.log));
    let stat = stat.map_err(|error| {
        let doing = "cannot make the name of the session durable";
        AppendError::Unknown(Error::io(&place.log, doing, error))
    })?;
    Ok(Published { lock, stat })
}

fn not_written(path: &Path, doing: &str, error: io::Error) -> AppendError {
    AppendError::NotWritten(Error::io(path, doing, error))
}

/// Makes the folders that are missing, and every name durable, as the host does.
fn folders(volume: &dyn Volume, root: &Root, place: &Place) -> Result<(), (PathBuf, io::Error)> {
    let above = root.path.ancestors().skip(1);
    let missing: Vec<_> = above.take_while(|dir| volume.stat(dir).is_err()).collect();
    let dirs = missing.into_iter().rev().chain([root.path.as_path(), &place.project, &place.dir]);
    for dir in dirs {
        folder(volume, dir).map_err(|error| (dir.to_owned(), error))?;
    }
    Ok(())
}

fn folder(volume: &dyn Volume, dir: &Path) -> io::Result<()> {
    let made = match volume.create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        made => made.is_ok(),
    };
    let Some(parent) = dir.parent() else { return Ok(()) };
    let synced = volume.sync_dir(parent);
    if synced.is_err() && made {
        // A second sync would call a name durable that this one lost; so it has to be made again.
        let _ = volume.remove_dir(dir);
    }
    synced
}

fn temporary(machine: &dyn Machine, log: &Path) -> PathBuf {
    let mut random = [0; 6];
    machine.random(&mut random);
    let mut name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.push('.');
    for byte in random {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name.push_str(".tmp");
    log.with_file_name(name)
}

fn write(volume: &dyn Volume, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = volume.open_write(path, Create::New)?;
    super::log_file::write_all(&*file, 0, bytes)?;
    file.sync_data()
}
