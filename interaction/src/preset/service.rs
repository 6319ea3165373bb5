//! Which preset a session has, and how it gets another.
//!
//! A preset is an intent and two knobs. The intent is recorded, the knobs decide; which preset is
//! current is derived from both, by the `permissions` projection and by nothing else. A switch
//! writes what differs, in the order intent, sandbox, approval, under one hold of the gate; an
//! append that fails leaves what was written before it, and says so.

use super::settings::{KEY, NAMESPACE, SettingError, Settings, sampled};
use super::table::{CUSTOM, Preset, PresetConfigError, PresetName, PresetTable};
use crate::agent::{Agent, BoxError};
use crate::approval::{ApprovalPolicy, KnobSource, notify, policy_event};
use crate::plane::{Plane, StaleAgent};
use crate::profile::View;
use crate::sandbox::{SandboxMode, mode_event};
use gatelog_engine::backend::{AppendError, Durability, Refusal};
use gatelog_engine::companion::Projection;
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Gate, Session};
use gatelog_validator::facts::Facts;
use gatelog_validator::projection::{Composed, Permissions, PermissionsView, PresetOption};
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What a host is composed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComposedDefaults {
    /// The mode of what runs commands; nothing if that does not confine.
    pub executor_mode: Option<SandboxMode>,
    /// The approval policy where a log says nothing.
    pub approval: ApprovalPolicy,
}

impl ComposedDefaults {
    /// Composes what a bundle derives from one choice of a mode: the policy is `never` under full
    /// access and `ask` under all others.
    pub const fn of_mode(mode: SandboxMode) -> Self {
        let approval = match mode {
            SandboxMode::DangerFullAccess => ApprovalPolicy::Never,
            SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite => ApprovalPolicy::Ask,
        };
        Self { executor_mode: Some(mode), approval }
    }
}

/// The preset of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurrentPreset {
    /// A row of the table.
    Named(PresetName),
    /// The knobs match no row. It cannot be chosen.
    Custom,
}

impl fmt::Display for CurrentPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => name.fmt(f),
            Self::Custom => f.write_str(CUSTOM),
        }
    }
}

/// What a switch or a pin wrote: the seq of each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switched {
    /// The intent.
    pub preset: Option<u64>,
    /// The sandbox mode.
    pub sandbox: Option<u64>,
    /// The approval policy.
    pub approval: Option<u64>,
}

impl Switched {
    /// Returns whether nothing had to be written.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a session has not the preset that was wanted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PresetError {
    /// There is no such preset; nothing was written.
    #[error(transparent)]
    Config(#[from] PresetConfigError),
    /// The agent is not the exact live one of its session; nothing was written.
    #[error(transparent)]
    StaleAgent(#[from] StaleAgent),
    /// An append failed; what stands before it stays.
    #[error("{source}; written before it: {}", written_before(written))]
    Append {
        /// What was written.
        written: Switched,
        /// Why no more was.
        source: AppendError,
    },
    /// All was written; the notice for the model was not queued. Do not switch again.
    #[error("the preset was switched, and the model's notice was not queued: {source}")]
    Notice {
        /// What was written.
        written: Switched,
        /// Why the notice was not queued.
        source: BoxError,
    },
}

fn written_before(written: &Switched) -> String {
    let parts =
        [("intent", written.preset), ("sandbox", written.sandbox), ("approval", written.approval)];
    let there: Vec<_> =
        parts.iter().filter(|(_, seq)| seq.is_some()).map(|(name, _)| *name).collect();
    if there.is_empty() { "nothing".to_owned() } else { there.join(", ") }
}

pub(super) struct Inner {
    pub(super) plane: Plane,
    pub(super) table: PresetTable,
    pub(super) executor_mode: SandboxMode,
    pub(super) approval: ApprovalPolicy,
    default: PresetName,
    settings: Mutex<Option<Arc<dyn Settings>>>,
}

/// The presets of a host. Copies are the same service.
#[derive(Clone)]
pub struct PresetService(pub(super) Arc<Inner>);

/// What a session's log says, as far as presets go.
pub(super) struct Standing {
    pub(super) preset: Option<String>,
    pub(super) sandbox: Option<String>,
    pub(super) approval: Option<String>,
    pub(super) seeded: bool,
}

impl PresetService {
    /// Composes presets: a table, what the host has by default, and the default preset, which is
    /// the first row that matches those defaults where none is configured.
    ///
    /// # Errors
    ///
    /// [`PresetConfigError`]: that nothing confines, then that no default can be derived, then that
    /// the default is not in the table.
    pub fn new(
        plane: &Plane,
        table: PresetTable,
        composed: ComposedDefaults,
        default: Option<&str>,
    ) -> Result<Self, PresetConfigError> {
        let executor_mode = composed.executor_mode.ok_or(PresetConfigError::NoConfinement)?;
        let approval = composed.approval;
        let default = if let Some(name) = default {
            table.resolve(name)?.0.clone()
        } else {
            let matching = table.matching(executor_mode, approval);
            matching.ok_or(PresetConfigError::NoDefault)?.clone()
        };
        let (plane, settings) = (plane.clone(), Mutex::default());
        Ok(Self(Arc::new(Inner { plane, table, executor_mode, approval, default, settings })))
    }

    /// Says where a person's default is set, or that nobody knows any more.
    ///
    /// # Errors
    ///
    /// [`PresetConfigError::Unknown`] if what is set there is not in the table; then the settings
    /// are not used.
    pub fn set_settings(
        &self,
        settings: Option<Arc<dyn Settings>>,
    ) -> Result<(), PresetConfigError> {
        if let Some(settings) = &settings {
            sampled(&**settings, &self.0.table)?;
        }
        *self.0.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// Sets a person's default. Sessions that are there keep what they have.
    ///
    /// # Errors
    ///
    /// [`SettingError`]; the old value stays.
    pub fn set_default(&self, name: &str) -> Result<(), SettingError> {
        let name = self.0.table.resolve(name)?.0.as_str();
        let settings = self.0.settings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(settings) = settings else {
            return Err(SettingError::NotKept("no settings are composed".into()));
        };
        settings.set(NAMESPACE, KEY, name).map_err(SettingError::NotKept)
    }

    /// Returns the table.
    pub fn table(&self) -> &PresetTable {
        &self.0.table
    }

    /// Returns the `permissions` projection for this installation.
    pub fn projection(&self) -> Permissions {
        Permissions::new(self.0.table.projected(), self.0.composed())
    }

    /// Returns the preset of a session.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn current(&self, session: &Session) -> Result<CurrentPreset, AppendError> {
        Ok(self.named(&self.permissions(session).await?.current_value))
    }

    /// Returns the rows in their order, and `custom` behind them exactly while it is current.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn options(&self, session: &Session) -> Result<Vec<PresetOption>, AppendError> {
        Ok(self.permissions(session).await?.options)
    }

    /// Returns the `permissions` view of a session, in the profile's shape.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn view(&self, session: &Session) -> Result<Value, AppendError> {
        let view = self.permissions(session).await?;
        let mut shown = json!({"options": view.options, "currentValue": view.current_value});
        if self.0.plane.profile().view == View::Full {
            shown["sandbox"] = json!(view.sandbox);
            shown["approval"] = json!(view.approval);
        }
        Ok(shown)
    }

    /// Returns the line that says what is in force, from the view and from nothing else.
    ///
    /// # Errors
    ///
    /// As [`Session::gate`].
    pub async fn status(&self, session: &Session) -> Result<String, AppendError> {
        let PermissionsView { current_value, sandbox, approval, .. } =
            self.permissions(session).await?;
        let word = |raw: &str| serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned());
        let (sandbox, approval) = (word(sandbox.text()), word(approval.text()));
        Ok(format!("permission {current_value}, sandbox {sandbox}, approval {approval}"))
    }

    /// Gives a session a preset: what differs is written, and nobody is told.
    ///
    /// # Errors
    ///
    /// [`PresetError`].
    pub async fn set(&self, session: &Session, name: &str) -> Result<Switched, PresetError> {
        Ok(self.switch(session, name).await?.0)
    }

    /// As [`PresetService::set`] for a live agent, as a person does it: where the policy changes,
    /// the model is told before its next step.
    ///
    /// # Errors
    ///
    /// [`PresetError`].
    pub async fn select_for(&self, agent: &Agent, name: &str) -> Result<Switched, PresetError> {
        self.0.plane.check_entry(agent, agent.session())?;
        self.0.table.resolve(name)?;
        let (service, agent, name) = (self.clone(), agent.clone(), name.to_owned());
        // A caller that goes between the events and the notice must not leave the model untold.
        let task = self.0.plane.spawn(async move {
            let (written, old, new) = service.switch(agent.session(), &name).await?;
            if written.approval.is_some() {
                notify(&service.0.plane, &agent, old, new)
                    .map_err(|source| PresetError::Notice { written, source })?;
            }
            Ok(written)
        });
        task.await.unwrap_or_else(|failed| {
            let what = format!("the switch did not end: {failed}");
            let source = AppendError::Refused(Refusal::Internal { what });
            Err(PresetError::Append { written: Switched::default(), source })
        })
    }

    async fn switch(
        &self,
        session: &Session,
        name: &str,
    ) -> Result<(Switched, ApprovalPolicy, ApprovalPolicy), PresetError> {
        let (name, preset) = self.0.table.resolve(name)?;
        let (name, preset, inner) = (name.clone(), preset.clone(), Arc::clone(&self.0));
        let switched = self.0.plane.under_gate(session, move |gate| {
            let before = Inner::standing(gate)?;
            let old = inner.policy_of(&before);
            let mut written = Switched::default();
            Ok(match inner.write(gate, &before, &name, &preset, &mut written) {
                Ok(()) => Ok((written, old, preset.approval)),
                Err(source) => Err(PresetError::Append { written, source }),
            })
        });
        let nothing = Switched::default();
        switched.await.map_err(|source| PresetError::Append { written: nothing, source })?
    }

    async fn permissions(&self, session: &Session) -> Result<PermissionsView, AppendError> {
        let inner = Arc::clone(&self.0);
        self.0.plane.under_gate(session, move |gate| Ok(inner.view(&Inner::standing(gate)?))).await
    }

    fn named(&self, value: &str) -> CurrentPreset {
        match self.0.table.resolve(value) {
            Ok((name, _)) => CurrentPreset::Named(name.clone()),
            Err(_) => CurrentPreset::Custom,
        }
    }
}

impl Inner {
    fn composed(&self) -> Composed {
        let (sandbox, approval) = (self.executor_mode.to_string(), self.approval.to_string());
        Composed { sandbox, approval }
    }

    /// Returns the default of a new session: what the person has set, else what is composed.
    pub(super) fn default_now(&self) -> Result<PresetName, PresetConfigError> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let name = settings.map(|settings| sampled(&*settings, &self.table)).transpose()?.flatten();
        match name {
            Some(name) => Ok(self.table.resolve(&name)?.0.clone()),
            None => Ok(self.default.clone()),
        }
    }

    pub(super) fn standing(gate: &mut Gate) -> Result<Standing, AppendError> {
        let facts: &Facts = gate.facts()?;
        let word = |said: &Option<gatelog_validator::facts::Said>| {
            said.as_ref().map(|said| said.word.clone())
        };
        Ok(Standing {
            preset: word(&facts.preset),
            sandbox: word(&facts.mode),
            approval: word(&facts.policy),
            seeded: facts.seeded,
        })
    }

    pub(super) fn view(&self, standing: &Standing) -> PermissionsView {
        let (preset, sandbox) = (standing.preset.as_deref(), standing.sandbox.as_deref());
        let (table, composed) = (self.table.projected(), self.composed());
        let approval = standing.approval.as_deref();
        Permissions::standing(table, composed, preset, sandbox, approval).view()
    }

    /// Returns the policy in force; a word that is none asks nobody.
    fn policy_of(&self, standing: &Standing) -> ApprovalPolicy {
        let word = standing.approval.as_deref();
        word.map_or(self.approval, |word| ApprovalPolicy::of(word).unwrap_or(ApprovalPolicy::Never))
    }

    fn write(
        &self,
        gate: &mut Gate,
        before: &Standing,
        name: &PresetName,
        preset: &Preset,
        written: &mut Switched,
    ) -> Result<(), AppendError> {
        let view = self.view(before);
        let mut append =
            |draft| Ok::<_, AppendError>(Some(gate.append(draft, Durability::Synced)?.first_seq));
        if view.current_value != name.as_str() {
            written.preset = append(event(name))?;
        }
        let is = |raw: &str, word: &str| raw == format!("\"{word}\"");
        if !is(view.sandbox.text(), preset.sandbox.word()) {
            written.sandbox = append(mode_event(preset.sandbox, KnobSource::User))?;
        }
        if !is(view.approval.text(), preset.approval.word()) {
            written.approval = append(policy_event(preset.approval, KnobSource::User))?;
        }
        Ok(())
    }
}

/// Makes the event that records the choice of a preset: its id, and no copy of what it stands for.
pub(super) fn event(name: &PresetName) -> Draft {
    Draft::new("permission/preset", json!({"preset": name.as_str()}).to_string())
}

impl fmt::Debug for PresetService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PresetService")
            .field("table", &self.0.table)
            .field("default", &self.0.default)
            .finish_non_exhaustive()
    }
}
