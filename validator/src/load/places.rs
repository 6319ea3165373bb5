//! Where the events are that a rule may still name when the log has gone on: the last one, and
//! those whose rules wait for another event.

use gatelog_engine::event::{Event, Place};
use std::collections::VecDeque;

/// The types that a rule names later than where they stand.
const NAMED_LATER: [&str; 4] =
    ["approval/asked", "command/run", "compaction/start", "permission/preset"];

/// How many places are kept; of more, those that came first are not told in full.
const PLACES_MAX: usize = 1 << 16;

/// The places that are kept along a log.
#[derive(Clone, Debug, Default)]
pub struct Places {
    last: Place,
    /// In the order of their seqs.
    later: VecDeque<Place>,
}

impl Places {
    /// Takes an event.
    pub fn take(&mut self, event: &Event<'_>) {
        self.last = event.place;
        if NAMED_LATER.contains(&event.kind) {
            if self.later.len() == PLACES_MAX {
                self.later.pop_front();
            }
            self.later.push_back(event.place);
        }
    }

    /// Returns where the last event is.
    pub fn last(&self) -> Place {
        self.last
    }

    /// Returns where the event at a seq is, if that was kept.
    pub fn of(&self, seq: u64) -> Option<Place> {
        if self.last.seq == Some(seq) {
            return Some(self.last);
        }
        let at = self.later.binary_search_by_key(&Some(seq), |place| place.seq).ok()?;
        Some(self.later[at])
    }
}
