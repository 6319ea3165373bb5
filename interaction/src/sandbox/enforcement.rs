//! Whether something here can confine commands.

use super::mode::SandboxMode;
use crate::chain::contained;

/// Confines commands, where it can.
///
/// Who asks: the sandbox, at the start of each turn and for each confined call, so that one that
/// went away is noticed. A panic counts as no.
pub trait Enforcement: Send + Sync {
    /// Returns whether commands can be confined to a mode here and now.
    fn usable(&self, mode: SandboxMode) -> bool;
}

/// A mode that confines was wanted, and nothing here can confine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "sandbox mode \"{mode}\" is requested but no sandbox backend is usable on this host; refusing \
     to run the command unconfined. Install bubblewrap or run a Landlock-enforcing kernel (Linux), \
     ensure sandbox-exec is usable (macOS), or ensure the ACL restricted-token runner can start \
     (Windows) — otherwise switch the consumer to danger-full-access."
)]
pub struct SandboxUnavailable {
    /// The mode.
    pub mode: SandboxMode,
}

impl SandboxUnavailable {
    /// The stable code.
    pub const CODE: &'static str = "SANDBOX_UNAVAILABLE";
}

pub(super) fn usable(enforcement: &dyn Enforcement, mode: SandboxMode) -> bool {
    contained(|| enforcement.usable(mode)).unwrap_or(false)
}
