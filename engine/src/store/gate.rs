//! A session's gate in the hand of a caller.

use super::held::Held;
use super::live::Live;
use super::request::Request;
use crate::backend::{AppendError, Commit, Durability, Refusal};
use crate::rules::Draft;
use std::any::Any;
use std::sync::Arc;

/// A session's gate, held by the caller: nobody else appends to the session until it is dropped.
///
/// It is a ticket and no lock. A second request by its holder's thread is refused as
/// [`Refusal::Reentrant`]; other threads and futures wait their turn, first come, first served, and
/// are refused as [`Refusal::Busy`] after `gate_wait_ms_max`. A gate that is leaked blocks its
/// session and no other. The holder is the thread that last used it. Observers are told of its
/// commits when it is dropped.
#[must_use = "the gate is free again when it is dropped"]
pub struct Gate {
    /// There until it is dropped.
    held: Option<Held>,
}

impl Gate {
    pub(crate) fn wait(live: &Arc<Live>) -> Result<Self, AppendError> {
        let mut gate = Self { held: Some(Held::wait(live)?) };
        gate.held().look().map_err(AppendError::Refused)?;
        Ok(gate)
    }

    /// Commits one draft by itself.
    ///
    /// # Errors
    ///
    /// As [`Session::append`](super::Session::append), but for `Busy` and `Reentrant`.
    pub fn append(&mut self, draft: Draft, durability: Durability) -> Result<Commit, AppendError> {
        self.append_batch([draft], durability)
    }

    /// Commits drafts as one batch, whole or not at all.
    ///
    /// # Errors
    ///
    /// As [`Gate::append`].
    pub fn append_batch(
        &mut self,
        drafts: impl IntoIterator<Item = Draft>,
        durability: Durability,
    ) -> Result<Commit, AppendError> {
        self.held().append(Request::new(drafts, durability))
    }

    /// Returns the seq of the next event.
    ///
    /// # Errors
    ///
    /// A refusal ([`Refusal::Poisoned`], [`Refusal::Stale`], [`Refusal::ReadOnly`] and what says
    /// that the session is gone or damaged); [`AppendError::NotWritten`] if the log could not be
    /// read.
    pub fn next_seq(&mut self) -> Result<u64, AppendError> {
        let held = self.held();
        held.look().map_err(AppendError::Refused)?;
        Ok(held.state()?.next_seq)
    }

    /// Returns the state that the store's rules show, at the session's last commit.
    ///
    /// # Errors
    ///
    /// As [`Gate::next_seq`]; [`Refusal::Internal`] if the rules show another type.
    pub fn facts<F: Any>(&mut self) -> Result<&F, AppendError> {
        let held = self.held();
        held.look().map_err(AppendError::Refused)?;
        let facts = held.state()?.facts().downcast_ref();
        facts.ok_or_else(|| {
            let what = format!("the rules show no {}", std::any::type_name::<F>());
            AppendError::Refused(Refusal::Internal { what })
        })
    }

    /// Returns what is held, on the thread that now uses it.
    fn held(&mut self) -> &mut Held {
        let held = self.held.as_mut().expect("it is there until the gate is dropped");
        held.live.queue.take_up(held.ticket);
        held
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            held.release();
        }
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.held.as_ref().map(|held| held.live.id.as_str());
        f.debug_struct("Gate").field("session", &id).finish_non_exhaustive()
    }
}
