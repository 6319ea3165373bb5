//! The seam before a tool runs: allow, deny or ask, and guards after a grant.

mod call;
mod verdict;
mod guards;
mod seam;
mod step;

pub use call::{PreDecision, ToolCall};
pub use guards::{Guard, GuardRegistration};
pub use seam::{Confinement, OnRefusal, ToolSeam, Tools};
pub use verdict::{RefusalCode, Refused, Verdict};
