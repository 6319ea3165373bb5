//! The ways to people.
