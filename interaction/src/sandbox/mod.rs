//! The sandbox mode: a knob of the session, its check, and escalation for one call.

mod mode;

pub use mode::SandboxMode;
