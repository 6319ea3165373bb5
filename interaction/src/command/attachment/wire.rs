//! Attachments as a front end sends them.

use super::code::{AttachmentCode, AttachmentError};
use super::store::ImageUpload;
use crate::profile::{Profile, Texts};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::fmt;

/// An image as text.
#[derive(Clone, PartialEq, Eq)]
pub struct EncodedImage {
    /// The bytes, in canonical base64.
    pub data: String,
    /// The type that it is said to have.
    pub media_type: String,
    /// What the person calls it.
    pub name: Option<String>,
}

impl fmt::Debug for EncodedImage {
    // The text is long, and nobody's to read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedImage")
            .field("data_bytes", &self.data.len())
            .field("media_type", &self.media_type)
            .field("name", &self.name)
            .finish()
    }
}

/// One attachment of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// An image, in full.
    Image(EncodedImage),
    /// The receipt of a file that was handed in before.
    Receipt(String),
}

/// That a JSON value has no attachments where it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "attachment {at} must be {{\"type\":\"image\",\"data\",\"mediaType\",\"name\"?}} or \
     {{\"type\":\"file\",\"receipt\"}}"
)]
pub struct WireError {
    /// Place in the list, from 0; 0 as well if there is no list.
    pub at: usize,
}

impl Attachment {
    /// Reads the attachments of a request: the list under `attachments`, and under the host's
    /// profiles the images under `images` where there is no other list.
    ///
    /// # Errors
    ///
    /// [`WireError`] for the first member that is none.
    pub fn list_from_json(request: &Value, profile: &Profile) -> Result<Vec<Self>, WireError> {
        let alias = (profile.texts != Texts::Strict).then(|| request.get("images")).flatten();
        let (list, is_image) = match (request.get("attachments"), alias) {
            (Some(list), _) => (list, false),
            (None, Some(list)) => (list, true),
            (None, None) => return Ok(Vec::new()),
        };
        let members = list.as_array().ok_or(WireError { at: 0 })?;
        let read = |(at, member): (usize, &Value)| {
            Self::from_json(member, is_image).ok_or(WireError { at })
        };
        members.iter().enumerate().map(read).collect()
    }

    fn from_json(member: &Value, is_image: bool) -> Option<Self> {
        let text = |key| member.get(key).and_then(Value::as_str).map(str::to_owned);
        match member.get("type") {
            Some(kind) if kind == "file" && !is_image => Some(Self::Receipt(text("receipt")?)),
            Some(kind) if kind != "image" => None,
            None if !is_image => None,
            _ => {
                let name = match member.get("name") {
                    None => None,
                    Some(name) => Some(name.as_str()?.to_owned()),
                };
                let (data, media_type) = (text("data")?, text("mediaType")?);
                Some(Self::Image(EncodedImage { data, media_type, name }))
            }
        }
    }
}

/// Decodes an image whose text is the one spelling of its bytes.
pub(in crate::command) fn decoded(image: EncodedImage) -> Result<ImageUpload, AttachmentError> {
    let EncodedImage { data: text, media_type, name } = image;
    let data = STANDARD.decode(&text).ok();
    let canonical = data.filter(|data| !data.is_empty() && STANDARD.encode(data) == text);
    let data = canonical.ok_or_else(|| {
        let message = "Image upload is not canonical base64.";
        AttachmentError::new(AttachmentCode::InvalidImageBase64, message)
    })?;
    Ok(ImageUpload { data, media_type, name })
}
