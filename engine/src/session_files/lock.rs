//! `session.lock`: what hosts of formats 3 and 4 hold while they can write a session.
//!
//! The file is made once and never removed: two processes that lock two files of one name would
//! both believe to be alone. For the same reason the name is looked at again once the lock is ours.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 18.6.

use std::path::Path;
use std::sync::Arc;

use crate::backend::{Error, ErrorKind};
use crate::dsh::name::LOCK;
use crate::storage::{Create, Volume, WriteFile};

/// How often the name is looked at before it counts as another's.
const ATTEMPTS: usize = 3;

/// The lock of one session; given back when it is dropped.
pub(super) struct SessionLock(Arc<dyn WriteFile>);

impl SessionLock {
    /// Takes the lock of the session in a folder, and waits for nobody.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] if somebody else has it; otherwise what the system says.
    pub(super) fn take(volume: &dyn Volume, dir: &Path) -> Result<Self, Error> {
        let path = dir.join(LOCK);
        let failed = |error| Error::io(&path, "cannot lock the session", error);
        for _ in 0..ATTEMPTS {
            let file = volume.open_write(&path, Create::Either).map_err(failed)?;
            if !file.try_lock().map_err(failed)? {
                break;
            }
            let lock = Self(file);
            let ours = lock.0.stat().map_err(failed)?.identity;
            if volume.stat(&path).is_ok_and(|now| now.identity == ours) {
                return Ok(lock);
            }
        }
        let message = "another process writes this session: close it there first";
        Err(Error::new(ErrorKind::Locked, message).at(path, None))
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Nobody is left to be told; the system gives it back when the file is closed.
        let _ = self.0.unlock();
    }
}
