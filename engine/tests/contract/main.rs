//! The contract of stores: one list of cases, run over each store on each disk.
//!
//! A case is a function over a [`bench::Bench`] that leaves a store open. It is tagged with the
//! part of the promises that it belongs to, and with whether it is about a store that keeps the
//! part or about one that does not. After each case the store is opened from the bytes that are
//! there: as after the death of the process, as after a power cut, and closed; what is read must
//! be the same.

mod bench;
mod cases;
mod content;
mod drawn;
mod ground;
mod matrix;
mod property;
#[path = "../../../fuzz/regressions.rs"]
mod regressions;
mod tap;
mod world;
