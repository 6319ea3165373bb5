//! Permissions for a session from its beginning on, or from when the service came.
//!
//! * A log without the mark of a seed, and without any of the three facts, gets preset, sandbox and
//!   approval of the default as it is set now.
//! * Any other gets what it lacks of the three: the knobs as they are composed, and before them the
//!   preset that is derived, unless that is `custom`.

use super::service::{CurrentPreset, Inner, PresetError, PresetService, Standing, Switched, event};
use super::table::{CUSTOM, PresetConfigError, PresetName};
use crate::approval::{KnobSource, policy_event};
use crate::internal::Site;
use crate::plane::said;
use crate::sandbox::mode_event;
use gatelog_engine::backend::{Durability, Refusal};
use gatelog_engine::rules::Draft;
use gatelog_engine::store::{Creation, Init, Session, Store};
use serde_json::Value;
use std::sync::Arc;

/// What is missing of the three facts, in the order in which it is written.
#[derive(Default)]
struct Missing {
    preset: Option<Draft>,
    sandbox: Option<Draft>,
    approval: Option<Draft>,
}

impl Inner {
    fn missing(
        &self,
        standing: &Standing,
        default: &dyn Fn() -> Result<PresetName, PresetConfigError>,
    ) -> Result<Missing, PresetConfigError> {
        let Standing { preset, sandbox, approval, seeded } = standing;
        let has_none = preset.is_none() && sandbox.is_none() && approval.is_none();
        if has_none && !seeded {
            let name = default()?;
            let preset = self.table.resolve(name.as_str())?.1;
            return Ok(Missing {
                preset: Some(event(&name)),
                sandbox: Some(mode_event(preset.sandbox, KnobSource::User)),
                approval: Some(policy_event(preset.approval, KnobSource::User)),
            });
        }
        let current = self.view(standing).current_value;
        let derived = (current != CUSTOM).then(|| self.table.resolve(&current)).transpose()?;
        let derived = derived.filter(|_| preset.is_none());
        let sandbox = sandbox.is_none().then(|| mode_event(self.executor_mode, KnobSource::User));
        let approval = approval.is_none().then(|| policy_event(self.approval, KnobSource::User));
        Ok(Missing { preset: derived.map(|(name, _)| event(name)), sandbox, approval })
    }
}

impl PresetService {
    /// Composes the service with a store: sessions that are created from now on are pinned in their
    /// first batch, and those that are live already one by one. `live` is asked when nothing can be
    /// created any more without being pinned; each is pinned once.
    ///
    /// What keeps a live session from being pinned is reported, and returned with its id. Blocks;
    /// it must not be called from inside a creation.
    pub fn mount(
        &self,
        store: &Store,
        live: impl FnOnce() -> Vec<Session>,
    ) -> Vec<(String, PresetError)> {
        store.observe_creations(Arc::new(self.clone()));
        let mut failed = Vec::new();
        for session in live() {
            if let Err(error) = self.adopt_now(&session) {
                let text = said(error.to_string());
                self.0.plane.report(Site::Adoption, Some(session.id()), None, text);
                failed.push((session.id().to_owned(), error));
            }
        }
        failed
    }

    /// Pins a session that was live before the service, under one hold of its gate. One that has
    /// all it needs is left as it is.
    ///
    /// # Errors
    ///
    /// [`PresetError::Append`], with what was written; that the settings name no preset.
    pub async fn adopt(&self, session: &Session) -> Result<Switched, PresetError> {
        let (service, session) = (self.clone(), session.clone());
        let adopted = tokio::task::spawn_blocking(move || service.adopt_now(&session)).await;
        adopted.unwrap_or_else(|failed| {
            let what = format!("the adoption did not end: {failed}");
            let source = gatelog_engine::backend::AppendError::Refused(Refusal::Internal { what });
            Err(PresetError::Append { written: Switched::default(), source })
        })
    }

    fn adopt_now(&self, session: &Session) -> Result<Switched, PresetError> {
        let mut written = Switched::default();
        let fail = |written: Switched| move |source| PresetError::Append { written, source };
        // Settings are somebody else's, and are asked before the gate is held.
        let default = self.0.default_now();
        let mut gate = session.gate().map_err(fail(written))?;
        let standing = Inner::standing(&mut gate).map_err(fail(written))?;
        let missing = self.0.missing(&standing, &|| default.clone())?;
        let mut append = |draft: Option<Draft>, written: Switched| {
            let appended = draft.map(|draft| gate.append(draft, Durability::Synced));
            Ok::<_, PresetError>(
                appended.transpose().map_err(fail(written))?.map(|commit| commit.first_seq),
            )
        };
        written.preset = append(missing.preset, written)?;
        written.sandbox = append(missing.sandbox, written)?;
        written.approval = append(missing.approval, written)?;
        Ok(written)
    }

    /// Returns the current preset of what a new session begins with.
    pub fn current_of(&self, init: &Init<'_>) -> CurrentPreset {
        let value = self.0.view(&standing_of(init)).current_value;
        match self.0.table.resolve(&value) {
            Ok((name, _)) => CurrentPreset::Named(name.clone()),
            Err(_) => CurrentPreset::Custom,
        }
    }
}

/// Reads what a new session begins with.
fn standing_of(init: &Init<'_>) -> Standing {
    let last = |kind: &str, key: &str| {
        let draft = init.drafts().iter().rev().find(|draft| draft.kind == kind)?;
        let data: Value = serde_json::from_slice(&draft.data).ok()?;
        Some(data.get(key)?.as_str()?.to_owned())
    };
    Standing {
        preset: last("permission/preset", "preset"),
        sandbox: last("sandbox/mode", "mode"),
        approval: last("approval/policy", "policy"),
        seeded: init.drafts().iter().any(|draft| draft.kind == "session/end-seed"),
    }
}

impl Creation for PresetService {
    fn created(&self, init: &mut Init<'_>) -> Result<(), Refusal> {
        let missing = self.0.missing(&standing_of(init), &|| self.0.default_now());
        let missing = missing.map_err(|error| Refusal::Internal { what: error.to_string() })?;
        let drafts = [missing.preset, missing.sandbox, missing.approval].into_iter().flatten();
        drafts.for_each(|draft| init.append(draft));
        Ok(())
    }
}
