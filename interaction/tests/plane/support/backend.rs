//! A backend whose appends fail, or are held back, by the type of their first event.

use gatelog_engine::backend::{
    AppendError, Backend, Batch, Commit, Done, Durability, Error, ErrorKind, Parts, RecordedRules,
    SessionInfo, Take,
};
use gatelog_engine::rules::SessionHeader;
use std::sync::{Arc, Condvar, Mutex};

#[derive(Default)]
struct State {
    /// The type, how many to let pass, and how many to fail.
    failing: Vec<(String, u32, u32)>,
    held: Vec<String>,
    waiting: u32,
}

/// What a test does to the appends of a world.
#[derive(Clone, Default)]
pub(crate) struct Faults(Arc<(Mutex<State>, Condvar)>);

impl Faults {
    /// Fails the next append that begins with an event of a type: it is not written.
    pub(crate) fn fail(&self, kind: &str) {
        self.fail_after(kind, 0, 1);
    }

    /// Lets `pass` appends of a type through and fails `times` after them.
    pub(crate) fn fail_after(&self, kind: &str, pass: u32, times: u32) {
        self.0.0.lock().expect("sound").failing.push((kind.to_owned(), pass, times));
    }

    /// Holds appends of a type back until [`Faults::release`].
    pub(crate) fn hold(&self, kind: &str) {
        self.0.0.lock().expect("sound").held.push(kind.to_owned());
    }

    /// Lets everything that is held go on.
    pub(crate) fn release(&self) {
        self.0.0.lock().expect("sound").held.clear();
        self.0.1.notify_all();
    }

    /// Returns how many appends are held back now.
    pub(crate) fn waiting(&self) -> u32 {
        self.0.0.lock().expect("sound").waiting
    }

    fn pass(&self, batch: &Batch) -> Result<(), AppendError> {
        let Some(row) = batch.rows.first() else { return Ok(()) };
        let kind = &row.draft.kind;
        let mut state = self.0.0.lock().expect("sound");
        while state.held.contains(kind) {
            state.waiting += 1;
            state = self.0.1.wait(state).expect("sound");
            state.waiting -= 1;
        }
        for (failing, pass, times) in &mut state.failing {
            if failing == kind && *pass > 0 {
                *pass -= 1;
            } else if failing == kind && *times > 0 {
                *times -= 1;
                let message = format!("a test fails the append of {kind}");
                return Err(AppendError::NotWritten(Error::new(ErrorKind::NoSpace, message)));
            }
        }
        Ok(())
    }
}

/// A backend with its faults.
pub(crate) struct Faulty {
    pub(crate) inner: Arc<dyn Backend>,
    pub(crate) faults: Faults,
}

impl Backend for Faulty {
    fn parts(&self) -> Parts {
        self.inner.parts()
    }

    fn epoch(&self) -> u32 {
        self.inner.epoch()
    }

    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        self.inner.sessions()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        self.inner.find(id)
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.inner.read(id, from, take)
    }

    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.faults.pass(&batch)?;
        self.inner.create(id, header, batch, durability)
    }

    fn append(
        &self,
        id: &str,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.faults.pass(&batch)?;
        self.inner.append(id, batch, durability)
    }

    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        match self.faults.pass(&batch) {
            Ok(()) => self.inner.submit(id, batch, durability, done),
            Err(error) => done(Err(error)),
        }
    }

    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        self.inner.raise(id, durability)
    }

    fn take_rewound(&self, id: &str) -> Option<u64> {
        self.inner.take_rewound(id)
    }

    fn record_rules(&self, rules: &RecordedRules) -> Result<(), AppendError> {
        self.inner.record_rules(rules)
    }

    fn poisoned(&self) -> Option<String> {
        self.inner.poisoned()
    }

    fn reopen(&self) -> Result<(), Error> {
        self.inner.reopen()
    }

    fn close(&self) -> Result<(), Error> {
        self.inner.close()
    }
}
