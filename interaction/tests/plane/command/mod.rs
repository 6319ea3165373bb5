//! Slash commands.

mod support;
mod pictures;
mod grammar;
mod definition;
mod registry;
mod changes;
mod lifecycle;
mod results;
mod failures;
mod injected;
mod cancelling;
mod abandoned;
mod plane_only;
mod wire;
mod admission;
mod receipts;
mod embedded;
mod power_cuts;
mod validator;
mod stored;
