//! Frames that are written together, and who waits for them.

use super::chain::{Digest, SessionKey};
use super::limit;
use super::slot::Listener;
use crate::backend::{Commit, Durability};

/// Where the log stands between two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The first byte behind the last frame in its segment.
    pub(crate) end: u64,
    /// Lsn of the last frame; 0 for none.
    pub(crate) last_lsn: u64,
    /// Lsn of the next frame: one more, unless a segment skipped some.
    pub(crate) next_lsn: u64,
    /// Digest of the last frame.
    pub(crate) digest: Digest,
    /// Groups start on multiples of so many bytes: [`limit::GROUP_ALIGN`].
    pub(crate) align: u64,
}

/// One batch in a group: who waits for it, for what, and what to tell.
pub(crate) struct Waiting {
    pub(crate) listener: Listener,
    pub(crate) commit: Commit,
}

/// What an accepted frame changed, so that a failed group can be taken back.
pub(crate) struct Undo<R> {
    /// Whose frame it was.
    pub(crate) session: SessionKey,
    /// What was known of the session before.
    pub(crate) before: R,
    /// What [`Segment::table_offset`](super::segment::Segment::table_offset) was before.
    pub(crate) table_offset: u64,
    /// It was acknowledged when it was accepted: taking it back rewinds the session.
    pub(crate) acknowledged: bool,
}

/// Frames that are written in one write.
pub(crate) struct Group<R> {
    /// Where the log stood before the first of them.
    pub(crate) before: Mark,
    /// Where it stands after the last.
    pub(crate) after: Mark,
    /// The encoded frames.
    frames: Vec<Vec<u8>>,
    /// Bytes of all frames.
    bytes: u64,
    /// A sync follows the write.
    pub(crate) sync: bool,
    /// What is durable when the write is issued; every frame states it.
    pub(crate) durable_at_issue: u64,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) undo: Vec<Undo<R>>,
}

impl Mark {
    /// Returns where the next group starts, in bytes.
    pub(crate) fn next_group(&self) -> u64 {
        self.end.next_multiple_of(self.align)
    }
}

impl<R> Group<R> {
    /// Makes a group that starts where the log stands.
    pub(crate) fn new(before: Mark, durable_at_issue: u64) -> Self {
        Self {
            before,
            after: before,
            frames: Vec::new(),
            bytes: 0,
            sync: false,
            durable_at_issue,
            waiting: Vec::new(),
            undo: Vec::new(),
        }
    }

    /// Returns where the next frame of this group would lie.
    pub(crate) fn position(&self) -> u64 {
        self.before.next_group() + self.bytes
    }

    /// Returns whether the group takes no more frames.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= limit::GROUP_BYTES_MAX || self.frames.len() >= limit::GROUP_FRAMES_MAX
    }

    /// Returns whether it holds no frame: it is a request for a sync.
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Puts a frame at [`Group::position`].
    pub(crate) fn push(&mut self, frame: Vec<u8>, lsn: u64, digest: Digest) {
        self.bytes += frame.len() as u64;
        self.frames.push(frame);
        let end = self.position();
        self.after = Mark { end, last_lsn: lsn, next_lsn: lsn + 1, digest, ..self.after };
    }

    /// Adds somebody who waits. A batch that asks for `Synced` makes the group be synced.
    pub(crate) fn wait(&mut self, listener: Listener, commit: Commit) {
        self.sync |= commit.durability == Durability::Synced;
        self.waiting.push(Waiting { listener, commit });
    }

    /// Returns the bytes of the whole group, padded with zeros, as one piece.
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        let padded = (self.after.next_group() - self.before.next_group()) as usize;
        let mut frames = std::mem::take(&mut self.frames).into_iter();
        let mut bytes = frames.next().unwrap_or_default();
        bytes.reserve_exact(padded.saturating_sub(bytes.len()));
        for frame in frames {
            bytes.extend_from_slice(&frame);
        }
        bytes.resize(padded, 0);
        bytes
    }

    /// Takes those who wait for a class that is reached now, in order.
    pub(crate) fn reached(&mut self, class: Durability) -> Vec<Waiting> {
        let (reached, rest) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|waiting| waiting.commit.durability <= class);
        self.waiting = rest;
        reached
    }
}
