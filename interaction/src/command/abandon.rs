//! What becomes of foreign work that nobody waits for any more.

use std::time::Duration;

/// What becomes of foreign work that nobody waits for any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnAbandon {
    /// It goes on until it returns.
    #[default]
    Detach,
    /// It is dropped this long after it was cancelled. Needs a runtime with a timer.
    AbortAfter(Duration),
}
