//! References to what is stored: all that handlers and logs ever see of it.

use super::media::MediaType;
use serde::Serialize;
use std::fmt;

/// Names something in an attachment store. Only the store knows what it means; it is never a path,
/// and never made into one as it is.
#[derive(Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct AttachmentId(String);

impl AttachmentId {
    /// Takes a text for an id; whether there is such an attachment its store will tell.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AttachmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for AttachmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A durable image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageRef {
    /// Its id.
    pub attachment_id: AttachmentId,
    /// Its type, as its bytes say.
    pub media_type: MediaType,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its width in pixels.
    pub width: u64,
    /// Its height in pixels.
    pub height: u64,
    /// What the person calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A durable file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileRef {
    /// Its id.
    pub attachment_id: AttachmentId,
    /// What the person calls it.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// One attachment, as a handler sees it and as a message of the host's carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "attachment", rename_all = "lowercase")]
pub enum AttachmentBlock {
    /// An image.
    Image(ImageRef),
    /// A file.
    File(FileRef),
}
