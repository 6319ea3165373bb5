//! The lock of a store: on the directory where that works, and on the file `LOCK`.
//!
//! `rm LOCK` by a person or a tool must not let a second writer in: the directory's lock is not
//! lost by it, and the file's inode is compared with its name after locking and at each rotation.
//! Who holds the store is said in a file of its own, `holder`, which informs and decides nothing.

use super::name;
use super::segment_file;
use crate::backend::{Error, ErrorKind};
use crate::machine::{Holder, Machine};
use crate::storage::{Create, DirLock, DirLocked, FileId, Volume, WriteFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often the file is opened anew when its name was given to another file meanwhile.
const TRIES: usize = 3;

/// Bytes of `holder` that are read.
const HOLDER_BYTES_MAX: usize = 4096;

/// The file, locked, and which one it is.
type LockedFile = (Arc<dyn WriteFile>, FileId);

/// The lock, held.
pub(crate) struct StoreLock {
    dir: Option<Box<dyn DirLock>>,
    file: Arc<dyn WriteFile>,
    path: PathBuf,
    identity: FileId,
}

impl StoreLock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(
        volume: &dyn Volume,
        dir: &Path,
        machine: &dyn Machine,
    ) -> Result<Self, Error> {
        let locked_dir = match volume
            .try_lock_dir(dir)
            .map_err(|error| Error::io(dir, "the store cannot be locked", error))?
        {
            DirLocked::Ours(lock) => Some(lock),
            DirLocked::Unsupported => None,
            DirLocked::Taken => return Err(taken(volume, dir)),
        };
        match Self::take_file(volume, dir) {
            Ok(Some((file, identity))) => {
                let path = dir.join(name::LOCK);
                let lock = Self { dir: locked_dir, file, path, identity };
                write_holder(volume, dir, &machine.holder());
                Ok(lock)
            }
            Ok(None) => {
                give_back(locked_dir);
                Err(taken(volume, dir))
            }
            Err(error) => {
                give_back(locked_dir);
                Err(error)
            }
        }
    }

    fn take_file(volume: &dyn Volume, dir: &Path) -> Result<Option<LockedFile>, Error> {
        let path = dir.join(name::LOCK);
        let failed = |error| Error::io(&path, "the lock cannot be taken", error);
        for _ in 0..TRIES {
            let file = volume.open_write(&path, Create::Either).map_err(failed)?;
            if !file.try_lock().map_err(failed)? {
                return Ok(None);
            }
            let ours = file.stat().map_err(failed)?.identity;
            if volume.stat(&path).is_ok_and(|named| named.identity == ours) {
                return Ok(Some((file, ours)));
            }
            // The file that we locked has lost its name.
            let _ = file.unlock();
        }
        Ok(None)
    }

    /// Refuses to go on if the name `LOCK` is another file's by now and nothing else keeps a
    /// second writer out.
    pub(crate) fn check(&self, volume: &dyn Volume) -> Result<(), Error> {
        if self.dir.is_some() {
            return Ok(());
        }
        match volume.stat(&self.path) {
            Ok(named) if named.identity == self.identity => Ok(()),
            _ => {
                let message = "the lock file was removed or replaced under us: somebody else may \
                               write the store; stop whoever did it and open the store anew";
                Err(Error::new(ErrorKind::Locked, message).at(&self.path, None))
            }
        }
    }

    /// Gives the lock back. No write of ours may be in flight.
    pub(crate) fn give_back(self) {
        // An error here leaves the lock to the end of the process, which gives it back.
        let _ = self.file.unlock();
        give_back(self.dir);
    }
}

fn give_back(dir: Option<Box<dyn DirLock>>) {
    if let Some(dir) = dir {
        let _ = dir.unlock();
    }
}

fn taken(volume: &dyn Volume, dir: &Path) -> Error {
    let holder = read_holder(volume, dir);
    let message = match &holder {
        Some(holder) => format!(
            "the store is open for writing in another process (number {} on `{}`, since {}); \
             stop it, or open the store for reading",
            holder.pid, holder.host, holder.started
        ),
        None => "the store is open for writing already; close it, or open it for reading".into(),
    };
    let mut error = Error::new(ErrorKind::Locked, message).at(dir, None);
    error.holder = holder;
    error
}

/// Writes who holds the store. It informs; a failure is no reason not to write a log.
fn write_holder(volume: &dyn Volume, dir: &Path, holder: &Holder) {
    let Ok(file) = volume.open_write(&dir.join(name::HOLDER), Create::Either) else { return };
    let word = |text: &str| text.replace(['\n', '\r'], " ");
    let text = format!(
        "pid {}\nboot {}\nstarted {}\nhost {}\n",
        holder.pid,
        word(&holder.boot),
        word(&holder.started),
        word(&holder.host)
    );
    if file.set_len(0).is_ok() {
        let _ = segment_file::write_all(&*file, 0, text.as_bytes());
    }
}

/// Reads who holds the store, if somebody said so.
fn read_holder(volume: &dyn Volume, dir: &Path) -> Option<Holder> {
    let file = volume.open(&dir.join(name::HOLDER)).ok()?;
    let mut bytes = vec![0; HOLDER_BYTES_MAX];
    let read = file.read_at(0, &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes[..read]);
    let mut holder = Holder::default();
    for line in text.lines() {
        let (key, value) = line.split_once(' ')?;
        match key {
            "pid" => holder.pid = value.parse().ok()?,
            "boot" => value.clone_into(&mut holder.boot),
            "started" => value.clone_into(&mut holder.started),
            "host" => value.clone_into(&mut holder.host),
            _ => {}
        }
    }
    Some(holder)
}
