//! The native store.

pub(crate) mod tail;
