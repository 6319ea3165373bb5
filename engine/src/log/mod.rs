//! The native store: a segmented log of frames, one batch of one session each.
//!
//! `docs/format.md` says what lies on the disk, byte by byte; the files of this module say it again
//! for the structure that each of them reads and writes.

#![allow(dead_code, reason = "codecs and recovery come before the log that uses them")]

pub(crate) mod limit;
pub(crate) mod field;
pub(crate) mod crc;
pub(crate) mod kind;
pub(crate) mod chain;
pub(crate) mod segment_header;
pub(crate) mod frame;
pub(crate) mod table;
pub(crate) mod encoded;
pub(crate) mod envelope;
pub(crate) mod records;
pub(crate) mod body;
pub(crate) mod superblock;
pub(crate) mod durable;
pub(crate) mod name;
mod canary;
pub(crate) mod tail;
pub(crate) mod source;
pub(crate) mod scene;
pub(crate) mod behind;
pub(crate) mod walk;
pub(crate) mod tally;
pub(crate) mod closed;
pub(crate) mod judgement;
pub(crate) mod judge;
mod segment_file;
pub(crate) mod fresh;
pub(crate) mod asked;
pub(crate) mod opened;
pub(crate) mod recovery;
pub(crate) mod reader;
mod look;
mod config;
mod slot;
mod group;
mod sessions;
mod prepared;
mod segment;
mod order;
mod take_back;
mod io;
mod finisher;
mod writer;
mod failure;
mod lock;
mod frame_index;
mod open;
mod inner;
mod reading;
mod housekeeper;
mod native_log;

#[doc(hidden)]
pub use canary::Canary;
pub use config::LogConfig;
pub use look::{Look, LookedEnd, look};
pub use native_log::Log;
pub use order::Tail;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod ranges;
#[cfg(test)]
mod refusals;
