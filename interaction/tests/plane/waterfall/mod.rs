//! The waterfall of answerers: who is asked, in which order, and what comes of it.

mod authority;
mod bindings;
mod faults;
mod generations;
mod lifetime;
mod machine;
mod order;
pub(crate) mod scene;
mod sight;
mod unload;
mod untyped;
