//! The presets of an installation.

use crate::approval::ApprovalPolicy;
use crate::profile::{Profile, Texts};
use crate::sandbox::SandboxMode;
use crate::text::is_blank;
use gatelog_validator::projection;
use serde_json::Value;
use std::fmt;

/// What a session has that no preset of the table stands for. It is shown, and never chosen.
pub const CUSTOM: &str = "custom";

/// The key of a preset. Never empty, never `custom`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PresetName(Box<str>);

impl PresetName {
    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PresetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a preset stands for, and how it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The sandbox mode.
    pub sandbox: SandboxMode,
    /// The approval policy.
    pub approval: ApprovalPolicy,
    /// What a person sees in place of the key.
    pub name: Option<String>,
    /// What a person reads about it.
    pub description: Option<String>,
}

/// Why presets cannot be composed, in the order in which it is looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresetConfigError {
    /// A row has a key that is not free.
    #[error("{}", reserved(name))]
    Reserved {
        /// The key.
        name: String,
    },
    /// A row has no key.
    #[error("permission: preset names must not be empty")]
    EmptyName,
    /// A row's label says nothing.
    #[error("permission: preset \"{name}\" has an empty label")]
    EmptyLabel {
        /// The key.
        name: String,
    },
    /// A row is not what a row must be.
    #[error("permission: preset \"{name}\": {what}")]
    BadRow {
        /// The key.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// What runs commands does not confine them.
    #[error(
        "permission: the mounted bash executor does not confine (no sandboxMode) — presets bundle \
         a sandbox mode, so composing this plugin over an unconfined executor is a \
         misconfiguration"
    )]
    NoConfinement,
    /// No default is configured, and none can be derived.
    #[error(
        "permission: composed sandbox and approval defaults match no preset; configure \
         defaultPreset explicitly"
    )]
    NoDefault,
    /// There is no such preset.
    #[error("permission: unknown preset \"{name}\" (known: {})", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are, in their order.
        known: Vec<String>,
    },
    /// The settings could not be read.
    #[error("permission: the settings could not be read: {what}")]
    Settings {
        /// What happened.
        what: String,
    },
}

fn reserved(name: &str) -> String {
    match name {
        CUSTOM => "permission: \"custom\" is reserved for the derived not-a-preset state and \
                   cannot name a table entry"
            .to_owned(),
        other => {
            format!("permission: \"{other}\" is reserved and cannot name a configured preset")
        }
    }
}

/// The presets of an installation, in the order of their declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetTable(Vec<(PresetName, Preset)>);

impl PresetTable {
    /// Makes a table of rows.
    ///
    /// # Errors
    ///
    /// [`PresetConfigError::Reserved`], for the first key that is not free; keys and labels that
    /// are empty, and a key that comes twice.
    pub fn new(
        rows: impl IntoIterator<Item = (String, Preset)>,
        profile: &Profile,
    ) -> Result<Self, PresetConfigError> {
        let rows: Vec<_> = rows.into_iter().collect();
        let is_auto_reserved = profile.texts != Texts::Host011;
        let is_reserved = |name: &str| name == CUSTOM || (name == "auto" && is_auto_reserved);
        if let Some((name, _)) = rows.iter().find(|(name, _)| is_reserved(name)) {
            return Err(PresetConfigError::Reserved { name: name.clone() });
        }
        let mut table: Vec<(PresetName, Preset)> = Vec::with_capacity(rows.len());
        for (name, preset) in rows {
            if is_blank(&name) {
                return Err(PresetConfigError::EmptyName);
            }
            if preset.name.as_deref().is_some_and(is_blank) {
                return Err(PresetConfigError::EmptyLabel { name });
            }
            if table.iter().any(|(there, _)| there.as_str() == name) {
                let what = "it is declared twice".to_owned();
                return Err(PresetConfigError::BadRow { name, what });
            }
            table.push((PresetName(name.into()), preset));
        }
        Ok(Self(table))
    }

    /// The two rows of this crate: the workspace with questions, everything without.
    pub fn two_row() -> Self {
        let row = |mode: SandboxMode, approval, description: &str| {
            let description = Some(description.to_owned());
            let preset = Preset { sandbox: mode, approval, name: None, description };
            (PresetName(mode.word().into()), preset)
        };
        Self(vec![
            row(
                SandboxMode::WorkspaceWrite,
                ApprovalPolicy::Ask,
                "Write inside the workspace and permitted temporary directories; wider retries \
                 require approval.",
            ),
            row(
                SandboxMode::DangerFullAccess,
                ApprovalPolicy::Never,
                "Full file access without approval prompts.",
            ),
        ])
    }

    /// The three rows that the host ships: reading with questions before the two.
    pub fn shipped() -> Self {
        let (sandbox, approval) = (SandboxMode::ReadOnly, ApprovalPolicy::Ask);
        let preset = Preset { sandbox, approval, name: None, description: None };
        let mut rows = vec![(PresetName(SandboxMode::ReadOnly.word().into()), preset)];
        rows.extend(Self::two_row().0);
        Self(rows)
    }

    /// Reads a table from a configuration: an object of rows by their keys.
    ///
    /// # Errors
    ///
    /// As [`PresetTable::new`]; [`PresetConfigError::BadRow`] for what is no row.
    pub fn from_config(value: &Value, profile: &Profile) -> Result<Self, PresetConfigError> {
        let bad = |name: &str, what: &str| PresetConfigError::BadRow {
            name: name.to_owned(),
            what: what.to_owned(),
        };
        let rows = value.as_object().ok_or_else(|| bad("", "the table must be an object"))?;
        // Keys that are not free are said first, whatever their rows are like.
        let placeholder = Preset {
            sandbox: SandboxMode::ReadOnly,
            approval: ApprovalPolicy::Ask,
            name: None,
            description: None,
        };
        let keys = rows.keys().map(|key| (key.clone(), placeholder.clone()));
        if let Err(error @ PresetConfigError::Reserved { .. }) = Self::new(keys, profile) {
            return Err(error);
        }
        let row = |(key, row): (&String, &Value)| {
            let word = |member: &str| row.get(member).and_then(Value::as_str);
            let text = |member: &str| match row.get(member) {
                None => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(_) => Err(bad(key, &format!("{member} must be a string"))),
            };
            let sandbox = word("sandbox").and_then(SandboxMode::of);
            let approval = word("approval").and_then(|word| ApprovalPolicy::of(word).ok());
            let preset = Preset {
                sandbox: sandbox.ok_or_else(|| bad(key, "sandbox must be a sandbox mode"))?,
                approval: approval.ok_or_else(|| bad(key, "approval must be ask or never"))?,
                name: text("name")?,
                description: text("description")?,
            };
            Ok((key.clone(), preset))
        };
        Self::new(rows.iter().map(row).collect::<Result<Vec<_>, _>>()?, profile)
    }

    /// Returns the keys, in order.
    pub fn names(&self) -> impl Iterator<Item = &PresetName> {
        self.0.iter().map(|(name, _)| name)
    }

    /// Returns a row by its key.
    ///
    /// # Errors
    ///
    /// [`PresetConfigError::Unknown`], also for `custom`.
    pub fn resolve(&self, name: &str) -> Result<(&PresetName, &Preset), PresetConfigError> {
        let row = self.0.iter().find(|(key, _)| key.as_str() == name);
        row.map(|(key, preset)| (key, preset)).ok_or_else(|| PresetConfigError::Unknown {
            name: name.to_owned(),
            known: self.names().map(PresetName::to_string).collect(),
        })
    }

    /// Returns the first row that stands for two knobs.
    pub fn matching(&self, sandbox: SandboxMode, approval: ApprovalPolicy) -> Option<&PresetName> {
        let fits = |preset: &Preset| (preset.sandbox, preset.approval) == (sandbox, approval);
        self.0.iter().find(|(_, preset)| fits(preset)).map(|(name, _)| name)
    }

    /// Returns the table as the `permissions` projection has it.
    pub fn projected(&self) -> projection::PresetTable {
        let row = |(name, preset): &(PresetName, Preset)| projection::Preset {
            value: name.to_string(),
            sandbox: preset.sandbox.word().to_owned(),
            approval: preset.approval.word().to_owned(),
            name: preset.name.clone(),
            description: preset.description.clone(),
        };
        projection::PresetTable(self.0.iter().map(row).collect())
    }
}
