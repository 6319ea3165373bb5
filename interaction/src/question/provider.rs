//! One who answers all questions, for hosts that have one channel.

use super::ask::QuestionAsk;
use super::batch::Answer;
use crate::agent::BoxError;
use crate::cancel::Cancel;
use crate::chain::{Listener, ListenerError, Next, Registration};
use async_trait::async_trait;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers every batch that comes to it, or fails. It hands nothing on.
#[async_trait]
pub trait QuestionProvider: Send + Sync + 'static {
    /// Answers a batch. `lifetime` is given after the provider's registration was taken back, when
    /// all that it held has been closed.
    ///
    /// # Errors
    ///
    /// A [`QuestionError`](super::QuestionError) is a failure of the domain; anything else is the
    /// provider's own, and is handed to the caller as it is.
    async fn answer(
        &self,
        ask: Arc<QuestionAsk>,
        lifetime: Cancel,
    ) -> Result<Vec<Answer>, BoxError>;
}

pub(super) struct Terminal<P> {
    pub(super) provider: P,
    pub(super) lifetime: Cancel,
}

#[async_trait]
impl<P: QuestionProvider> Listener<QuestionAsk> for Terminal<P> {
    async fn call(
        &self,
        ask: Arc<QuestionAsk>,
        _: Next<QuestionAsk>,
    ) -> Result<Vec<Answer>, ListenerError> {
        let answered = self.provider.answer(ask, self.lifetime.clone()).await;
        answered.map_err(ListenerError::Failed)
    }
}

/// Which provider is registered: the number of its registration.
#[derive(Debug, Default)]
pub(super) struct Slot(Mutex<(u64, Option<u64>)>);

impl Slot {
    /// Takes the place, unless it is taken.
    pub(super) fn take(&self) -> Option<u64> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.1.is_some() {
            return None;
        }
        slot.0 += 1;
        slot.1 = Some(slot.0);
        slot.1
    }

    fn free(&self, number: u64) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.1 == Some(number) {
            slot.1 = None;
        }
    }
}

/// A provider that is registered until this is dropped: what it holds is closed as `NO_PROVIDER`
/// first, and then its own lifetime ends.
#[must_use = "dropping the guard removes the provider"]
pub struct ProviderGuard {
    pub(super) registration: Option<Registration>,
    pub(super) slot: Option<(Arc<Slot>, u64)>,
}

impl ProviderGuard {
    /// Takes the provider back. A second call does nothing.
    pub fn withdraw(&mut self) {
        drop(self.registration.take());
        if let Some((slot, number)) = self.slot.take() {
            slot.free(number);
        }
    }
}

impl Drop for ProviderGuard {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl fmt::Debug for ProviderGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderGuard")
            .field("there", &self.registration.is_some())
            .finish_non_exhaustive()
    }
}
