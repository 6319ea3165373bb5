//! A durable, verifiable event log for agent sessions.

pub mod json;
pub mod event;
pub mod companion;
pub mod storage;
pub mod dsh;
