//! One-shot approvals and the approval policy.

mod error;
mod machine;
mod outcome;
mod pairing;
mod policy;
mod port;
mod request;
mod untyped;

pub use error::ApprovalError;
pub use machine::{Machine, MachineAnswerer, Selection};
pub use outcome::{ApprovalOutcome, RawOutcome};
pub use pairing::{Paired, Pairing};
pub use policy::{ApprovalPolicy, KnobSource, NotAPolicy};
pub use port::{ApprovalPort, DecidedBy, Explained};
pub use request::{Approval, ApprovalId, ApprovalRequest};
pub use untyped::{Untyped, UntypedListener, UntypedNext};
