//! Keeps the record of a live session fresh.

use super::live::Board;
use super::records::Records;
use gatelog_engine::backend::{Durability, Stored};
use gatelog_engine::store::Observer;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// When the record of a session is kept besides at the end of each turn and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// After so many events. Default 256.
    pub events: u64,
    /// After so many milliseconds between two events, by the events' own times. Default 60,000.
    pub interval_ms: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { events: 256, interval_ms: 60_000 }
    }
}

type Report = Box<dyn Fn(&dyn fmt::Display) + Send + Sync>;

struct Due {
    events: u64,
    last_ms: Option<u64>,
    wanted: bool,
}

struct Inner {
    board: Board,
    records: Arc<dyn Records>,
    pace: Pace,
    report: Report,
    due: Mutex<Due>,
}

/// Keeps the record of a session: at the end of every turn, by count, by interval, and when it is
/// detached. The record never leads the log: it is kept behind events that are synced. That it
/// cannot be kept is reported and changes nothing.
pub struct Keeper(Arc<Inner>);

impl Keeper {
    /// Begins to keep the record of a session whose board is given.
    pub fn attach(
        board: &Board,
        records: Arc<dyn Records>,
        pace: Pace,
        report: impl Fn(&dyn fmt::Display) + Send + Sync + 'static,
    ) -> Self {
        let due = Mutex::new(Due { events: 0, last_ms: None, wanted: false });
        let report = Box::new(report);
        let inner = Arc::new(Inner { board: board.clone(), records, pace, report, due });
        board.session().observe(inner.clone());
        Self(inner)
    }

    /// Syncs the log and keeps the record as it is then.
    pub fn detach(self) {
        match self.0.board.session().raise(Durability::Synced) {
            Ok(()) => self.0.keep(),
            Err(error) => (self.0.report)(&error),
        }
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("pace", &self.0.pace).finish_non_exhaustive()
    }
}

impl Inner {
    fn keep(&self) {
        let kept = match self.board.record() {
            Ok(record) => self.records.save(self.board.session().id(), &record),
            Err(error) => return (self.report)(&error),
        };
        if let Err(error) = kept {
            (self.report)(&error);
        }
    }
}

impl Observer for Inner {
    fn committed(&self, _: &str, stored: &Stored<'_>) {
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        due.events += 1;
        let since = stored.time_ms.saturating_sub(*due.last_ms.get_or_insert(stored.time_ms));
        let is_full = due.events >= self.pace.events || since >= self.pace.interval_ms;
        due.wanted |= stored.kind == "turn/end" || is_full;
        if !due.wanted || !stored.confirmed {
            return;
        }
        *due = Due { events: 0, last_ms: Some(stored.time_ms), wanted: false };
        drop(due);
        self.keep();
    }

    fn rewound(&self, _: &str, _: u64) {}
}
