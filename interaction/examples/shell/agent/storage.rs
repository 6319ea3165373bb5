//! The two stores that there are, and the session in one of them.

use super::note;
use gatelog_engine::backend::{AppendError, Refusal};
use gatelog_engine::machine::{Machine, ThisMachine};
use gatelog_engine::rules::{Placement, RuleSet, SessionHeader, TypeEntry};
use gatelog_engine::session_files::{FilesConfig, SessionFiles};
use gatelog_engine::storage::Disk;
use gatelog_engine::store::{Session, Store, StoreConfig};
use gatelog_interaction::agent::BoxError;
use gatelog_validator::rule::Profile;
use gatelog_validator::standard::Standard;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The native log.
    Native,
    /// Session files of the host's format 0.
    Dsh,
}

impl Kind {
    /// Returns the store of a word.
    #[allow(dead_code, reason = "a test names them")]
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "native" => Some(Self::Native),
            "dsh" => Some(Self::Dsh),
            _ => None,
        }
    }
}

/// Opens a store under strict rules, and makes it where there is none.
pub(crate) fn open(kind: Kind, dir: &Path) -> Result<Store, BoxError> {
    let entry = TypeEntry { owner: "shell".into(), placement: Placement::LogOnly, check: None };
    let rules = Standard::new(Profile::Strict).with_type(note::KIND, entry);
    let rules: Arc<dyn RuleSet> = Arc::new(rules.map_err(|owned| format!("{owned:?}"))?);
    if kind == Kind::Native {
        return Ok(Store::open(dir, rules)?);
    }
    std::fs::create_dir_all(dir)?;
    let machine = Arc::new(ThisMachine);
    // Nothing keeps a host out that has the session open at the same time: this directory is ours.
    let config = FilesConfig { allow_unlocked: true, ..FilesConfig::new(0) };
    let files = SessionFiles::open(Arc::new(Disk), dir, machine.clone(), config)?;
    Ok(Store::new(Arc::new(files), rules, machine, StoreConfig::default()))
}

/// Opens a session for write, and creates it if it is not there. Returns whether it is new.
pub(crate) fn session(
    store: &Store,
    id: &str,
    workspace: &Path,
) -> Result<(Session, bool), BoxError> {
    match store.session(id) {
        Ok(session) => return Ok((session, false)),
        Err(AppendError::Refused(Refusal::NoSession)) => {}
        Err(error) => return Err(error.into()),
    }
    let cwd = workspace.to_str().ok_or("the workspace's path is no Unicode")?;
    let header = json!({
        "type": "session", "version": 0, "id": id, "createdAt": ThisMachine.now_ms(),
        "cwd": cwd, "delegationDepth": 0,
    });
    let header = SessionHeader { dialect: 0, json: header.to_string().into_bytes() };
    Ok((store.create(id, &header, |_| Ok(()))?, true))
}
