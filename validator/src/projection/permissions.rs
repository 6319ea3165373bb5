//! The select of permission presets, with `custom` derived where no preset fits.
//!
//! The state holds what the log says and nothing that an installation is composed with. A preset
//! that was selected is current as long as the knobs are what it stands for; otherwise the first of
//! the table that fits is, and where none does, `custom`.
//!
//! # Source
//!
//! `@deepseek-ai/dsh-permission-presets`, `derive` and `selectFor`, and version 2 of its state.

use super::kept::Resume;
use super::knob::{Composed, Set, effective, word};
use super::raw::Raw;
use gatelog_engine::companion::{Fold, Listens, Projection};
use gatelog_engine::event::Event;
use serde::{Deserialize, Serialize};

/// A row of the table of presets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preset {
    /// Its key in the table.
    pub value: String,
    /// The sandbox mode that it stands for.
    pub sandbox: String,
    /// The approval policy that it stands for.
    pub approval: String,
    /// What a person sees in place of the key.
    pub name: Option<String>,
    /// What a person reads about it.
    pub description: Option<String>,
}

/// The presets of an installation, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PresetTable(pub Vec<Preset>);

impl Default for PresetTable {
    /// Returns the table that the host ships.
    fn default() -> Self {
        let row = |value: &str, approval: &str| Preset {
            value: value.to_owned(),
            sandbox: value.to_owned(),
            approval: approval.to_owned(),
            name: None,
            description: None,
        };
        Self(vec![
            row("read-only", "ask"),
            row("workspace-write", "ask"),
            row("danger-full-access", "never"),
        ])
    }
}

/// The permissions of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    #[serde(skip)]
    table: PresetTable,
    #[serde(skip)]
    composed: Composed,
    preset: Option<String>,
    sandbox: Option<Set>,
    approval: Option<Set>,
    seeded: bool,
}

impl Permissions {
    /// Makes the projection for an installation.
    pub fn new(table: PresetTable, composed: Composed) -> Self {
        Self { table, composed, ..Self::default() }
    }

    /// Makes it as it stands behind a log of which the last word of each fact is known.
    pub fn standing(
        table: PresetTable,
        composed: Composed,
        preset: Option<&str>,
        sandbox: Option<&str>,
        approval: Option<&str>,
    ) -> Self {
        let set = |word: Option<&str>| {
            let value = Raw::word(word?);
            Some(Set { value: Some(value), source: None, seq: 0 })
        };
        Self {
            preset: preset.map(str::to_owned),
            sandbox: set(sandbox),
            approval: set(approval),
            ..Self::new(table, composed)
        }
    }
}

/// One choice of the select.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PresetOption {
    /// What is selected by it.
    pub value: String,
    /// What a person sees.
    pub name: String,
    /// What a person reads about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The select of presets, and what is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionsView {
    /// The rows of the table; `custom` exactly while it is current.
    pub options: Vec<PresetOption>,
    /// The current one.
    pub current_value: String,
    /// The sandbox mode in force.
    pub sandbox: Raw,
    /// The approval policy in force.
    pub approval: Raw,
    /// The log holds the mark that ends a seed.
    pub seeded: bool,
}

impl Fold for Permissions {
    fn fold(&mut self, event: &Event<'_>) {
        match event.kind {
            "permission/preset" => self.preset = word(event, "preset"),
            "sandbox/mode" => self.sandbox = Some(Set::of(event, "mode")),
            "approval/policy" => self.approval = Some(Set::of(event, "policy")),
            "session/end-seed" => self.seeded = true,
            _ => {}
        }
    }
}

impl Projection for Permissions {
    type View = PermissionsView;

    fn name(&self) -> &'static str {
        "permissions"
    }

    fn version(&self) -> u32 {
        2
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&[
            "permission/preset",
            "sandbox/mode",
            "approval/policy",
            "session/end-seed",
        ])
    }

    fn view(&self) -> PermissionsView {
        let sandbox = effective(self.sandbox.as_ref(), &self.composed.sandbox);
        let approval = effective(self.approval.as_ref(), &self.composed.approval);
        let fits = |preset: &&Preset| {
            Raw::word(&preset.sandbox) == sandbox && Raw::word(&preset.approval) == approval
        };
        let rows = &self.table.0;
        let is_selected = |preset: &&Preset| self.preset.as_ref() == Some(&preset.value);
        let current = rows.iter().filter(fits).find(is_selected);
        let current = current.or_else(|| rows.iter().find(fits));
        let option = |preset: &Preset| PresetOption {
            value: preset.value.clone(),
            name: preset.name.as_ref().unwrap_or(&preset.value).clone(),
            description: preset.description.clone(),
        };
        let mut options: Vec<_> = rows.iter().map(option).collect();
        if current.is_none() {
            let text = "Current sandbox and approval settings do not match a preset.";
            let (value, name) = ("custom".to_owned(), "Custom".to_owned());
            options.push(PresetOption { value, name, description: Some(text.to_owned()) });
        }
        let current_value = current.map_or("custom", |preset| &preset.value).to_owned();
        PermissionsView { options, current_value, sandbox, approval, seeded: self.seeded }
    }
}

impl Resume for Permissions {
    fn resume(&mut self, saved: Self) {
        let Self { preset, sandbox, approval, seeded, .. } = saved;
        let (table, composed) =
            (std::mem::take(&mut self.table), std::mem::take(&mut self.composed));
        *self = Self { table, composed, preset, sandbox, approval, seeded };
    }
}
