//! What comes with a line: images, and receipts of files that were handed in before.
//!
//! Nothing of it is trusted. An image is text that must be the one spelling of its bytes; its type
//! is told from those bytes; it is durable, and was read back, before anybody has a reference to
//! it. What a handler sees, and what a log may cite, is that reference and never a path.

mod code;
mod media;
mod reference;
mod store;
mod wire;
mod limits;
mod receipt;
mod picture;
mod object;
mod embedded;

pub use code::{AttachmentCode, AttachmentError};
pub use embedded::{EmbeddedStore, NotOpened};
pub use limits::ImageLimits;
pub use media::MediaType;
pub use receipt::{ReceiptGuard, ReceiptResolver, ReceiptsTaken};
pub use reference::{AttachmentBlock, AttachmentId, FileRef, ImageRef};
pub use store::{AttachmentStore, ImageUpload, StoreFailure};
pub use wire::{Attachment, EncodedImage, WireError};

pub(super) use receipt::{ReceiptDesk, unknown_receipt};
pub(super) use wire::decoded;
