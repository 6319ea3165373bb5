//! What was issued to a store, and what it promised.

use super::explored::{self, Key};
use gatelog_engine::backend::Durability;
use gatelog_engine::storage::SimDisk;
use gatelog_engine::storage::sim::Call;
use std::collections::BTreeMap;

/// What the store said of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// It is in the log, in this class.
    Reached(Durability),
    /// It is not in the log and never will be.
    Never,
    /// Nobody knows, or nobody was told yet.
    Open,
}

/// One batch of a session.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Seq of its first event.
    pub first_seq: u64,
    /// The payloads of its events.
    pub payloads: Vec<Vec<u8>>,
    /// Operations of the disk when it was issued.
    pub issued_at: u64,
    /// Operations of the disk when the store answered.
    pub answered_at: u64,
    /// What it answered.
    pub promise: Promise,
    /// Operations of the disk when a failed sync made it uncertain again, if one did.
    pub revoked_at: Option<u64>,
}

impl Entry {
    /// Whether it must be there after a crash at a moment that a class outlives.
    fn is_promised(&self, moment: u64, survives: Durability) -> bool {
        self.answered_at <= moment
            && self.revoked_at.is_none_or(|at| moment < at)
            && matches!(self.promise, Promise::Reached(class) if class >= survives)
    }

    /// Whether it may be there after a crash at a moment.
    fn is_possible(&self, moment: u64) -> bool {
        self.issued_at <= moment && !(self.promise == Promise::Never && self.answered_at <= moment)
    }
}

/// The batches of every session, in the order in which they were issued.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    sessions: BTreeMap<String, Vec<Entry>>,
}

impl Ledger {
    /// Enters a batch.
    pub fn enter(&mut self, session: &str, entry: Entry) {
        self.sessions.entry(session.to_owned()).or_default().push(entry);
    }

    /// Takes note of what the disk did since its trace had a length: of a sync of a segment that
    /// failed, whoever asked for it. From then on nobody knows of what it was to cover.
    ///
    /// Nothing else that fails takes a promise back: not a write, not an open that fails for any
    /// other reason, not what was to make a spare or a name.
    pub fn forgive(&mut self, disk: &SimDisk, since: usize) {
        let trace = disk.trace();
        let failed = trace.iter().skip(since).find(|call| {
            let is_segment = call.path.extension().is_some_and(|ending| ending == "log");
            call.call == Call::Sync && is_segment && call.error.is_some()
        });
        if let Some(failed) = failed {
            self.revoke(failed.operation);
        }
    }

    fn revoke(&mut self, at: u64) {
        let synced = self.sessions.values().flatten();
        let synced = synced.filter(|entry| entry.promise == Promise::Reached(Durability::Synced));
        let covered = synced.map(|entry| entry.answered_at).max().unwrap_or(0);
        for entry in self.sessions.values_mut().flatten() {
            let is_certain = entry.promise == Promise::Reached(Durability::Synced);
            if !is_certain && entry.answered_at > covered && entry.revoked_at.is_none() {
                entry.revoked_at = Some(at);
            }
        }
    }

    /// Returns the sessions.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.sessions.keys().map(String::as_str)
    }

    /// Returns a digest of all that a moment decides in [`Ledger::judge`]: which batches must be
    /// there, and which may.
    pub(crate) fn owed(&self, moment: u64, survives: Durability) -> Key {
        let owed = |entry: &Entry| {
            u8::from(entry.is_promised(moment, survives)) | u8::from(entry.is_possible(moment)) << 1
        };
        let owed: Vec<u8> = self.sessions.values().flatten().map(owed).collect();
        explored::key(&[&owed])
    }

    /// Judges what was recovered of a session after a crash at a moment: `survives` is the least
    /// class that outlives the crash. `None` for a session that is not there.
    ///
    /// # Errors
    ///
    /// What was lost, or what came from nowhere, in words.
    pub fn judge(
        &self,
        session: &str,
        recovered: Option<&[Vec<u8>]>,
        moment: u64,
        survives: Durability,
    ) -> Result<(), String> {
        let entries = self.sessions.get(session).map_or(&[][..], Vec::as_slice);
        let last = entries.iter().rfind(|entry| entry.is_promised(moment, survives));
        let Some(recovered) = recovered else {
            return match last {
                Some(_) => Err(format!("session {session} was promised and is not there")),
                None => Ok(()),
            };
        };
        let count = recovered.len() as u64;
        if let Some(last) = last {
            let end = last.first_seq + last.payloads.len() as u64;
            if end > count {
                return Err(format!("{session}: promised up to seq {end}, recovered {count}"));
            }
        }
        // Of the batches that begin at a seq the last one issued by then may be there, or one that
        // failed without a word; one that never will be may not.
        for (seq, payload) in (0..).zip(recovered) {
            let known = entries.iter().any(|entry| {
                entry.is_possible(moment)
                    && seq >= entry.first_seq
                    && entry.payloads.get((seq - entry.first_seq) as usize) == Some(payload)
            });
            if !known {
                let text = String::from_utf8_lossy(payload);
                return Err(format!("{session}: event {seq} was not issued, or denied: {text}"));
            }
        }
        // A batch is whole or absent.
        let is_edge = count == 0
            || entries.iter().any(|entry| entry.first_seq + entry.payloads.len() as u64 == count);
        if !is_edge {
            return Err(format!("{session}: a batch was recovered in part, up to seq {count}"));
        }
        Ok(())
    }
}
