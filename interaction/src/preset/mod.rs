//! Permission presets: what a person chooses, and which knobs it stands for.

mod table;
mod settings;
mod service;
mod pin;
mod permission;

pub use permission::permission_command;
pub use service::{ComposedDefaults, CurrentPreset, PresetError, PresetService, Switched};
pub use settings::{KEY, NAMESPACE, SettingError, Settings};
pub use table::{CUSTOM, Preset, PresetConfigError, PresetName, PresetTable};
