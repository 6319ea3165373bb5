//! The person's own default.

use super::table::{PresetConfigError, PresetTable};
use crate::agent::BoxError;

/// The namespace of the setting.
pub const NAMESPACE: &str = "permission";

/// The key of the setting.
pub const KEY: &str = "defaultPreset";

/// Where a person's settings are. Sampled when a session is pinned, and never again for it.
pub trait Settings: Send + Sync {
    /// Returns the value of a key, if it has one.
    ///
    /// # Errors
    ///
    /// Why it could not be read. A session whose settings cannot be read is not made.
    fn get(&self, namespace: &str, key: &str) -> Result<Option<String>, BoxError>;

    /// Keeps the value of a key.
    ///
    /// # Errors
    ///
    /// Why it could not be kept.
    fn set(&self, namespace: &str, key: &str, value: &str) -> Result<(), BoxError>;
}

/// Why a setting was not kept.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// There is no such preset; the old value stays.
    #[error(transparent)]
    Unknown(#[from] PresetConfigError),
    /// It could not be kept.
    #[error("the setting was not kept: {0}")]
    NotKept(BoxError),
}

/// Returns the default of a person, if one is set and there is such a preset.
pub(super) fn sampled(
    settings: &dyn Settings,
    table: &PresetTable,
) -> Result<Option<String>, PresetConfigError> {
    let value = settings.get(NAMESPACE, KEY);
    match value.map_err(|error| PresetConfigError::Settings { what: error.to_string() })? {
        Some(name) => Ok(Some(table.resolve(&name)?.0.to_string())),
        None => Ok(None),
    }
}
