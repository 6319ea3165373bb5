//! A ledger by numbers: each batch has one that no other ever has, and its payloads say it.
//!
//! It is kept by whoever outlives the store. Threads race for the next seq of a session, so a batch
//! has no place before it is acknowledged.

use super::found::{Found, Sessions};
use gatelog_engine::backend::Durability;
use std::collections::{BTreeMap, BTreeSet};

/// An lsn that nobody knows.
pub const ANY_LSN: u64 = u64::MAX;

/// What the store said of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet, or that nobody knows.
    Open,
    /// It is there, beginning at this seq, in the frame with this lsn.
    Acked(u64, u64),
    /// It is not there and never will be.
    Never,
}

/// One batch.
#[derive(Clone, Debug)]
pub struct Issued {
    /// Whose it is.
    pub session: String,
    /// How many events.
    pub events: u64,
    /// The class that was asked for.
    pub class: Durability,
    /// What the store said.
    pub answer: Answer,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Batches that were issued.
    pub issued: u64,
    /// Those that were acknowledged, by class.
    pub acked: [u64; 3],
    /// Those that were refused or not written.
    pub never: u64,
    /// Those of which nobody was told.
    pub open: u64,
    /// Those of which nobody was told and that were there.
    pub open_kept: u64,
    /// `Buffered` ones that were acknowledged and not there.
    pub buffered_lost: u64,
    /// Batches by which recovery closed a turn.
    pub closers: u64,
}

/// What was issued to a store and what it said, since it was last read whole.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// What was there when the store was last read: all of it is promised from then on.
    kept: Sessions,
    /// What was issued since.
    issued: BTreeMap<u64, Issued>,
    /// Numbers that must never be seen again.
    gone: BTreeSet<u64>,
    /// What was counted over all lives.
    pub tally: Tally,
}

impl Book {
    /// Enters a batch, before the call.
    pub fn issue(&mut self, number: u64, session: &str, events: u64, class: Durability) {
        let (session, answer) = (session.to_owned(), Answer::Open);
        self.issued.insert(number, Issued { session, events, class, answer });
        self.tally.issued += 1;
    }

    /// Enters what the store said of a batch.
    pub fn answer(&mut self, number: u64, answer: Answer) {
        if let Some(issued) = self.issued.get_mut(&number) {
            issued.answer = answer;
        }
    }

    /// The session was told that everything from a seq on is gone. Nothing else takes a promise
    /// back, and this only the promise of a `Buffered` batch: what the kernel took is lost by a
    /// failed sync alone, which poisons the store.
    pub fn rewound(&mut self, session: &str, next_seq: u64) -> u64 {
        let mut lost = 0;
        for issued in self.issued.values_mut().filter(|issued| issued.session == session) {
            let is_behind =
                matches!(issued.answer, Answer::Acked(first_seq, _) if first_seq >= next_seq);
            if is_behind && issued.class == Durability::Buffered {
                issued.answer = Answer::Never;
                lost += 1;
            }
        }
        lost
    }

    /// Of a session in which answers and news of a rewind overtook each other, only what is synced
    /// is promised.
    pub fn forgive(&mut self, session: &str) {
        for issued in self.issued.values_mut().filter(|issued| issued.session == session) {
            if issued.class < Durability::Synced && matches!(issued.answer, Answer::Acked(..)) {
                issued.answer = Answer::Open;
            }
        }
    }

    /// Returns what was issued since the store was last read.
    pub fn issued(&self) -> &BTreeMap<u64, Issued> {
        &self.issued
    }

    /// Judges what is there: `survives` is the least class that is promised. `is_dense` says that
    /// an acknowledged batch is where it was said to be if anything is there at all.
    ///
    /// # Errors
    ///
    /// What was lost or came from nowhere, in words.
    pub fn judge(
        &self,
        found: &Sessions,
        survives: Durability,
        is_dense: bool,
    ) -> Result<(), String> {
        for (session, kept) in &self.kept {
            let now = found.get(session).map_or(&[][..], Vec::as_slice);
            if !now.starts_with(kept) {
                let at = kept.iter().zip(now).take_while(|(a, b)| a == b).count();
                return Err(format!(
                    "{session}: its batch {at} was {:?} and is {:?}",
                    kept.get(at),
                    now.get(at)
                ));
            }
        }
        let mut seen = BTreeMap::new();
        for (session, batches) in found {
            let kept = self.kept.get(session).map_or(0, Vec::len);
            for batch in &batches[kept..] {
                self.explain(session, batch)?;
                if let Some(number) = batch.number
                    && seen.insert(number, batch).is_some()
                {
                    return Err(format!("{session}: twice there: {batch:?}"));
                }
            }
        }
        let vouched = |issued: &&Issued| issued.class == Durability::Synced;
        let vouched = self.issued.values().filter(vouched).filter_map(Issued::lsn).max();
        for (number, issued) in &self.issued {
            let Answer::Acked(first_seq, lsn) = issued.answer else { continue };
            if seen.contains_key(number) {
                continue;
            }
            let batches = found.get(&issued.session);
            let end = batches.and_then(|it| it.last()).map_or(0, |it| it.first_seq + it.events);
            let is_promised = issued.class >= survives || vouched.is_some_and(|to| lsn < to);
            if is_promised || is_dense && first_seq < end {
                return Err(format!("{number} is not there, {end} events are: {issued:?}"));
            }
        }
        Ok(())
    }

    fn explain(&self, session: &str, batch: &Found) -> Result<(), String> {
        let Some(number) = batch.number else { return Ok(()) };
        if self.gone.contains(&number) {
            return Err(format!("{session}: gone when the store was last read: {batch:?}"));
        }
        let Some(issued) = self.issued.get(&number) else {
            return Err(format!("{session}: nobody issued {batch:?}"));
        };
        let is_there = match issued.answer {
            Answer::Open => true,
            Answer::Acked(first_seq, lsn) => {
                first_seq == batch.first_seq && (lsn == batch.lsn || lsn == ANY_LSN)
            }
            Answer::Never => false,
        };
        if !is_there || issued.session != session || issued.events != batch.events {
            return Err(format!("{session}: {batch:?} is there, and it was {issued:?}"));
        }
        Ok(())
    }

    /// What is there now is promised, and what is not there is gone for good.
    pub fn settle(&mut self, found: Sessions) {
        let numbers = |batches: &Vec<Found>| batches.iter().filter_map(|it| it.number).collect();
        let there: BTreeSet<u64> = found.values().flat_map::<Vec<u64>, _>(numbers).collect();
        for (number, issued) in std::mem::take(&mut self.issued) {
            let is_there = there.contains(&number);
            match issued.answer {
                Answer::Acked(..) => self.tally.acked[issued.class as usize] += 1,
                Answer::Never => self.tally.never += 1,
                Answer::Open => self.tally.open += 1,
            }
            self.tally.open_kept += u64::from(is_there && issued.answer == Answer::Open);
            let is_lost = !is_there && matches!(issued.answer, Answer::Acked(..));
            self.tally.buffered_lost += u64::from(is_lost && issued.class == Durability::Buffered);
            if !is_there {
                self.gone.insert(number);
            }
        }
        let closers =
            |all: &Sessions| all.values().flatten().filter(|it| it.number.is_none()).count() as u64;
        self.tally.closers += closers(&found).saturating_sub(closers(&self.kept));
        self.kept = found;
    }

    /// Begins with a new store; what was counted stays.
    pub fn renew(&mut self) {
        let tally = self.tally;
        *self = Self { tally, ..Self::default() };
    }
}

impl Issued {
    fn lsn(&self) -> Option<u64> {
        match self.answer {
            Answer::Acked(_, lsn) if lsn != ANY_LSN => Some(lsn),
            _ => None,
        }
    }
}
