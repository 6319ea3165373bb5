//! What the tests of the plane stand on.

#![allow(
    dead_code,
    unused_imports,
    reason = "a support module serves tests that come one after another"
)]

mod backend;
mod script;
mod sink;
mod world;

pub(crate) use backend::Faults;
pub(crate) use script::{Called, Script, script};
pub(crate) use sink::Sink;
pub(crate) use world::{
    Kind, Seen, World, end_turn, errors, forced, header, open, open_zstd, start_turn, turn_end,
};
