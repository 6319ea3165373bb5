//! The sessions of a store, each behind a lock of its own.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::config::FilesConfig;
use super::encode;
use super::head::Head;
use super::layout::{Layout, LockRule};
use super::log_file::LogFile;
use super::place::{Found, Root, other_encoding};
use super::publish::{Published, publish};
use super::spell::Spelt;
use crate::backend::{AppendError, Batch, Commit, Durability, Error, ErrorKind, Refusal};
use crate::machine::Machine;
use crate::rules::SessionHeader;
use crate::storage::{Stat, Volume};

/// Logs that are held open for write, each with its lock: the idle ones beyond are let go.
const OPEN_LOGS_MAX: usize = 256;

/// Greatest seq: the greatest integer that the host keeps.
const SEQ_MAX: u64 = (1 << 53) - 1;

/// All that the store and its thread share.
pub(super) struct Files {
    pub(super) volume: Arc<dyn Volume>,
    pub(super) machine: Arc<dyn Machine>,
    pub(super) root: Root,
    pub(super) layout: &'static Layout,
    pub(super) config: FilesConfig,
    sessions: Mutex<HashMap<String, Arc<Mutex<Session>>>>,
    /// The sessions whose logs are open for write, in the order in which they were opened.
    open: Mutex<VecDeque<String>>,
    poisoned: Mutex<Option<String>>,
    closed: Mutex<bool>,
}

/// What is known of one session.
#[derive(Default)]
pub(super) struct Session {
    /// The log and how it was when we last looked, and how many of its events stood before a torn
    /// end.
    pub(super) seen: Option<(PathBuf, Stat, u64)>,
    pub(super) log: Option<LogFile>,
    rewound: Option<u64>,
}

impl Session {
    /// Closes the log if nothing of it waits, and says whether it is closed.
    fn let_go(&mut self) -> bool {
        let Some(log) = &self.log else { return true };
        if log.next_seq() != log.synced_seq() {
            return false;
        }
        let (left, sure) = log.left();
        self.seen = Some((log.path.clone(), left, sure));
        self.log = None;
        true
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic of ours left behind is no worse than what a process that died leaves.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused<T>(refusal: Refusal) -> Result<T, AppendError> {
    Err(AppendError::Refused(refusal))
}

impl Files {
    pub(super) fn new(
        volume: Arc<dyn Volume>,
        machine: Arc<dyn Machine>,
        root: Root,
        layout: &'static Layout,
        config: FilesConfig,
    ) -> Self {
        let (sessions, open) = (Mutex::default(), Mutex::default());
        let (poisoned, closed) = (Mutex::default(), Mutex::default());
        Self { volume, machine, root, layout, config, sessions, open, poisoned, closed }
    }

    pub(super) fn session(&self, id: &str) -> Arc<Mutex<Session>> {
        Arc::clone(lock(&self.sessions).entry(id.to_owned()).or_default())
    }

    /// Forgets a session that does not exist, so that asking for names costs no memory.
    pub(super) fn forget(&self, id: &str, session: &Arc<Mutex<Session>>) {
        let mut sessions = lock(&self.sessions);
        // Ours and the map's: nobody else is about to make it.
        if Arc::strong_count(session) == 2 {
            sessions.remove(id);
        }
    }

    /// Notes that a log is open for write, and lets go of idle ones if there are too many. They are
    /// taken up again with their next append, if they are then as they were left.
    fn opened(&self, id: &str) {
        let mut open = lock(&self.open);
        open.push_back(id.to_owned());
        for _ in OPEN_LOGS_MAX..open.len() {
            let Some(oldest) = open.pop_front() else { return };
            let session = lock(&self.sessions).get(&oldest).cloned();
            let Some(session) = session else { continue };
            // Who is at work on a session has it locked, and is not waited for.
            let let_go = match session.try_lock() {
                Ok(mut session) => session.let_go(),
                Err(_) => false,
            };
            if !let_go {
                open.push_back(oldest);
            }
        }
    }

    fn all(&self) -> Vec<Arc<Mutex<Session>>> {
        lock(&self.sessions).values().cloned().collect()
    }

    pub(super) fn poisoned(&self) -> Option<String> {
        lock(&self.poisoned).clone()
    }

    /// Refuses to write to a store that cannot be written.
    fn writable(&self) -> Result<(), AppendError> {
        if *lock(&self.closed) {
            return refused(Refusal::ReadOnly);
        }
        if self.layout.lock == LockRule::Ours && !self.config.allow_unlocked {
            let format = self.layout.format;
            let what = format!(
                "writing format {format}, whose hosts take no lock: set allow_unlocked if none runs"
            );
            return refused(Refusal::Unsupported { what });
        }
        if self.poisoned().is_some() { refused(Refusal::Poisoned) } else { Ok(()) }
    }

    pub(super) fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: &Batch,
    ) -> Result<Commit, AppendError> {
        self.writable()?;
        let head = Head::of(self.layout, id, header).map_err(AppendError::Refused)?;
        let place = self.root.place(id, head.cwd.as_deref()).map_err(AppendError::Refused)?;
        if batch.first_seq != 0 {
            return refused(Refusal::WrongSeq { expected: batch.first_seq, actual: 0 });
        }
        let events = self.spell(batch)?;
        let encoding = self.root.generation.encoding;
        let mut bytes = encode::header(encoding, &head.line).map_err(AppendError::Refused)?;
        bytes.extend(encode::batch(encoding, &events, 0).map_err(AppendError::Refused)?);
        let session = self.session(id);
        let mut session = lock(&session);
        match self.root.find(&*self.volume, id).map_err(AppendError::NotWritten)? {
            Found::Nothing => {}
            Found::Log(_) => return refused(Refusal::Exists),
            Found::Newer(path) => return refused(Refusal::GenerationMoved { path }),
            Found::OtherEncoding(path) => {
                return Err(AppendError::NotWritten(other_encoding(&path)));
            }
        }
        let published = publish(&*self.volume, &*self.machine, &self.root, &place, &bytes);
        let published = self.mind_poison(published)?;
        let Published { lock, stat } = published;
        session.seen = Some((place.log.clone(), stat, events.len() as u64));
        let header = head.line.into_bytes();
        // The session is there, whether or not it can be held open.
        session.log =
            LogFile::published(&*self.volume, place.log, header, &events, (lock, stat)).ok();
        self.opened(id);
        let durability = Durability::Synced;
        Ok(Commit { lsn: None, first_seq: 0, events: events.len() as u64, durability })
    }

    fn spell(&self, batch: &Batch) -> Result<Vec<Spelt>, AppendError> {
        let count = batch.rows.len() as u64;
        if batch.first_seq.checked_add(count).is_none_or(|end| end > SEQ_MAX + 1) {
            return refused(Refusal::Full);
        }
        let spelt = batch.rows.iter().map(|row| Spelt::of(self.layout, row)).collect();
        let spelt: Result<Vec<_>, _> = spelt;
        spelt.map_err(AppendError::Refused)
    }

    pub(super) fn append(
        &self,
        id: &str,
        batch: &Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.writable()?;
        if batch.rows.is_empty() {
            return refused(Refusal::Empty);
        }
        let events = self.spell(batch)?;
        let session = self.session(id);
        let mut session = lock(&session);
        let log = self.open_log(&mut session, id)?;
        let (expected, actual) = (batch.first_seq, log.next_seq());
        if expected != actual {
            return refused(Refusal::WrongSeq { expected, actual });
        }
        if durability == Durability::Buffered {
            return Ok(log.buffer(events));
        }
        let ended = log.append(&*self.volume, &self.root, events, durability);
        self.settle(&mut session, ended)
    }

    /// Returns the log of a session, opened for write if need be.
    fn open_log<'s>(
        &self,
        session: &'s mut Session,
        id: &str,
    ) -> Result<&'s mut LogFile, AppendError> {
        if session.log.is_none() {
            let path = match self.root.find(&*self.volume, id).map_err(AppendError::NotWritten)? {
                Found::Log(path) => path,
                Found::Nothing => return refused(Refusal::NoSession),
                Found::Newer(path) => return refused(Refusal::GenerationMoved { path }),
                Found::OtherEncoding(path) => {
                    return Err(AppendError::NotWritten(other_encoding(&path)));
                }
            };
            let seen = session.seen.as_ref().map(|(_, stat, _)| *stat);
            let log = LogFile::open(&*self.volume, &self.root, self.layout, path, seen);
            session.log = Some(self.mind_poison(log)?);
            self.opened(id);
        }
        session.log.as_mut().ok_or(AppendError::Refused(Refusal::NoSession))
    }

    /// Takes in how a write ended.
    fn settle<T>(
        &self,
        session: &mut Session,
        ended: Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        if let (Err(error), Some(log)) = (&ended, &session.log) {
            let (left, sure) = log.left();
            match error {
                AppendError::Rewound { next_seq } => {
                    let earlier = session.rewound.unwrap_or(*next_seq);
                    session.rewound = Some(earlier.min(*next_seq));
                }
                AppendError::Refused(
                    Refusal::ForeignWrite { .. } | Refusal::GenerationMoved { .. },
                ) => {}
                _ => return self.mind_poison(ended),
            }
            // What follows is read anew; until somebody looks, it must be as we left it.
            session.seen = Some((log.path.clone(), left, sure));
            session.log = None;
        }
        ended
    }

    /// Poisons the store when nobody knows what is on the disk.
    fn mind_poison<T>(&self, ended: Result<T, AppendError>) -> Result<T, AppendError> {
        if let Err(AppendError::Unknown(error)) = &ended {
            lock(&self.poisoned).get_or_insert_with(|| error.to_string());
        }
        ended
    }

    pub(super) fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        if durability == Durability::Buffered {
            return Ok(());
        }
        let session = self.session(id);
        let mut session = lock(&session);
        if session.log.is_none() && durability == Durability::Synced {
            // What an earlier process wrote may be in the cache only; opening it syncs it.
            self.writable()?;
            match self.open_log(&mut session, id) {
                Err(AppendError::Refused(Refusal::NoSession)) => return Ok(()),
                opened => drop(opened?),
            }
        }
        self.raise_session(&mut session, durability)
    }

    fn raise_session(
        &self,
        session: &mut Session,
        durability: Durability,
    ) -> Result<(), AppendError> {
        let Some(log) = &mut session.log else { return Ok(()) };
        if log.queue().is_empty() && log.synced_seq() == log.written_seq() {
            return Ok(());
        }
        let mut ended = Ok(());
        if self.poisoned().is_some() {
            ended = refused(Refusal::Poisoned);
        } else if !log.queue().is_empty() {
            let ours = (&*self.volume, &self.root);
            ended = log.append(ours.0, ours.1, Vec::new(), durability).map(drop);
        }
        if ended.is_ok() && durability == Durability::Synced {
            ended = log.sync(&*self.volume, &self.root);
        }
        self.settle(session, ended)
    }

    pub(super) fn take_rewound(&self, id: &str) -> Option<u64> {
        lock(&self.session(id)).rewound.take()
    }

    /// Returns when the next buffered events have to be synced.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let wait = Duration::from_millis(self.config.buffer_ms_max);
        let since = |session: Arc<Mutex<Session>>| lock(&session).log.as_ref()?.since;
        self.all().into_iter().filter_map(since).min().map(|since| since + wait)
    }

    /// Syncs what was buffered long enough; what fails is told by the next append.
    pub(super) fn sync_overdue(&self) {
        let now = Instant::now();
        let wait = Duration::from_millis(self.config.buffer_ms_max);
        for session in self.all() {
            let mut session = lock(&session);
            let since = session.log.as_ref().and_then(|log| log.since);
            if since.is_some_and(|since| since + wait <= now) {
                let ended = self.raise_session(&mut session, Durability::Synced);
                if let (Err(_), Some(log)) = (ended, &mut session.log) {
                    log.since = Some(now);
                }
            }
        }
    }

    /// Lets go of every log without writing; what waited is gone, and told.
    pub(super) fn reopen(&self) {
        for session in self.all() {
            let mut session = lock(&session);
            let log = session.log.take();
            session.seen = None;
            if let Some(log) = log.filter(|log| log.since.is_some()) {
                session.rewound.get_or_insert(log.written_seq());
            }
        }
        lock(&self.open).clear();
        *lock(&self.poisoned) = None;
    }

    /// Writes and syncs what was accepted, and lets go of every log.
    pub(super) fn close(&self) -> Result<(), Error> {
        *lock(&self.closed) = true;
        let mut first = Ok(());
        for session in self.all() {
            let mut session = lock(&session);
            let ended = self.raise_session(&mut session, Durability::Synced);
            session.log = None;
            if first.is_ok() {
                first = ended.map_err(could_not_close);
            }
        }
        first
    }
}

fn could_not_close(error: AppendError) -> Error {
    match error {
        AppendError::NotWritten(error) | AppendError::Unknown(error) => error,
        AppendError::Refused(refusal) => {
            Error::new(ErrorKind::Io, format!("what was buffered cannot be written: {refusal:?}"))
        }
        AppendError::Rewound { next_seq } => {
            let message = format!("a session was rewound to event {next_seq} at its last sync");
            Error::new(ErrorKind::Io, message)
        }
    }
}
