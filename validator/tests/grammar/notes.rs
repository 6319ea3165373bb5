//! A companion that a front end brings along, for a type of its own: two notes never stand in a
//! row.

use super::{Grammar, Tape};
use crate::equal;
use gatelog_engine::rules::Draft;
use gatelog_validator::facts::Facts;
use gatelog_validator::standard::Standard;

#[derive(Default)]
pub(super) struct Notes {
    was_note: bool,
}

fn note() -> Draft {
    Draft::new("acme/note", "{}")
}

impl Grammar for Notes {
    fn join(&self, rules: Standard) -> Standard {
        let rules = rules.with_companion(|_| Box::new(equal::Notes::default()));
        rules.with_type("acme/note", equal::note()).expect("nobody owns it")
    }

    fn lawful(&mut self, _: &Facts, _: &mut Tape<'_>) -> Option<Draft> {
        (!self.was_note).then(note)
    }

    fn unlawful(&mut self, _: &Facts, _: &mut Tape<'_>) -> Option<(Draft, &'static str)> {
        self.was_note.then(|| (note(), "acme/two-notes"))
    }

    fn apply(&mut self, draft: &Draft, _: u64) {
        self.was_note = draft.kind == "acme/note";
    }
}
