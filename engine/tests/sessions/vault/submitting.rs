//! The vault as a backend.

use super::Vault;
use gatelog_engine::backend::{
    AfterFailedWrite, AppendError, Backend, Batch, Commit, Done, Durability, Error, ErrorKind,
    Keys, OneWriter, Parts, RecordedRules, SessionInfo, Stored, Take,
};
use gatelog_engine::rules::SessionHeader;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

/// A backend whose submitted appends have threads of their own.
pub(crate) struct Submitting(pub(crate) Arc<Vault>);

impl Backend for Submitting {
    fn parts(&self) -> Parts {
        Parts {
            one_writer: OneWriter::Locked,
            tells_torn_from_rot: true,
            order_across_sessions: self.0.keys == Keys::Always,
            keys: self.0.keys,
            after_failed_write: AfterFailedWrite::NewSegment,
            records_rules: self.0.has_epochs,
            generations: false,
        }
    }

    fn epoch(&self) -> u32 {
        self.0.inner().epoch
    }

    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        let ids: Vec<_> = self.0.inner().streams.keys().cloned().collect();
        ids.iter().filter_map(|id| self.find(id).transpose()).collect()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        let inner = self.0.inner();
        let Some(stream) = inner.streams.get(id) else { return Ok(None) };
        let last = stream.batches.last();
        let last_row = last.and_then(|kept| kept.batch.rows.last());
        Ok(Some(SessionInfo {
            id: id.to_owned(),
            header: stream.header.clone(),
            next_seq: stream.next_seq(),
            last_time_ms: last_row.map_or(0, |row| row.time_ms),
            last_epoch: last.map(|kept| kept.epoch).filter(|_| self.0.has_epochs),
            unconfirmed: 0,
        }))
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        let stream = self.0.inner().streams.get(id).cloned();
        let stream = stream.ok_or(Error::new(ErrorKind::NoSession, "there is no such session"))?;
        let is_traced = self.0.keys == Keys::Always;
        for kept in &stream.batches {
            for (index, row) in kept.batch.rows.iter().enumerate() {
                let seq = kept.batch.first_seq + index as u64;
                let stored = Stored {
                    seq,
                    time_ms: row.time_ms,
                    kind: &row.draft.kind,
                    data: &row.draft.data,
                    sources: row.draft.sources.as_deref(),
                    surface: row.draft.surface.as_deref(),
                    ignorable: row.draft.ignorable,
                    lsn: is_traced.then_some(kept.lsn),
                    batch_first_seq: if is_traced { kept.batch.first_seq } else { seq },
                    key: kept.batch.key.filter(|_| is_traced),
                    confirmed: kept.class == Durability::Synced,
                };
                if seq >= from && take(&stored) == ControlFlow::Break(()) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.0.write(id, Some(header), batch, durability)
    }

    fn append(
        &self,
        id: &str,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.0.write(id, None, batch, durability)
    }

    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        let (vault, id) = (Arc::clone(&self.0), id.to_owned());
        thread::spawn(move || done(vault.write(&id, None, batch, durability)));
    }

    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        let mut inner = self.0.inner();
        inner.raises += 1;
        for kept in &mut inner.streams.get_mut(id).expect("it is there").batches {
            kept.class = kept.class.max(durability);
        }
        Ok(())
    }

    fn take_rewound(&self, id: &str) -> Option<u64> {
        self.0.inner().rewound.remove(id)
    }

    fn record_rules(&self, rules: &RecordedRules) -> Result<(), AppendError> {
        self.0.inner().recorded.push(rules.clone());
        Ok(())
    }

    fn poisoned(&self) -> Option<String> {
        self.0.inner().poisoned.clone()
    }

    fn reopen(&self) -> Result<(), Error> {
        let mut inner = self.0.inner();
        if inner.held > 0 {
            inner.faults.push("reopened while a batch was on its way".to_owned());
        }
        inner.poisoned = None;
        inner.epoch += 1;
        inner.rewound.clear();
        Ok(())
    }

    fn close(&self) -> Result<(), Error> {
        self.0.inner().is_closed = true;
        Ok(())
    }
}
