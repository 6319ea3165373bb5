//! One-shot approvals and the approval policy.

mod outcome;
mod pairing;
mod policy;
mod request;
mod error;
mod port;
mod event;
mod pending;
mod answerer;
mod machine;
mod service;
mod drain;
mod knob;

pub use answerer::{ScriptedNext, answerer, scripted};
pub use error::ApprovalError;
pub use knob::{Contribution, PolicyChange, PolicyError};
pub use machine::{Machine, MachineAnswerer, Selection};
pub use outcome::{ApprovalOutcome, RawOutcome};
pub use pairing::{Paired, Pairing};
pub use policy::{ApprovalPolicy, KnobSource, NotAPolicy};
pub use port::{ApprovalPort, DecidedBy, Explained};
pub use request::{Approval, ApprovalId, ApprovalRequest};
pub use service::ApprovalService;

pub(crate) use event::policy as policy_event;
pub(crate) use knob::notify;
