//! The smallest images that are what they say.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatelog_interaction::command::{Attachment, EncodedImage, ImageUpload, MediaType};

/// Returns the bytes of an image of a size; `tail` makes it differ from others.
pub(super) fn bytes(media_type: MediaType, width: u32, height: u32, tail: &[u8]) -> Vec<u8> {
    let (w, h) = (width.to_be_bytes(), height.to_be_bytes());
    let mut bytes = match media_type {
        MediaType::Png => [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &w[..], &h].concat(),
        MediaType::Jpeg => {
            let frame = [0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, h[2], h[3], w[2], w[3]];
            [&frame[..], &[3, 1, 17, 0]].concat()
        }
        MediaType::Gif => [b"GIF89a", &[w[3], w[2], h[3], h[2], 0, 0, 0, b';'][..]].concat(),
        MediaType::Webp => {
            let (w, h) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
            [b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0", &w[..3], &h[..3]].concat()
        }
    };
    bytes.extend_from_slice(tail);
    bytes
}

/// Returns a small PNG that differs from others by a text.
pub(super) fn png(tail: &str) -> Vec<u8> {
    bytes(MediaType::Png, 2, 3, tail.as_bytes())
}

pub(super) fn upload(data: Vec<u8>, media_type: &str) -> ImageUpload {
    ImageUpload { data, media_type: media_type.to_owned(), name: None }
}

/// Returns an attachment of bytes that are said to be a PNG.
pub(super) fn encoded(data: &[u8]) -> Attachment {
    Attachment::Image(EncodedImage {
        data: STANDARD.encode(data),
        media_type: "image/png".to_owned(),
        name: Some("n.png".to_owned()),
    })
}
