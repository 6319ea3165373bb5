//! Plan mode: it is on or off.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.4; `@deepseek-ai/dsh-plan-mode/invariant`.

use super::script::{field, quoted};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const INVALID_ACTIVE: RuleId = "plan/invalid-active";

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule::error(
    INVALID_ACTIVE,
    "plan mode is switched to true or to false",
    optional!(
        "The record does not tell whether plan mode is on. Switch plan mode on or off again \
         before you rely on it in this session."
    ),
)];

/// The vocabulary of `plan/mode`; it has no state.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan;

impl Companion for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["plan/mode"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let active = field(event, "active", INVALID_ACTIVE)?;
        if active.is_some_and(|active| active.is_bool()) {
            return Ok(());
        }
        let active = quoted(active);
        let text = format!("plan/mode carries invalid active state {active}; expected a boolean");
        Err(Violation::new(INVALID_ACTIVE, text))
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::{faults, messages};

    #[test]
    fn plan_mode_is_a_boolean() {
        let lawful = [r#"plan/mode {"active":true}"#, r#"plan/mode {"active":false}"#];
        assert_eq!(faults(&mut Plan, &lawful), []);
        for bad in [r#"{"active":1}"#, r#"{"active":"true"}"#, "{}", "null", "[true]"] {
            let line = format!("plan/mode {bad}");
            assert_eq!(faults(&mut Plan, &[&line]), [(INVALID_ACTIVE, 0)], "{bad}");
        }
        assert_eq!(
            messages(&mut Plan, &["plan/mode {}"]),
            ["plan/mode carries invalid active state undefined; expected a boolean"]
        );
    }
}
