//! The invariants of a session log as pluggable companions, and `verify`.

pub mod rule;
pub mod report;
mod key;
pub mod companion;
pub mod projection;
mod reader_rules;
mod store_rules;
mod catalogue;
pub mod load;
mod fold;
mod vocabulary;
pub mod facts;
pub mod standard;
mod judge;
pub mod verify;
mod hearing;
pub mod store;
pub mod board;

/// Returns every rule, those of one family together.
pub fn rules() -> impl Iterator<Item = &'static rule::Rule> {
    catalogue::all().iter()
}

/// Returns the rule of an id.
pub fn rule(id: &str) -> Option<&'static rule::Rule> {
    catalogue::find(id)
}
