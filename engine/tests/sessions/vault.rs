//! A backend in memory, which can hold acknowledgements back, fail, panic, and take back what was
//! accepted short of a sync.

mod submitting;

pub(crate) use submitting::Submitting;

use gatelog_engine::backend::{
    AppendError, Batch, Commit, Durability, Error, ErrorKind, Keys, RecordedRules, Refusal,
};
use gatelog_engine::rules::SessionHeader;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How an append is made to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The write fails: what was not synced of any session is lost with it.
    NotWritten,
    /// The sync fails, and the batch is there after a reopen or not.
    Unknown { survives: bool },
    /// The backend itself panics.
    Panic,
}

#[derive(Clone, Debug)]
struct Kept {
    lsn: u64,
    epoch: u32,
    class: Durability,
    batch: Batch,
}

#[derive(Clone, Debug)]
struct Stream {
    header: SessionHeader,
    batches: Vec<Kept>,
}

#[derive(Default)]
struct Inner {
    streams: BTreeMap<String, Stream>,
    epoch: u32,
    lsn: u64,
    /// Appends and creations so far.
    writes: u64,
    raises: u64,
    failures: HashMap<u64, Failure>,
    poisoned: Option<String>,
    rewound: HashMap<String, u64>,
    is_held_back: bool,
    /// Who waits for an acknowledgement.
    held: usize,
    recorded: Vec<RecordedRules>,
    faults: Vec<String>,
    is_closed: bool,
}

/// The backend.
pub(crate) struct Vault {
    inner: Mutex<Inner>,
    changed: Condvar,
    keys: Keys,
    has_epochs: bool,
}

impl Vault {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self::with(Keys::Always, true))
    }

    /// Keeps keys only with an expected seq, and no epochs.
    pub(crate) fn plain() -> Arc<Self> {
        Arc::new(Self::with(Keys::WithExpectedSeq, false))
    }

    fn with(keys: Keys, has_epochs: bool) -> Self {
        let inner = Mutex::new(Inner { epoch: 1, ..Inner::default() });
        Self { inner, changed: Condvar::new(), keys, has_epochs }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the nth write from now on (0 is the next) end otherwise.
    pub(crate) fn fail(&self, nth: u64, failure: Failure) {
        let mut inner = self.inner();
        let write = inner.writes + nth;
        inner.failures.insert(write, failure);
    }

    /// Holds acknowledgements back, or lets them go.
    pub(crate) fn hold_back(&self, is_held_back: bool) {
        self.inner().is_held_back = is_held_back;
        self.changed.notify_all();
    }

    /// Waits until so many wait for an acknowledgement.
    pub(crate) fn await_held(&self, held: usize) {
        let inner = self.inner();
        drop(
            self.changed
                .wait_while(inner, |inner| inner.held < held)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Loses what a session has beyond a seq.
    pub(crate) fn rewind(&self, id: &str, next_seq: u64) {
        let mut inner = self.inner();
        let stream = inner.streams.get_mut(id).expect("the session is there");
        stream.batches.retain(|kept| kept.batch.first_seq < next_seq);
        inner.rewound.insert(id.to_owned(), next_seq);
    }

    /// The next write open, by another process.
    pub(crate) fn next_epoch(&self) -> Arc<Self> {
        let (inner, next) = (self.inner(), Self::with(self.keys, self.has_epochs));
        let mut new = next.inner();
        new.streams.clone_from(&inner.streams);
        (new.epoch, new.lsn) = (inner.epoch + 1, inner.lsn);
        drop(new);
        Arc::new(next)
    }

    pub(crate) fn writes(&self) -> u64 {
        self.inner().writes
    }

    pub(crate) fn raises(&self) -> u64 {
        self.inner().raises
    }

    pub(crate) fn recorded(&self) -> usize {
        self.inner().recorded.len()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inner().is_closed
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.inner().streams.contains_key(id)
    }

    /// The batches of a session, in order; none if it is not there.
    fn batches(&self, id: &str) -> Vec<Batch> {
        let inner = self.inner();
        let batches = inner.streams.get(id).into_iter().flat_map(|stream| &stream.batches);
        batches.map(|kept| kept.batch.clone()).collect()
    }

    /// Types of a session's events, in order.
    pub(crate) fn kinds(&self, id: &str) -> Vec<String> {
        let rows = self.batches(id).into_iter().flat_map(|batch| batch.rows);
        rows.map(|row| row.draft.kind).collect()
    }

    /// Sizes of a session's batches, in order.
    pub(crate) fn sizes(&self, id: &str) -> Vec<usize> {
        self.batches(id).iter().map(|batch| batch.rows.len()).collect()
    }

    /// Times of a session's events, in order.
    pub(crate) fn times(&self, id: &str) -> Vec<u64> {
        let rows = self.batches(id).into_iter().flat_map(|batch| batch.rows);
        rows.map(|row| row.time_ms).collect()
    }

    /// What the session layer must never do.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.inner().faults.clone()
    }

    fn write(
        &self,
        id: &str,
        header: Option<&SessionHeader>,
        batch: Batch,
        class: Durability,
    ) -> Result<Commit, AppendError> {
        let mut inner = self.inner();
        let write = inner.writes;
        inner.writes += 1;
        inner.check(id, header, &batch)?;
        let failure = inner.failures.remove(&write);
        assert!(failure != Some(Failure::Panic), "the vault was told to panic");
        if let Some(header) = header {
            let stream = Stream { header: header.clone(), batches: Vec::new() };
            inner.streams.insert(id.to_owned(), stream);
        }
        if failure == Some(Failure::NotWritten) {
            inner.lose(id, header.is_some());
            return Err(AppendError::NotWritten(Error::new(ErrorKind::NoSpace, "it is full")));
        }
        inner.lsn += 1;
        let (lsn, epoch) = (inner.lsn, inner.epoch);
        let commit = Commit {
            lsn: (self.keys == Keys::Always).then_some(lsn),
            first_seq: batch.first_seq,
            events: batch.rows.len() as u64,
            durability: class,
        };
        let stream = inner.streams.get_mut(id).expect("it was checked or made");
        stream.batches.push(Kept { lsn, epoch, class, batch });
        if class == Durability::Synced {
            inner.held += 1;
            self.changed.notify_all();
            let waits = |inner: &mut Inner| inner.is_held_back && inner.poisoned.is_none();
            inner = self.changed.wait_while(inner, waits).unwrap_or_else(PoisonError::into_inner);
            inner.held -= 1;
        }
        if let Some(Failure::Unknown { survives }) = failure {
            inner.poisoned = Some("a sync failed".to_owned());
            if !survives {
                inner.streams.get_mut(id).expect("it is there").batches.pop();
            }
            self.changed.notify_all();
        }
        match &inner.poisoned {
            Some(why) => Err(AppendError::Unknown(Error::new(ErrorKind::Poisoned, why.clone()))),
            None => Ok(commit),
        }
    }
}

impl Inner {
    fn check(
        &mut self,
        id: &str,
        header: Option<&SessionHeader>,
        batch: &Batch,
    ) -> Result<(), AppendError> {
        if self.is_closed {
            self.faults.push(format!("{id}: written after the close"));
        }
        if self.poisoned.is_some() {
            return Err(AppendError::Refused(Refusal::Poisoned));
        }
        match (self.streams.get(id), header) {
            (Some(_), Some(_)) => Err(AppendError::Refused(Refusal::Exists)),
            (None, None) => Err(AppendError::Refused(Refusal::NoSession)),
            (None, Some(_)) => Ok(()),
            (Some(stream), None) => {
                let next_seq = stream.next_seq();
                if next_seq != batch.first_seq {
                    let first_seq = batch.first_seq;
                    self.faults.push(format!("{id}: {first_seq} comes where {next_seq} is next"));
                }
                Ok(())
            }
        }
    }

    /// A write failed: what was only buffered of the session is lost, and a new session with it.
    fn lose(&mut self, id: &str, is_new: bool) {
        if is_new {
            self.streams.remove(id);
            return;
        }
        let stream = self.streams.get_mut(id).expect("it is there");
        let before = stream.next_seq();
        while stream.batches.last().is_some_and(|kept| kept.class == Durability::Buffered) {
            stream.batches.pop();
        }
        let after = stream.next_seq();
        if after != before {
            self.rewound.insert(id.to_owned(), after);
        }
    }
}

impl Stream {
    fn next_seq(&self) -> u64 {
        let last = self.batches.last();
        last.map_or(0, |kept| kept.batch.first_seq + kept.batch.rows.len() as u64)
    }
}
