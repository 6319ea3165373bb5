//! Permission presets: a preset that is selected is one that the host has.
//!
//! # Source
//! `docs/dsh-format.md`, section 15.4; `@deepseek-ai/dsh-permission-presets/invariant`.

use super::script::{field, quoted};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

/// A preset that is not in the host's table, or not in the shipped one while that is unknown.
pub(super) const UNKNOWN_PRESET: RuleId = "permission/unknown-preset";

/// A preset of the table that the host ships: its name, sandbox mode and approval policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) sandbox: &'static str,
    pub(super) approval: &'static str,
}

/// The shipped table; a deployment may configure another one in its place.
///
/// # Source
/// `@deepseek-ai/dsh-permission-presets`, the default of `Config.presets`.
pub(super) const SHIPPED: [Preset; 2] = [
    Preset { name: "workspace-write", sandbox: "workspace-write", approval: "ask" },
    Preset { name: "danger-full-access", sandbox: "danger-full-access", approval: "never" },
];

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule::note(
    UNKNOWN_PRESET,
    "a permission preset is one that the host has configured",
    "Which presets exist is a matter of each installation's settings; without its table only the \
     shipped names are known. If this one is yours, give the table with --presets and the note \
     goes away; with a table, a name that is not in it is an error. The sandbox mode and the \
     approval policy in force are recorded apart from the preset, and are what counts.",
)];

/// The presets that are known.
#[derive(Clone, Debug)]
pub(super) struct Permission {
    /// The names that the host has; nothing when only the shipped ones are known.
    table: Option<Vec<String>>,
}

impl Permission {
    /// Makes the companion for a table of names, or for the shipped one.
    pub(super) fn new(table: Option<&[String]>) -> Self {
        Self { table: table.map(<[String]>::to_vec) }
    }
}

impl Companion for Permission {
    fn name(&self) -> &'static str {
        "permission"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["permission/preset"])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        let preset = field(event, "preset", UNKNOWN_PRESET)?;
        let known = preset.is_some_and(|preset| match &self.table {
            Some(table) => table.iter().any(|name| preset.is_str(name)),
            None => SHIPPED.iter().any(|shipped| preset.is_str(shipped.name)),
        });
        if known {
            return Ok(());
        }
        let text = format!("permission/preset names unknown preset {}", quoted(preset));
        Err(Violation::new(UNKNOWN_PRESET, text))
    }

    fn apply(&mut self, _: &Event<'_>) {}

    fn finish(&self, _: &End, _: &mut dyn FnMut(Violation)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    #[test]
    fn shipped_presets_are_known_until_a_table_says_otherwise() {
        let shipped = r#"permission/preset {"preset":"workspace-write"}"#;
        let own = r#"permission/preset {"preset":"auto-approve"}"#;
        let lines = [shipped, own];
        assert_eq!(faults(&mut Permission::new(None), &lines), [(UNKNOWN_PRESET, 1)]);
        let table = ["auto-approve".to_owned()];
        assert_eq!(faults(&mut Permission::new(Some(&table)), &lines), [(UNKNOWN_PRESET, 0)]);
    }

    #[test]
    fn what_is_no_string_is_no_preset() {
        for bad in
            ["null", "{}", "[]", "5", r#"{"preset":null}"#, r#"{"preset":["workspace-write"]}"#]
        {
            let line = format!("permission/preset {bad}");
            assert_eq!(
                faults(&mut Permission::new(None), &[&line]),
                [(UNKNOWN_PRESET, 0)],
                "{bad}"
            );
        }
    }
}
