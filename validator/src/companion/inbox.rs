//! The inbox: a splice removes messages that are there, and adds none that is waiting already.
//!
//! Messages wait in two lists, `next-turn` and `next-step`. A splice of one of them takes out
//! `removedCount` messages (none where the member is absent) from place `start`, and puts the
//! `inserted` ones there. No message id waits twice, whichever list it is in. The events that a
//! forked session copied from its parent do not count.
//!
//! No companion of the host asks for this. Its agent does, when it takes the session up again: it
//! replays the splices and throws at the first one that does not fit, so the log loads and the
//! session cannot be resumed. It also takes a string for `inserted` and spreads its characters as
//! messages without an id; here that is a fault, since no writer means it.
//!
//! # Source
//! `@deepseek-ai/dsh-agent` 0.1.0-rc.8, `Inbox`; `docs/field-reports.md`, FR-029.

use std::collections::{HashMap, VecDeque};

use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json::Json;

use super::script::{self, Value};
use super::shape::{Fingerprints, not_negative};
use crate::rule::Rule;

const INVALID_SPLICE: RuleId = "inbox/invalid-splice";
const REMOVES_MISSING: RuleId = "inbox/removes-missing";
const REPEATED_MESSAGE: RuleId = "inbox/repeated-message";

/// The lists, in the order of the state's places.
const TARGETS: [&str; 2] = ["next-turn", "next-step"];

/// The rules of the family.
pub(super) const RULES: &[Rule] = &[
    Rule::warning(
        INVALID_SPLICE,
        "an inbox splice names one of the two lists, a place, a count, and a list of messages",
        "The host loads the file, and its agent then refuses to resume the session. Keep a copy, \
         and see whether another program or an edit wrote the line.",
    ),
    Rule::warning(
        REMOVES_MISSING,
        "an inbox splice starts within its list and removes messages that are there",
        "The host loads the file, and its agent then refuses to resume the session: the event that \
         put the message in is missing, as after a repair that kept one of two branches and made \
         the seqs dense. Go back to the copy from before the repair.",
    ),
    Rule::strict(
        REPEATED_MESSAGE,
        "a message that an inbox splice inserts is not waiting already",
        "The host loads the file, and its agent then refuses to resume the session: the same \
         message was put in twice, as when two programs write to one session.",
    ),
];

/// The two lists of one session.
#[derive(Clone)]
pub(super) struct Inbox {
    seed_length: u64,
    prints: Fingerprints,
    /// The ids that wait; nothing for an id that equals no other.
    lists: [VecDeque<Option<u128>>; 2],
    /// How often each id waits, in both lists together.
    waiting: HashMap<u128, u64>,
}

/// A splice, as far as it can be read.
struct Splice<'a> {
    list: usize,
    start: usize,
    removed: usize,
    inserted: Json<'a>,
}

impl Inbox {
    /// Makes the fold of a session whose first `seed_length` events are its parent's.
    pub(super) fn new(seed_length: Option<u64>) -> Self {
        Self {
            seed_length: seed_length.unwrap_or(0),
            prints: Fingerprints::default(),
            lists: [VecDeque::new(), VecDeque::new()],
            waiting: HashMap::new(),
        }
    }

    fn is_own(&self, event: &Event<'_>) -> bool {
        event.kind == "agent/inbox/spliced" && event.seq >= self.seed_length
    }

    /// Judges a splice; the message is why the host's own does not fit.
    fn judge(&self, data: Json<'_>) -> Result<(), (RuleId, String)> {
        let Some(splice) = read(data) else {
            return Err((
                INVALID_SPLICE,
                "it names no known list, place, count or messages".into(),
            ));
        };
        let Splice { list, start, removed, inserted } = splice;
        let (target, held) = (TARGETS[list], self.lists[list].len());
        if start.checked_add(removed).is_none_or(|end| end > held) {
            let text =
                format!("it removes {removed} from place {start} of {target}, which holds {held}");
            return Err((REMOVES_MISSING, text));
        }
        // What a splice takes out may go in again.
        let mut change: HashMap<u128, i64> = HashMap::new();
        for id in self.lists[list].range(start..start + removed).flatten() {
            *change.entry(*id).or_default() -= 1;
        }
        for message in inserted.elements() {
            if message.is_null() {
                return Err((INVALID_SPLICE, "it inserts null".into()));
            }
            let id = message.get("id");
            let Some(print) = self.prints.of_values(&[id]) else { continue };
            let count = change.entry(print).or_default();
            *count += 1;
            let waiting = self.waiting.get(&print).copied().unwrap_or(0);
            if waiting.cast_signed() + *count > 1 {
                let id = script::shown(id);
                return Err((REPEATED_MESSAGE, format!("message \"{id}\" is already pending")));
            }
        }
        Ok(())
    }

    fn forget(&mut self, id: Option<u128>) {
        if let Some(id) = id
            && let Some(count) = self.waiting.get_mut(&id)
        {
            *count -= 1;
            if *count == 0 {
                self.waiting.remove(&id);
            }
        }
    }
}

impl Companion for Inbox {
    fn name(&self) -> &'static str {
        "inbox"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["agent/inbox/spliced"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        if !self.is_own(event) {
            return Ok(());
        }
        self.judge(event.data).map_err(|(rule, why)| {
            let seq = event.seq;
            let text = format!("invalid persisted inbox splice at session seq {seq}: {why}");
            Violation::new(rule, text)
        })
    }

    fn apply(&mut self, event: &Event<'_>) {
        if !self.is_own(event) {
            return;
        }
        let Some(Splice { list, start, removed, inserted }) = read(event.data) else { return };
        let held = self.lists[list].len();
        let start = start.min(held);
        let end = start.saturating_add(removed).min(held);
        let tail = self.lists[list].split_off(end);
        let gone = self.lists[list].split_off(start);
        for id in gone {
            self.forget(id);
        }
        for message in inserted.elements() {
            let id = self.prints.of_values(&[message.get("id")]);
            self.lists[list].push_back(id);
            if let Some(id) = id {
                *self.waiting.entry(id).or_default() += 1;
            }
        }
        self.lists[list].extend(tail);
    }

    fn finish(&self, _end: &End, _report: &mut dyn FnMut(Violation)) {}
}

fn read(data: Json<'_>) -> Option<Splice<'_>> {
    let target = data.get("target");
    let list = TARGETS.iter().position(|name| script::is_str(target, name))?;
    let start = place(data.get("start"))?;
    // The host takes null for an absent count.
    let removed = match data.get("removedCount").filter(|count| !count.is_null()) {
        Some(count) => place(Some(count))?,
        None => 0,
    };
    let inserted = data.get("inserted").filter(Json::is_array)?;
    Some(Splice { list, start, removed, inserted })
}

fn place(value: Value<'_>) -> Option<usize> {
    not_negative(value).map(|place| place as usize)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{faults, messages};
    use super::*;

    fn splice(target: &str, start: &str, removed: &str, ids: &[&str]) -> String {
        let inserted: Vec<_> = ids.iter().map(|id| format!(r#"{{"id":"{id}"}}"#)).collect();
        let inserted = inserted.join(",");
        format!(
            r#"agent/inbox/spliced {{"target":"{target}","start":{start},"removedCount":{removed},
                "inserted":[{inserted}]}}"#
        )
    }

    fn broken(lines: &[String]) -> Vec<(RuleId, u64)> {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        faults(&mut Inbox::new(None), &lines)
    }

    #[test]
    fn messages_come_and_go_by_place() {
        let lines = [
            splice("next-turn", "0", "null", &["a", "c"]),
            splice("next-turn", "1", "0", &["b"]),
            splice("next-step", "0", "0", &["d"]),
            splice("next-turn", "1", "1", &["b"]),
            splice("next-turn", "0", "3", &[]),
            splice("next-step", "1", "-0", &["a"]),
            splice("next-step", "0", "2", &["d"]),
            r#"agent/inbox/spliced {"target":"next-step","start":1,"inserted":[]}"#.to_owned(),
        ];
        assert_eq!(broken(&lines), []);
    }

    #[test]
    fn a_removal_without_its_insertion_is_found_once() {
        let lines = [
            splice("next-turn", "0", "1", &[]),
            splice("next-turn", "0", "0", &["a"]),
            splice("next-turn", "0", "1", &[]),
            splice("next-turn", "1", "0", &["b"]),
            splice("next-turn", "0", "1", &[]),
        ];
        assert_eq!(broken(&lines), [(REMOVES_MISSING, 0), (REMOVES_MISSING, 3)]);
        assert_eq!(
            messages(&mut Inbox::new(None), &[&lines[0]]),
            ["invalid persisted inbox splice at session seq 0: it removes 1 from place 0 of \
              next-turn, which holds 0"]
        );
    }

    #[test]
    fn a_message_waits_once_in_both_lists() {
        let one = splice("next-turn", "0", "0", &["a"]);
        for again in [
            splice("next-turn", "0", "0", &["a"]),
            splice("next-step", "0", "0", &["a"]),
            splice("next-step", "0", "0", &["b", "b"]),
            splice("next-turn", "0", "1", &["a", "a"]),
        ] {
            assert_eq!(broken(&[one.clone(), again.clone()]), [(REPEATED_MESSAGE, 1)], "{again}");
        }
    }

    #[test]
    fn a_splice_that_cannot_be_read_is_named() {
        for data in [
            "null",
            r#"{"target":"other","start":0,"inserted":[]}"#,
            r#"{"target":"next-turn","inserted":[]}"#,
            r#"{"target":"next-turn","start":0.5,"inserted":[]}"#,
            r#"{"target":"next-turn","start":-1,"inserted":[]}"#,
            r#"{"target":"next-turn","start":0,"removedCount":"1","inserted":[]}"#,
            r#"{"target":"next-turn","start":0}"#,
            r#"{"target":"next-turn","start":0,"inserted":[null]}"#,
        ] {
            let line = format!("agent/inbox/spliced {data}");
            assert_eq!(broken(&[line]), [(INVALID_SPLICE, 0)], "{data}");
        }
        let far = splice("next-turn", "9007199254740991", "9007199254740991", &[]);
        assert_eq!(broken(&[far]), [(REMOVES_MISSING, 0)]);
    }

    #[test]
    fn the_parents_splices_do_not_count() {
        let lines = [splice("next-turn", "0", "1", &[]), splice("next-turn", "0", "0", &["a"])];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(faults(&mut Inbox::new(Some(1)), &lines), []);
        let lines = [splice("next-turn", "0", "0", &["a"]), splice("next-turn", "1", "0", &["a"])];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(faults(&mut Inbox::new(Some(1)), &lines), [(REMOVES_MISSING, 1)]);
    }
}
