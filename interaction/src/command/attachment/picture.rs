//! What the bytes of an image say of it.

use super::code::{AttachmentCode as Code, AttachmentError};
use super::limits::ImageLimits;
use super::media::MediaType;
use super::store::ImageUpload;
use crate::chain::contained;
use imagesize::ImageType;

/// What is known of an image that may be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) media_type: MediaType,
    pub(super) width: u64,
    pub(super) height: u64,
}

/// Looks at an image: its bytes, its type against the one that it is said to have, its edges, its
/// pixels.
pub(super) fn look(image: &ImageUpload, limits: &ImageLimits) -> Result<Picture, AttachmentError> {
    let said = limits.media_type(image)?;
    if image.data.len() as u64 > limits.image_bytes_max {
        return error(
            Code::ImageTooLarge,
            format!("Image exceeds the limit of {} bytes.", limits.image_bytes_max),
        );
    }
    let no_image = || error(Code::InvalidImage, "Image upload is not a readable image.".to_owned());
    let Some(media_type) = told(&image.data) else { return no_image() };
    if media_type != said {
        let text = format!("Image is {}, not {} as declared.", media_type.name(), said.name());
        return error(Code::ImageTypeMismatch, text);
    }
    // Whoever made the bytes may have meant them for this parser.
    let size = contained(|| imagesize::blob_size(&image.data).ok()).ok().flatten();
    let Some(size) = size.filter(|size| size.width > 0 && size.height > 0) else {
        return no_image();
    };
    let (width, height) = (size.width as u64, size.height as u64);
    if width.max(height) > limits.edge_pixels_max {
        let text = format!("Image exceeds the limit of {} pixels an edge.", limits.edge_pixels_max);
        return error(Code::ImageDimensionTooLarge, text);
    }
    if width.saturating_mul(height) > limits.pixels_max {
        let text = format!("Image exceeds the limit of {} pixels.", limits.pixels_max);
        return error(Code::ImageTooManyPixels, text);
    }
    Ok(Picture { media_type, width, height })
}

/// Returns the type that bytes are of; its whole signature counts, not only what tells it apart.
fn told(data: &[u8]) -> Option<MediaType> {
    let (media_type, is_signed) = match contained(|| imagesize::image_type(data).ok())
        .ok()
        .flatten()?
    {
        ImageType::Png => {
            let is_header = data.get(12..16) == Some(b"IHDR");
            (MediaType::Png, data.starts_with(b"\x89PNG\r\n\x1a\n") && is_header)
        }
        ImageType::Jpeg => (MediaType::Jpeg, true),
        ImageType::Gif => (MediaType::Gif, matches!(data.get(..6), Some(b"GIF87a" | b"GIF89a"))),
        ImageType::Webp => (MediaType::Webp, data.get(12..15) == Some(b"VP8")),
        _ => return None,
    };
    is_signed.then_some(media_type)
}

fn error<T>(code: Code, text: String) -> Result<T, AttachmentError> {
    Err(AttachmentError::new(code, text))
}
