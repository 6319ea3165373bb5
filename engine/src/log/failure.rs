//! What follows when a write or a sync fails.
//!
//! * The write of a group: it and all behind it are taken back, and the segment is closed behind
//!   the last whole group; the log goes on in a new one, whose header says so. Then all are told
//!   `NotWritten`.
//! * And no new segment can be made: zeros are written over the failed group and synced, and the
//!   log goes on in the same one. If that fails too, the store is poisoned.
//! * The beginning of a segment, before its name: all behind it are taken back and told
//!   `NotWritten`.
//! * A sync, or what makes a name durable: poisoned, and all are told `Unknown`.

use super::canary::Canary;
use super::group::{Group, Waiting};
use super::io::Io;
use super::order::Item;
use super::segment::Segment;
use super::segment_file;
use super::segment_header::{Begin, SegmentHeader};
use super::sessions::Before;
use super::writer::{Told, Writer};
use crate::backend::{AppendError, Error, ErrorKind};
use std::io as system;
use std::sync::Arc;

impl Writer {
    /// A segment was not begun: nothing behind it was written anywhere.
    pub(super) fn not_begun(&self, item: Item, error: &Error) -> Vec<Told> {
        let mut order = self.order();
        let waiting = order.take_back(item);
        drop(order);
        not_written(waiting, error)
    }

    /// A group was not written: takes it back with all behind it, and makes the cut durable before
    /// anybody is told.
    pub(super) fn not_written(
        &self,
        io: &mut Io,
        group: Group<Before>,
        error: system::Error,
    ) -> Vec<Told> {
        let error = Error::io(&io.path, "the log cannot be written", error);
        let extent = (group.before.next_group(), group.after.next_group());
        let mut order = self.order();
        order.is_repairing = true;
        let waiting = order.take_back(Item::Group(group));
        let mut header = order.next_header(Begin::FailedWrite, 0);
        let unsynced = order.progress.written > order.progress.durable;
        drop(order);
        let retries = io.canary == Some(Canary::RetryInFailedSegment);
        let cut = if retries { Ok(false) } else { Self::cut(io, &mut header, extent, unsynced) };
        let told = match cut {
            Ok(is_begun) => {
                let mut order = self.order();
                let written = order.progress.written;
                order.synced(written);
                if is_begun {
                    order.begun(&header);
                    order.segment = Segment::of(&header);
                    order.enter_segment();
                }
                drop(order);
                not_written(waiting, &error)
            }
            Err(fatal) => {
                let mut told = self.poison(None, &fatal);
                told.extend(unknown(waiting, &fatal));
                told
            }
        };
        self.settle();
        told
    }

    /// Makes the cut durable. Returns whether the log goes on in a new segment.
    fn cut(
        io: &mut Io,
        header: &mut SegmentHeader,
        (from, to): (u64, u64),
        unsynced: bool,
    ) -> Result<bool, Error> {
        let sync = |io: &Io| io.file.sync_data();
        if unsynced {
            sync(io).map_err(|error| Error::io(&io.path, "the log cannot be synced", error))?;
        }
        let begun = match segment_file::residue(&*io.file, header.prev_end_offset, to) {
            Ok((cut_bytes, cut_crc)) => {
                (header.cut_bytes, header.cut_crc) = (cut_bytes, cut_crc);
                io.begin(header)
            }
            Err(error) => {
                let error = Error::io(&io.path, "the failed group cannot be read", error);
                Err(segment_file::NotBegun { error, is_unknown: false })
            }
        };
        match begun {
            Ok(()) => Ok(true),
            Err(not) if not.is_unknown => Err(not.error),
            Err(_) => {
                segment_file::zero(&*io.file, from, to, None).map_err(|error| {
                    Error::io(&io.path, "the failed group cannot be overwritten", error)
                })?;
                Ok(false)
            }
        }
    }

    /// Nothing is certain any more: every waiter is told, nothing is accepted.
    pub(crate) fn poison(&self, item: Option<Item>, error: &Error) -> Vec<Told> {
        let mut order = self.order();
        order.poisoned = Some(Arc::from(error.to_string()));
        let waiting = order.give_up(item);
        drop(order);
        unknown(waiting, error)
    }
}

/// Returns an error that says the same: each waiter gets its own.
fn again(error: &Error) -> Error {
    let mut copy = Error::new(error.kind, error.message.clone());
    copy.path.clone_from(&error.path);
    copy.offset = error.offset;
    copy.source = error.source.as_ref().map(|source| match source.raw_os_error() {
        Some(code) => system::Error::from_raw_os_error(code),
        None => source.kind().into(),
    });
    copy
}

fn not_written(waiting: Vec<Waiting>, error: &Error) -> Vec<Told> {
    let told = |it: Waiting| (it.listener, Err(AppendError::NotWritten(again(error))));
    waiting.into_iter().map(told).collect()
}

fn unknown(waiting: Vec<Waiting>, error: &Error) -> Vec<Told> {
    let poisoned = || {
        let mut copy = again(error);
        copy.kind = ErrorKind::Poisoned;
        copy
    };
    let told = |it: Waiting| (it.listener, Err(AppendError::Unknown(poisoned())));
    waiting.into_iter().map(told).collect()
}
