//! What a walk through the states of a crash need not do again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// How often a recovery is cut off at most, and once more for none.
pub(crate) const CUTS: usize = 3;

/// 128 bits of a digest.
pub(crate) type Key = [u8; 16];

/// What was opened, by how often recovery had been cut off before.
///
/// Each of these sets is of its own, so that what is in them in the end does not depend on which
/// thread was where first.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    opened: [Mutex<HashSet<Key>>; CUTS],
    images: [Mutex<HashSet<[u8; 32]>>; CUTS],
}

impl Explored {
    /// Enters a state that is about to be opened; returns whether none like it was.
    pub(crate) fn enter(&self, cuts: usize, key: Key) -> bool {
        self.opened[cuts].lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }

    /// Enters what a process sees of a state that is opened; returns whether it is the first such.
    pub(crate) fn enter_image(&self, cuts: usize, image: [u8; 32]) -> bool {
        self.images[cuts].lock().unwrap_or_else(PoisonError::into_inner).insert(image)
    }
}

/// Returns the key of some parts.
pub(crate) fn key(parts: &[&[u8]]) -> Key {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}
