//! How much a batch of images may be.

use super::code::{AttachmentCode as Code, AttachmentError};
use super::media::MediaType;
use super::store::ImageUpload;

/// What a store takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Images in a batch; 20 by default.
    pub images_max: usize,
    /// Bytes of an image; 20 MiB by default.
    pub image_bytes_max: u64,
    /// Bytes of all images of a batch together; 200 MiB by default.
    pub batch_bytes_max: u64,
    /// Pixels of an image; 64,000,000 by default.
    pub pixels_max: u64,
    /// Pixels of an edge; 8,192 by default.
    pub edge_pixels_max: u64,
    /// Types; all of them by default.
    pub media_types: Vec<MediaType>,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self {
            images_max: 20,
            image_bytes_max: 20 << 20,
            batch_bytes_max: 200 << 20,
            pixels_max: 64_000_000,
            edge_pixels_max: 8_192,
            media_types: MediaType::ALL.to_vec(),
        }
    }
}

impl ImageLimits {
    /// Looks at a batch as a whole: its count, its bytes, then the types that its images are said
    /// to have.
    ///
    /// # Errors
    ///
    /// [`Code::TooManyImages`], [`Code::ImagesTooLarge`], [`Code::UnsupportedImageType`], in this
    /// order.
    pub fn check_batch(&self, images: &[ImageUpload]) -> Result<(), AttachmentError> {
        if images.len() > self.images_max {
            let text = "Image batch exceeds the configured image-count limit.";
            return Err(AttachmentError::new(Code::TooManyImages, text));
        }
        if images.iter().map(|image| image.data.len() as u64).sum::<u64>() > self.batch_bytes_max {
            let text = "Image batch exceeds the configured aggregate image-byte limit.";
            return Err(AttachmentError::new(Code::ImagesTooLarge, text));
        }
        for image in images {
            self.media_type(image)?;
        }
        Ok(())
    }

    /// Returns the type that an image is said to have, if it is taken.
    pub(super) fn media_type(&self, image: &ImageUpload) -> Result<MediaType, AttachmentError> {
        let media_type = MediaType::named(&image.media_type);
        media_type.filter(|of| self.media_types.contains(of)).ok_or_else(|| {
            let text =
                format!("Image type {} is not accepted by this deployment.", image.media_type);
            AttachmentError::new(Code::UnsupportedImageType, text)
        })
    }
}
