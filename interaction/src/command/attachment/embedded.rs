//! The store for a host that has no other: a folder of objects that are named by their content.

use super::code::{AttachmentCode as Code, AttachmentError};
use super::limits::ImageLimits;
use super::object::{self, Digest, TEMPORARY};
use super::picture::{Picture, look};
use super::reference::{AttachmentId, ImageRef};
use super::store::{AttachmentStore, ImageUpload, StoreFailure};
use crate::cancel::Cancel;
use async_trait::async_trait;
use gatelog_engine::storage::{DirLock, DirLocked, Volume};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Handle;

/// Before the digest in every id: another way to name objects would have another.
const ID: &str = "blake3-";

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotOpened {
    /// Another process, or another store of this one, has the folder.
    #[error("{0}: another attachment store has the folder open")]
    Taken(PathBuf),
    /// The disk says no.
    #[error("{path}: {source}")]
    Disk {
        /// The folder.
        path: PathBuf,
        /// What the disk says.
        source: io::Error,
    },
}

struct Folder {
    volume: Arc<dyn Volume>,
    dir: PathBuf,
    limits: ImageLimits,
    /// Held for as long as the store lives; none where folders cannot be locked.
    lock: Option<Box<dyn DirLock>>,
    temporaries: AtomicU64,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            // The lock ends with the process at the latest.
            let _ = lock.unlock();
        }
    }
}

/// A folder of immutable objects. A reference that was returned resolves to the exact bytes, also
/// after the power was cut. Copies are the same store.
#[derive(Clone)]
pub struct EmbeddedStore {
    folder: Arc<Folder>,
    runtime: Handle,
}

impl EmbeddedStore {
    /// Opens the store in a folder, which is made if it is not there; the one above it must be.
    /// The disk is touched on threads of the runtime that may block.
    ///
    /// # Errors
    ///
    /// [`NotOpened`].
    pub fn open(
        volume: Arc<dyn Volume>,
        dir: impl Into<PathBuf>,
        limits: ImageLimits,
        runtime: Handle,
    ) -> Result<Self, NotOpened> {
        let dir = dir.into();
        let fault = |source| NotOpened::Disk { path: dir.clone(), source };
        make(&*volume, &dir).map_err(fault)?;
        let lock = match volume.try_lock_dir(&dir).map_err(fault)? {
            DirLocked::Ours(lock) => Some(lock),
            DirLocked::Taken => return Err(NotOpened::Taken(dir)),
            DirLocked::Unsupported => None,
        };
        let temporaries = AtomicU64::new(0);
        let folder = Folder { volume, dir: dir.clone(), limits, lock, temporaries };
        folder.sweep().map_err(fault)?;
        Ok(Self { folder: Arc::new(folder), runtime })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, AttachmentError> + Send + 'static,
    ) -> Result<T, StoreFailure> {
        let folder = Arc::clone(&self.folder);
        match self.runtime.spawn_blocking(move || work(&folder)).await {
            Ok(done) => done.map_err(StoreFailure::Classified),
            Err(failed) => Err(StoreFailure::Other(failed.into())),
        }
    }
}

/// Makes a folder, and its name durable.
fn make(volume: &dyn Volume, dir: &Path) -> io::Result<()> {
    match volume.create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Whoever made it before may have died before this.
    volume.sync_dir(dir.parent().unwrap_or_else(|| Path::new("/")))
}

impl Folder {
    /// Removes what died under a temporary name. Only a store that nobody shares may.
    fn sweep(&self) -> io::Result<()> {
        if self.lock.is_none() {
            return Ok(());
        }
        for entry in self.volume.list(&self.dir)? {
            if entry.name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
                self.volume.remove(&self.dir.join(entry.name))?;
            }
        }
        Ok(())
    }

    fn admit(
        &self,
        images: Vec<ImageUpload>,
        cancel: &Cancel,
    ) -> Result<Vec<ImageRef>, AttachmentError> {
        self.limits.check_batch(&images)?;
        let looked = images.iter().map(|image| look(image, &self.limits));
        let pictures = looked.collect::<Result<Vec<_>, _>>()?;
        let mut references = Vec::with_capacity(images.len());
        for (image, picture) in images.into_iter().zip(pictures) {
            if cancel.is_cancelled() {
                // Nobody will cite what is there by now.
                return Err(failed("The upload was cancelled."));
            }
            references.push(self.write(image, picture)?);
        }
        let sync = self.volume.sync_dir(&self.dir);
        sync.map_err(|_| failed("The names of the images could not be made durable."))?;
        Ok(references)
    }

    fn write(&self, image: ImageUpload, picture: Picture) -> Result<ImageRef, AttachmentError> {
        let digest = Digest::of(&image.data);
        let number = self.temporaries.fetch_add(1, Ordering::Relaxed);
        // Where the folder cannot be locked, another process may be writing as well.
        let temporary = format!("{number}-{}", uuid::Uuid::new_v4().simple());
        object::write(&*self.volume, &self.dir, &temporary, digest, &image.data).map_err(
            |error| match error.kind() {
                io::ErrorKind::InvalidData => {
                    let text = "The image was stored, and read back as something else.";
                    AttachmentError::new(Code::AttachmentCorrupt, text)
                }
                _ => failed("The image could not be stored."),
            },
        )?;
        Ok(ImageRef {
            attachment_id: AttachmentId::new(format!("{ID}{}", digest.hex())),
            media_type: picture.media_type,
            bytes: image.data.len() as u64,
            width: picture.width,
            height: picture.height,
            name: image.name,
        })
    }

    fn read(&self, id: &AttachmentId) -> Result<Vec<u8>, AttachmentError> {
        let digest = id.as_str().strip_prefix(ID).and_then(Digest::parse);
        let Some(digest) = digest else {
            let text = "The reference names no attachment of this store.";
            return Err(AttachmentError::new(Code::InvalidAttachmentRef, text));
        };
        match object::read(&*self.volume, &self.dir, digest, self.limits.image_bytes_max) {
            Ok(Some(data)) => Ok(data),
            Ok(None) => {
                let text = "The stored attachment is not what was stored.";
                Err(AttachmentError::new(Code::AttachmentCorrupt, text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let text = "There is no such attachment.";
                Err(AttachmentError::new(Code::AttachmentNotFound, text))
            }
            Err(_) => {
                let text = "The attachment could not be read.";
                Err(AttachmentError::new(Code::AttachmentReadFailed, text))
            }
        }
    }
}

fn failed(text: &str) -> AttachmentError {
    AttachmentError::new(Code::AttachmentWriteFailed, text)
}

#[async_trait]
impl AttachmentStore for EmbeddedStore {
    async fn admit(
        &self,
        images: Vec<ImageUpload>,
        cancel: Cancel,
    ) -> Result<Vec<ImageRef>, StoreFailure> {
        self.blocking(move |folder| folder.admit(images, &cancel)).await
    }

    async fn read(&self, id: &AttachmentId) -> Result<Vec<u8>, StoreFailure> {
        let id = id.clone();
        self.blocking(move |folder| folder.read(&id)).await
    }
}

impl fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedStore").field("dir", &self.folder.dir).finish_non_exhaustive()
    }
}
