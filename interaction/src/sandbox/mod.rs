//! The sandbox mode: a knob of the session, its check, and escalation for one call.
//!
//! The mode says how far commands may reach; whether anything can hold them to it is asked of the
//! [`Enforcement`], at each turn and for each confined call. Where nothing can, a confining mode
//! fails, whatever a person allowed.

mod mode;
mod enforcement;
mod knob;
mod escalation;

pub use enforcement::{Enforcement, SandboxUnavailable};
pub use escalation::{
    Escalation, EscalationArgument, EscalationError, EscalationRequest, approve_escalation,
    denial_marker,
};
pub use knob::{NotAMode, Sandbox, SandboxError, workspace_root};
pub use mode::SandboxMode;

pub(crate) use knob::event as mode_event;
