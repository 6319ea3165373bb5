//! Titles: a generated one cites the messages that it sums up, a given one cites none.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.4; `@deepseek-ai/dsh-session-title/invariant`.

use super::script::{field, is_str, length, member, shown};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;
use gatelog_engine::json;

const MESSAGE_SEQS: RuleId = "title/message-seqs";

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule::warning(
    MESSAGE_SEQS,
    "a title cites messages if and only if it was not given by the user",
    "It cannot be told what the title was made from. Nothing depends on it but a list that wants \
     to know whether a title is stale; rename the session if the title is wrong. The host checks \
     this only while it writes, and only where its companion plugins are installed: it opens the \
     session all the same.",
)];

/// The relation inside `session/title`; it has no state.
#[derive(Clone, Debug, Default)]
pub(super) struct Title;

impl Companion for Title {
    fn name(&self) -> &'static str {
        "title"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["session/title"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let source = field(event, "source", MESSAGE_SEQS)?;
        let count = length(event.field("messageSeqs"), MESSAGE_SEQS)?;
        let kind = member(source, "kind", MESSAGE_SEQS)?;
        let by_user = is_str(kind, "user");
        if (count == Some(0.0)) == by_user {
            return Ok(());
        }
        let wanted = if by_user { "no message seqs" } else { "at least one message seq" };
        let count = count.map_or_else(|| "undefined".to_owned(), json::display);
        let text = format!(
            "session/title event {} with source \"{}\" must cite {wanted}; got {count}",
            event.seq,
            shown(kind)
        );
        Err(Violation::new(MESSAGE_SEQS, text))
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::{faults, messages};

    #[test]
    fn a_title_cites_messages_unless_the_user_gave_it() {
        let lawful = [
            r#"session/title {"title":"t","messageSeqs":[],"source":{"kind":"user"}}"#,
            r#"session/title {"title":"t","messageSeqs":[0],"source":{"kind":"fallback"}}"#,
        ];
        assert_eq!(faults(&mut Title, &lawful), []);
        let bad = [
            r#"session/title {"title":"t","messageSeqs":[3],"source":{"kind":"user"}}"#,
            r#"session/title {"title":"t","messageSeqs":[],"source":{"kind":"provider"}}"#,
        ];
        assert_eq!(
            messages(&mut Title, &bad),
            [
                r#"session/title event 0 with source "user" must cite no message seqs; got 1"#,
                concat!(
                    r#"session/title event 1 with source "provider" "#,
                    "must cite at least one message seq; got 0"
                ),
            ]
        );
    }

    #[test]
    fn a_title_that_throws_breaks_the_rule() {
        for bad in ["null", "{}", r#"{"messageSeqs":[]}"#, r#"{"source":{"kind":"user"}}"#, "7"] {
            let line = format!("session/title {bad}");
            assert_eq!(faults(&mut Title, &[&line]), [(MESSAGE_SEQS, 0)], "{bad}");
        }
    }
}
