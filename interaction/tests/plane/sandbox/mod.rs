//! Sandbox mode and escalation.
