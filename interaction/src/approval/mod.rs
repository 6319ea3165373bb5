//! One-shot approvals and the approval policy.

mod error;
mod outcome;
mod policy;
mod port;
mod request;

pub use error::ApprovalError;
pub use outcome::{ApprovalOutcome, RawOutcome};
pub use policy::{ApprovalPolicy, KnobSource, NotAPolicy};
pub use port::{ApprovalPort, DecidedBy, Explained};
pub use request::{Approval, ApprovalId, ApprovalRequest};
