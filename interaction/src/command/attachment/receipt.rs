//! Receipts of files that were handed in before, and who knows them.

use super::code::{AttachmentCode, AttachmentError};
use super::reference::FileRef;
use super::store::StoreFailure;
use crate::agent::Agent;
use async_trait::async_trait;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Knows what receipts stand for.
///
/// Who calls: the task of an execution, for each receipt of a batch, in order, before any image of
/// it is stored.
#[async_trait]
pub trait ReceiptResolver: Send + Sync + 'static {
    /// Returns the durable file of a receipt that was given to the agent's session, or nothing if
    /// none was.
    ///
    /// # Errors
    ///
    /// [`StoreFailure`].
    async fn resolve(&self, agent: &Agent, receipt: &str) -> Result<Option<FileRef>, StoreFailure>;
}

/// That somebody else resolves receipts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("commands: a file receipt resolver is already registered")]
pub struct ReceiptsTaken;

type Place = Mutex<Option<Arc<dyn ReceiptResolver>>>;

/// The place of the one resolver.
#[derive(Default)]
pub(in crate::command) struct ReceiptDesk(Arc<Place>);

fn lock(place: &Place) -> MutexGuard<'_, Option<Arc<dyn ReceiptResolver>>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReceiptDesk {
    pub(in crate::command) fn register(
        &self,
        resolver: Arc<dyn ReceiptResolver>,
    ) -> Result<ReceiptGuard, ReceiptsTaken> {
        let mut place = lock(&self.0);
        if place.is_some() {
            return Err(ReceiptsTaken);
        }
        *place = Some(Arc::clone(&resolver));
        Ok(ReceiptGuard(Some((Arc::downgrade(&self.0), resolver))))
    }

    pub(in crate::command) fn resolver(&self) -> Option<Arc<dyn ReceiptResolver>> {
        lock(&self.0).clone()
    }
}

/// What it means that nobody knows a receipt.
pub(in crate::command) fn unknown_receipt() -> AttachmentError {
    let text = "File upload receipt is unknown for this session.";
    AttachmentError::new(AttachmentCode::AttachmentNotFound, text)
}

/// A resolver in its place. Dropping it takes the resolver back, and no other.
#[must_use = "receipts are unknown once this is dropped"]
pub struct ReceiptGuard(Option<(Weak<Place>, Arc<dyn ReceiptResolver>)>);

impl ReceiptGuard {
    /// Takes the resolver back. Returns whether it was there: a second call does nothing.
    pub fn withdraw(&mut self) -> bool {
        let Some((place, resolver)) = self.0.take() else { return false };
        let Some(place) = place.upgrade() else { return false };
        let mut there = lock(&place);
        let is_ours = there.as_ref().is_some_and(|there| Arc::ptr_eq(there, &resolver));
        let removed = if is_ours { there.take() } else { None };
        // What the resolver holds is dropped outside the lock.
        drop(there);
        removed.is_some()
    }
}

impl Drop for ReceiptGuard {
    fn drop(&mut self) {
        self.withdraw();
    }
}

impl fmt::Debug for ReceiptGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiptGuard").field("there", &self.0.is_some()).finish()
    }
}
