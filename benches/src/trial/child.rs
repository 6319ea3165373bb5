//! The process that is killed: it opens a store on the disk, says what is there, and appends from
//! several threads until it dies.

use super::found::{self, drafts};
use super::lenient::{BAD, CLOSE, Lenient, OPEN};
use super::word::{self, Word};
use super::workload::header;
use crate::Random;
use gatelog_engine::backend::{AppendError, Backend, Commit, Durability, Error, Refusal};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::Draft;
use gatelog_engine::storage::Disk;
use gatelog_engine::store::{Session, Store, StoreConfig};
use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// How many sessions a store has.
pub const SESSIONS: u64 = 6;

const THREADS: u64 = 4;

/// How a child works.
#[derive(Clone, Debug)]
pub struct Child {
    /// Where the store lies.
    pub dir: PathBuf,
    /// Where its choices begin.
    pub seed: u64,
    /// The number of its first batch.
    pub first: u64,
    /// How many batches it issues before it closes the store; 0 for no end.
    pub batches: u64,
    /// Each session has one thread and no thread shares one.
    pub is_alone: bool,
}

/// How the stores of these trials are opened: small segments, and everything soon.
pub fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 64 * 1024,
        idle_watermark_ms: 4,
        sync_interval_ms: 30,
        ..LogConfig::default()
    }
}

/// Opens the store of a trial on the disk.
///
/// # Errors
///
/// As [`Log::open`].
pub fn open(dir: &Path) -> Result<Store, Error> {
    open_with(dir).map(|(store, _)| store)
}

/// Opens the store of a trial, and gives its backend as well.
fn open_with(dir: &Path) -> Result<(Store, Arc<dyn Backend>), Error> {
    let machine = Arc::new(ThisMachine);
    let log = Log::open(Arc::new(Disk), dir, machine.clone(), config())?;
    let backend: Arc<dyn Backend> = Arc::new(log);
    let (ours, rules) = (Arc::clone(&backend), Arc::new(Lenient::default()));
    Ok((Store::new(backend, rules, machine, StoreConfig::default()), ours))
}

impl Child {
    /// Works until it is killed, or has issued what it was to issue.
    pub fn run(&self) {
        let (store, backend) = match open_with(&self.dir) {
            Ok(opened) => opened,
            Err(error) => {
                return Word::Wrong(format!(
                    "refused ({:?} {:?}): {error}",
                    error.kind, error.rule
                ))
                .say();
            }
        };
        let number = AtomicU64::new(self.first);
        for _ in 0..4 {
            let work = AtWork {
                store: &store,
                backend: &*backend,
                child: self,
                number: &number,
                sessions: Mutex::default(),
                is_over: AtomicBool::new(false),
            };
            if let Err(what) = work.go() {
                return Word::Wrong(what).say();
            }
            if store.poisoned().is_none() {
                break;
            }
            Word::Poisoned.say();
            if let Err(error) = store.reopen() {
                return Word::Wrong(format!("reopen: {error}")).say();
            }
        }
        match store.close() {
            Ok(()) => Word::Closed.say(),
            Err(error) => Word::Wrong(format!("close: {error}")).say(),
        }
    }
}

struct AtWork<'a> {
    store: &'a Store,
    backend: &'a dyn Backend,
    child: &'a Child,
    number: &'a AtomicU64,
    sessions: Mutex<HashMap<String, Session>>,
    is_over: AtomicBool,
}

impl AtWork<'_> {
    fn go(&self) -> Result<(), String> {
        let there = found::read(self.store)?;
        for (session, batches) in &there {
            for batch in batches {
                Word::There(session.clone(), *batch).say();
            }
        }
        Word::Read.say();
        for id in there.keys() {
            match self.store.session(id) {
                Ok(session) => drop(self.sessions().insert(id.clone(), session)),
                // The store says by itself what is wrong with it.
                Err(_) if self.store.poisoned().is_some() => return Ok(()),
                Err(AppendError::NotWritten(_)) => {}
                Err(error) => return Err(format!("{id} cannot be opened: {error:?}")),
            }
        }
        Word::Opened.say();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || self.work(thread));
            }
        });
        self.hear_of_rewinds();
        Ok(())
    }

    /// Asks every session for the news that its next append would bring: by an append of nothing.
    /// A poisoned store tells a session nothing else; what it would have told its backend knows.
    fn hear_of_rewinds(&self) {
        let sessions = self.sessions().clone();
        for (id, session) in sessions {
            match session.append(Vec::new(), Durability::Buffered) {
                Err(AppendError::Rewound { next_seq }) => self.rewound(&id, next_seq),
                _ => {
                    if let Some(next_seq) = self.backend.take_rewound(&id) {
                        self.rewound(&id, next_seq);
                    }
                }
            }
        }
    }

    fn rewound(&self, id: &str, next_seq: u64) {
        Word::Rewound(id.to_owned(), next_seq).say();
        if next_seq == 0 {
            // Its creation was taken back: it is created anew.
            self.sessions().remove(id);
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    fn work(&self, thread: u64) {
        let mut random = Random::new(self.child.seed ^ (thread << 40) ^ 0x0051_7CC1);
        random.below(2);
        while !self.is_over.load(Ordering::Relaxed) {
            let issued = self.number.load(Ordering::Relaxed) - self.child.first;
            if self.child.batches > 0 && issued >= self.child.batches {
                return;
            }
            let session = if self.child.is_alone {
                thread + THREADS * random.below(SESSIONS.saturating_sub(thread).div_ceil(THREADS))
            } else {
                random.below(SESSIONS)
            };
            self.step(&format!("s{session}"), &mut random);
            if random.below(20) == 0 {
                thread::sleep(Duration::from_millis(random.below(12)));
            }
        }
    }

    fn step(&self, id: &str, random: &mut Random) {
        let class = word::class(random.below(3)).unwrap_or_default();
        let events = if random.below(12) == 0 { 1 + random.below(40) } else { 1 + random.below(3) };
        let bytes = if random.below(15) == 0 { 3_000 } else { random.below(200) as usize };
        let session = { self.sessions().get(id).cloned() };
        let Some(session) = session else { return self.create(id, class, events) };
        let number = self.next();
        let mut batch = drafts(number, events, bytes);
        if events > 1 && random.below(2) == 0 {
            // A turn; half of them stay open.
            OPEN.clone_into(&mut batch[0].kind);
            if random.below(2) == 0 {
                let last = batch.len() - 1;
                CLOSE.clone_into(&mut batch[last].kind);
            }
        }
        match random.below(20) {
            0 | 1 => {
                let append = || block_on(session.append_async(batch, class));
                self.issue(number, id, events, class, append);
            }
            2 | 3 => {
                let Ok(mut gate) = session.gate() else { return };
                self.issue(number, id, events, class, || gate.append_batch(batch, class));
                let number = self.next();
                let append = || gate.append_batch(drafts(number, 2, 40), Durability::Written);
                self.issue(number, id, 2, Durability::Written, append);
            }
            4 => {
                batch.push(Draft::new(BAD, "0"));
                self.issue(number, id, events + 1, class, || session.append(batch, class));
            }
            5 => {
                let key = u128::from(number).to_le_bytes();
                let append = || session.append_keyed(key, batch, class);
                self.issue(number, id, events, class, append);
            }
            6 => {
                let raised = session.raise(class);
                if let Err(AppendError::Rewound { next_seq }) = raised {
                    self.rewound(id, next_seq);
                }
                self.look(raised.as_ref().err());
            }
            _ => self.issue(number, id, events, class, || session.append(batch, class)),
        }
    }

    fn create(&self, id: &str, class: Durability, events: u64) {
        let number = self.next();
        self.issue(number, id, events, class, || {
            let made = self.store.create_with(id, &header(id), class, |init| {
                for draft in drafts(number, events, 60) {
                    init.append(draft);
                }
                Ok(())
            })?;
            let mut lsn = None;
            let read = made.read(0, &mut |stored| {
                lsn = stored.lsn;
                std::ops::ControlFlow::Break(())
            });
            let wrong = |error: Error| AppendError::Unknown(error);
            read.map_err(wrong)?;
            self.sessions().insert(id.to_owned(), made);
            Ok(Commit { lsn, first_seq: 0, events, durability: class })
        });
    }

    fn issue(
        &self,
        number: u64,
        id: &str,
        events: u64,
        class: Durability,
        append: impl FnOnce() -> Result<Commit, AppendError>,
    ) {
        Word::Issue(number, id.to_owned(), events, class).say();
        let appended = append();
        match &appended {
            Ok(commit) => {
                Word::Acked(number, commit.first_seq, commit.lsn.unwrap_or_default()).say();
            }
            Err(AppendError::Refused(_) | AppendError::NotWritten(_)) => Word::Never(number).say(),
            Err(AppendError::Rewound { next_seq }) => {
                Word::Never(number).say();
                self.rewound(id, *next_seq);
            }
            Err(AppendError::Unknown(_)) => {}
        }
        self.look(appended.as_ref().err());
    }

    /// Ends the work when the store is poisoned.
    fn look(&self, error: Option<&AppendError>) {
        let is_poison = |it: &AppendError| {
            matches!(it, AppendError::Refused(Refusal::Poisoned | Refusal::Stale))
        };
        if error.is_some_and(is_poison) || self.store.poisoned().is_some() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        if let Some(AppendError::Refused(refusal)) = error
            && !matches!(
                refusal,
                Refusal::Poisoned
                    | Refusal::Stale
                    | Refusal::Violation(_)
                    | Refusal::TooLarge { .. }
                    | Refusal::Exists
            )
        {
            Word::Wrong(format!("refused: {refusal:?}")).say();
        }
    }
}

struct Bell(Thread);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Bell(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}
