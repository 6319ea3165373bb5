//! Hostile input costs bounded memory and time, and every case of it ends in a report.
//!
//! The command runs under `ulimit -v` as a hard bound, and its peak resident memory is read from
//! `/proc` while it runs; `cargo test -p gatelog-cli --test hostile -- --nocapture` prints the
//! figures. The bounds are some multiple of what was measured, so that they hold on other machines
//! and still tell a leak of a line or a frame. One case runs at a time.
//!
//! Big text is run-length blocks of hand-made frames, some kilobytes on disk; the few plain logs of
//! hundreds of megabytes are written for their test and removed with it.

#![cfg(target_os = "linux")]

mod common;
#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/ids.rs"]
mod ids;
#[path = "hostile/frames.rs"]
mod frames;
#[path = "hostile/lines.rs"]
mod lines;
#[path = "hostile/texts.rs"]
mod texts;
#[path = "hostile/values.rs"]
mod values;
#[path = "hostile/watch.rs"]
mod watch;
