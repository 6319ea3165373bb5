//! The sessions of a store, each behind a lock of its own.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::config::FilesConfig;
use super::encode;
use super::head::Head;
use super::layout::{Layout, LockRule};
use super::log_file::LogFile;
use super::look::{self, Look, Loose};
use super::place::{Found, Root, other_encoding};
use super::publish::{Published, publish};
use super::spell::Spelt;
use crate::backend::{
    AppendError, Batch, Commit, Durability, Error, ErrorKind, Refusal, SessionInfo, Take,
};
use crate::dsh::segment::decode_segment;
use crate::machine::Machine;
use crate::rules::SessionHeader;
use crate::storage::{Stat, Volume};

/// Portions of events that wait between the thread that reads and the one that takes.
const PORTIONS: usize = 4;

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
    poisoned: Mutex<Option<String>>,
    closed: Mutex<bool>,
}

/// What is known of one session.
#[derive(Default)]
struct Session {
    /// The log and how it was when we last looked, and how many of its events stood before a torn
    /// end.
    seen: Option<(PathBuf, Stat, u64)>,
    log: Option<LogFile>,
    rewound: Option<u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
        let (sessions, poisoned, closed) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { volume, machine, root, layout, config, sessions, poisoned, closed }
    }

    fn session(&self, id: &str) -> Arc<Mutex<Session>> {
        Arc::clone(lock(&self.sessions).entry(id.to_owned()).or_default())
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

    /// Looks at a session that is not open for write.
    fn look(&self, session: &mut Session, id: &str) -> Result<Option<Look>, Error> {
        let path = match self.root.find(&*self.volume, id)? {
            Found::Log(path) => path,
            Found::Nothing => return Ok(None),
            Found::Newer(path) => {
                let message = "the session has only a log of a newer format: open a store of that";
                return Err(Error::new(ErrorKind::Unsupported, message).at(path, None));
            }
            Found::OtherEncoding(path) => return Err(other_encoding(&path)),
        };
        let look = look::look(&*self.volume, &self.root, self.layout, &path)?;
        session.seen = Some((path, look.stat, look.events - look.recovered.len() as u64));
        Ok(Some(look))
    }

    pub(super) fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let session = self.session(id);
        let mut session = lock(&session);
        let (header, next_seq, last_time_ms, sure) = if let Some(log) = &session.log {
            (log.header.clone(), log.next_seq(), log.last_time_ms, log.synced_seq())
        } else {
            let Some(look) = self.look(&mut session, id)? else { return Ok(None) };
            let sure = look.events - look.recovered.len() as u64;
            (look.header, look.events, look.last_time_ms, sure)
        };
        Ok(Some(SessionInfo {
            id: id.to_owned(),
            header: SessionHeader { dialect: self.layout.format, json: header },
            next_seq,
            last_time_ms,
            last_epoch: None,
            unconfirmed: next_seq - sure,
        }))
    }

    /// Returns the sessions whose logs the host opens, and those that it refuses for their content
    /// not: looking for one of them says why.
    pub(super) fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        // An id that is no text has no name here.
        let id =
            |folder: OsString| String::from_utf8(decode_segment(folder.as_encoded_bytes())?).ok();
        let folders = self.root.sessions(&*self.volume)?;
        let ids: BTreeSet<String> = folders.into_iter().filter_map(id).collect();
        let mut infos = Vec::with_capacity(ids.len());
        for id in ids {
            match self.find(&id) {
                Ok(info) => infos.extend(info),
                Err(error) if is_of_content(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(infos)
    }

    pub(super) fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let session = self.session(id);
        let mut guard = lock(&session);
        if guard.log.is_none() && guard.seen.is_none() {
            self.look(&mut guard, id)?;
        }
        let (path, until, sure, first, queue) = match (&guard.log, &guard.seen) {
            (Some(log), _) => {
                let queue = log.queue().to_vec();
                (log.path.clone(), log.written_seq(), log.synced_seq(), log.written_seq(), queue)
            }
            (None, Some((path, _, sure))) => (path.clone(), u64::MAX, *sure, 0, Vec::new()),
            (None, None) => {
                let message = format!("there is no session {}", super::shown(id));
                return Err(Error::new(ErrorKind::NoSession, message));
            }
        };
        // Whoever takes may ask for the same session again.
        drop(guard);
        if from < until && !self.read_log(&path, from..until, sure, take)? {
            return Ok(());
        }
        for (event, seq) in queue.iter().zip(first..) {
            let loose = Loose::of(event, seq, first);
            if seq >= from && take(&loose.stored(false)).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Hands events of a log on, and says whether more are wanted.
    fn read_log(
        &self,
        path: &Path,
        seqs: std::ops::Range<u64>,
        sure: u64,
        take: &mut Take<'_>,
    ) -> Result<bool, Error> {
        let (to, portions) = sync_channel(PORTIONS);
        thread::scope(|scope| {
            let reading = move || look::send(&*self.volume, &self.root, path, seqs, to);
            let reader = thread::Builder::new().spawn_scoped(scope, reading);
            let reader = reader.map_err(|error| {
                Error::new(ErrorKind::Io, format!("cannot start a thread to read with: {error}"))
            })?;
            let mut wants = true;
            'all: for portion in &portions {
                for event in portion {
                    if take(&event.stored(event.seq < sure)).is_break() {
                        wants = false;
                        break 'all;
                    }
                }
            }
            // The reader sees that nobody takes any more.
            drop(portions);
            let ended = reader.join().unwrap_or_else(|_| {
                Err(Error::new(ErrorKind::Io, "the thread that read the log panicked"))
            });
            if wants { ended.map(|()| true) } else { Ok(false) }
        })
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
            session.log = Some(LogFile::open(&*self.volume, &self.root, self.layout, path, seen)?);
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

/// Returns whether an error is about one log and not about the disk.
fn is_of_content(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Corrupt | ErrorKind::Unsupported)
}
