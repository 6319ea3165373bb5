//! Lead and follow: who writes the groups, and what everybody is told.
//!
//! Whoever finds work and no leader leads. The leader takes one item after the other: writes a
//! group, syncs it if anybody in it asks for that, publishes how far the log is, says so in
//! `DURABLE`, hands the lead on as soon as its own append has ended, and then wakes exactly those
//! whose class was reached.
//!
//! What follows when something fails is in `failure`.

use super::finisher::Finisher;
use super::group::Group;
use super::io::Io;
use super::order::{Item, Order};
use super::prepared::Prepared;
use super::sessions::Before;
use super::slot::{Listener, Slot, Word};
use crate::backend::{AppendError, Commit, Done, Durability, Error, Refusal};
use std::io as system;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A submitted append that waits until a failure was taken back.
struct Held {
    check: Check,
    prepared: Prepared,
    durability: Durability,
    done: Done,
}

/// Somebody who waited, and how it ended.
pub(crate) type Told = (Listener, Result<Commit, AppendError>);

/// Looks at the order before a frame gets its place, and may refuse it.
pub(crate) type Check = Box<dyn FnOnce(&Order) -> Result<(), AppendError> + Send>;

/// The writer of a store.
pub(crate) struct Writer {
    order: Mutex<Order>,
    io: Mutex<Io>,
    /// A failure was taken back, or the store is poisoned.
    settled: Condvar,
    /// There is something for the housekeeper.
    pub(crate) bell: Condvar,
    held: Mutex<Vec<Held>>,
    finisher: Finisher,
    /// How often a group was synced.
    pub(crate) syncs: AtomicU64,
}

/// What failed about a group.
enum Failed {
    Write(system::Error),
    Sync(system::Error),
}

impl Writer {
    pub(crate) fn new(order: Order, io: Io) -> Self {
        Self {
            order: Mutex::new(order),
            io: Mutex::new(io),
            settled: Condvar::new(),
            bell: Condvar::new(),
            held: Mutex::default(),
            finisher: Finisher::default(),
            syncs: AtomicU64::new(0),
        }
    }

    /// Returns the state under the reserve lock.
    pub(crate) fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the leader's files; waits for a write in flight.
    pub(crate) fn io(&self) -> MutexGuard<'_, Io> {
        self.io.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no failure is being taken back.
    fn settled(&self) -> Result<MutexGuard<'_, Order>, AppendError> {
        let mut order = self.order();
        while order.is_repairing {
            order = self.settled.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        match order.poisoned {
            Some(_) => Err(AppendError::Refused(Refusal::Poisoned)),
            None => Ok(order),
        }
    }

    /// Commits a frame and returns when it has reached its class.
    pub(crate) fn commit(
        &self,
        prepared: Prepared,
        durability: Durability,
        check: impl FnOnce(&Order) -> Result<(), AppendError>,
    ) -> Result<Commit, AppendError> {
        let mut order = self.settled()?;
        check(&order)?;
        let was_at_rest = order.is_at_rest();
        if durability == Durability::Buffered {
            let commit = order
                .accept(prepared, durability, Listener::Nobody)
                .map_err(|(refusal, _)| AppendError::Refused(refusal))?;
            // A full group, or a segment, is written at once; the rest waits for a tick.
            let rings = was_at_rest || (order.is_urgent() && !order.is_led);
            drop(order);
            if rings {
                self.bell.notify_one();
            }
            return Ok(commit);
        }
        let slot = Slot::of_this_thread();
        order
            .accept(prepared, durability, Listener::Thread(slot.clone()))
            .map_err(|(refusal, _)| AppendError::Refused(refusal))?;
        let result = self.attend(order, &slot);
        if was_at_rest {
            self.bell.notify_one();
        }
        result
    }

    /// Commits a frame and calls `done` when it has reached its class; never waits.
    pub(crate) fn submit(
        &self,
        prepared: Prepared,
        durability: Durability,
        check: Check,
        done: Done,
    ) {
        let mut order = self.order();
        if order.is_repairing {
            let held = Held { check, prepared, durability, done };
            self.held.lock().unwrap_or_else(PoisonError::into_inner).push(held);
            return;
        }
        let ended = Self::submit_now(&mut order, Held { check, prepared, durability, done });
        drop(order);
        if let Some((done, result)) = ended {
            self.finisher.call(Box::new(move || done(result)));
        }
        self.bell.notify_one();
    }

    fn submit_now(order: &mut Order, held: Held) -> Option<(Done, Result<Commit, AppendError>)> {
        if order.poisoned.is_some() {
            return Some((held.done, Err(AppendError::Refused(Refusal::Poisoned))));
        }
        if let Err(error) = (held.check)(order) {
            return Some((held.done, Err(error)));
        }
        if held.durability == Durability::Buffered {
            let result = order.accept(held.prepared, held.durability, Listener::Nobody);
            let result = result.map_err(|(refusal, _)| AppendError::Refused(refusal));
            return Some((held.done, result));
        }
        match order.accept(held.prepared, held.durability, Listener::Call(held.done)) {
            Err((refusal, Listener::Call(done))) => {
                Some((done, Err(AppendError::Refused(refusal))))
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Returns when everything up to the lsn that `to` names has reached a class. It is asked once
    /// no failure is being taken back: what it saw before may be gone, and its lsn another frame's.
    pub(crate) fn raise(
        &self,
        durability: Durability,
        to: impl FnOnce(&Order) -> Result<u64, AppendError>,
    ) -> Result<(), AppendError> {
        let mut order = self.settled()?;
        let lsn = to(&order)?;
        let reached = match durability {
            Durability::Buffered => return Ok(()),
            Durability::Written => order.progress.written,
            Durability::Synced => order.progress.durable,
        };
        if reached >= lsn {
            return Ok(());
        }
        let slot = Slot::of_this_thread();
        order.ask(durability, Listener::Thread(slot.clone()));
        self.attend(order, &slot).map(|_| ())
    }

    /// Waits for the end of what a slot waits for, and leads if nobody does.
    fn attend(&self, mut order: MutexGuard<'_, Order>, slot: &Slot) -> Result<Commit, AppendError> {
        let leads = !order.is_led;
        order.is_led = true;
        drop(order);
        if leads {
            self.lead(Some(slot), &|_| false);
        }
        loop {
            match slot.wait() {
                Word::Ended(result) => return result,
                Word::Lead => self.lead(Some(slot), &|_| false),
            }
        }
    }

    /// Leads if there is work and nobody does, until it is enough. For the housekeeper, who waits
    /// for nothing and has other things to do: of appends that never pause there is always work.
    pub(crate) fn lead_for_others(&self, is_enough: &dyn Fn(&Order) -> bool) {
        let mut order = self.order();
        if order.is_led || !order.has_work() {
            return;
        }
        order.is_led = true;
        drop(order);
        self.lead(None, is_enough);
    }

    /// Leads if somebody waits and nobody leads, until a time.
    pub(crate) fn lead_urgent(&self, until: Instant) {
        let is_urgent = self.order().is_urgent();
        if is_urgent {
            self.lead_for_others(&|_| Instant::now() >= until);
        }
    }

    /// Leads until the leader's own append has ended, or, without one, until it is enough or there
    /// is no work.
    fn lead(&self, own: Option<&Slot>, is_enough: &dyn Fn(&Order) -> bool) {
        let mut io = self.io();
        loop {
            let mut order = self.order();
            if own.is_some_and(Slot::has_ended) || is_enough(&order) {
                return self.hand_on(&mut order);
            }
            let Some(item) = order.take() else {
                order.is_led = false;
                return;
            };
            drop(order);
            let told = match item {
                Item::Group(group) => self.write(&mut io, group),
                Item::Segment(header, before) => match io.begin(&header) {
                    Ok(()) => {
                        self.order().begun(&header);
                        Vec::new()
                    }
                    Err(not) if not.is_unknown => {
                        self.poison(Some(Item::Segment(header, before)), &not.error)
                    }
                    Err(not) => self.not_begun(Item::Segment(header, before), &not.error),
                },
            };
            let is_own = |listener: &Listener| match (listener, own) {
                (Listener::Thread(slot), Some(own)) => std::ptr::eq(Arc::as_ptr(slot), own),
                _ => false,
            };
            let ends_own = told.iter().any(|(listener, _)| is_own(listener));
            if ends_own {
                // The lead goes on before anybody is woken, so that the disk does not idle.
                drop(io);
                self.hand_on(&mut self.order());
                return self.tell(told);
            }
            self.tell(told);
        }
    }

    /// Gives the lead to one who waits for the next group, or to the housekeeper.
    fn hand_on(&self, order: &mut Order) {
        if let Some(next) = order.next_leader() {
            next.say(Word::Lead);
            return;
        }
        order.is_led = false;
        if order.is_urgent() {
            self.bell.notify_one();
        }
    }

    /// Tells everybody how their append ended.
    pub(crate) fn tell(&self, told: Vec<Told>) {
        for (listener, result) in told {
            match listener {
                Listener::Thread(slot) => slot.say(Word::Ended(result)),
                Listener::Call(done) => self.finisher.call(Box::new(move || done(result))),
                Listener::Nobody => {}
            }
        }
    }

    /// Writes a group and returns whom to tell what.
    fn write(&self, io: &mut Io, mut group: Group<Before>) -> Vec<Told> {
        let last_lsn = group.after.last_lsn;
        match self.write_and_sync(io, &mut group) {
            Ok(()) => {
                io.mark = group.after;
                let mut order = self.order();
                order.written(io.first_lsn, group.after);
                if group.sync {
                    order.synced(last_lsn);
                }
                let durable = order.progress.durable;
                drop(order);
                if group.sync {
                    io.witness(durable);
                }
                group.waiting.drain(..).map(|it| (it.listener, Ok(it.commit))).collect()
            }
            Err(Failed::Write(error)) => self.not_written(io, group, error),
            Err(Failed::Sync(error)) => {
                let error = Error::io(&io.path, "the log cannot be synced", error);
                self.poison(Some(Item::Group(group)), &error)
            }
        }
    }

    fn write_and_sync(&self, io: &Io, group: &mut Group<Before>) -> Result<(), Failed> {
        if !group.is_empty() {
            let bytes = group.take_bytes();
            io.write(group.before.next_group(), &bytes).map_err(Failed::Write)?;
        }
        if group.sync {
            // Who asked for the kernel only need not wait for the disk.
            self.order().written(io.first_lsn, group.after);
            let early = group.reached(Durability::Written);
            self.tell(early.into_iter().map(|it| (it.listener, Ok(it.commit))).collect());
            self.syncs.fetch_add(1, Ordering::Relaxed);
            io.file.sync_data().map_err(Failed::Sync)?;
        }
        Ok(())
    }

    /// Lets those in who waited for a failure to be taken back.
    pub(super) fn settle(&self) {
        let mut order = self.order();
        order.is_repairing = false;
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        let ended: Vec<_> =
            held.into_iter().filter_map(|held| Self::submit_now(&mut order, held)).collect();
        drop(order);
        self.settled.notify_all();
        for (done, result) in ended {
            self.finisher.call(Box::new(move || done(result)));
        }
    }

    /// Goes on with another order and other files, which `open` gives once nothing is in flight.
    pub(crate) fn replace(
        &self,
        open: impl FnOnce() -> Result<(Order, Io), Error>,
    ) -> Result<(), Error> {
        let mut old = self.io();
        let (order, io) = open()?;
        *self.order() = order;
        *old = io;
        Ok(())
    }
}
