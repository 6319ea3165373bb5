//! What processes did to a simulated disk, in order.

use std::fmt;
use std::path::PathBuf;

use super::fault::Call;

/// One call that changed or synced something, or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Number of the operation, counted from 1; a call that failed before it did anything has the
    /// number of the one before it.
    pub operation: u64,
    /// What was called.
    pub call: Call,
    /// The file or directory; of a rename the old name.
    pub path: PathBuf,
    /// The new name of a rename or link.
    pub to: Option<PathBuf>,
    /// Where a write began.
    pub offset: u64,
    /// Bytes that a read or write took, or the new size.
    pub bytes: u64,
    /// What went wrong.
    pub error: Option<String>,
}

impl fmt::Display for Traced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?} {}", self.operation, self.call, self.path.display())?;
        if let Some(to) = &self.to {
            write!(formatter, " to {}", to.display())?;
        }
        if matches!(self.call, Call::Write | Call::SetLen | Call::Read | Call::ReadDevice) {
            write!(formatter, " at {} bytes {}", self.offset, self.bytes)?;
        }
        match &self.error {
            Some(error) => write!(formatter, ": {error}"),
            None => Ok(()),
        }
    }
}
