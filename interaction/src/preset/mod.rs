//! Permission presets: what a person chooses, and which knobs it stands for.
