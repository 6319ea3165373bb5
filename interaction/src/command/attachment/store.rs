//! Where attachments are kept.

use super::code::AttachmentError;
use super::reference::{AttachmentId, ImageRef};
use crate::agent::BoxError;
use crate::cancel::Cancel;
use async_trait::async_trait;

/// An image that was decoded, and of which nothing else is known.
#[derive(Clone, PartialEq, Eq)]
pub struct ImageUpload {
    /// Its bytes.
    pub data: Vec<u8>,
    /// The type that it is said to have.
    pub media_type: String,
    /// What the person calls it.
    pub name: Option<String>,
}

impl std::fmt::Debug for ImageUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageUpload")
            .field("bytes", &self.data.len())
            .field("media_type", &self.media_type)
            .field("name", &self.name)
            .finish()
    }
}

/// Why a store, or a resolver of receipts, did not do as it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreFailure {
    /// For a reason that has a name: the person is shown it as the command's result.
    #[error(transparent)]
    Classified(#[from] AttachmentError),
    /// For another one, which is handed on as it is.
    #[error(transparent)]
    Other(BoxError),
}

/// Keeps immutable images and files.
///
/// Who calls: the task of an execution, never under a session's gate, once for a batch, and only
/// with text that was decoded and receipts that were resolved.
#[async_trait]
pub trait AttachmentStore: Send + Sync + 'static {
    /// Takes a batch of images, all or none: checks the count, the bytes and the types of all of
    /// them, then each image, then stores them in order. What it returns is durable and in the
    /// same order.
    ///
    /// # Errors
    ///
    /// [`StoreFailure`]. What was refused has left nothing behind; what could not be stored may
    /// have left objects that nobody cites.
    async fn admit(
        &self,
        images: Vec<ImageUpload>,
        cancel: Cancel,
    ) -> Result<Vec<ImageRef>, StoreFailure>;

    /// Reads what an id stands for, and makes sure that it is what was stored.
    ///
    /// # Errors
    ///
    /// [`StoreFailure`].
    async fn read(&self, id: &AttachmentId) -> Result<Vec<u8>, StoreFailure>;
}
