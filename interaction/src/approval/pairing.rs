//! Finding a question in the log by the call that it is about.

use gatelog_validator::facts::OpenAsk;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Pairs calls with questions of the log, for front ends that know a question by its call only.
/// Copies share what is claimed.
///
/// Whoever has the [`super::Approval`] at hand knows its id and needs no pairing.
#[derive(Clone, Debug, Default)]
pub struct Pairing(Arc<Mutex<BTreeSet<String>>>);

impl Pairing {
    /// Makes a pairing in which nothing is claimed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Claims the newest question that is not decided, that nobody claims, and that is about a call
    /// of this id, or without one about none. `open` are the questions of a session's facts.
    pub fn claim(&self, open: &[OpenAsk], call_id: Option<&str>) -> Option<Paired> {
        let mut claimed = self.lock();
        let fits = |ask: &&OpenAsk| {
            let is_about = match (&ask.call, call_id) {
                (None, None) => true,
                (Some(call), Some(wanted)) => text(call).is_some_and(|call| call == wanted),
                _ => false,
            };
            is_about && text(&ask.id).is_some_and(|id| !claimed.contains(&id))
        };
        let newest = open.iter().filter(fits).max_by_key(|ask| ask.seq)?;
        let id = text(&newest.id)?;
        claimed.insert(id.clone());
        drop(claimed);
        Some(Paired { pairing: self.clone(), id })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a string out of JSON text. What is none is nothing.
fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

/// A question that was claimed, until this is dropped.
#[must_use = "the claim ends when it is dropped"]
#[derive(Debug)]
pub struct Paired {
    pairing: Pairing,
    id: String,
}

impl Paired {
    /// Returns the id of the question.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Paired {
    fn drop(&mut self) {
        self.pairing.lock().remove(&self.id);
    }
}
