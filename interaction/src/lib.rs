//! The plane on which a person meets a running agent.
//!
//! An agent that works on somebody's behalf stops at some points and asks: may this command run,
//! may this file be written, which of these did you mean. The answers, and the standing rules under
//! which no question is asked at all, are facts of the session. This crate will hold the parts that
//! ask and remember: one-shot approvals, the approval policy, permission presets, the sandbox mode,
//! slash commands and questions. Each of them writes its facts through the session's gate, and
//! knows nothing that cannot be folded from the log again.
//!
//! It fails closed. Nobody to ask, an answerer that panics, an answer outside the closed set and an
//! answerer that withdrew are all `unavailable`; the first committed outcome stands and later ones
//! are void; a question is durable before anybody is asked, and its answer before anybody is told.
//!
//! # What it is not
//!
//! It is no user interface, no agent loop and no model client. It owns no file and opens no socket.
//!
//! # Where to look
//!
//! [`plane`] has what all services share, [`chain`] the waterfall of listeners, `flight` the core
//! that decides which ending was first. `docs/interaction.md` says how it is built and why.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "a profile is small today, and may grow")]

mod sync;
pub mod text;
pub mod cancel;
mod flight;
pub mod scope;
pub mod agent;
pub mod internal;
pub mod profile;
pub mod plane;
pub mod chain;
pub mod approval;
pub mod sandbox;
pub mod command;
pub mod preset;
pub mod question;
pub mod tool;

#[cfg(test)]
mod cancel_tests;
#[cfg(test)]
mod flight_tests;
