//! Projections, and reading a log cold.

mod cold;
mod gappy;
mod ladder;
mod live;
mod units;

use crate::support::{World, turn_end};
use gatelog_engine::backend::Durability;
use gatelog_engine::companion::{Fold, Listens};
use gatelog_engine::event::Event;
use gatelog_engine::replay::Projected;
use gatelog_engine::rules::Draft;
use gatelog_engine::store::Session;
use gatelog_validator::board::{Board, Registered, Registry, Unit};
use gatelog_validator::projection::{Composed, Permissions, PresetTable, Title};

/// Counts mode switches: a unit of a test's own.
#[derive(Clone, Default)]
pub(super) struct Switches {
    pub(super) count: u8,
    pub(super) version: u32,
}

impl Fold for Switches {
    fn fold(&mut self, event: &Event<'_>) {
        if event.kind == "sandbox/mode" {
            self.count += 1;
        }
    }
}

impl Projected for Switches {
    fn name(&self) -> &'static str {
        "switches"
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn listens(&self) -> Listens {
        Listens::Kinds(&["sandbox/mode", "session/title"])
    }

    fn json(&self) -> String {
        self.count.to_string()
    }

    fn save(&self) -> Vec<u8> {
        vec![self.count]
    }

    fn load(&mut self, state: &[u8]) -> bool {
        let [count] = state else { return false };
        self.count = *count;
        true
    }
}

pub(super) fn switches(version: u32) -> Unit {
    Unit::shown(move |_| Box::new(Switches { count: 0, version }))
}

pub(super) fn permissions() -> Unit {
    Unit::of(|| Permissions::new(PresetTable::default(), Composed::default()))
}

pub(super) fn title() -> Unit {
    Unit::of(Title::default)
}

/// Registers units for good.
pub(super) fn registry(units: impl IntoIterator<Item = Unit>) -> (Registry, Vec<Registered>) {
    let registry = Registry::new();
    let register = |unit| registry.register(unit).expect("the keys differ");
    let guards = units.into_iter().map(register).collect();
    (registry, guards)
}

pub(super) fn board(registry: &Registry, session: &Session) -> Board {
    let header = crate::support::header(session.id());
    Board::follow(registry, session, header).expect("nobody holds the gate")
}

pub(super) fn append(session: &Session, kind: &str, data: &str) {
    session.append([Draft::new(kind, data)], Durability::Synced).expect("it is lawful");
}

pub(super) fn mode(session: &Session, mode: &str) {
    append(session, "sandbox/mode", &format!(r#"{{"mode":"{mode}"}}"#));
}

pub(super) fn policy(session: &Session, policy: &str) {
    append(session, "approval/policy", &format!(r#"{{"policy":"{policy}"}}"#));
}

pub(super) fn preset(session: &Session, preset: &str) {
    append(session, "permission/preset", &format!(r#"{{"preset":"{preset}"}}"#));
}

pub(super) fn whole_turn(session: &Session, turn: u64) {
    crate::support::start_turn(session, turn);
    session.append([turn_end(turn)], Durability::Synced).expect("nothing is open in it");
}

/// A world with one session.
pub(super) fn one(id: &str) -> (World, Session) {
    let world = World::new();
    let session = world.session(id);
    (world, session)
}
