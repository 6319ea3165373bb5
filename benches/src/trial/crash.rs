//! Every state that a crash may leave, opened; and recovery crashed while it opens them.
//!
//! Many cuts leave the same: the same names and bytes, while the same is owed. What a store does
//! when it is opened is decided by these alone, since clock and chance repeat; so of states that
//! are the same one is opened, and its recovery crashed. See `docs/fault-model.md`.

use super::agreement::Expected;
use super::explored::{self, Explored, Key};
use super::flips::Slice;
use super::ledger::Ledger;
use super::machine::FixedMachine;
use super::tally::Tally;
use super::workload::{self, Run, Workload};
use gatelog_engine::backend::{Backend, Durability};
use gatelog_engine::log::Log;
use gatelog_engine::storage::Sim;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of what is possible is tried.
#[derive(Clone, Copy, Debug)]
pub struct Enumeration {
    /// States drawn where a moment has too many units for all subsets.
    pub drawn: usize,
    /// One state in so many is made; 1 for all.
    pub stride: u64,
    /// How deep recovery itself is crashed: 2 at most.
    pub depth: usize,
    /// One state in so many of a crashed recovery is made.
    pub recovery_stride: u64,
    /// Opens also what is as another state that was opened.
    pub repeats: bool,
    /// Where the choices begin.
    pub seed: u64,
}

impl Enumeration {
    /// Tries a workload; `progress` counts the states as they are opened.
    ///
    /// # Errors
    ///
    /// A state that does not open, or that lost what was promised, in words.
    pub fn of(&self, workload: &Workload, progress: &AtomicU64) -> Result<Tally, String> {
        self.of_some(workload, 1, progress)
    }

    /// Tries a workload at one moment in so many, the last one among them.
    ///
    /// # Errors
    ///
    /// As [`Enumeration::of`].
    pub fn of_some(
        &self,
        workload: &Workload,
        one_in: usize,
        progress: &AtomicU64,
    ) -> Result<Tally, String> {
        let Run { moments, ledger } = workload.run(self.seed);
        let first = moments.len().saturating_sub(1) % one_in;
        let moments: Vec<&Sim> = moments.iter().skip(first).step_by(one_in).collect();
        let explored = Explored::default();
        let tried = moments.into_par_iter().with_max_len(1).map(|moment| {
            let at = moment.operations();
            let case = Case {
                ledger: &ledger,
                at,
                workload,
                enumeration: self,
                explored: &explored,
                progress,
            };
            let told = |what: String| format!("{}, moment {at}: {what}", workload.name);
            case.moment(moment).map_err(told)
        });
        tried.try_reduce(Tally::default, |one, other| Ok(one.and(other)))
    }

    /// Whether the state of a number is made, of those of a beginning; another seed picks others.
    /// They are not evenly spaced, nor are those of one beginning as those of another.
    fn picks(&self, beginning: u64, number: u64, one_in: u64) -> bool {
        let number = beginning.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number;
        Slice { one_in, seed: self.seed }.has(number)
    }
}

/// One moment of a workload.
struct Case<'a> {
    ledger: &'a Ledger,
    at: u64,
    workload: &'a Workload,
    enumeration: &'a Enumeration,
    explored: &'a Explored,
    progress: &'a AtomicU64,
}

impl Case<'_> {
    /// Tries every crash at the moment.
    fn moment(&self, moment: &Sim) -> Result<Tally, String> {
        let mut tally = Tally { moments: 1, kills: 1, ..Tally::default() };
        let killed = moment.clone();
        killed.heal();
        killed.kill();
        self.judge(&killed, Durability::Written).map_err(|what| format!("kill: {what}"))?;
        let mut states =
            moment.crash_states(self.enumeration.drawn, self.enumeration.seed ^ self.at);
        while let Some(choice) = states.next_choice() {
            tally.seen[0] += 1;
            if self.enumeration.picks(self.at, tally.seen[0], self.enumeration.stride) {
                self.state(&states.state(&choice), 0, &mut tally)
                    .map_err(|what| format!("power cut {choice}: {what}"))?;
            }
        }
        Ok(tally)
    }

    /// Opens a state before which recovery was cut off so often, unless one like it was opened;
    /// crashes that opening at every moment; crashes what follows it.
    fn state(&self, disk: &Sim, cuts: usize, tally: &mut Tally) -> Result<(), String> {
        disk.heal();
        tally.made[cuts] += 1;
        let key = self.key(disk);
        let beginning = key.iter().fold(0, |sum: u64, byte| sum << 8 ^ u64::from(*byte));
        if !self.explored.enter(cuts, key) && !self.enumeration.repeats {
            return Ok(());
        }
        tally.opened[cuts] += 1;
        // By a digest that the key is not made of: a key that says too little would show.
        let image = disk.digest();
        if self.explored.enter_image(cuts, image) {
            tally.images[cuts] += 1;
            let number = image.iter().fold(0, |sum: u64, byte| sum << 7 ^ u64::from(*byte));
            tally.reached[cuts] = tally.reached[cuts].wrapping_add(number);
        }
        let opened = disk.clone();
        opened.record_moments();
        let log = self.judge(&opened, Durability::Synced)?;
        let recovery = opened.take_moments();
        if cuts < self.enumeration.depth {
            let mut number = 0;
            for moment in &recovery {
                let mut states = moment.crash_states(0, self.enumeration.seed);
                while let Some(choice) = states.next_choice() {
                    number += 1;
                    tally.seen[cuts + 1] += 1;
                    if self.enumeration.picks(beginning, number, self.enumeration.recovery_stride) {
                        self.state(&states.state(&choice), cuts + 1, tally)
                            .map_err(|what| format!("recovery crashed {choice}: {what}"))?;
                    }
                }
            }
        }
        if cuts == 0 {
            tally.generations += 1;
            second_generation(self, &opened, &log)?;
        }
        Ok(())
    }

    /// The key of all that decides what becomes of a disk after a power cut.
    fn key(&self, disk: &Sim) -> Key {
        explored::key(&[&disk.fingerprint(), &self.ledger.owed(self.at, Durability::Synced)])
    }

    fn open(&self, disk: &Sim) -> Result<Log, String> {
        let machine = Arc::new(FixedMachine::new(self.enumeration.seed ^ 0x5EED));
        workload::open(disk.disk(), machine, &self.workload.config, self.workload.sloppiness)
            .map_err(|error| format!("refused ({:?} {:?}): {error}", error.kind, error.rule))
    }

    /// Opens a state and compares what it holds with the ledger.
    fn judge(&self, disk: &Sim, survives: Durability) -> Result<Log, String> {
        self.progress.fetch_add(1, Ordering::Relaxed);
        let expected = Expected::of(disk)?;
        let log = self.open(disk)?;
        expected.compare(&log, disk)?;
        for session in self.ledger.sessions() {
            let found = log.find(session).map_err(|error| error.to_string())?;
            let recovered = found.map(|_| events(&log, session)).transpose()?;
            self.ledger.judge(session, recovered.as_deref(), self.at, survives)?;
        }
        Ok(log)
    }
}

/// What was recovered is now promised: appends to every session, crashes, and opens again.
fn second_generation(case: &Case<'_>, disk: &Sim, log: &Log) -> Result<(), String> {
    let mut known = Vec::new();
    for session in case.ledger.sessions() {
        let Ok(Some(info)) = log.find(session) else { continue };
        let batch = workload::batch(session, info.next_seq, 1, 0, 1_000_000);
        log.append(session, batch, Durability::Synced)
            .map_err(|error| format!("second generation: {session}: {error:?}"))?;
        known.push((session.to_owned(), events(log, session)?));
    }
    // Everything that is durable now must be there after a cut that keeps nothing else, and
    // after one that keeps all.
    for keep in [false, true] {
        let state = disk.power_cut(|unit| keep && !unit.is_torn());
        let log = case.open(&state)?;
        for (session, events_before) in &known {
            let now = events(&log, session)?;
            if now != *events_before {
                return Err(format!(
                    "second generation: {session} had {} events, and has {}",
                    events_before.len(),
                    now.len()
                ));
            }
        }
    }
    Ok(())
}

fn events(log: &Log, session: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut events = Vec::new();
    log.read(session, 0, &mut |stored| {
        events.push(stored.data.to_vec());
        ControlFlow::Continue(())
    })
    .map_err(|error| format!("{session} cannot be read: {error}"))?;
    Ok(events)
}
