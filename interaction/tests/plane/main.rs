//! The interaction plane, driven through its public face and judged by what stands in the log.
//!
//! Every behaviour has a test that begins with its code, such as `ar_01_…`, and every scenario one
//! that begins with its number, such as `s_001_…`. `docs/interaction.md` has the table.

#![allow(
    clippy::similar_names,
    clippy::needless_pass_by_value,
    reason = "a test is read once, from the top"
)]

mod support;
mod chain_basics;
mod approval;
mod waterfall;
mod races;
mod preset;
mod sandbox;
mod command;
mod question;
mod tool;
mod projection;
mod replay;
mod table;
