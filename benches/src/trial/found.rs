//! What a store holds, batch by batch, as its readers see it.

use super::lenient::{CLOSER, EVENT};
use gatelog_engine::backend::Stored;
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Store;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// One batch of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Seq of its first event.
    pub first_seq: u64,
    /// The number that its payloads say; none for what recovery closed a turn with.
    pub number: Option<u64>,
    /// How many events.
    pub events: u64,
    /// Place of its frame.
    pub lsn: u64,
}

/// The batches of every session, in order.
pub type Sessions = BTreeMap<String, Vec<Found>>;

/// Returns the drafts of the batch of a number, which say whose they are.
pub fn drafts(number: u64, events: u64, bytes: usize) -> Vec<Draft> {
    let draft = |index| {
        let mut text = format!("\"{number} {index} {events} ");
        while text.len() + 1 < bytes {
            text.push(char::from(b'a' + (text.len() % 23) as u8));
        }
        text.push('"');
        Draft::new(EVENT, text)
    };
    (0..events).map(draft).collect()
}

/// Reads everything that a store shows.
///
/// # Errors
///
/// A batch that is there in part, a gap, or what cannot be read, in words.
pub fn read(store: &Store) -> Result<Sessions, String> {
    let mut sessions = Sessions::new();
    for info in store.list().map_err(|error| format!("the list cannot be read: {error}"))? {
        let mut batches = Batches::default();
        let mut fault = None;
        let read = store.read(&info.id, 0, &mut |stored| match batches.take(stored) {
            Ok(()) => ControlFlow::Continue(()),
            Err(what) => {
                fault = Some(what);
                ControlFlow::Break(())
            }
        });
        let told = |what: String| format!("{}: {what}", info.id);
        read.map_err(|error| told(format!("cannot be read: {error}")))?;
        fault.map_or(Ok(()), Err).and_then(|()| batches.end()).map_err(told)?;
        if batches.next_seq != info.next_seq {
            let (has, says) = (batches.next_seq, info.next_seq);
            return Err(told(format!("{has} events, and the list says {says}")));
        }
        sessions.insert(info.id, batches.all);
    }
    Ok(sessions)
}

#[derive(Default)]
struct Batches {
    all: Vec<Found>,
    next_seq: u64,
    /// How many events the batch at the end says that it has.
    wanted: u64,
}

impl Batches {
    fn take(&mut self, stored: &Stored<'_>) -> Result<(), String> {
        let (seq, first_seq) = (stored.seq, stored.batch_first_seq);
        if seq != self.next_seq {
            return Err(format!("event {seq} stands where {} belongs", self.next_seq));
        }
        self.next_seq += 1;
        let (number, index, events) = parse(stored.data)
            .ok_or_else(|| format!("event {seq} is {}", String::from_utf8_lossy(stored.data)))?;
        if seq == first_seq {
            self.end()?;
            let lsn = stored.lsn.unwrap_or_default();
            self.all.push(Found { first_seq, number, events: 0, lsn });
            self.wanted = events;
        }
        let batch = self.all.last_mut().ok_or("the first event is not the first of a batch")?;
        let is_next = (batch.first_seq, batch.number, batch.events) == (first_seq, number, index);
        if !is_next || events != self.wanted || Some(batch.lsn) != stored.lsn {
            return Err(format!("event {seq} does not go on with its batch, which is {batch:?}"));
        }
        batch.events += 1;
        Ok(())
    }

    fn end(&self) -> Result<(), String> {
        match self.all.last() {
            Some(batch) if batch.events != self.wanted => {
                Err(format!("there in part, of {} events: {batch:?}", self.wanted))
            }
            _ => Ok(()),
        }
    }
}

fn parse(data: &[u8]) -> Option<(Option<u64>, u64, u64)> {
    if data == CLOSER.as_bytes() {
        return Some((None, 0, 1));
    }
    let text = std::str::from_utf8(data).ok()?.trim_matches('"');
    let mut words = text.split(' ').map(str::parse);
    let mut word = || words.next()?.ok();
    Some((Some(word()?), word()?, word()?))
}
