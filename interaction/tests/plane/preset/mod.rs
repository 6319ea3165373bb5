//! Permission presets.
