//! Permission presets, beyond the host's rules: a preset that is selected takes effect.
//!
//! The host records a preset first and then, at once, the sandbox mode and the approval policy
//! that it stands for, each only if it is not in force already. Whoever changes one of them later
//! does so on purpose. So a knob contradicts a preset if and only if, before anything else of the
//! session happens, the first value recorded after the preset is another one than the preset's, or
//! none is recorded although another one is known to be in force.
//!
//! # Source
//! `@deepseek-ai/dsh-permission-presets`, `apply` and `pinInitialPermission`.

use super::permission::{Preset, SHIPPED};
use super::script::{Value, quoted};
use crate::rule::Rule;
use gatelog_engine::companion::{Companion, End, Listens, RuleId, Violation};
use gatelog_engine::event::Event;

const TRIPLE_MISMATCH: RuleId = "permission/triple-mismatch";

/// The rules of this family.
pub(super) const RULES: &[Rule] = &[Rule::strict(
    TRIPLE_MISMATCH,
    "a preset that is selected sets the sandbox mode and the approval policy that it stands for",
    "The session shows one preset and runs under other settings: what counts are the sandbox mode \
     and the approval policy, not the preset's name. A plugin that failed half-way, or that \
     writes presets by itself, leaves such records. Select the preset again, and check what is in \
     force. If your installation gives a shipped name another meaning, ignore this.",
)
.at_end()];

/// The value of a knob, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Knob {
    /// None was recorded; the installation's default is in force.
    #[default]
    Default,
    /// What a shipped preset stands for.
    Known(&'static str),
    /// Any other value.
    Other,
}

impl Knob {
    /// Returns whether a preset that stands for a value has it recorded.
    fn due(self, wanted: &str) -> Due {
        match self {
            Self::Known(value) if value == wanted => Due::No,
            Self::Default => Due::Perhaps,
            Self::Known(_) | Self::Other => Due::Surely,
        }
    }
}

/// A preset that was selected and has not been seen to take effect.
#[derive(Clone, Copy, Debug)]
struct Selection {
    preset: Preset,
    seq: u64,
    sandbox: Due,
    approval: Due,
}

/// Whether the value of a knob is yet to be recorded after a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// It was in force already, or it has been recorded since.
    No,
    /// The default was in force, which may be the same.
    Perhaps,
    /// Another one was in force.
    Surely,
}

/// The knobs, and the selection that is to take effect.
#[derive(Clone, Debug, Default)]
pub(super) struct StrictPermission {
    sandbox: Knob,
    approval: Knob,
    selected: Option<Selection>,
}

impl StrictPermission {
    /// Speaks of a selection that has not taken effect although it is too late for it.
    fn late(&self) -> Option<Violation> {
        let selected = self.selected?;
        let name = selected.preset.name;
        let wanted = if selected.sandbox == Due::Surely {
            format!("sandbox mode \"{}\"", selected.preset.sandbox)
        } else if selected.approval == Due::Surely {
            format!("approval policy \"{}\"", selected.preset.approval)
        } else {
            return None;
        };
        let text = format!("preset \"{name}\" is selected and its {wanted} is never set");
        Some(Violation::at(TRIPLE_MISMATCH, text, selected.seq))
    }

    fn plan_knob(
        &self,
        what: &str,
        value: Value<'_>,
        wanted: Option<&str>,
    ) -> Result<(), Violation> {
        let (Some(wanted), Some(selected)) = (wanted, self.selected) else { return Ok(()) };
        if value.is_some_and(|value| value.is_str(wanted)) {
            return Ok(());
        }
        let text = format!(
            "preset \"{}\" of seq {} stands for {what} \"{wanted}\", and {} is set with it",
            selected.preset.name,
            selected.seq,
            quoted(value)
        );
        Err(Violation::new(TRIPLE_MISMATCH, text))
    }

    /// Returns the sandbox mode that the selection waits for.
    fn sandbox_due(&self) -> Option<&'static str> {
        self.selected.filter(|it| it.sandbox != Due::No).map(|it| it.preset.sandbox)
    }

    /// Returns the approval policy that the selection waits for.
    fn approval_due(&self) -> Option<&'static str> {
        self.selected.filter(|it| it.approval != Due::No).map(|it| it.preset.approval)
    }

    /// Takes a preset whose triple is known for selected.
    fn select(&mut self, event: &Event<'_>) {
        let name = event.field("preset");
        let preset = SHIPPED.iter().find(|it| name.is_some_and(|name| name.is_str(it.name)));
        self.selected = preset.map(|preset| Selection {
            preset: *preset,
            seq: event.seq,
            sandbox: self.sandbox.due(preset.sandbox),
            approval: self.approval.due(preset.approval),
        });
    }
}

/// Returns what a recorded value is among those that the presets stand for.
fn knob(value: Value<'_>, of: impl Fn(&Preset) -> &'static str) -> Knob {
    let known = SHIPPED.iter().map(of).find(|word| value.is_some_and(|value| value.is_str(word)));
    known.map_or(Knob::Other, Knob::Known)
}

impl Companion for StrictPermission {
    fn name(&self) -> &'static str {
        "permission"
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "permission/preset",
            "sandbox/mode",
            "approval/policy",
            "turn/start",
            "turn/end",
            "step/start",
            "tool/call",
            "approval/asked",
            "command/run",
            "command/done",
            "session/end-seed",
        ])
    }

    fn plan(&self, event: &Event<'_>) -> Result<(), Violation> {
        match event.kind {
            "sandbox/mode" => {
                self.plan_knob("sandbox mode", event.field("mode"), self.sandbox_due())
            }
            "approval/policy" => {
                self.plan_knob("approval policy", event.field("policy"), self.approval_due())
            }
            _ => self.late().map_or(Ok(()), Err),
        }
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event.kind {
            "permission/preset" => self.select(event),
            "sandbox/mode" => {
                self.sandbox = knob(event.field("mode"), |preset| preset.sandbox);
                if let Some(selected) = &mut self.selected {
                    selected.sandbox = Due::No;
                }
            }
            "approval/policy" => {
                self.approval = knob(event.field("policy"), |preset| preset.approval);
                if let Some(selected) = &mut self.selected {
                    selected.approval = Due::No;
                }
            }
            _ => self.selected = None,
        }
    }

    fn finish(&self, _: &End, report: &mut dyn FnMut(Violation)) {
        if let Some(violation) = self.late() {
            report(violation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::companion::testing::faults;

    const WRITE: &str = r#"permission/preset {"preset":"workspace-write"}"#;
    const DANGER: &str = r#"permission/preset {"preset":"danger-full-access"}"#;
    const WRITE_MODE: &str = r#"sandbox/mode {"mode":"workspace-write"}"#;
    const READ_MODE: &str = r#"sandbox/mode {"mode":"read-only"}"#;
    const DANGER_MODE: &str = r#"sandbox/mode {"mode":"danger-full-access"}"#;
    const ASK: &str = r#"approval/policy {"policy":"ask"}"#;
    const NEVER: &str = r#"approval/policy {"policy":"never"}"#;
    const TURN: &str = "turn/start {}";

    fn run(lines: &[&str]) -> Vec<(RuleId, u64)> {
        faults(&mut StrictPermission::default(), lines)
    }

    #[test]
    fn a_preset_that_takes_effect_is_lawful() {
        assert_eq!(run(&[WRITE, WRITE_MODE, ASK, TURN, DANGER, DANGER_MODE, NEVER, TURN]), []);
        assert_eq!(run(&[WRITE_MODE, ASK, WRITE, TURN]), [], "what is in force is not set again");
        assert_eq!(run(&[WRITE, TURN]), [], "the default may be the preset's");
        let own = r#"permission/preset {"preset":"auto-approve"}"#;
        assert_eq!(run(&[own, READ_MODE, NEVER, TURN]), [], "its meaning is not known");
    }

    #[test]
    fn a_knob_that_is_turned_on_purpose_is_lawful() {
        assert_eq!(run(&[WRITE, WRITE_MODE, ASK, READ_MODE, TURN]), []);
        assert_eq!(run(&[WRITE, WRITE_MODE, ASK, TURN, NEVER, READ_MODE]), []);
    }

    #[test]
    fn a_preset_without_its_knobs_is_found() {
        let half = [WRITE, WRITE_MODE, ASK, DANGER, TURN];
        assert_eq!(run(&half), [(TRIPLE_MISMATCH, 3)]);
        assert_eq!(run(&half[..4]), [(TRIPLE_MISMATCH, 3)], "at the end of the log too");
        assert_eq!(
            run(&[WRITE, WRITE_MODE, ASK, DANGER, DANGER_MODE, TURN]),
            [(TRIPLE_MISMATCH, 3)]
        );
        assert_eq!(run(&[WRITE, WRITE_MODE, ASK, DANGER, WRITE, TURN]), [(TRIPLE_MISMATCH, 3)]);
    }

    #[test]
    fn a_preset_with_other_knobs_is_found() {
        assert_eq!(run(&[WRITE, DANGER_MODE, ASK, TURN]), [(TRIPLE_MISMATCH, 1)]);
        assert_eq!(run(&[WRITE, WRITE_MODE, NEVER, TURN]), [(TRIPLE_MISMATCH, 2)]);
    }
}
