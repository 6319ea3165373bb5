//! Failures of attachments that have a name.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+) => {
        /// Which failure. The set is closed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AttachmentCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl AttachmentCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

codes! {
    /// The text is not the one spelling of any bytes.
    InvalidImageBase64 = "INVALID_IMAGE_BASE64",
    /// More images than a batch may have.
    TooManyImages = "TOO_MANY_IMAGES",
    /// More bytes than a batch may have.
    ImagesTooLarge = "IMAGES_TOO_LARGE",
    /// A type that is not taken here.
    UnsupportedImageType = "UNSUPPORTED_IMAGE_TYPE",
    /// The bytes are no image, or its size cannot be told.
    InvalidImage = "INVALID_IMAGE",
    /// The bytes are an image of another type.
    ImageTypeMismatch = "IMAGE_TYPE_MISMATCH",
    /// More bytes than an image may have.
    ImageTooLarge = "IMAGE_TOO_LARGE",
    /// More pixels than an image may have.
    ImageTooManyPixels = "IMAGE_TOO_MANY_PIXELS",
    /// An edge longer than one may be.
    ImageDimensionTooLarge = "IMAGE_DIMENSION_TOO_LARGE",
    /// The reference is none of this store.
    InvalidAttachmentRef = "INVALID_ATTACHMENT_REF",
    /// There is no such attachment.
    AttachmentNotFound = "ATTACHMENT_NOT_FOUND",
    /// The stored bytes are not those that were stored.
    AttachmentCorrupt = "ATTACHMENT_CORRUPT",
    /// The bytes could not be stored.
    AttachmentWriteFailed = "ATTACHMENT_WRITE_FAILED",
    /// The bytes could not be read.
    AttachmentReadFailed = "ATTACHMENT_READ_FAILED",
    /// The attachment cannot be shown to this model.
    AttachmentProjectionUnsupported = "ATTACHMENT_PROJECTION_UNSUPPORTED",
}

/// A failure that is shown to a person: its text has no bytes and no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentError {
    /// Which failure.
    pub code: AttachmentCode,
    /// What to show.
    pub message: String,
}

impl AttachmentError {
    /// Makes an error.
    pub fn new(code: AttachmentCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for AttachmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AttachmentError {}
