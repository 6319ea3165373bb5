//! Sessions over any [`Backend`]: gates, rules, observers, idempotency, recovery.
//!
//! # One append
//!
//! 1. A caller gives drafts to a [`Session`]. The session's gate is a line of tickets (`queue`): a
//!    thread waits in it, a future leaves a task in it.
//! 2. Whoever holds the gate has the session's state in hand (`held`): two judges, one at the last
//!    commit and one that runs ahead (`state`). It is folded from the log when it is not there.
//! 3. The drafts are checked (`check`) and scanned (`sheet`), stamped with seq and time, and
//!    admitted one after another to the judge ahead. A refusal throws that judge away.
//! 4. The batch goes to the backend, and the gate is held until it has reached its class. Then the
//!    other judge adopts it, and the gate is free.
//! 5. The thread that committed tells observers, in commit order (`delivery`).
//!
//! No lock is held while a rule, an observer, an `init` or the backend is called. Their panics are
//! contained: one before the commit refuses the batch, one behind it has the state folded again.
//!
//! # What is foreign, and where it runs
//!
//! Under the gate run the rules, `init` and whoever is asked at creations; observers run when it is
//! free. All of them may block, and then block their own session: appends of other sessions have
//! gates of their own, and those of futures have carriers (`carriers`), of which there are more as
//! soon as all are stuck.

mod lock;
mod contained;
mod config;
mod queue;
mod carriers;
mod ticks;
mod life;
mod init;
mod observer;
pub(crate) mod sheet;
mod check;
mod keys;
mod repeat;
mod state;
mod delivery;
mod creating;
mod shared;
mod live;
mod request;
mod held;
mod create;
mod append;
mod gate;
mod projected;
mod session;

pub use append::Append;
pub use config::{ID_BYTES_MAX, KEYS_REMEMBERED, RECORDS_MAX, StoreConfig};
pub use gate::Gate;
pub use init::Init;
pub use observer::{Creation, Observer};
pub use projected::Projected;
pub use session::Session;

use crate::backend::{
    AppendError, Backend, Durability, Error, ErrorKind, Limited, Parts, Refusal, SessionInfo, Take,
};
use crate::log::{Log, LogConfig};
use crate::machine::{Machine, ThisMachine};
use crate::rules::{RuleSet, SessionHeader};
use crate::storage::Disk;
use held::Held;
use live::{Live, Status};
use lock::lock;
use shared::Shared;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A store, open for writing.
///
/// It is `Sync`: one is enough for all threads. Dropping it closes nothing; handles of sessions
/// keep what they need of it.
pub struct Store {
    shared: Arc<Shared>,
    live: Mutex<HashMap<String, Arc<Live>>>,
}

impl Store {
    /// Opens the native store in a directory of this machine for writing, makes it where there is
    /// none, and recovers what a crash left. Sessions are recovered when they are first opened.
    ///
    /// # Errors
    ///
    /// As [`Log::open`].
    pub fn open(dir: impl AsRef<Path>, rules: Arc<dyn RuleSet>) -> Result<Self, Error> {
        let machine = Arc::new(ThisMachine);
        let disk = Arc::new(Disk);
        let log = Log::open(disk, dir.as_ref(), machine.clone(), LogConfig::default())?;
        Ok(Self::new(Arc::new(log), rules, machine, StoreConfig::default()))
    }

    /// Makes a store of a backend that is open for writing, with its rules.
    pub fn new(
        backend: Arc<dyn Backend>,
        rules: Arc<dyn RuleSet>,
        machine: Arc<dyn Machine>,
        config: StoreConfig,
    ) -> Self {
        let shared = Arc::new(Shared::new(backend, rules, machine, config));
        Self { shared, live: Mutex::default() }
    }

    /// Creates a session. All that `init` appends, and after it whoever is asked at creations,
    /// becomes its first batch, synced; before that nobody sees the session.
    ///
    /// # Errors
    ///
    /// As [`Store::create_with`].
    pub fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        init: impl FnOnce(&mut Init<'_>) -> Result<(), Refusal>,
    ) -> Result<Session, AppendError> {
        self.create_with(id, header, Durability::Synced, init)
    }

    /// As [`Store::create`], with the class that the first batch must reach.
    ///
    /// # Errors
    ///
    /// How it ended otherwise; what `init` refuses, `Exists`, and a panic of `init` as `Internal`.
    /// After any but `Unknown` there is no session.
    pub fn create_with(
        &self,
        id: &str,
        header: &SessionHeader,
        durability: Durability,
        init: impl FnOnce(&mut Init<'_>) -> Result<(), Refusal>,
    ) -> Result<Session, AppendError> {
        self.with_gate(id, |held| held.create(header, durability, init))
    }

    /// Returns a handle of a session, and opens it for write if it is not. What a dead writer left
    /// open in it is closed by one batch then, once in a generation.
    ///
    /// # Errors
    ///
    /// `NoSession`, `Deleted`, `Poisoned`, `Stale` after [`Store::close`], and whatever keeps the
    /// closing batch from being written.
    pub fn session(&self, id: &str) -> Result<Session, AppendError> {
        self.shared.life.check(self.shared.life.generation()).map_err(AppendError::Refused)?;
        let there = lock(&self.live).get(id).cloned();
        let is_live = |live: &Arc<Live>| {
            live.status() == Status::Open && live.generation == self.shared.life.generation()
        };
        match there.filter(is_live) {
            Some(live) => Ok(Session(live)),
            None => self.with_gate(id, Held::open),
        }
    }

    /// Returns every session, in the order of their ids.
    ///
    /// # Errors
    ///
    /// What cannot be read.
    pub fn list(&self) -> Result<Vec<SessionInfo>, Error> {
        self.shared.backend.sessions()
    }

    /// Hands the events of a session from a seq on to `take`, in order, until it breaks off. The
    /// session is not opened for write.
    ///
    /// # Errors
    ///
    /// What cannot be read, [`ErrorKind::NoSession`], [`ErrorKind::Deleted`].
    pub fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.shared.backend.read(id, from, take)
    }

    /// Registers an observer of all sessions.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        Arc::make_mut(&mut *lock(&self.shared.observers)).push(observer);
    }

    /// Registers somebody who is asked whenever a session is created, behind those who are
    /// registered already. Returns when every creation that began before has ended, so that a look
    /// at the sessions that are there finds all that were made without them.
    ///
    /// Must not be called from inside a creation, which would wait for itself.
    pub fn observe_creations(&self, creation: Arc<dyn Creation>) {
        Arc::make_mut(&mut *lock(&self.shared.creations)).push(creation);
        self.shared.creating.settle();
    }

    /// Returns which promises the store keeps.
    pub fn parts(&self) -> Parts {
        self.shared.backend.parts()
    }

    /// Returns why nothing can be written any more, if so. [`Store::reopen`] is the way on.
    pub fn poisoned(&self) -> Option<String> {
        self.shared.backend.poisoned()
    }

    /// Ends the life of a session's state and of its handles, which answer `Stale`; there is
    /// nothing to do if it is not live. Waits for the gate.
    ///
    /// # Errors
    ///
    /// `Reentrant`, `Busy`.
    pub fn release(&self, id: &str) -> Result<(), AppendError> {
        let Some(live) = lock(&self.live).get(id).cloned() else { return Ok(()) };
        let held = Held::wait(&live)?;
        live.set_status(Status::Gone);
        self.remove(&live);
        live.shut();
        held.release();
        Ok(())
    }

    /// Begins a new epoch, after the store was poisoned. Every handle and gate of the old one
    /// answers `Poisoned` before anything is closed, and for ever; sessions are opened anew.
    ///
    /// Must not be called from inside a rule or the backend.
    ///
    /// # Errors
    ///
    /// As opening the store. It can be tried again.
    pub fn reopen(&self) -> Result<(), Error> {
        let is_needless = || self.shared.backend.poisoned().is_none();
        let Some(reopening) = self.shared.life.begin_reopen(is_needless) else {
            if self.shared.life.is_closed() {
                return Err(Error::new(ErrorKind::Config, "the store is closed; open it anew"));
            }
            return Ok(());
        };
        self.shut(Some(self.shared.life.generation()));
        lock(&self.shared.recovered).clear();
        let reopened = self.shared.backend.reopen();
        drop(reopening);
        reopened
    }

    /// Waits for what is on its way, then writes and syncs what was accepted and gives the store
    /// back. Handles and gates answer `Stale` from then on. A second call does nothing.
    ///
    /// # Errors
    ///
    /// What failed; the store is given back all the same.
    pub fn close(&self) -> Result<(), Error> {
        if !self.shared.life.close() {
            return Ok(());
        }
        self.shut(None);
        self.shared.backend.close()
    }

    /// Does something under the gate of a session that is perhaps not there yet.
    fn with_gate(
        &self,
        id: &str,
        act: impl FnOnce(&mut Held) -> Result<(), AppendError>,
    ) -> Result<Session, AppendError> {
        check_id(id).map_err(AppendError::Refused)?;
        loop {
            let live = self.find_or_make(id);
            let held = Held::wait(&live);
            if live.status() == Status::Gone {
                // It was released while this thread waited; the next look makes it anew.
                continue;
            }
            let acted = held.and_then(|mut held| {
                let acted = act(&mut held);
                held.release();
                acted
            });
            if acted.is_err() {
                self.forget(&live);
            }
            return acted.map(|()| Session(live));
        }
    }

    fn find_or_make(&self, id: &str) -> Arc<Live> {
        let generation = self.shared.life.generation();
        let mut all = lock(&self.live);
        if let Some(live) = all.get(id)
            && live.generation >= generation
            && live.status() != Status::Gone
        {
            return Arc::clone(live);
        }
        let live = Arc::new(Live::new(Arc::clone(&self.shared), id, generation));
        all.insert(id.to_owned(), Arc::clone(&live));
        live
    }

    /// Forgets a session that turned out not to be there, unless somebody else waits for it.
    fn forget(&self, live: &Arc<Live>) {
        let mut all = lock(&self.live);
        // One is in the map and one is ours; more can only come out of the map.
        let is_ours = all.get(&live.id).is_some_and(|other| Arc::ptr_eq(other, live));
        if is_ours && live.status() == Status::Absent && Arc::strong_count(live) == 2 {
            all.remove(&live.id);
        }
    }

    fn remove(&self, live: &Arc<Live>) {
        let mut all = lock(&self.live);
        if all.get(&live.id).is_some_and(|other| Arc::ptr_eq(other, live)) {
            all.remove(&live.id);
        }
    }

    /// Ends the line before every gate that is not of this generation, or before all.
    fn shut(&self, spared: Option<u64>) {
        let mut all = lock(&self.live);
        let dead = all.extract_if(|_, live| Some(live.generation) != spared);
        let dead: Vec<_> = dead.map(|(_, live)| live).collect();
        drop(all);
        for live in dead {
            live.shut();
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let live = lock(&self.live).len();
        f.debug_struct("Store").field("live", &live).finish_non_exhaustive()
    }
}

fn check_id(id: &str) -> Result<(), Refusal> {
    if id.is_empty() {
        return Err(Refusal::Malformed { what: "the id of a session is empty".to_owned() });
    }
    let (bytes, limit) = (id.len() as u64, ID_BYTES_MAX as u64);
    if bytes > limit {
        return Err(Refusal::TooLarge { what: Limited::IdBytes, bytes, limit });
    }
    Ok(())
}
