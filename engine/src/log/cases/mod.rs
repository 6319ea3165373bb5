//! Stores written by hand, and what is made of them.

mod build;
mod crash;
mod forged;
mod reads;
mod rows_end;
mod rows_files;
