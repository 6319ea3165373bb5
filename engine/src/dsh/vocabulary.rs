//! The event types that each format's reader knows.
//!
//! # Source
//!
//! `docs/dsh-format.md`, section 14.8. The column of format 3 is the frozen released list.

use std::sync::OnceLock;

/// One event type and the formats whose readers know it: bit N stands for format N.
#[derive(Clone, Copy, Debug)]
struct Known {
    name: &'static str,
    formats: u8,
}

const fn known(name: &'static str, formats: u8) -> Known {
    Known { name, formats }
}

/// How many types there are.
pub const TYPES: usize = 62;

/// Sorted by name.
const KNOWN: [Known; TYPES] = [
    known("agent-preset/selected", 0b11111),
    known("agent/inbox/spliced", 0b11111),
    known("approval/asked", 0b11111),
    known("approval/decided", 0b11111),
    known("approval/policy", 0b11111),
    known("assistant/attempt", 0b11100),
    known("assistant/chunk", 0b00011),
    known("assistant/message", 0b11111),
    known("command/done", 0b11111),
    known("command/run", 0b11111),
    known("compaction/end", 0b11111),
    known("compaction/prune", 0b11111),
    known("compaction/start", 0b11111),
    known("compaction/summary", 0b11111),
    known("deliverables/presented", 0b11000),
    known("developer/message", 0b10000),
    known("feedback/message-delete", 0b11000),
    known("feedback/message-put", 0b11000),
    known("feedback/record", 0b11111),
    known("goal/change", 0b11111),
    known("hook/invoked", 0b11111),
    known("hook/result", 0b11111),
    known("image/offload", 0b11000),
    known("llm/retry", 0b11111),
    known("llm/retry-started", 0b11111),
    known("model/selection", 0b11110),
    known("permission/preset", 0b11111),
    known("plan/mode", 0b11111),
    known("request/context", 0b11111),
    known("request/header", 0b11111),
    known("sandbox/mode", 0b11111),
    known("schedule/change", 0b11111),
    known("session-log-deepseek/delivery-accepted", 0b11110),
    known("session/end-seed", 0b11111),
    known("session/title", 0b11111),
    known("session/title-llm-request", 0b11111),
    known("step/end", 0b11111),
    known("step/start", 0b11111),
    known("subagent/catalog", 0b11000),
    known("subagent/descriptor", 0b11111),
    known("subagent/model-selection-policy", 0b11110),
    known("system/message", 0b11000),
    known("team/member", 0b11111),
    known("team/message/delivered", 0b11111),
    known("team/message/queued", 0b11111),
    known("team/task", 0b11111),
    known("todo/write", 0b11111),
    known("tool-workflow/agent-end", 0b11111),
    known("tool-workflow/agent-start", 0b11111),
    known("tool-workflow/run-end", 0b11111),
    known("tool-workflow/run-start", 0b11111),
    known("tool/call", 0b11111),
    known("tool/code-dispatch", 0b00111),
    known("tool/code-dispatch-start", 0b00111),
    known("tool/ptc-dispatch", 0b11000),
    known("tool/ptc-dispatch-start", 0b11000),
    known("tool/result", 0b11111),
    known("turn/end", 0b11111),
    known("turn/start", 0b11111),
    known("user/message", 0b11111),
    known("web/deepseek-search-llm-request", 0b11111),
    known("workspace/changes", 0b11000),
];

/// The three storage tags of packed rows, which are no event types.
pub const PACKED: [&str; 3] = ["reasoning-chunks", "text-chunks", "tool-call-chunks"];

/// A type of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownType {
    /// The name, as the catalogue spells it.
    pub name: &'static str,
    formats: u8,
    index: u8,
}

impl KnownType {
    /// Returns a number below [`TYPES`] that no other type has.
    pub fn index(self) -> usize {
        usize::from(self.index)
    }

    /// Returns whether the reader of a format knows the type.
    pub fn is_known_in(self, format: u64) -> bool {
        format <= 4 && self.formats >> format & 1 == 1
    }
}

/// Returns the type of a name, when any format knows it.
pub fn find(name: &[u8]) -> Option<KnownType> {
    let (length, first) = (name.len(), *name.first()?);
    // The names are few and differ early; length and first letter leave at most a handful.
    let candidates = &index()[length.min(LENGTHS - 1)];
    let found = candidates.iter().map(|at| (*at, &KNOWN[usize::from(*at)]));
    let mut found = found.filter(|(_, known)| known.name.as_bytes()[0] == first);
    let (index, known) = found.find(|(_, known)| known.name.as_bytes() == name)?;
    Some(KnownType { name: known.name, formats: known.formats, index })
}

/// One more than the longest name has bytes; longer ones share the last place, which is empty.
const LENGTHS: usize = 40;

/// Returns the places in [`KNOWN`] of the names of each length.
fn index() -> &'static [Vec<u8>; LENGTHS] {
    static INDEX: OnceLock<[Vec<u8>; LENGTHS]> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = [const { Vec::new() }; LENGTHS];
        for (at, known) in (0..).zip(&KNOWN) {
            index[known.name.len()].push(at);
        }
        index
    })
}

/// Returns whether the reader of a format knows the type.
pub fn is_known(format: u64, name: &str) -> bool {
    find(name.as_bytes()).is_some_and(|known| known.is_known_in(format))
}

/// Returns whether format 0 derives a model message from events of this type.
pub fn is_surface(name: &str) -> bool {
    matches!(name, "user/message" | "assistant/message" | "tool/result")
}

/// Returns every type that the reader of a format knows, in the order of their names.
pub fn all(format: u64) -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name).filter(move |name| is_known(format, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_as_many_types_as_each_format_knows() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].name < pair[1].name));
        let count = |format: u64| KNOWN.iter().filter(|entry| is_known(format, entry.name)).count();
        assert_eq!([0, 1, 2, 3, 4, 5].map(count), [48, 51, 51, 58, 59, 0]);
    }

    #[test]
    fn a_type_that_a_later_format_adds_is_unknown_before() {
        assert!(is_known(2, "assistant/attempt") && !is_known(0, "assistant/attempt"));
        assert!(is_known(0, "assistant/chunk") && !is_known(2, "assistant/chunk"));
        assert_eq!(find(b"turn/start").map(|known| known.name), Some("turn/start"));
        assert_eq!(find(b"turn/started"), None);
        assert!(KNOWN.iter().all(|entry| find(entry.name.as_bytes()).is_some()));
    }
}
