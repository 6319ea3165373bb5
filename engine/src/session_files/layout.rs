//! What differs between the host's formats, as data: one table for each format that is written.
//!
//! # Source
//!
//! `docs/dsh-format.md`, sections 1.4, 5.1, 7.1, 8.1, 12, 14.8 and 18.

use crate::dsh::vocabulary;
use crate::json::Json;

/// How a member stands in a header line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// In every one, and the caller gives it.
    Required,
    /// In every one; this text where the caller gives none.
    Default(&'static str),
    /// Where the caller gives it.
    Optional,
}

/// Whose lock keeps a second writer out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockRule {
    /// The host takes none, and so does not see ours.
    Ours,
    /// The host takes the same `session.lock`, and waits for nobody.
    #[cfg_attr(not(test), expect(dead_code, reason = "the rule of formats 3 and 4"))]
    Hosts,
}

/// One format, as its host writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The format number, which is also the number in the log's name.
    pub(super) format: u32,
    /// The members of the header line, in the order in which the host writes them.
    pub(super) header: &'static [(&'static str, Presence)],
    /// Runs of chunks become packed rows.
    pub(super) packs: bool,
    /// What keeps a second writer out.
    pub(super) lock: LockRule,
    /// The types whose events stand on the surface; no other event may carry its metadata.
    pub(super) surface: &'static [&'static str],
    /// How the message ids begin of the results by which the host closes calls. In such a row alone
    /// it writes `surfaceOp` before `sourceEventSeqs`.
    pub(super) closer_ids: &'static str,
    /// Types that the host's loader refuses or rewrites, ignorable or not.
    pub(super) retired: &'static [&'static str],
}

/// The formats that are written, by their numbers.
static LAYOUTS: [Layout; 1] = [Layout {
    format: 0,
    header: &[
        ("type", Presence::Required),
        ("version", Presence::Required),
        ("id", Presence::Required),
        ("createdAt", Presence::Required),
        ("cwd", Presence::Optional),
        ("parentSession", Presence::Optional),
        ("seedLength", Presence::Optional),
        ("origin", Presence::Optional),
        ("delegationDepth", Presence::Default("0")),
        ("agentPreset", Presence::Optional),
    ],
    packs: true,
    lock: LockRule::Ours,
    surface: &["user/message", "assistant/message", "tool/result"],
    closer_ids: "interrupted-tool-result-",
    retired: &["request/header-delta", "mode/set", "steering/message"],
}];

impl Layout {
    /// Returns the table of a format; nothing for one that is not written.
    pub(super) fn of(format: u32) -> Option<&'static Self> {
        LAYOUTS.iter().find(|layout| layout.format == format)
    }

    /// Returns whether a type is in the format's vocabulary.
    pub(super) fn knows(&self, kind: &str) -> bool {
        vocabulary::is_known(u64::from(self.format), kind)
    }

    /// Returns whether an event is a result by which the host closes a call.
    pub(super) fn is_closer(&self, kind: &str, data: Json<'_>) -> bool {
        let id = data.get("message").and_then(|message| message.get("id"));
        let id = id.filter(|_| kind == "tool/result").and_then(|id| id.as_text());
        id.is_some_and(|id| id.to_wtf8().starts_with(self.closer_ids.as_bytes()))
    }

    /// Returns whether a type can be no event of this format at all.
    pub(super) fn has_no_place_for(&self, kind: &str) -> bool {
        self.retired.contains(&kind) || self.packs && vocabulary::PACKED.contains(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_of_format_0_is_that_of_the_vocabulary() {
        let layout = Layout::of(0).expect("format 0 is written");
        assert!(layout.surface.iter().all(|kind| vocabulary::is_surface(kind)));
        assert!(layout.surface.iter().all(|kind| layout.knows(kind)));
        assert!(!layout.knows("mode/set") && layout.has_no_place_for("mode/set"));
        assert!(layout.has_no_place_for("text-chunks") && !layout.has_no_place_for("acme/note"));
    }

    #[test]
    fn a_format_without_a_table_is_not_written() {
        assert_eq!([1, 2, 3, 4, 5].map(Layout::of), [None; 5]);
        assert_ne!(LockRule::Ours, LockRule::Hosts);
    }
}
