//! A file of a simulated disk that is open.

use std::io;

use super::super::volume::{DirLock, WriteFile};
use super::super::{File, Stat};
use super::disk::SimDisk;
use super::fault::{Call, Cause, Failure};
use super::state::{Attempt, State};

/// Bytes of a file at most, as on any system.
const FILE_BYTES_MAX: u64 = i64::MAX as u64;

pub(super) struct SimFile {
    pub(super) disk: SimDisk,
    pub(super) inode: u64,
    pub(super) handle: u64,
}

pub(super) struct SimDirLock(pub(super) SimFile);

impl Drop for SimFile {
    fn drop(&mut self) {
        self.disk.state().close(self.handle);
    }
}

impl DirLock for SimDirLock {
    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

impl SimFile {
    fn attempt(&self, state: &State, call: Call) -> Attempt {
        Attempt::new(call, &state.tree.path_of(self.inode))
    }

    /// Strikes a read, and says how many bytes it may give.
    fn may_read(
        &self,
        state: &mut State,
        call: Call,
        offset: u64,
        bytes: usize,
    ) -> io::Result<usize> {
        let attempt = self.attempt(state, call).range(offset, bytes);
        match state.strike(&attempt) {
            None | Some(Failure::Lost | Failure::Flip { .. }) => Ok(bytes),
            Some(Failure::Short(most)) => Ok(most.min(bytes)),
            Some(
                Failure::Error(cause)
                | Failure::ErrorDirty(cause)
                | Failure::ErrorAfter(cause)
                | Failure::ShortError(_, cause),
            ) => Err(state.refuse(&attempt, cause)),
        }
    }
}

impl File for SimFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk.enter()?;
        let most = self.may_read(&mut state, Call::Read, offset, buffer.len())?;
        let count = state.tree.file(self.inode)?.cache.read(offset, &mut buffer[..most]);
        let counts = state.counts_of(self.inode);
        counts.reads += 1;
        counts.bytes_read += count as u64;
        Ok(count)
    }

    fn stat(&self) -> io::Result<Stat> {
        self.disk.enter()?.stat(self.inode)
    }
}

impl WriteFile for SimFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.enter()?;
        let whole = bytes.len();
        if offset.checked_add(whole as u64).is_none_or(|end| end > FILE_BYTES_MAX) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attempt = self.attempt(&state, Call::Write).range(offset, whole);
        let failure = state.strike(&attempt);
        let (taken, after) = match failure {
            None | Some(Failure::Lost | Failure::Flip { .. }) => (whole, None),
            Some(Failure::Short(most)) => (most.min(whole), None),
            Some(Failure::ShortError(most, cause)) => (most.min(whole), Some(cause)),
            Some(Failure::ErrorAfter(cause)) => (whole, Some(cause)),
            Some(Failure::Error(cause) | Failure::ErrorDirty(cause)) => {
                return Err(state.refuse(&attempt, cause));
            }
        };
        let room = state.room(self.inode, offset, taken as u64)? as usize;
        if room == 0 && taken > 0 {
            return Err(state.refuse(&attempt, Cause::NoSpace));
        }
        let taken = taken.min(room);
        let attempt = attempt.range(offset, taken);
        if taken > 0 {
            let operation = state.operation();
            let file = state.tree.file_mut(self.inode)?;
            file.changed_ns = operation.cast_signed();
            if failure == Some(Failure::Lost) {
                file.write_lost(operation, offset, &bytes[..taken]);
            } else {
                file.write(operation, offset, &bytes[..taken]);
            }
        }
        let counts = state.counts_of(self.inode);
        counts.writes += u64::from(after.is_none());
        counts.bytes_written += taken as u64;
        state.done(&attempt, after)?;
        Ok(taken)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.disk.enter()?;
        if bytes > FILE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attempt = self.attempt(&state, Call::SetLen).sized(bytes);
        let after = state.whole(&attempt)?;
        let operation = state.operation();
        let file = state.tree.file_mut(self.inode)?;
        file.changed_ns = operation.cast_signed();
        file.set_len(operation, bytes);
        state.done(&attempt, after)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.enter()?;
        let attempt = self.attempt(&state, Call::Sync);
        // Only what was written before the sync began is sure to be in it.
        let last = state.operations;
        let failure = state.strike(&attempt);
        state.counts_of(self.inode).syncs += 1;
        drop(state);
        self.disk.wait_for_release()?;
        let mut state = self.disk.enter()?;
        let file = state.tree.file_mut(self.inode)?;
        let after = match failure {
            Some(Failure::Error(Cause::Killed) | Failure::ErrorDirty(Cause::Killed)) => {
                return Err(state.refuse(&attempt, Cause::Killed));
            }
            Some(Failure::ErrorDirty(cause)) => return Err(state.refuse(&attempt, cause)),
            Some(Failure::Error(cause) | Failure::ShortError(_, cause)) => {
                file.sync_failed(last);
                Some(cause)
            }
            Some(Failure::Lost) => {
                file.sync_failed(last);
                None
            }
            Some(Failure::ErrorAfter(cause)) => {
                file.sync(last);
                Some(cause)
            }
            Some(Failure::Flip { offset, bit }) => {
                file.sync(last);
                file.spoil(|device| super::spoil::flip(device, offset, bit));
                None
            }
            None | Some(Failure::Short(_)) => {
                file.sync(last);
                None
            }
        };
        state.operation();
        state.done(&attempt, after)
    }

    fn read_device_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut state = self.disk.enter()?;
        if state.options.no_device_reads {
            return Ok(None);
        }
        let most = self.may_read(&mut state, Call::ReadDevice, offset, buffer.len())?;
        let count = state.tree.file(self.inode)?.read_device(offset, &mut buffer[..most]);
        let counts = state.counts_of(self.inode);
        counts.device_reads += 1;
        counts.device_bytes_read += count as u64;
        Ok(Some(count))
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.disk.enter()?;
        let attempt = self.attempt(&state, Call::Lock);
        state.pass(&attempt)?;
        Ok(state.try_lock(self.inode, self.handle))
    }

    fn unlock(&self) -> io::Result<()> {
        self.disk.enter()?.unlock(self.inode, self.handle);
        Ok(())
    }
}
