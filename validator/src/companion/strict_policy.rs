//! Approval policy, beyond the host's rules: under `never` nobody is asked, and nothing is allowed.
//!
//! The host itself records a question under `never` and rejects it at once, so such a question is
//! no fault. That it was allowed is: then somebody was asked against the policy.

use super::script::{is_str, quoted};
use crate::key::KeyMap;
use crate::rule::{Rule, Severity};
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const ASKED_UNDER_NEVER: RuleId = "policy/asked-under-never";
const ALLOWED_UNDER_NEVER: RuleId = "policy/allowed-under-never";

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[
    Rule::new(
        ASKED_UNDER_NEVER,
        None,
        Severity::Note,
        "no approval is asked for while the policy is never",
        "While the policy is never, the host records the question and rejects it by itself; \
         nobody should have been asked. If people were asked all the same, the policy was \
         not restored when the session was resumed: set it again. If nobody was, widen the \
         sandbox or tell the agent not to ask.",
    ),
    Rule::strict(
        ALLOWED_UNDER_NEVER,
        "no approval is given while the policy is never",
        "The policy in force said that nobody is asked, and still somebody allowed the action. \
         The policy was not restored when the session was resumed, or something went round it. \
         Set the policy again, and look at what the call did.",
    ),
];

/// The policy in force, and the open questions that were asked under `never`.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictPolicy {
    /// Where the policy became `never`, while it is.
    never_seq: Option<u64>,
    /// Open questions: where they were asked, and where the policy had become `never`.
    asked: KeyMap<(u64, u64)>,
}

impl Companion for StrictPolicy {
    fn name(&self) -> &'static str {
        "policy"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["approval/policy", "approval/asked", "approval/decided"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let id = event.field("id");
        if event.kind == "approval/asked"
            && let Some(seq) = self.never_seq
        {
            let text =
                format!("approval {} is asked for under policy never of seq {seq}", quoted(id));
            return Err(Violation::new(ASKED_UNDER_NEVER, text));
        }
        if event.kind == "approval/decided"
            && is_str(event.field("outcome"), "allowed-once")
            && let Some((asked, policy)) = self.asked.get(id)
        {
            let text = format!(
                "approval {} of seq {asked} is allowed although it was asked for under policy \
                 never of seq {policy}",
                quoted(id)
            );
            return Err(Violation::new(ALLOWED_UNDER_NEVER, text));
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "approval/policy" => {
                let never = is_str(event.field("policy"), "never");
                self.never_seq = never.then_some(event.seq);
            }
            "approval/asked" => match self.never_seq {
                Some(seq) => self.asked.insert(event.field("id"), (event.seq, seq)),
                None => drop(self.asked.remove(event.field("id"))),
            },
            _ => drop(self.asked.remove(event.field("id"))),
        }
    }

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    const NEVER: &str = r#"approval/policy {"policy":"never"}"#;
    const ASK: &str = r#"approval/policy {"policy":"ask"}"#;
    const ASKED: &str = r#"approval/asked {"id":"a"}"#;
    const ALLOWED: &str = r#"approval/decided {"id":"a","outcome":"allowed-once"}"#;
    const REJECTED: &str = r#"approval/decided {"id":"a","outcome":"rejected"}"#;

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut StrictPolicy::default(), lines)
    }

    #[test]
    fn questions_under_ask_are_lawful() {
        assert_eq!(run(&[ASKED, ALLOWED]), [], "the default is not known");
        assert_eq!(run(&[NEVER, ASK, ASKED, ALLOWED]), []);
        assert_eq!(
            run(&[ASKED, NEVER, ALLOWED]),
            [],
            "the policy counts that was in force when asked"
        );
    }

    #[test]
    fn a_question_under_never_is_noted_and_a_grant_is_a_fault() {
        assert_eq!(run(&[NEVER, ASKED, REJECTED]), [(ASKED_UNDER_NEVER, 1)]);
        let resumed = [NEVER, "session/end-seed {}", ASKED, ALLOWED];
        assert_eq!(run(&resumed), [(ASKED_UNDER_NEVER, 2), (ALLOWED_UNDER_NEVER, 3)]);
    }
}
