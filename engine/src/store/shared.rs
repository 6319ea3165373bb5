//! What all sessions of a store share.

use super::carriers::Carriers;
use super::config::StoreConfig;
use super::creating::Creating;
use super::delivery::Observers;
use super::life::{Life, Passage};
use super::lock::lock;
use super::observer::Creation;
use super::ticks::Ticks;
use crate::backend::{AppendError, Backend, Keys, RecordedRules, Refusal};
use crate::machine::Machine;
use crate::rules::{Placement, RuleSet};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Who is asked when a session is created, as registered at some moment.
pub(crate) type Creations = Arc<Vec<Arc<dyn Creation>>>;

/// The parts of a store.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) rules: Arc<dyn RuleSet>,
    pub(crate) machine: Arc<dyn Machine>,
    pub(crate) config: StoreConfig,
    pub(crate) life: Arc<Life>,
    pub(crate) carriers: Arc<Carriers>,
    pub(crate) ticks: Arc<Ticks>,
    pub(crate) observers: Mutex<Observers>,
    pub(crate) creations: Mutex<Creations>,
    pub(crate) creating: Creating,
    /// Sessions that were opened for write, or created, in this generation: never closed again.
    pub(crate) recovered: Mutex<HashSet<String>>,
}

impl Shared {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        rules: Arc<dyn RuleSet>,
        machine: Arc<dyn Machine>,
        config: StoreConfig,
    ) -> Self {
        let ticks = Arc::new(Ticks::new(config.gate_wait()));
        let (life, carriers) = (Arc::default(), Arc::default());
        let (observers, creations) = (Mutex::default(), Mutex::default());
        let recovered = Mutex::default();
        Self {
            backend,
            rules,
            machine,
            config,
            life,
            carriers,
            ticks,
            observers,
            creations,
            creating: Creating::default(),
            recovered,
        }
    }

    /// Refuses what is of a generation that is over, or comes when nothing can be written.
    pub(crate) fn check(&self, generation: u64) -> Result<(), Refusal> {
        self.life.check(generation)?;
        if self.backend.poisoned().is_some() { Err(Refusal::Poisoned) } else { Ok(()) }
    }

    /// Lets somebody of a generation go to the backend. Before the first batch of a generation the
    /// rules in force are recorded.
    pub(crate) fn pass(&self, generation: u64) -> Result<Passage, AppendError> {
        let passage = self.life.pass(generation).map_err(AppendError::Refused)?;
        if self.backend.parts().records_rules {
            let record = || self.backend.record_rules(&recorded(&*self.rules));
            self.life.record_once(record)?;
        }
        Ok(passage)
    }

    /// Returns whether batches leave a trace in this store, and their keys with them.
    pub(crate) fn is_traced(&self) -> bool {
        self.backend.parts().keys == Keys::Always
    }

    pub(crate) fn is_recovered(&self, id: &str) -> bool {
        lock(&self.recovered).contains(id)
    }

    pub(crate) fn set_recovered(&self, id: &str) {
        lock(&self.recovered).insert(id.to_owned());
    }
}

/// Returns a rule set as the log records it.
fn recorded(rules: &dyn RuleSet) -> RecordedRules {
    let types = rules.catalogue().iter().map(|(kind, entry)| {
        (kind.to_owned(), entry.owner.clone(), entry.placement != Placement::LogOnly)
    });
    RecordedRules {
        profile: rules.profile().to_owned(),
        version: rules.version(),
        types: types.collect(),
    }
}
