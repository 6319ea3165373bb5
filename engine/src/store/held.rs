//! The gate in somebody's hand: what may be done under it.

use super::check::check;
use super::config::SAFE_MAX;
use super::contained::contained;
use super::delivery::News;
use super::live::{Live, Slot, Status};
use super::lock::lock;
use super::repeat::{self, Found};
use super::request::{Plan, Planned, Request};
use super::state::{State, Unfolded, could_not_read};
use crate::backend::{
    AppendError, Batch, Commit, Durability, Error, ErrorKind, Key, Keys, Refusal, Row,
};
use crate::rules::Draft;
use std::sync::Arc;

/// A session's gate, held under a ticket. Dropping it frees the gate.
pub(crate) struct Held {
    pub(crate) live: Arc<Live>,
    pub(crate) ticket: u64,
    pub(crate) slot: Slot,
    /// A batch was admitted and its end is not known: the state is not to be kept as it is.
    is_underway: bool,
}

impl Held {
    /// Waits for the gate on this thread.
    pub(crate) fn wait(live: &Arc<Live>) -> Result<Self, AppendError> {
        live.check_caller().map_err(AppendError::Refused)?;
        let ticket = live.queue.wait(live.shared.config.gate_wait());
        Ok(Self::with(live, ticket.map_err(|denied| live.denied(denied))?))
    }

    /// Takes what goes with a gate that is held under a ticket already.
    pub(crate) fn with(live: &Arc<Live>, ticket: u64) -> Self {
        let slot = std::mem::take(&mut *lock(&live.slot));
        Self { live: Arc::clone(live), ticket, slot, is_underway: false }
    }

    /// Frees the gate and then tells observers.
    pub(crate) fn release(self) {
        let live = Arc::clone(&self.live);
        drop(self);
        live.deliveries.tell(&live.id);
    }

    /// Looks whether the session can be written, and whether it was rewound.
    pub(crate) fn look(&mut self) -> Result<(), Refusal> {
        self.live.check()?;
        if let Some(next_seq) = self.live.shared.backend.take_rewound(&self.live.id) {
            self.rewind(next_seq);
        }
        if self.live.fault().is_some() { Err(Refusal::ReadOnly) } else { Ok(()) }
    }

    /// Looks as [`Held::look`] does, and tells of a rewind once.
    pub(crate) fn hear(&mut self) -> Result<(), AppendError> {
        self.look().map_err(AppendError::Refused)?;
        match self.slot.rewound.take() {
            Some(next_seq) => Err(AppendError::Rewound { next_seq }),
            None => Ok(()),
        }
    }

    fn rewind(&mut self, next_seq: u64) {
        self.slot.state = None;
        let earlier = self.slot.rewound.unwrap_or(next_seq);
        self.slot.rewound = Some(next_seq.min(earlier));
        // Its creation may have been taken back: then there is no session, and it can be created.
        if next_seq == 0 && matches!(self.live.shared.backend.find(&self.live.id), Ok(None)) {
            self.live.set_status(Status::Absent);
        }
        self.live.announce(News::Rewound(next_seq));
    }

    /// Takes in a rewind that the caller is being told of.
    fn rewound_now(&mut self, next_seq: u64) {
        let _ = self.live.shared.backend.take_rewound(&self.live.id);
        self.rewind(next_seq);
        self.slot.rewound = None;
    }

    /// Returns the state, folded from the log if need be.
    pub(crate) fn state(&mut self) -> Result<&mut State, AppendError> {
        if self.slot.state.is_none() {
            let shared = &self.live.shared;
            let folded = State::fold(&*shared.backend, &*shared.rules, &self.live.id);
            self.slot.state = match folded {
                Ok(state) => Some(Box::new(state)),
                Err(Unfolded::Failed(error)) => return Err(error),
                Err(Unfolded::Panicked(said)) => {
                    self.live.set_fault(said);
                    return Err(AppendError::Refused(Refusal::ReadOnly));
                }
            };
        }
        Ok(self.slot.state.as_mut().expect("it was there or has been folded"))
    }

    /// Appends on this thread.
    pub(crate) fn append(&mut self, request: Request) -> Result<Commit, AppendError> {
        match self.plan(request)? {
            Plan::Repeated(commit) => Ok(commit),
            Plan::Fresh(planned) => self.commit(&planned),
        }
    }

    /// Judges a request and stamps its batch.
    pub(crate) fn plan(&mut self, request: Request) -> Result<Plan, AppendError> {
        self.hear()?;
        if request.drafts.is_empty() {
            return Err(AppendError::Refused(Refusal::Empty));
        }
        if let Some(commit) = self.repeated(&request)? {
            return Ok(Plan::Repeated(commit));
        }
        let Request { drafts, durability, key, .. } = request;
        self.stamp(drafts, durability, key).map(Plan::Fresh)
    }

    /// Looks whether a request was made before, or comes at the wrong time.
    fn repeated(&mut self, request: &Request) -> Result<Option<Commit>, AppendError> {
        let state = self.state()?;
        let actual = state.next_seq;
        let first_seq = match (request.expected, &request.key) {
            (Some(expected), _) if expected == actual => return Ok(None),
            (None, None) => return Ok(None),
            (Some(expected), Some(_)) if expected < actual => expected,
            (Some(expected), _) => {
                let wrong = Refusal::WrongSeq { expected, actual };
                return Err(AppendError::Refused(wrong));
            }
            (None, Some(key)) => {
                let first_seq = state.keys.first_seq(key);
                if self.live.shared.backend.parts().keys != Keys::Always {
                    let what = "an idempotency key without an expected seq".to_owned();
                    return Err(AppendError::Refused(Refusal::Unsupported { what }));
                }
                let Some(first_seq) = first_seq else { return Ok(None) };
                first_seq
            }
        };
        let (key, drafts) = (request.key.unwrap_or_default(), &request.drafts);
        let backend = &*self.live.shared.backend;
        let found = repeat::find(backend, &self.live.id, first_seq, &key, drafts);
        let lsn = match found.map_err(could_not_read)? {
            Found::Same { lsn } => lsn,
            Found::OtherDrafts => return Err(AppendError::Refused(Refusal::KeyReused)),
            Found::Other => {
                let expected = request.expected.unwrap_or(first_seq);
                return Err(AppendError::Refused(Refusal::WrongSeq { expected, actual }));
            }
        };
        self.raise(request.durability)?;
        let (events, durability) = (drafts.len() as u64, request.durability);
        Ok(Some(Commit { lsn, first_seq, events, durability }))
    }

    /// Raises all that was committed to a class.
    pub(crate) fn raise(&mut self, durability: Durability) -> Result<(), AppendError> {
        if durability == Durability::Buffered {
            return Ok(());
        }
        let shared = &self.live.shared;
        let passage = shared.life.pass(self.live.generation).map_err(AppendError::Refused)?;
        let raised = shared.backend.raise(&self.live.id, durability);
        drop(passage);
        match raised {
            // Told now, so neither the mark nor the next append tells it again.
            Err(AppendError::Rewound { next_seq }) => self.rewound_now(next_seq),
            Err(_) => self.slot.state = None,
            Ok(()) => {}
        }
        raised
    }

    /// Stamps drafts with seq and time, and asks the rules.
    pub(crate) fn stamp(
        &mut self,
        drafts: Vec<Draft>,
        durability: Durability,
        key: Option<Key>,
    ) -> Result<Planned, AppendError> {
        let shared = Arc::clone(&self.live.shared);
        let sheet = check(&shared.config, shared.rules.catalogue(), &drafts);
        let sheet = sheet.map_err(AppendError::Refused)?;
        let state = self.state()?;
        let first_seq = state.next_seq;
        if drafts.len() as u64 > SAFE_MAX + 1 - first_seq.min(SAFE_MAX + 1) {
            return Err(AppendError::Refused(Refusal::Full));
        }
        let mut last = state.last_time_ms;
        // One look at the clock a batch; it is far more often behind than it is asked.
        let now = shared.machine.now_ms().min(SAFE_MAX);
        let rows = drafts.into_iter().map(|draft| {
            last = draft.time_ms.unwrap_or(now.max(last));
            Row { time_ms: last, draft }
        });
        let batch = Batch { first_seq, key, rows: rows.collect() };
        state.admit(&batch, &sheet).map_err(AppendError::Refused)?;
        self.is_underway = true;
        Ok(Planned { batch: Arc::new(batch), sheet, durability })
    }

    /// Hands a batch to the backend and waits for its class.
    pub(crate) fn commit(&mut self, planned: &Planned) -> Result<Commit, AppendError> {
        let (live, durability) = (Arc::clone(&self.live), planned.durability);
        let batch = Batch::clone(&planned.batch);
        let result = live.shared.pass(live.generation).and_then(|_passage| {
            let append = || live.shared.backend.append(&live.id, batch, durability);
            contained(append).unwrap_or_else(|said| Err(unknown(&said)))
        });
        self.settle(planned, result)
    }

    /// Takes in how a batch ended.
    pub(crate) fn settle(
        &mut self,
        planned: &Planned,
        result: Result<Commit, AppendError>,
    ) -> Result<Commit, AppendError> {
        self.is_underway = false;
        match &result {
            Ok(commit) => {
                let adopted = self.slot.state.as_mut().map(|state| {
                    let (batch, sheet) = (&planned.batch, &planned.sheet);
                    state.adopt(batch, sheet)
                });
                if let Some(Err(_)) = adopted {
                    // The commit stands; the state is folded again from the log.
                    self.slot.state = None;
                }
                let batch = Arc::clone(&planned.batch);
                let (commit, is_traced) = (*commit, self.live.shared.is_traced());
                self.live.announce(News::Committed { batch, commit, is_traced });
            }
            Err(AppendError::Unknown(_)) => self.slot.state = None,
            // Told with this very append, so the mark is not told again.
            Err(AppendError::Rewound { next_seq }) => self.rewound_now(*next_seq),
            Err(_) => {
                if let Some(state) = &mut self.slot.state {
                    state.forget_ahead();
                }
            }
        }
        result
    }

    /// Opens the session for write, once: what a dead writer left open is closed first.
    pub(crate) fn open(&mut self) -> Result<(), AppendError> {
        let live = Arc::clone(&self.live);
        if live.status() == Status::Open {
            return Ok(());
        }
        self.look().map_err(AppendError::Refused)?;
        let shared = &live.shared;
        let info = shared.backend.find(&live.id).map_err(could_not_read)?;
        let info = info.ok_or(AppendError::Refused(Refusal::NoSession))?;
        if !shared.is_recovered(&live.id) {
            let epoch = shared.backend.epoch();
            let is_left = info.next_seq > 0 && info.last_epoch.is_none_or(|last| last < epoch);
            if is_left && let Err(error) = self.close_what_is_open() {
                // A session whose log the rules cannot fold is open all the same, for reading.
                if self.live.fault().is_none() {
                    return Err(error);
                }
            }
            shared.set_recovered(&live.id);
        }
        live.set_status(Status::Open);
        Ok(())
    }

    fn close_what_is_open(&mut self) -> Result<(), AppendError> {
        let drafts = self.state()?.closers().map_err(AppendError::Refused)?;
        if drafts.is_empty() {
            return Ok(());
        }
        let planned = self.stamp(drafts, Durability::Synced, None)?;
        self.commit(&planned).map(drop)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_underway {
            self.slot.state = None;
        }
        *lock(&self.live.slot) = std::mem::take(&mut self.slot);
        if let Some((task, call)) = self.live.queue.free(self.ticket) {
            self.live.shared.carriers.run(Box::new(move || task(call)));
        }
    }
}

/// Says of a batch that the backend broke off, so that nobody knows where it is.
pub(crate) fn unknown(said: &str) -> AppendError {
    AppendError::Unknown(Error::new(ErrorKind::Io, format!("the backend broke off: {said}")))
}
