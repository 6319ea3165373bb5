//! The terminal of gatelog: `log-verify`, and `gatelog`, the toolbox around it (`toolbox`).
//!
//! The command finds the session files under the paths it is given, verifies them on all cores and
//! prints, in the order of their paths, what became of each: as text for a tired person, or as one
//! JSON object a line for a program. Everything that is known about a file comes from
//! [`gatelog_validator::verify`]; this crate only decides which words, which colours and which exit
//! code.
//!
//! One file's way through the modules: `args` says what to do and `run` does it. `survey` finds the
//! targets, `order` verifies them in parallel and hands the reports back in order, `text` or `json`
//! prints each, `tally` counts it, and the tally gives the exit code. `explain` answers `--rules`
//! and `--explain`. `printable` stands between every name or message that came from a file and the
//! terminal.
//!
//! A store of gatelog's own is a target as well: its report comes before those of its sessions.
//!
//! What the crate is not: it judges nothing, and it never writes to a file.

mod printable;
mod style;
mod amount;
mod args;
mod tally;
mod sink;
mod json;
mod explain;
mod words;
mod legend;
mod shown;
mod text;
mod progress;
mod order;
mod survey;
mod run;
mod toolbox;

pub use run::main;
pub use toolbox::main as toolbox;
