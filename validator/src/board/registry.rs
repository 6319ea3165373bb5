//! Which projections there are.

use super::unit::Unit;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a projection was not registered.
#[derive(Clone, Debug, PartialEq)]
pub enum RegistryError {
    /// A version that is no non-negative safe integer.
    BadVersion {
        /// The key.
        key: String,
        /// The version.
        got: f64,
    },
    /// Another version of it is registered.
    OtherVersion {
        /// The key.
        key: String,
        /// The version that is registered.
        there: u32,
        /// The version that was to be.
        wanted: u32,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadVersion { key, got } => write!(
                f,
                "session projection \"{key}\" stateVersion must be a non-negative integer, got \
                 {got}"
            ),
            Self::OtherVersion { key, there, wanted } => write!(
                f,
                "session projection key \"{key}\" is already registered at stateVersion {there}; \
                 refusing to share it with stateVersion {wanted}"
            ),
        }
    }
}

impl std::error::Error for RegistryError {}

/// Reads a version that came over an untyped edge.
///
/// # Errors
///
/// [`RegistryError::BadVersion`] for what is no non-negative integer, and for one that no version
/// here can be.
pub fn state_version(key: &str, got: f64) -> Result<u32, RegistryError> {
    let version = got as u32;
    if f64::from(version) == got && !(got == 0.0 && got.is_sign_negative()) {
        return Ok(version);
    }
    Err(RegistryError::BadVersion { key: key.to_owned(), got })
}

struct Entry {
    unit: Unit,
    /// How many registered it.
    count: usize,
}

/// The projections of a host. Copies are the same registry.
#[derive(Clone, Default)]
pub struct Registry(Arc<Mutex<Vec<Entry>>>);

impl Registry {
    /// Makes an empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a unit until what is returned is dropped. Whoever registers the same key with the
    /// same version shares the unit that is there.
    ///
    /// # Errors
    ///
    /// [`RegistryError::OtherVersion`].
    pub fn register(&self, unit: Unit) -> Result<Registered, RegistryError> {
        let key = unit.key;
        let mut entries = self.lock();
        match entries.iter_mut().find(|entry| entry.unit.key == key) {
            None => entries.push(Entry { unit, count: 1 }),
            Some(entry) if entry.unit.version == unit.version => entry.count += 1,
            Some(entry) => {
                let (there, wanted) = (entry.unit.version, unit.version);
                return Err(RegistryError::OtherVersion { key: key.to_owned(), there, wanted });
            }
        }
        drop(entries);
        Ok(Registered { registry: self.clone(), key })
    }

    /// Returns the units, in the order of their registration.
    pub(super) fn units(&self) -> Vec<Unit> {
        self.lock().iter().map(|entry| entry.unit.clone()).collect()
    }

    /// Returns the keys, in the order of their registration.
    pub fn keys(&self) -> Vec<&'static str> {
        self.lock().iter().map(|entry| entry.unit.key).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.keys()).finish()
    }
}

/// A projection that is registered until this is dropped, if nobody else registered it.
#[must_use = "the projection is registered until this is dropped"]
#[derive(Debug)]
pub struct Registered {
    registry: Registry,
    key: &'static str,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut entries = self.registry.lock();
        if let Some(at) = entries.iter().position(|entry| entry.unit.key == self.key) {
            entries[at].count -= 1;
            if entries[at].count == 0 {
                entries.remove(at);
            }
        }
    }
}
