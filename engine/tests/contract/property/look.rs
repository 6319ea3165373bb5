//! What a run reads of its store, beside what the model has.

use super::model::Owed;
use super::run::{IDS, Run};
use crate::bench::{BUFFERED, SYNCED, WRITTEN};
use crate::content::read_from;
use gatelog_engine::backend::{Durability, Error};

impl Run {
    /// Compares what an open store shows with the model.
    pub(super) fn compare(&mut self) {
        if self.opened().poisoned().is_some() {
            return;
        }
        let read = [0, 1, 2].map(|s| self.try_read(s));
        if self.opened().poisoned().is_some() {
            return;
        }
        let read = read.map(|read| read.expect("it can be read"));
        let faults = self.sim().faults_left();
        let spared = match (faults < self.faults, self.takes_written) {
            (false, _) => BUFFERED,
            (true, false) => WRITTEN,
            (true, true) => SYNCED,
        };
        self.faults = faults;
        if faults == 0 {
            self.takes_written = false;
        }
        for (session, read) in self.model.iter_mut().zip(read) {
            if session.reconcile(read.as_deref(), spared) {
                session.owed = Owed::Yes;
            }
        }
    }

    /// Takes in what a recovery kept, which spares a class.
    pub(super) fn recovered(&mut self, spared: Durability) {
        let read = [0, 1, 2].map(|s| self.try_read(s).expect("it can be read"));
        for (session, read) in self.model.iter_mut().zip(read) {
            session.reconcile(read.as_deref(), spared);
        }
        if self.is_native() {
            // Recovery says nothing that the device has not said.
            self.model.iter_mut().for_each(|session| session.raise(SYNCED));
        }
        self.faults = self.sim().faults_left();
        if self.faults == 0 {
            self.takes_written = false;
        }
    }

    /// Reads a session, once more if a failure struck: a native store writes what is buffered when
    /// it is read.
    fn try_read(&self, s: usize) -> Result<Option<Vec<u64>>, Error> {
        let faults = self.sim().faults_left();
        match self.read(s) {
            Err(_) if self.sim().faults_left() < faults => self.try_read(s),
            read => read,
        }
    }

    fn read(&self, s: usize) -> Result<Option<Vec<u64>>, Error> {
        let store = &self.opened().store;
        let Some(info) = self.opened().backend.find(IDS[s])? else { return Ok(None) };
        let events = read_from(store, IDS[s], 0)?;
        assert_eq!(info.next_seq, events.len() as u64);
        assert!((0..).zip(&events).all(|(seq, event)| event.seq == seq), "seqs are dense");
        assert!(store.list()?.iter().any(|listed| listed.id == IDS[s]));
        Ok(Some(
            events.iter().map(|event| number(event.data.as_bytes()).expect("a note")).collect(),
        ))
    }
}

/// The number in a note.
pub(super) fn number(data: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(data).ok()?;
    text.strip_prefix("{\"n\":")?.split([',', '}']).next()?.parse().ok()
}
