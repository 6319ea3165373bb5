//! What becomes of a call before its body.

use crate::agent::BoxError;
use crate::approval::{ApprovalOutcome, DecidedBy, Explained};
use crate::profile::{Profile, Texts};

/// A stable code of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// Somebody, or the policy, said no.
    Denied,
    /// Nobody could say.
    Unavailable,
    /// It was taken back before its body.
    AbortedBeforeDispatch,
    /// There is no such tool.
    UnknownTool,
    /// Its mode confines, and nothing here can.
    SandboxUnavailable,
}

impl RefusalCode {
    /// Every code.
    pub const ALL: [Self; 5] = [
        Self::Denied,
        Self::Unavailable,
        Self::AbortedBeforeDispatch,
        Self::UnknownTool,
        Self::SandboxUnavailable,
    ];

    /// Returns its text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "DENIED",
            Self::Unavailable => "UNAVAILABLE",
            Self::AbortedBeforeDispatch => "ABORTED_BEFORE_DISPATCH",
            Self::UnknownTool => "UNKNOWN_TOOL",
            Self::SandboxUnavailable => "SANDBOX_UNAVAILABLE",
        }
    }
}

/// A call that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// For programs; the host's profile leaves out those of approvals.
    pub code: Option<RefusalCode>,
    /// Why, without the wrapper that the model reads.
    pub reason: String,
    /// What looks at results behind a tool is to see it.
    pub runs_post_execute: bool,
}

impl Refused {
    /// The name of the error by which a call that was taken back is known.
    pub const ABORT_NAME: &'static str = "AbortError";

    /// Returns what the model reads.
    pub fn text(&self) -> String {
        format!("Error: {}", self.reason)
    }

    pub(super) fn denied(reason: String, profile: &Profile) -> Self {
        let code = profile.codes.then_some(RefusalCode::Denied);
        Self { code, reason, runs_post_execute: true }
    }

    pub(super) fn aborted() -> Self {
        let reason = "tool call aborted before dispatch".to_owned();
        let code = Some(RefusalCode::AbortedBeforeDispatch);
        Self { code, reason, runs_post_execute: true }
    }

    pub(super) fn unavailable(reason: String, profile: &Profile) -> Self {
        let code = profile.codes.then_some(RefusalCode::Unavailable);
        Self { code, reason, runs_post_execute: true }
    }
}

/// What becomes of a call before its body.
#[derive(Debug)]
pub enum Verdict {
    /// The body runs.
    Dispatch,
    /// It does not, and that is a result.
    Refused(Refused),
    /// What was to decide failed. The result is a failure, and nothing looks at it behind.
    Failed(BoxError),
}

/// Returns what a refusal of an approval makes of a call; nothing for a grant.
pub(super) fn refusal(name: &str, explained: Explained, profile: &Profile) -> Option<Refused> {
    let by_policy = explained.by == DecidedBy::Policy && profile.texts == Texts::Strict;
    let refused = match explained.outcome {
        ApprovalOutcome::AllowedOnce => return None,
        ApprovalOutcome::Rejected if by_policy => {
            Refused::denied(format!("approval policy \"never\" rejected tool \"{name}\""), profile)
        }
        ApprovalOutcome::Rejected => {
            Refused::denied(format!("the user rejected tool \"{name}\""), profile)
        }
        ApprovalOutcome::Cancelled => Refused {
            code: profile.cancelled_is_abort.then_some(RefusalCode::AbortedBeforeDispatch),
            reason: format!("approval for tool \"{name}\" was cancelled"),
            runs_post_execute: true,
        },
        ApprovalOutcome::Unavailable => Refused::unavailable(
            format!("tool \"{name}\" requires approval, but no approval channel is available"),
            profile,
        ),
    };
    Some(refused)
}
