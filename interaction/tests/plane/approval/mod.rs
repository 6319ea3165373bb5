//! Approvals, their pair in the log, the turn around it, the policy.
