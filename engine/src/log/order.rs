//! The order of the log: every frame gets its lsn, place, previous digest and `durable_lsn` here.
//!
//! This is the state under the reserve lock. Nothing in it waits and nothing in it does I/O.
//! Groups are queued in the order in which they are written; a new segment is an item of the same
//! queue, so that frames behind a rotation are stamped before the segment is on the disk.
//!
//! Depth one: the write of a group is issued after the sync of the group before it has returned,
//! if that one is synced at all. So what is durable when a group is issued is known as soon as the
//! group before it is closed, and `durable_lsn` is stamped here and never patched.

use super::body;
use super::canary::Canary;
use super::chain::{SessionKey, StoreId};
use super::config::LogConfig;
use super::encoded::Stamp;
use super::frame::Kind;
use super::group::{Group, Mark, Undo};
use super::limit;
use super::prepared::Prepared;
use super::segment::{Extent, Segment};
use super::segment_header::{Begin, SegmentHeader};
use super::sessions::{Before, Sessions};
use super::slot::Listener;
use super::table;
use crate::backend::{Commit, Durability, Limited, Refusal};
use crate::machine::Machine;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What the leader does next.
pub(crate) enum Item {
    /// Write a group.
    Group(Group<Before>),
    /// Begin a segment. The state of the one before, should it fail.
    Segment(SegmentHeader, Box<Segment>),
}

/// How the end of a log was found when it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Nothing lay behind the last frame.
    #[default]
    Clean,
    /// Something did that no witness vouches for: what a crash left of a group. It is kept where
    /// it is, and is no part of the log.
    Torn,
}

/// How far the log is certain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Last lsn whose group the kernel took whole.
    pub(crate) written: u64,
    /// Last lsn whose sync returned.
    pub(crate) durable: u64,
}

/// The state under the reserve lock.
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the log")]
pub(crate) struct Order {
    pub(crate) store_id: StoreId,
    pub(crate) epoch: u32,
    /// How the end of the log was found.
    pub(crate) tail: Tail,
    pub(crate) segment: Segment,
    pub(crate) sessions: Sessions,
    pub(crate) progress: Progress,
    /// Every segment on the disk, by its first lsn.
    pub(crate) extents: BTreeMap<u64, Extent>,
    /// Where the log stands behind everything that was accepted and closed.
    pub(super) mark: Mark,
    pub(super) filling: Option<Group<Before>>,
    pub(super) queue: VecDeque<Item>,
    /// What will be durable when the group after all closed ones is issued.
    pub(super) durable_ahead: u64,
    /// What it was one group ago.
    durable_before: u64,
    /// Somebody leads, or was told to.
    pub(crate) is_led: bool,
    /// A failed group is being taken back; nobody gets a place meanwhile.
    pub(crate) is_repairing: bool,
    /// Why nothing is accepted any more.
    pub(crate) poisoned: Option<Arc<str>>,
    /// The store is closed, or being closed.
    pub(crate) is_stopped: bool,
    /// The last frame is one that nobody needs a watermark for.
    pub(crate) is_quiet: bool,
    config: LogConfig,
    machine: Arc<dyn Machine>,
}

impl Order {
    pub(crate) fn new(
        (store_id, epoch): (StoreId, u32),
        segment: Segment,
        sessions: Sessions,
        extents: BTreeMap<u64, Extent>,
        mark: Mark,
        config: LogConfig,
        machine: Arc<dyn Machine>,
    ) -> Self {
        let progress = Progress { written: mark.last_lsn, durable: mark.last_lsn };
        Self {
            store_id,
            epoch,
            tail: Tail::Clean,
            segment,
            sessions,
            progress,
            extents,
            mark,
            filling: None,
            queue: VecDeque::new(),
            durable_ahead: mark.last_lsn,
            durable_before: mark.last_lsn,
            is_led: false,
            is_repairing: false,
            poisoned: None,
            is_stopped: false,
            is_quiet: true,
            config,
            machine,
        }
    }

    /// Returns the lsn of the last accepted frame.
    pub(crate) fn last_lsn(&self) -> u64 {
        self.filling.as_ref().map_or(self.mark.last_lsn, |group| group.after.last_lsn)
    }

    /// Returns where the log stands behind everything that was accepted.
    pub(crate) fn head(&self) -> Mark {
        self.filling.as_ref().map_or(self.mark, |group| group.after)
    }

    /// Returns whether anything waits to be written or synced.
    pub(crate) fn has_work(&self) -> bool {
        !self.queue.is_empty() || self.filling.is_some()
    }

    /// Returns whether anything that waits is waited for: `Buffered` frames alone can wait.
    pub(crate) fn is_urgent(&self) -> bool {
        !self.queue.is_empty()
            || self.filling.as_ref().is_some_and(|group| !group.waiting.is_empty())
    }

    /// Returns whether nothing is due that nobody waits for: whoever begins with something rings
    /// the bell.
    pub(crate) fn is_at_rest(&self) -> bool {
        (self.is_quiet && self.progress.durable >= self.last_lsn()) || self.poisoned.is_some()
    }

    /// Gives a frame its place, and says who waits for what.
    ///
    /// The caller has checked that nothing is poisoned or being repaired.
    pub(crate) fn accept(
        &mut self,
        prepared: Prepared,
        durability: Durability,
        listener: Listener,
    ) -> Result<Commit, (Refusal, Listener)> {
        let limit = self.config.frame_bytes();
        if prepared.bytes() > limit && prepared.encoded.kind != Kind::Close {
            let bytes = prepared.bytes();
            let refusal = Refusal::TooLarge { what: Limited::FrameBytes, bytes, limit };
            return Err((refusal, listener));
        }
        if self.head().next_lsn >= limit::LSN_MAX - 2 {
            return Err((Refusal::Full, listener));
        }
        let kind = prepared.encoded.kind;
        let stands_alone = matches!(kind, Kind::Watermark | Kind::Close);
        if stands_alone {
            // It says that everything before it is durable.
            self.group().sync = true;
            self.close_group();
        }
        self.make_room(&prepared);
        let commit = Commit {
            lsn: Some(self.head().next_lsn),
            first_seq: prepared.encoded.first_seq,
            events: u64::from(prepared.encoded.record_count),
            durability,
        };
        self.push(prepared, matches!(listener, Listener::Nobody));
        self.group().wait(listener, commit);
        self.is_quiet = stands_alone;
        if stands_alone {
            self.close_group();
        }
        Ok(commit)
    }

    /// Asks for everything accepted so far to reach a class.
    pub(crate) fn ask(&mut self, durability: Durability, listener: Listener) {
        let lsn = Some(self.last_lsn());
        let commit = Commit { lsn, first_seq: 0, events: 0, durability };
        self.group().wait(listener, commit);
    }

    /// Makes sure that the next frame fits: closes a full group, begins a segment where needed.
    fn make_room(&mut self, prepared: &Prepared) {
        if self.filling.as_ref().is_some_and(Group::is_full) {
            self.close_group();
        }
        if self.segment.is_ended {
            self.begin_segment(Begin::Rotated, prepared.bytes());
            return;
        }
        let position = self.filling.as_ref().map_or(self.mark.next_group(), Group::position);
        let end = (position + prepared.bytes()).next_multiple_of(limit::GROUP_ALIGN);
        let (sessions, id_bytes) =
            self.segment.shares.with(prepared.session, prepared.id.as_deref());
        let table = limit::FRAME_HEADER_BYTES as u64 + table::bytes_for(sessions, id_bytes);
        // A `Close` frame may use up the room that is kept for a table: it holds the same one.
        let room = if prepared.encoded.kind == Kind::Close { 0 } else { table };
        if end + room.next_multiple_of(limit::GROUP_ALIGN) > self.segment.bytes {
            self.end_segment();
            self.begin_segment(Begin::Rotated, prepared.bytes());
        }
    }

    /// Ends the segment with its table, if there is room for one: behind a `Close` frame, which
    /// holds the same table, there may be none.
    fn end_segment(&mut self) {
        self.close_group();
        if self.segment.table_offset == 0 {
            let rows = self.sessions.rows(&self.segment.shares);
            let prepared = Prepared::of_store(body::encode_table(Kind::Rotate, &rows));
            let end =
                (self.mark.next_group() + prepared.bytes()).next_multiple_of(limit::GROUP_ALIGN);
            if end <= self.segment.bytes {
                self.push(prepared, false);
            }
        }
        // The segment is synced whatever lies in it, before a header says that it is.
        self.group().sync = true;
        self.close_group();
        self.segment.is_ended = true;
    }

    /// Begins a segment behind the present one, which is ended or cut where the log stands.
    pub(crate) fn begin_segment(&mut self, begin: Begin, frame_bytes: u64) {
        let header = self.next_header(begin, frame_bytes);
        let segment = Segment::of(&header);
        let before = std::mem::replace(&mut self.segment, segment);
        self.queue.push_back(Item::Segment(header, Box::new(before)));
        self.enter_segment();
    }

    /// Writes the header of the segment that follows the present one.
    pub(crate) fn next_header(&self, begin: Begin, frame_bytes: u64) -> SegmentHeader {
        let mut id = [0; 8];
        while u64::from_le_bytes(id) == 0 {
            self.machine.random(&mut id);
        }
        let before = &self.segment;
        // A frame that needs more gets a segment of four times its size at least.
        let least = (frame_bytes.saturating_mul(4)).next_power_of_two();
        let grown = (before.bytes * 2).min(self.config.segment_bytes);
        SegmentHeader {
            store_id: self.store_id,
            segment_id: u64::from_le_bytes(id),
            epoch: self.epoch,
            // Its name is greater than that of every segment before it.
            first_lsn: self.mark.next_lsn.max(before.first_lsn + 1),
            segment_bytes: grown.max(least).max(limit::SEGMENT_BYTES_MIN),
            prev_first_lsn: before.first_lsn,
            prev_segment_id: before.id,
            prev_end_offset: self.mark.end,
            prev_last_lsn: self.mark.last_lsn,
            prev_digest: self.mark.digest,
            durable_lsn: self.mark.last_lsn,
            begin,
            cut_bytes: 0,
            cut_crc: 0,
            created_ms: self.machine.now_ms(),
            prev_table_offset: if begin == Begin::Rotated { before.table_offset } else { 0 },
        }
    }

    /// The present segment is a new one: frames start behind its header.
    pub(crate) fn enter_segment(&mut self) {
        self.mark.end = limit::SEGMENT_HEADER_BYTES;
        self.mark.next_lsn = self.segment.first_lsn;
    }

    /// Stamps a frame and puts it into the filling group.
    fn push(&mut self, prepared: Prepared, acknowledged: bool) {
        let (segment_id, epoch) = (self.segment.id, self.epoch);
        let before = self.sessions.before(prepared.session, &self.segment.shares);
        let is_early = self.config.canary == Some(Canary::DurableOneGroupEarly);
        let group = self.group();
        let Prepared { mut encoded, session, id, last_time_ms } = prepared;
        let offset = group.position();
        let head = encoded.stamp(&Stamp {
            segment_id,
            offset,
            lsn: group.after.next_lsn,
            durable_lsn: if is_early { group.after.next_lsn - 1 } else { group.durable_at_issue },
            session,
            session_prev_lsn: before.last_lsn(),
            prev: group.after.digest,
            epoch,
        });
        let digest = head.digest(encoded.body_hash);
        group.push(encoded.into_bytes(), head.lsn, digest);
        let table_offset = self.segment.table_offset;
        let undo = Undo { session, before, table_offset, acknowledged };
        self.group().undo.push(undo);
        self.segment.table_offset = if head.kind.has_table() { offset } else { 0 };
        if session != SessionKey::STORE {
            let here = (self.segment.first_lsn, &mut self.segment.shares);
            self.sessions.take(&head, last_time_ms, id.as_ref(), here);
        }
    }

    /// Returns the group that is being filled.
    fn group(&mut self) -> &mut Group<Before> {
        let durable = match self.config.canary {
            Some(Canary::DurableOneGroupLate) => self.durable_before,
            _ => self.durable_ahead,
        };
        let mark = self.mark;
        self.filling.get_or_insert_with(|| Group::new(mark, durable))
    }

    /// Closes the group that is being filled: it takes no more frames, and whether it is synced is
    /// settled.
    pub(crate) fn close_group(&mut self) {
        let Some(group) = self.filling.take() else { return };
        self.durable_before = self.durable_ahead;
        self.durable_ahead = if group.sync { group.after.last_lsn } else { group.durable_at_issue };
        self.mark = group.after;
        self.queue.push_back(Item::Group(group));
    }

    /// Takes what is to be done next.
    pub(crate) fn take(&mut self) -> Option<Item> {
        if self.queue.is_empty() {
            self.close_group();
        }
        self.queue.pop_front()
    }

    /// Notes that the kernel took everything up to a mark in a segment.
    pub(crate) fn written(&mut self, first_lsn: u64, mark: Mark) {
        self.progress.written = self.progress.written.max(mark.last_lsn);
        if let Some(extent) = self.extents.get_mut(&first_lsn) {
            extent.end = mark.end;
        }
    }

    /// Notes that a sync returned that covers everything up to an lsn.
    pub(crate) fn synced(&mut self, lsn: u64) {
        self.progress.durable = self.progress.durable.max(lsn);
        self.durable_ahead = self.durable_ahead.max(lsn);
    }

    /// Notes that a segment is on the disk.
    pub(crate) fn begun(&mut self, header: &SegmentHeader) {
        let extent = Extent { segment_id: header.segment_id, end: limit::SEGMENT_HEADER_BYTES };
        self.extents.insert(header.first_lsn, extent);
    }

    /// Returns somebody who waits for the next group, and so can lead it.
    pub(crate) fn next_leader(&self) -> Option<Arc<super::slot::Slot>> {
        let queued = self.queue.iter().filter_map(|item| match item {
            Item::Group(group) => Some(group),
            Item::Segment(..) => None,
        });
        queued.chain(&self.filling).flat_map(|group| &group.waiting).find_map(|waiting| {
            match &waiting.listener {
                Listener::Thread(slot) => Some(slot.clone()),
                _ => None,
            }
        })
    }
}
