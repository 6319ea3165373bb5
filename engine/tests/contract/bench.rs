//! A store on a disk, which is opened, looked at, and opened again from what is there.

use crate::content::{Content, content};
use crate::ground::{Dir, Ground, Which};
use crate::world::{Clock, Rules, header};
use gatelog_engine::backend::{AppendError, Backend, Durability, Error, Parts, Refusal};
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::rules::Draft;
use gatelog_engine::session_files::{Encoding, FilesConfig, SessionFiles};
use gatelog_engine::store::{Session, Store, StoreConfig};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) const BUFFERED: Durability = Durability::Buffered;
pub(crate) const WRITTEN: Durability = Durability::Written;
pub(crate) const SYNCED: Durability = Durability::Synced;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Native,
    FilesZstd,
    FilesPlain,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Native, Kind::FilesZstd, Kind::FilesPlain];

/// How a store is opened.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) segment_bytes: u64,
    pub(crate) store: StoreConfig,
}

impl Default for Setup {
    fn default() -> Self {
        Self { segment_bytes: 1 << 20, store: StoreConfig::default() }
    }
}

/// A store that is not open, and the disk under it.
pub(crate) struct Bench {
    pub(crate) kind: Kind,
    pub(crate) ground: Ground,
    pub(crate) clock: Arc<Clock>,
}

/// A store that is open. Nothing happens in it by itself, but that session files are synced after
/// a second.
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) log: Option<Arc<Log>>,
    pub(crate) setup: Setup,
    _dir: Option<Arc<Dir>>,
}

impl Bench {
    pub(crate) fn new(kind: Kind, which: Which) -> Self {
        Self { kind, ground: Ground::new(which), clock: Arc::new(Clock::new()) }
    }

    fn on(&self, ground: Ground) -> Self {
        Self { kind: self.kind, ground, clock: Arc::clone(&self.clock) }
    }

    /// What the death of the process would leave now.
    pub(crate) fn killed(&self) -> Self {
        self.on(self.ground.killed())
    }

    /// What a power cut would leave now.
    pub(crate) fn cut(&self) -> Self {
        self.on(self.ground.cut())
    }

    pub(crate) fn open(&self) -> Opened {
        self.open_as(&Setup::default())
    }

    pub(crate) fn open_as(&self, setup: &Setup) -> Opened {
        self.try_open(setup).expect("the store opens")
    }

    pub(crate) fn try_open(&self, setup: &Setup) -> Result<Opened, Error> {
        let (volume, root) = (self.ground.volume(), self.ground.root());
        let machine = Arc::clone(&self.clock);
        let encoding = match self.kind {
            Kind::Native => {
                let config = LogConfig {
                    segment_bytes: setup.segment_bytes,
                    has_housekeeper: false,
                    ..LogConfig::default()
                };
                let log = Arc::new(Log::open(volume, &root, machine, config)?);
                return Ok(self.opened(Arc::clone(&log) as _, Some(log), setup));
            }
            Kind::FilesZstd => Encoding::Zstd,
            Kind::FilesPlain => Encoding::Plain,
        };
        let config = FilesConfig {
            encoding,
            allow_unlocked: true,
            buffer_ms_max: 1_000,
            ..FilesConfig::new(0)
        };
        let files = SessionFiles::open(volume, root, machine, config)?;
        Ok(self.opened(Arc::new(files), None, setup))
    }

    fn opened(&self, backend: Arc<dyn Backend>, log: Option<Arc<Log>>, setup: &Setup) -> Opened {
        let (rules, machine) = (Arc::new(Rules::new()), Arc::clone(&self.clock));
        let store = Store::new(Arc::clone(&backend), rules, machine, setup.store.clone());
        Opened { store, backend, log, setup: setup.clone(), _dir: self.ground.dir() }
    }

    /// What the store of this kind promises.
    pub(crate) fn parts(&self) -> Parts {
        Bench::new(self.kind, Which::Simulated).open().parts()
    }

    /// Where the events of a session lie, below the store: the one log of a session file; of a
    /// native store the last segment.
    pub(crate) fn log_path(&self, id: &str) -> PathBuf {
        match self.kind {
            Kind::Native => {
                let bytes = self.ground.bytes();
                let is_log = |path: &&PathBuf| path.extension().is_some_and(|it| it == "log");
                bytes.keys().rfind(is_log).expect("there is a segment").clone()
            }
            Kind::FilesZstd => PathBuf::from(format!("_no-cwd/{id}/session.jsonl.zstd")),
            Kind::FilesPlain => PathBuf::from(format!("_no-cwd/{id}/session.jsonl")),
        }
    }

    /// Opens the store from what the death of the process, a power cut and a close leave, and
    /// compares what is read.
    pub(crate) fn check_reopened(&self, opened: Opened) {
        self.ground.heal();
        let before = opened.content();
        for id in before.keys() {
            opened.backend.raise(id, WRITTEN).expect("nothing fails");
        }
        assert_eq!(self.killed().open_as(&opened.setup).content(), before, "killed");
        for id in before.keys() {
            opened.backend.raise(id, SYNCED).expect("nothing fails");
        }
        assert_eq!(self.cut().open_as(&opened.setup).content(), before, "power cut");
        opened.close().expect("nothing fails");
        let setup = opened.setup.clone();
        drop(opened);
        let again = self.open_as(&setup);
        assert_eq!(again.content(), before, "closed");
    }
}

impl Opened {
    pub(crate) fn content(&self) -> Content {
        content(&self.store)
    }

    /// Makes a session with a note for each number.
    pub(crate) fn make(&self, id: &str, notes: &[u64]) -> Session {
        let made = self.store.create(id, &header(id), |init| {
            for n in notes {
                init.append(crate::world::note(*n));
            }
            Ok(())
        });
        made.expect("the session can be created")
    }

    pub(crate) fn numbers(&self, id: &str) -> Vec<u64> {
        crate::content::numbers(&self.store, id)
    }
}

impl Deref for Opened {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Notes with these numbers.
pub(crate) fn notes(numbers: impl IntoIterator<Item = u64>) -> Vec<Draft> {
    numbers.into_iter().map(crate::world::note).collect()
}

/// Returns why something was refused.
#[track_caller]
pub(crate) fn refusal<T>(result: Result<T, AppendError>) -> Refusal {
    match result {
        Err(AppendError::Refused(refusal)) => refusal,
        Err(other) => panic!("it was not refused but ended as {other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}
