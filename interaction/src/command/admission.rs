//! What came with a line, on its way to the handler: all of it, or nothing.

use super::attachment::{
    Attachment, AttachmentBlock, AttachmentError, AttachmentStore, ImageUpload, ReceiptResolver,
    StoreFailure, decoded, unknown_receipt,
};
use crate::agent::Agent;
use crate::cancel::Cancel;
use std::sync::Arc;

/// A member of a batch that has passed the first look, in its place.
enum Member {
    /// Its image is the next of the batch.
    Image,
    Receipt(String),
}

/// A batch whose images are decoded; nobody foreign has seen any of it.
pub(super) struct Batch {
    members: Vec<Member>,
    images: Vec<ImageUpload>,
}

/// Decodes every image.
pub(super) fn decode(attachments: Vec<Attachment>) -> Result<Batch, AttachmentError> {
    let mut batch = Batch { members: Vec::new(), images: Vec::new() };
    for attachment in attachments {
        match attachment {
            Attachment::Image(image) => {
                batch.images.push(decoded(image)?);
                batch.members.push(Member::Image);
            }
            Attachment::Receipt(receipt) => batch.members.push(Member::Receipt(receipt)),
        }
    }
    Ok(batch)
}

impl Batch {
    /// Resolves every receipt, then has the store take the images, and returns references to all
    /// of it in the person's order.
    pub(super) async fn admit(
        self,
        agent: Agent,
        store: Arc<dyn AttachmentStore>,
        resolver: Option<Arc<dyn ReceiptResolver>>,
        cancel: Cancel,
    ) -> Result<Arc<[AttachmentBlock]>, StoreFailure> {
        let mut files = Vec::new();
        for member in &self.members {
            let Member::Receipt(receipt) = member else { continue };
            let resolver = resolver.as_ref().ok_or_else(unknown_receipt)?;
            let file = resolver.resolve(&agent, receipt).await?;
            files.push(file.ok_or_else(unknown_receipt)?);
        }
        let expected = self.images.len();
        let images = match expected {
            0 => Vec::new(),
            _ => store.admit(self.images, cancel).await?,
        };
        if images.len() != expected {
            let text = format!("the store took {expected} images and cites {}", images.len());
            return Err(StoreFailure::Other(text.into()));
        }
        let (mut files, mut images) = (files.into_iter(), images.into_iter());
        let in_order = self.members.iter().filter_map(|member| match member {
            Member::Image => images.next().map(AttachmentBlock::Image),
            Member::Receipt(_) => files.next().map(AttachmentBlock::File),
        });
        Ok(in_order.collect())
    }
}
