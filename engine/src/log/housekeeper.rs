//! What nobody waits for: buffered groups, watermarks, spares; and the lead for submitted appends.
//!
//! What is done at a tick counts ticks. A tick is `idle_watermark_ms` long, and no bell puts it
//! off: appends that come without a pause ring all the time. A store at rest has no ticks: its
//! housekeeper sleeps until a bell.

use super::body;
use super::inner::Inner;
use super::prepared::Prepared;
use super::segment_file;
use crate::backend::Durability;
use std::io;
use std::sync::{PoisonError, Weak};
use std::time::{Duration, Instant};

/// Between two steps of background work, each of a mebibyte: 64 MiB a second.
const PACE: Duration = Duration::from_millis(16);

/// Segments that are begun closer together than this want a second spare, in milliseconds.
const BUSY_MS: u64 = 60_000;

/// What the last tick saw.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    last_lsn: u64,
    /// Ticks since something was accepted that is not synced yet.
    unsynced_ticks: u64,
    /// First lsn of the segment during which a spare could not be made: it is not tried again
    /// before the next one.
    spare_failed: u64,
}

impl Inner {
    /// Does what is due: one tick.
    pub(crate) fn tick(&self, seen: &mut Seen) {
        let accepted = self.writer.order().last_lsn();
        self.writer.lead_for_others(&|order| order.progress.written >= accepted);
        let order = self.writer.order();
        if order.poisoned.is_some() {
            return;
        }
        let (last_lsn, is_quiet) = (order.last_lsn(), order.is_quiet);
        let is_unsynced = order.progress.durable < last_lsn;
        let is_first_segment = order.extents.len() < 2;
        drop(order);
        let is_idle = last_lsn == seen.last_lsn;
        seen.last_lsn = last_lsn;
        if is_idle && !is_quiet {
            // Nobody waits for it; what fails here fails for the next append as well.
            let prepared = Prepared::of_store(body::encode_watermark());
            let _ = self.writer.commit(prepared, Durability::Synced, |_| Ok(()));
            seen.unsynced_ticks = 0;
        } else if is_unsynced {
            seen.unsynced_ticks += 1;
            if seen.unsynced_ticks * self.config.idle_watermark_ms >= self.config.sync_interval_ms {
                let _ = self.writer.raise(Durability::Synced, |_| Ok(last_lsn));
                seen.unsynced_ticks = 0;
            }
        } else {
            seen.unsynced_ticks = 0;
        }
        if !is_first_segment {
            self.make_spares(seen);
        }
    }

    /// Makes the spares that the next rotations will use: none before the first, then one, and two
    /// while they come fast.
    fn make_spares(&self, seen: &mut Seen) {
        // Whoever opens the store next takes what looks like a spare for his own: nobody does
        // while one is being made.
        let _busy = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        let order = self.writer.order();
        if order.poisoned.is_some() {
            return;
        }
        let first_lsn = order.segment.first_lsn;
        let bytes = (order.segment.bytes * 2).min(self.config.segment_bytes);
        drop(order);
        let io = self.writer.io();
        let is_busy = self.machine.now_ms().saturating_sub(io.begun_ms) < BUSY_MS;
        let wanted = if is_busy { 2 } else { 1 };
        let has = io.spares.iter().filter(|spare| spare.bytes == bytes).count();
        drop(io);
        if has >= wanted || seen.spare_failed == first_lsn {
            return;
        }
        // Without room for a spare the next rotation says so.
        let pace = &mut |_| self.pace();
        match segment_file::make_spare(&*self.volume, &self.dir, bytes, Some(pace)) {
            Ok(spare) => self.writer.io().spares.push(spare),
            Err(_) => seen.spare_failed = first_lsn,
        }
    }

    /// Lets the log go first between two steps of background work, and ends the work where the log
    /// has ended: a reopen or a close waits for it.
    fn pace(&self) -> io::Result<()> {
        let end = Instant::now() + PACE;
        if self.config.has_housekeeper {
            self.writer.lead_for_others(&|_| Instant::now() >= end);
        }
        loop {
            let order = self.writer.order();
            if let Some(why) = &order.poisoned {
                return Err(io::Error::other(why.to_string()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if !self.config.has_housekeeper || left.is_zero() {
                return Ok(());
            }
            if order.is_urgent() && !order.is_led {
                drop(order);
                self.writer.lead_urgent(end);
            } else {
                let bell = &self.writer.bell;
                drop(bell.wait_timeout(order, left).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }
}

/// Runs until the store is closed.
pub(crate) fn run(inner: &Weak<Inner>) {
    let mut seen = Seen::default();
    let mut next_tick = None;
    loop {
        let Some(inner) = inner.upgrade() else { return };
        let tick = Duration::from_millis(inner.config.idle_watermark_ms.max(1));
        let order = inner.writer.order();
        if order.is_stopped {
            return;
        }
        if order.is_at_rest() {
            next_tick = None;
            if !order.is_urgent() || order.is_led {
                // A store that is dropped rings the bell.
                drop(inner.writer.bell.wait(order).unwrap_or_else(PoisonError::into_inner));
                continue;
            }
        }
        let now = Instant::now();
        let due = *next_tick.get_or_insert(now + tick);
        if now >= due {
            next_tick = None;
            drop(order);
            inner.tick(&mut seen);
        } else if order.is_urgent() && !order.is_led {
            drop(order);
            inner.writer.lead_urgent(due);
        } else {
            let bell = &inner.writer.bell;
            drop(bell.wait_timeout(order, due - now).unwrap_or_else(PoisonError::into_inner));
        }
    }
}
