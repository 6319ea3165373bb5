//! What a power cut may leave.

use std::cmp::Reverse;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::chance::Chance;
use super::inode::Pending;
use super::state::State;
use super::tree::Node;
use super::{Sim, SimDisk};

/// Units of which every subset is tried.
const UNITS_ALL: usize = 12;

/// Choices that [`SimDisk::crash_states`] usually draws where there are too many units for all.
pub const DRAWN: usize = 4096;

/// One thing that a power cut keeps or loses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// What it is.
    pub kind: UnitKind,
    /// The file or directory.
    pub path: PathBuf,
    /// The operation that made it, counted from 1.
    pub operation: u64,
    inode: u64,
}

/// What a power cut keeps or loses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnitKind {
    /// The size of the file.
    Size,
    /// A name in the directory: kept, it was made, moved or removed.
    Name(OsString),
    /// A content of the sector of this number. A sector that was written more than once since the
    /// last sync has one unit a content, and the last that is kept counts.
    Sector(u64),
    /// The physical sector of this number was being written: kept, all of it is garbage.
    Torn(u64),
}

impl Unit {
    /// Returns whether the unit is a physical sector that is spoilt when it is kept.
    pub fn is_torn(&self) -> bool {
        matches!(self.kind, UnitKind::Torn(_))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            UnitKind::Size => write!(formatter, "size of {path}")?,
            UnitKind::Name(name) => write!(formatter, "name {} in {path}", name.display())?,
            UnitKind::Sector(sector) => write!(formatter, "sector {sector} of {path}")?,
            UnitKind::Torn(sector) => write!(formatter, "torn physical sector {sector} of {path}")?,
        }
        write!(formatter, " by operation {}", self.operation)
    }
}

/// Which units a power cut keeps, in the order of [`SimDisk::unsynced`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice(pub Vec<bool>);

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|kept| formatter.write_str(if *kept { "1" } else { "0" }))
    }
}

/// The states that a power cut may leave: see [`SimDisk::crash_states`].
#[derive(Clone, Debug)]
pub struct CrashStates {
    state: Arc<State>,
    units: Arc<Vec<Unit>>,
    /// Units that are not torn; they come first.
    plain: usize,
    next: u64,
    drawn: usize,
    chance: Chance,
}

impl CrashStates {
    /// Returns the units that the choices are about.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns the next choice, without its state: who tries one in many makes only those.
    pub fn next_choice(&mut self) -> Option<Choice> {
        let choice = match self.listed(self.next) {
            Some(choice) => choice,
            None if self.units.len() > UNITS_ALL && self.drawn > 0 => {
                self.drawn -= 1;
                self.draw()
            }
            None => return None,
        };
        self.next += 1;
        Some(Choice(choice))
    }

    /// Returns the state that a choice leaves.
    pub fn state(&self, choice: &Choice) -> Sim {
        Sim::of(self.state.crashed(&self.units, &choice.0))
    }

    /// The choice of a number, up to those that are drawn.
    fn listed(&self, number: u64) -> Option<Vec<bool>> {
        let all = self.units.len();
        if all <= UNITS_ALL {
            return (number < 1 << all).then(|| bits(number, all));
        }
        let plain = self.plain as u64;
        let (subsets, ordered) = (1 << self.plain.min(UNITS_ALL), self.plain > UNITS_ALL);
        let plain_choices = if ordered { 4 * plain - 4 } else { subsets };
        if number < plain_choices {
            let mut choice =
                if ordered { ordered_choice(number, plain) } else { bits(number, self.plain) };
            choice.resize(all, false);
            return Some(choice);
        }
        // Each torn sector with all else kept, and with all else lost.
        let torn = (number - plain_choices) as usize;
        let place = self.plain + torn / 2;
        (place < all).then(|| {
            let others = torn.is_multiple_of(2);
            (0..all).map(|unit| unit == place || others && unit < self.plain).collect()
        })
    }

    fn draw(&mut self) -> Vec<bool> {
        // Few, half or most are kept: an even draw of many units is always about half of them.
        let eighths = [1, 4, 7][(self.chance.next() % 3) as usize];
        let mut chance = |torn: bool| self.chance.eighths(if torn { 1 } else { eighths });
        self.units.iter().map(|unit| chance(unit.is_torn())).collect()
    }
}

/// Prefixes from none to all, then suffixes, singletons and complements that are neither.
fn ordered_choice(number: u64, units: u64) -> Vec<bool> {
    let kept = |unit: u64| match number {
        _ if number <= units => unit < number,
        _ if number < 2 * units => unit >= number - units,
        _ if number < 3 * units - 2 => unit == number - 2 * units + 1,
        _ => unit != number + 3 - 3 * units,
    };
    (0..units).map(kept).collect()
}

fn bits(number: u64, count: usize) -> Vec<bool> {
    (0..count).map(|bit| number >> bit & 1 == 1).collect()
}

impl Iterator for CrashStates {
    type Item = (Choice, Sim);

    fn next(&mut self) -> Option<Self::Item> {
        let choice = self.next_choice()?;
        let sim = self.state(&choice);
        Some((choice, sim))
    }

    /// What is skipped is not made.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        for _ in 0..count {
            self.next_choice()?;
        }
        self.next()
    }
}

impl SimDisk {
    /// Returns what a power cut now would keep or lose, in the order of the operations, torn
    /// physical sectors last. What it cannot change, such as zeros over zeros, is left out.
    pub fn unsynced(&self) -> Vec<Unit> {
        self.state().units()
    }

    /// Returns the disk after a power cut that kept the units of which `keep` says so.
    ///
    /// `|_| false` loses all that was not synced; `|unit| !unit.is_torn()` keeps it.
    pub fn power_cut(&self, keep: impl FnMut(&Unit) -> bool) -> Sim {
        let state = self.state();
        let units = state.units();
        let choice: Vec<bool> = units.iter().map(keep).collect();
        Sim::of(state.crashed(&units, &choice))
    }

    /// Returns the disk after a power cut that kept what a choice of [`SimDisk::crash_states`]
    /// says. Units that a choice does not reach are lost.
    pub fn crash_state(&self, choice: &Choice) -> Sim {
        let state = self.state();
        Sim::of(state.crashed(&state.units(), &choice.0))
    }

    /// Walks the states that a power cut now could leave, each a disk of its own, with the choice
    /// that made it.
    ///
    /// Up to twelve units these are all. Beyond that they are: nothing and everything kept, what
    /// was written up to each unit and from each unit on, each unit alone and each alone missing
    /// (of twelve units and torn sectors besides, all subsets of the twelve), each torn sector
    /// with all or nothing else kept, and so many choices that `seed` draws; [`DRAWN`] is usual.
    pub fn crash_states(&self, drawn: usize, seed: u64) -> CrashStates {
        let state = self.state().apart();
        let units = state.units();
        let plain = units.iter().filter(|unit| !unit.is_torn()).count();
        let (state, units) = (Arc::new(state), Arc::new(units));
        CrashStates { state, units, plain, next: 0, drawn, chance: Chance::new(seed) }
    }
}

impl State {
    fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        for (inode, node) in &self.tree.nodes {
            let inode = *inode;
            match node {
                Node::File(file) if self.tree.is_referred(inode) => {
                    let unit = |kind, operation| {
                        let path = file.path.clone();
                        Unit { kind, path, operation, inode }
                    };
                    units.extend(file.pending().into_iter().map(|pending| match pending {
                        Pending::Size { operation } => unit(UnitKind::Size, operation),
                        Pending::Sector { sector, operation } => {
                            unit(UnitKind::Sector(sector), operation)
                        }
                    }));
                    let physical = self.options.physical_sector;
                    let torn = physical.map(|physical| file.in_flight(physical));
                    let torn = torn.into_iter().flatten();
                    units.extend(torn.map(|place| unit(UnitKind::Torn(place), self.operations)));
                }
                Node::File(_) => {}
                Node::Folder(folder) => units.extend(folder.pending().map(|change| Unit {
                    kind: UnitKind::Name(change.name()),
                    path: folder.path.clone(),
                    operation: change.operation,
                    inode,
                })),
            }
        }
        units.sort_by(|a, b| {
            let key = |unit: &Unit| (unit.is_torn(), unit.operation, unit.inode);
            key(a).cmp(&key(b)).then_with(|| a.kind.cmp(&b.kind))
        });
        units
    }

    /// The state after a power cut.
    fn crashed(&self, units: &[Unit], choice: &[bool]) -> Self {
        let mut state = self.apart();
        let mut kept: Vec<&Unit> =
            units.iter().zip(choice).filter(|(_, kept)| **kept).map(|(unit, _)| unit).collect();
        // Sizes before bytes, since bytes behind the end are lost; then in the order of writing.
        kept.sort_by_key(|unit| Reverse(unit.kind == UnitKind::Size));
        for unit in kept {
            match &unit.kind {
                UnitKind::Name(_) => {
                    if let Ok(folder) = state.tree.folder_mut(unit.inode) {
                        folder.keep(unit.operation);
                    }
                }
                kind => {
                    let (seed, physical) = (state.options.seed, state.options.physical_sector);
                    let Ok(file) = state.tree.file_mut(unit.inode) else { continue };
                    match *kind {
                        UnitKind::Size => file.keep_sizes(),
                        UnitKind::Sector(sector) => file.keep_sector(sector, unit.operation),
                        UnitKind::Torn(place) => {
                            let physical = physical.unwrap_or_default();
                            let mut chance = Chance::new(seed ^ unit.inode << 40 ^ place);
                            let garbage: Vec<u8> =
                                (0..physical).map(|_| chance.next() as u8).collect();
                            file.spoil(|device| device.overlay(place * physical, &garbage));
                        }
                        UnitKind::Name(_) => {}
                    }
                }
            }
        }
        state.restart();
        state
    }
}
