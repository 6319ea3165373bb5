//! The folded state of one session: two judges, and where the session stands.

use super::contained::contained;
use super::keys::Keys;
use super::sheet::{Reader, Sheet};
use crate::backend::{AppendError, Backend, Batch, Error, ErrorKind, Refusal};
use crate::rules::{Draft, Judge, RuleSet};
use std::any::Any;
use std::ops::ControlFlow;

/// What is known of a session at its last commit.
pub(crate) struct State {
    /// Stands at the last commit.
    judge: Box<dyn Judge>,
    /// Equal to the other, or ahead of it by the batch that is on its way; none after a refusal.
    ahead: Option<Box<dyn Judge>>,
    /// Seq of the next event.
    pub(crate) next_seq: u64,
    /// Time of the last event; 0 without one.
    pub(crate) last_time_ms: u64,
    /// The keys that plain appends are compared with.
    pub(crate) keys: Keys,
}

/// Why a log could not be folded.
pub(crate) enum Unfolded {
    /// The rules panicked: there is no state, and there will be none.
    Panicked(String),
    /// It could not be read.
    Failed(AppendError),
}

impl State {
    /// Makes the state of a session that has no event yet.
    pub(crate) fn new(judge: Box<dyn Judge>) -> Self {
        let keys = Keys::default();
        Self { judge, ahead: None, next_seq: 0, last_time_ms: 0, keys }
    }

    /// Folds a session's log from its first event.
    pub(crate) fn fold(
        backend: &dyn Backend,
        rules: &dyn RuleSet,
        id: &str,
    ) -> Result<Self, Unfolded> {
        let info = backend.find(id).map_err(|error| Unfolded::Failed(could_not_read(error)))?;
        let info = info.ok_or(Unfolded::Failed(AppendError::Refused(Refusal::NoSession)))?;
        let folded = contained(|| {
            let judge = rules.judge(id, &info.header).map_err(Refusal::Violation);
            let mut state = Self::new(judge.map_err(AppendError::Refused)?);
            state.read(backend, id)?;
            Ok(state)
        });
        let folded = folded.map_err(|said| {
            Unfolded::Panicked(format!("the rules panicked over the log of {id}: {said}"))
        })?;
        folded.map_err(Unfolded::Failed)
    }

    fn read(&mut self, backend: &dyn Backend, id: &str) -> Result<(), AppendError> {
        let (mut reader, mut damage) = (Reader::default(), None);
        let read = backend.read(id, 0, &mut |stored| {
            let judge = &mut self.judge;
            let shown = reader.show(stored, |event| judge.adopt(event, &mut |_| ()));
            if let Err(defect) = shown {
                damage = Some(format!("event {} of {id} is no JSON: {}", stored.seq, defect.what));
            } else if stored.seq != self.next_seq {
                let (seq, expected) = (stored.seq, self.next_seq);
                damage = Some(format!("event {seq} of {id} stands where {expected} belongs"));
            }
            if damage.is_some() {
                return ControlFlow::Break(());
            }
            if let Some(key) = stored.key.filter(|_| stored.batch_first_seq == stored.seq) {
                self.keys.remember(key, stored.seq);
            }
            self.next_seq += 1;
            self.last_time_ms = stored.time_ms;
            ControlFlow::Continue(())
        });
        read.map_err(could_not_read)?;
        match damage {
            Some(what) => Err(AppendError::Refused(Refusal::Damaged { what })),
            None => Ok(()),
        }
    }

    /// Asks the judge ahead for a batch, event by event. What it refuses leaves no trace.
    pub(crate) fn admit(&mut self, batch: &Batch, sheet: &Sheet) -> Result<(), Refusal> {
        if batch.rows.is_empty() {
            return Ok(());
        }
        let (judge, ahead) = (&self.judge, self.ahead.take());
        let admitted = contained(|| {
            let mut ahead = ahead.unwrap_or_else(|| judge.fork());
            for index in 0..batch.rows.len() {
                ahead.admit(&sheet.event(batch, index))?;
            }
            Ok(ahead)
        });
        let admitted = admitted.map_err(|said| Refusal::Internal {
            what: format!("the rules panicked over a draft: {said}"),
        })?;
        self.ahead = Some(admitted.map_err(Refusal::Violation)?);
        Ok(())
    }

    /// Forgets what was admitted.
    pub(crate) fn forget_ahead(&mut self) {
        self.ahead = None;
    }

    /// Takes a batch in that is in the log. After an error the state means nothing.
    pub(crate) fn adopt(&mut self, batch: &Batch, sheet: &Sheet) -> Result<(), String> {
        let judge = &mut self.judge;
        contained(|| {
            for index in 0..batch.rows.len() {
                judge.adopt(&sheet.event(batch, index), &mut |_| ());
            }
        })?;
        if let Some(key) = batch.key {
            self.keys.remember(key, batch.first_seq);
        }
        self.next_seq = batch.first_seq + batch.rows.len() as u64;
        self.last_time_ms = batch.rows.last().map_or(self.last_time_ms, |row| row.time_ms);
        Ok(())
    }

    /// Plans what closes the session as it stands.
    pub(crate) fn closers(&self) -> Result<Vec<Draft>, Refusal> {
        contained(|| self.judge.closers()).map_err(|said| Refusal::Internal {
            what: format!("the rules panicked over what closes the session: {said}"),
        })
    }

    /// Returns the state that the rules show.
    pub(crate) fn facts(&self) -> &dyn Any {
        self.judge.facts()
    }
}

/// Says of an append that a log could not be read for it: nothing was written, nor will be.
pub(crate) fn could_not_read(error: Error) -> AppendError {
    let refusal = match error.kind {
        ErrorKind::NoSession => Refusal::NoSession,
        ErrorKind::Deleted => Refusal::Deleted,
        ErrorKind::Poisoned => Refusal::Poisoned,
        ErrorKind::Corrupt => Refusal::Damaged { what: error.to_string() },
        _ => return AppendError::NotWritten(error),
    };
    AppendError::Refused(refusal)
}
