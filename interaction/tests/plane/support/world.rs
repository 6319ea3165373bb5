//! A store on a simulated disk, its agents, and what stands in its logs.

use super::backend::{Faults, Faulty};
use super::sink::Sink;
use gatelog_engine::backend::{Backend, Batch, Durability, Row};
use gatelog_engine::dsh::discover::{Options as Places, discover};
use gatelog_engine::dsh::name::Encoding;
use gatelog_engine::log::{Log, LogConfig};
use gatelog_engine::machine::ThisMachine;
use gatelog_engine::rules::{Draft, SessionHeader};
use gatelog_engine::session_files::{FilesConfig, SessionFiles};
use gatelog_engine::storage::Sim;
use gatelog_engine::store::{Session, Store, StoreConfig};
use gatelog_interaction::agent::{Agent, Agents, LiveAgent, NoticeQueue};
use gatelog_interaction::plane::Plane;
use gatelog_interaction::profile::Profile;
use gatelog_interaction::scope::Scope;
use gatelog_validator::report::Report;
use gatelog_validator::rule::{Profile as Rules, Severity};
use gatelog_validator::standard::Standard;
use gatelog_validator::store::{StoreOptions, verify_store};
use gatelog_validator::verify::{Options, verify};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Which store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Native,
    Files,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Native, Self::Files];
}

/// One event, read back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// A store with what stands around it.
pub(crate) struct World {
    pub(crate) kind: Kind,
    /// The rules of its gate.
    pub(crate) rules: Rules,
    pub(crate) sim: Sim,
    pub(crate) store: Arc<Store>,
    pub(crate) faults: Faults,
    pub(crate) agents: Agents,
    pub(crate) sink: Arc<Sink>,
    pub(crate) plane: Plane,
    /// Above the scopes of all agents.
    pub(crate) root: Scope,
}

const DIR: &str = "/s";

/// Opens a store of a kind on a disk.
pub(crate) fn open(kind: Kind, sim: &Sim, rules: Standard, faults: &Faults) -> Store {
    let machine = Arc::new(ThisMachine);
    let volume = Arc::new(sim.disk());
    let inner: Arc<dyn Backend> = match kind {
        Kind::Native => {
            let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
            let log = Log::open(volume, Path::new(DIR), machine.clone(), config);
            Arc::new(log.expect("the disk is sound"))
        }
        Kind::Files => {
            let config = FilesConfig {
                allow_unlocked: true,
                encoding: Encoding::Plain,
                ..FilesConfig::new(0)
            };
            let files = SessionFiles::open(volume, DIR, machine.clone(), config);
            Arc::new(files.expect("the disk is sound"))
        }
    };
    let backend = Arc::new(Faulty { inner, faults: faults.clone() });
    Store::new(backend, Arc::new(rules), machine, StoreConfig::default())
}

/// Opens a store of session files in the host's usual encoding on a disk.
pub(crate) fn open_zstd(sim: &Sim, rules: Standard) -> Store {
    let machine = Arc::new(ThisMachine);
    let config = FilesConfig { allow_unlocked: true, ..FilesConfig::new(0) };
    let files = SessionFiles::open(Arc::new(sim.disk()), DIR, machine.clone(), config);
    let files = Arc::new(files.expect("the disk is sound"));
    Store::new(files, Arc::new(rules), machine, StoreConfig::default())
}

/// The header of a new session.
pub(crate) fn header(id: &str) -> SessionHeader {
    let json = format!(
        "{{\"type\":\"session\",\"version\":0,\"id\":\"{id}\",\"createdAt\":1,\
         \"cwd\":\"/srv\",\"delegationDepth\":0}}"
    );
    SessionHeader { dialect: 0, json: json.into_bytes() }
}

impl World {
    /// Makes a native store with this crate's own profile, under `strict` rules.
    pub(crate) fn new() -> Self {
        Self::of(Kind::Native, Rules::Strict, Profile::STRICT)
    }

    pub(crate) fn of(kind: Kind, rules: Rules, profile: Profile) -> Self {
        Self::with(kind, Standard::new(rules), rules, profile)
    }

    /// Makes a store whose gate has rules of a test's own.
    pub(crate) fn with(kind: Kind, standard: Standard, rules: Rules, profile: Profile) -> Self {
        let (sim, faults) = (Sim::new(7), Faults::default());
        let store = Arc::new(open(kind, &sim, standard, &faults));
        let (agents, sink) = (Agents::new(), Arc::new(Sink::default()));
        let plane = Plane::new(tokio::runtime::Handle::current(), profile)
            .with_agents(Arc::new(agents.clone()))
            .with_internal(sink.clone());
        let root = Scope::new("root");
        Self { kind, rules, sim, store, faults, agents, sink, plane, root }
    }

    /// Creates a session without events.
    pub(crate) fn session(&self, id: &str) -> Session {
        self.store.create(id, &header(id), |_| Ok(())).expect("the session is new")
    }

    /// Makes a live agent with a session of its own, in a scope of its own below the root.
    pub(crate) fn agent(&self, id: &str) -> LiveAgent {
        self.agents.enter(self.dormant(id), None)
    }

    /// Makes an agent that is not live.
    pub(crate) fn dormant(&self, id: &str) -> Agent {
        let scope = self.root.child(id).expect("two deep");
        Agent::new(id, self.session(id), scope, Arc::new(NoticeQueue::default()))
    }

    /// Makes a live agent whose turn 1 is open.
    pub(crate) fn in_turn(&self, id: &str) -> LiveAgent {
        let live = self.agent(id);
        start_turn(live.agent().session(), 1);
        live
    }

    /// Returns the events of a session as the store reads them back.
    pub(crate) fn events(&self, id: &str) -> Vec<Seen> {
        let mut seen = Vec::new();
        let read = self.store.read(id, 0, &mut |event| {
            let data = serde_json::from_slice(event.data).expect("a payload is JSON");
            seen.push(Seen { seq: event.seq, kind: event.kind.to_owned(), data });
            ControlFlow::Continue(())
        });
        read.expect("the disk is sound");
        seen
    }

    /// Returns the events of a session whose types begin with a prefix.
    pub(crate) fn events_of(&self, id: &str, prefix: &str) -> Vec<Seen> {
        self.events(id).into_iter().filter(|seen| seen.kind.starts_with(prefix)).collect()
    }

    /// Verifies what is on the disk now, cold, under a profile, and returns what is an error there:
    /// session, rule and message.
    pub(crate) fn errors(&self, rules: Rules) -> Vec<String> {
        errors(self.kind, &self.sim, rules)
    }
}

/// Verifies what is on a disk, cold, under a profile, and returns what is an error there.
pub(crate) fn errors(kind: Kind, sim: &Sim, rules: Rules) -> Vec<String> {
    let disk = sim.disk();
    let mut errors = Vec::new();
    let mut add = |report: &Report| {
        for finding in &report.findings {
            // Extras of the strict profile are warnings on files of the host, and errors to us.
            let is_extra = rules == Rules::Strict && finding.severity == Severity::Warning;
            if finding.severity == Severity::Error || is_extra {
                let session = report.session.as_deref().unwrap_or("?");
                errors.push(format!("{session}: {}: {}", finding.rule, finding.message));
            }
        }
    };
    match kind {
        Kind::Native => {
            let options = StoreOptions { profile: rules, ..StoreOptions::default() };
            let (store, sessions) = verify_store(&disk, Path::new(DIR), &options, &|_| {});
            sessions.iter().for_each(&mut add);
            errors.extend(store.findings.iter().map(|finding| format!("store: {}", finding.rule)));
        }
        Kind::Files => {
            let options = Options { profile: rules, ..Options::default() };
            let places = Places { base: "/".into() };
            for target in discover(&disk, Path::new(DIR), &places).targets {
                add(&verify(&disk, &target, &options, &|_| {}));
            }
        }
    }
    errors
}

/// Appends `turn/start`.
pub(crate) fn start_turn(session: &Session, turn: u64) {
    let draft = Draft::new("turn/start", format!(r#"{{"turn":{turn}}}"#));
    session.append([draft], Durability::Synced).expect("no turn is open");
}

/// Returns the draft of a `turn/end`.
pub(crate) fn turn_end(turn: u64) -> Draft {
    Draft::new("turn/end", format!(r#"{{"turn":{turn},"reason":{{"kind":"completed"}}}}"#))
}

/// Appends `turn/end`.
pub(crate) fn end_turn(session: &Session, turn: u64) {
    session.append([turn_end(turn)], Durability::Synced).expect("nothing is open in it");
}

/// Writes events past every rule as the session `a`, and returns the disk.
pub(crate) fn forced<Kind: AsRef<str>, Data: AsRef<str>>(drafts: &[(Kind, Data)]) -> Sim {
    let sim = Sim::new(11);
    let config = LogConfig { has_housekeeper: false, ..LogConfig::default() };
    let log = Log::open(Arc::new(sim.disk()), Path::new(DIR), Arc::new(ThisMachine), config);
    let log = log.expect("a fresh disk");
    let rows = drafts.iter().zip(1..).map(|((kind, data), time_ms)| {
        let draft = Draft::new(kind.as_ref(), data.as_ref());
        Row { time_ms, draft }
    });
    let batch = Batch { first_seq: 0, key: None, rows: rows.collect() };
    log.create("a", &header("a"), batch, Durability::Synced).expect("no rule is asked");
    log.close().expect("the disk is sound");
    sim
}
