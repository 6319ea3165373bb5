//! What a text is refused for.

use std::fmt;

/// The kinds of [`Defect`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DefectKind {
    /// The text is no JSON: the host refuses it too.
    Malformed,
    /// The text holds more values than [`Scanner::node_limit`](super::Scanner::node_limit) allows:
    /// a limit of ours, which says nothing about the text.
    TooManyNodes,
    /// The text is longer than the offsets of a tape can say: a limit of ours.
    TooLong,
}

/// Why a text was refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Offset of the first byte that no JSON text can have there; the length of a text that ends
    /// too early. For a limit, how far the scan came.
    pub offset: usize,
    /// What is wrong, in words.
    pub what: &'static str,
    /// Whether the text or a limit of ours is to blame.
    pub kind: DefectKind,
}

impl Defect {
    pub(super) const fn malformed(offset: usize, what: &'static str) -> Self {
        Self { offset, what, kind: DefectKind::Malformed }
    }

    /// Returns whether a limit of ours was met, so that the text was not judged.
    pub fn is_limit(&self) -> bool {
        self.kind != DefectKind::Malformed
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for Defect {}
