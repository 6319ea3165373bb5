//! The waterfall of listeners that approvals, questions and decisions before a tool share.
//!
//! Listeners are asked in the order in which they were registered, global and scoped ones in one
//! line; [`Place::First`] goes before all that are there. A request takes the list as it is when it
//! is sent off: who registers later is not asked. Scope is a filter and no priority: a listener of
//! a scope sees the requests of that scope and of all below, of the generation that the request
//! holds. Only [`Next::run`] leads on; whoever returns without it ends the chain.

mod ask;
#[expect(clippy::module_inception, reason = "the file has the name of its noun")]
mod chain;
mod contained;
mod next;
mod registration;
mod route;

pub use ask::{Ask, Listener, ListenerError};
pub use chain::{Chain, Registrar};
pub use contained::Panicked;
pub use next::Next;
pub use registration::{Place, Registration};

pub(crate) use contained::{Contained, contained};
pub(crate) use route::{Answer, Names};
