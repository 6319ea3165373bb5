//! What a walk through the states of a crash need not do again.

use super::reference::Reading;
use std::collections::HashMap;
use std::io::Write;

/// 128 bits of a digest.
pub(crate) type Key = [u8; 16];

/// What was tried, and how deep.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    images: HashMap<Key, usize>,
    classes: HashMap<Key, usize>,
}

impl Explored {
    /// Enters an image that is about to be opened, and its recovery crashed so deep; returns
    /// whether that was not done yet.
    pub(crate) fn enter_image(&mut self, image: Key, depth: usize) -> bool {
        enter(&mut self.images, image, depth)
    }

    /// Enters a class whose recovery is about to be crashed wholly, so deep; returns whether that
    /// was not done yet.
    pub(crate) fn enter_class(&mut self, class: Key, depth: usize) -> bool {
        enter(&mut self.classes, class, depth)
    }

    /// Returns how many images there were.
    pub(crate) fn images(&self) -> u64 {
        self.images.len() as u64
    }

    /// Returns how many classes there were.
    pub(crate) fn classes(&self) -> u64 {
        self.classes.len() as u64
    }
}

/// What was explored deeper was explored so deep.
fn enter(known: &mut HashMap<Key, usize>, key: Key, depth: usize) -> bool {
    match known.get_mut(&key) {
        Some(deepest) if *deepest >= depth => false,
        Some(deepest) => {
            *deepest = depth;
            true
        }
        None => known.insert(key, depth).is_none(),
    }
}

/// Returns the key of some parts.
pub(crate) fn key(parts: &[&[u8]]) -> Key {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    cut(&hasher)
}

/// Returns the key of everything that the document says of a store.
pub(crate) fn key_of_reading(reading: &Reading) -> Key {
    let mut hasher = blake3::Hasher::new();
    // A hasher takes everything.
    let _ = write!(hasher, "{reading:?}");
    cut(&hasher)
}

fn cut(hasher: &blake3::Hasher) -> Key {
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}
