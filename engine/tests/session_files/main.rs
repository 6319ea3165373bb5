//! The host's session files as a store: bytes, foreign writers, failures, torn ends, classes.

mod classes;
mod common;
mod disk;
mod failures;
mod foreign;
mod golden;
mod refusals;
mod roundtrip;
mod torn;
