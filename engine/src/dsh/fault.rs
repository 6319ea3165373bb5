//! What is wrong with a log's bytes, lines, header or order: a value, with the host's own words.

use crate::companion::RuleId;
use crate::event::Place;
use std::fmt::Write as _;

/// What kind of bad news a fault is; the kinds ask for different acts and are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Container, line, JSON, header, envelope or order are damaged.
    Corrupt,
    /// The meaning breaks a rule that the host's loader enforces.
    Violation,
    /// Undamaged, and of a version or vocabulary that the reader does not know.
    Unsupported,
    /// Larger than a limit of ours, and so not checked.
    Limit,
    /// Could not be read, or is no session file.
    Unreadable,
}

/// A reason for which the host refuses a log, or for which we could not judge it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of bad news it is.
    pub kind: FaultKind,
    /// The rule that it breaks.
    pub rule: RuleId,
    /// What is wrong, in our words.
    pub message: String,
    /// The host's own message, where the host refuses.
    pub host: Option<String>,
    /// Where.
    pub place: Place,
}

/// The longest message, or part of one that a log gives, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4096;

/// Cuts a text that a log may have made as long as it likes.
pub fn clip(mut text: String) -> String {
    if text.len() > MESSAGE_BYTES_MAX {
        let whole = text.len();
        let cut = (0..=MESSAGE_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(cut.unwrap_or(0));
        // Writing to a string cannot fail.
        let _ = write!(text, "… ({whole} bytes)");
    }
    text
}

impl Fault {
    /// Makes a fault of damaged bytes whose message is the host's.
    pub fn corrupt(rule: RuleId, host: impl Into<String>, place: Place) -> Self {
        let host = clip(host.into());
        Self { kind: FaultKind::Corrupt, rule, message: host.clone(), host: Some(host), place }
    }

    /// Makes a fault of a kind, with one message for people and one of the host.
    pub fn new(
        kind: FaultKind,
        rule: RuleId,
        message: impl Into<String>,
        host: Option<String>,
        place: Place,
    ) -> Self {
        Self { kind, rule, message: clip(message.into()), host: host.map(clip), place }
    }
}
