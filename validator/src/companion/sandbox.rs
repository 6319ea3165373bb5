//! Sandbox modes: one of three words.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.4; `@deepseek-ai/dsh-sandbox-policy/invariant`.

use super::script::{field, is_one_of, quoted};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const UNKNOWN_MODE: RuleId = "sandbox/unknown-mode";

/// What a sandbox mode can be, from narrow to wide.
const MODES: [&str; 3] = ["read-only", "workspace-write", "danger-full-access"];

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule::error(
    UNKNOWN_MODE,
    "a sandbox mode is read-only, workspace-write or danger-full-access",
    optional!(
        "From here on the sandbox mode is a word that the host does not have, and what the host \
         confines is not defined. Select a permission preset again before continuing the session."
    ),
)];

/// The vocabulary of `sandbox/mode`; it has no state.
#[derive(Clone, Debug, Default)]
pub(super) struct Sandbox;

impl Companion for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["sandbox/mode"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let mode = field(event, "mode", UNKNOWN_MODE)?;
        if is_one_of(mode, &MODES) {
            return Ok(());
        }
        let text = format!("sandbox/mode carries unknown mode {}", quoted(mode));
        Err(Violation::new(UNKNOWN_MODE, text))
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    #[test]
    fn modes_are_three_words() {
        for mode in MODES {
            let line = format!(r#"sandbox/mode {{"mode":"{mode}"}}"#);
            assert_eq!(faults(&mut Sandbox, &[&line]), [], "{mode}");
        }
        for bad in [r#"{"mode":"workspace"}"#, "{}", "null", r#"{"mode":["read-only"]}"#] {
            let line = format!("sandbox/mode {bad}");
            assert_eq!(faults(&mut Sandbox, &[&line]), [(UNKNOWN_MODE, 0)], "{bad}");
        }
    }
}
