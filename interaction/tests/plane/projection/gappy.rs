//! A backend that leaves seq 2 out of what it hands over.

use gatelog_engine::backend::{
    AppendError, Backend, Batch, Commit, Done, Durability, Error, Parts, RecordedRules,
    SessionInfo, Take,
};
use gatelog_engine::rules::SessionHeader;
use std::ops::ControlFlow;
use std::sync::Arc;

pub(super) struct Gappy(pub(super) Arc<dyn Backend>);

impl Backend for Gappy {
    fn parts(&self) -> Parts {
        self.0.parts()
    }

    fn epoch(&self) -> u32 {
        self.0.epoch()
    }

    fn sessions(&self) -> Result<Vec<SessionInfo>, Error> {
        self.0.sessions()
    }

    fn find(&self, id: &str) -> Result<Option<SessionInfo>, Error> {
        self.0.find(id)
    }

    fn read(&self, id: &str, from: u64, take: &mut Take<'_>) -> Result<(), Error> {
        self.0.read(id, from, &mut |stored| {
            if stored.seq == 2 { ControlFlow::Continue(()) } else { take(stored) }
        })
    }

    fn create(
        &self,
        id: &str,
        header: &SessionHeader,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.0.create(id, header, batch, durability)
    }

    fn append(
        &self,
        id: &str,
        batch: Batch,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.0.append(id, batch, durability)
    }

    fn submit(&self, id: &str, batch: Batch, durability: Durability, done: Done) {
        self.0.submit(id, batch, durability, done);
    }

    fn raise(&self, id: &str, durability: Durability) -> Result<(), AppendError> {
        self.0.raise(id, durability)
    }

    fn take_rewound(&self, id: &str) -> Option<u64> {
        self.0.take_rewound(id)
    }

    fn record_rules(&self, rules: &RecordedRules) -> Result<(), AppendError> {
        self.0.record_rules(rules)
    }

    fn poisoned(&self) -> Option<String> {
        self.0.poisoned()
    }

    fn reopen(&self) -> Result<(), Error> {
        self.0.reopen()
    }

    fn close(&self) -> Result<(), Error> {
        self.0.close()
    }
}
