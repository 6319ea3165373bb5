//! A durable, verifiable event log for agent sessions.

pub mod json;
pub mod event;
pub mod companion;
pub mod rules;
pub mod storage;
pub mod machine;
pub mod backend;
pub mod dsh;
pub mod log;
pub mod check;
pub mod session_files;
pub mod store;
pub mod replay;
