//! What a session's events add up to, for whoever shows it: folds with a view.
//!
//! A projection is never asked by a companion, and may be left out without changing a verdict.

mod authority;

pub use authority::{Authority, AuthorityView};
