//! Stores written by hand, and what is made of them.

mod build;
mod crash;
mod forged;
mod rows_end;
mod rows_files;

pub(crate) use build::{Built, Fixed, Written, dir};
